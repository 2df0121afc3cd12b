package wording

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Text for what differs from its declaration or from its peers.
var _ = later(func() {
	say(cause.BelowDeclared, words[cause.None]{
		summary: func(f record.Finding, _ cause.None) string {
			return fmt.Sprintf("the limit of its link is %s", Declared(f.Host, first[fact.DeclaredRate](f)))
		},
		fix: []string{"the rate that is meant, at the shaper (tc qdisc show dev DEV) or in the study; none if the " +
			"shaper is what is studied"},
		read: "tc(8), tc-tbf(8)",
		found: "A qdisc at an interface that flows leave by has a rate that is 5 % or more below the declared rate " +
			"of its link. Needs a study.",
	})
	say(cause.OddOneOut, words[cause.Odd]{
		summary: func(f record.Finding, a cause.Odd) string {
			return Odd(f.About.Object, a, first[fact.AmongPeers](f))
		},
		fix: []string{"compare it with a peer: linerate diff of their snapshots, its shaper (tc -s qdisc show), " +
			"speed, cable and port"},
		read: "tc(8), ethtool(8)",
		found: "Of 8 or more hosts, interfaces or flows with equal traffic and equally fast links, one has 1.5 times " +
			"as much or as little goodput as the median, and is further from it than chance puts one in 1 % of cases.",
	})
	spell(func(host string, d fact.DeclaredRate) string { return Declared(host, d) })
	spell(func(_ string, p fact.AmongPeers) string {
		flows := ""
		if p.Flows > 1 {
			flows = fmt.Sprintf(" on average of its %d flows", p.Flows)
		}
		return fmt.Sprintf("%s%s; the median of it and its %d peers is %s", unit.FormatRate(p.Bps), flows, p.Peers,
			unit.FormatRate(p.MedianBps))
	})
})

// Declared names a shaper that is slower than its link is declared to be: "tbf on h7.eth0: 50 Mbit/s,
// below the declared 200 Mbit/s".
func Declared(host string, d fact.DeclaredRate) string {
	return fmt.Sprintf("%s on %s.%s: %s, below the declared %s", d.Shaper, host, d.Interface, unit.FormatRate(d.Bps),
		unit.FormatRate(d.DeclaredBps))
}

// Odd says what stands apart from its peers: "h7 sends 48.0 Mbit/s, and its 11 peers 191 Mbit/s".
func Odd(name string, a cause.Odd, p fact.AmongPeers) string {
	does := map[bool]string{true: "sends", false: "receives"}[a.Sends]
	if a.Kind == cause.OddFlow {
		name, does = "flow "+name, "carries"
	}
	each := ""
	if p.Flows > 1 {
		each = " for each flow"
	}
	return fmt.Sprintf("%s %s %s%s, and its %d peers %s", name, does, unit.FormatRate(p.Bps), each, p.Peers,
		unit.FormatRate(p.MedianBps))
}
