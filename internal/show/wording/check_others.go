package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/unit"
)

// Text for checks that compare with the counts of others: tools, peers and switches.
var _ = later(func() {
	spell(func(_ string, t fact.ToolFailed) string {
		if t.Gave == 0 {
			return "no figure: " + t.Error
		}
		return fmt.Sprintf("%d of %d processes gave a figure: %s", t.Gave, t.Of, t.Error)
	})
	spell(func(_ string, t fact.ToolRate) string {
		text := fmt.Sprintf("%s, is %s; the receivers read %s in the window", t.Method, unit.FormatRate(t.Bps),
			unit.FormatRate(t.ReceivedBps))
		if t.ReceivedBps > 0 {
			text += ": " + between(t.Change, t.Least, t.Most)
		}
		if t.LimitShare > 0 {
			text += fmt.Sprintf("; it is %s of the limit, %s, and cannot be", unit.FormatPercent(t.LimitShare),
				unit.FormatRate(t.LimitBps))
		}
		if t.Why != nil {
			text += excess(*t.Why)
		}
		return text
	})
	spell(func(_ string, t fact.ToolTransactions) string {
		by := "by their bytes on the sockets there were"
		if t.ByServer {
			by = "linerate's server answered"
		}
		text := fmt.Sprintf("%s, is %.4g transactions/s; %s %.4g/s in the window", t.Method, t.PerS, by, t.Counted)
		if t.Counted > 0 {
			change, most := percents(t.Change, t.Allowed)
			text += fmt.Sprintf(": %s (allowed ±%s)", signed(t.Change, change), most)
		}
		return text
	})
	spell(func(_ string, p fact.PeerBytes) string {
		peer, all := unit.FormatBytes(p.PeerBytes), unit.FormatBytes(p.AllBytes)
		window := unit.FormatBytes(p.WindowBytes)
		text := p.Direction + ": "
		switch {
		case p.UDP && p.Sends:
			text += fmt.Sprintf("this host sent %s in all, and the peer received %s", all, peer)
		case p.UDP:
			text += fmt.Sprintf("the peer sent %s, and this host received %s in the window", peer, window)
		case p.Sends:
			text += fmt.Sprintf("this host had %s acknowledged in all and %s in the window, and the peer received %s",
				all, window, peer)
		default:
			text += fmt.Sprintf("the peer wrote %s, and this host received %s in all and %s in the window", peer, all,
				window)
		}
		if e := p.Expected; e != nil {
			text += fmt.Sprintf("; expected %s to %s there", unit.FormatBytes(e.LeastBytes),
				unit.FormatBytes(e.MostBytes))
		}
		return text
	})
	spell(func(_ string, p fact.PeerRate) string {
		text := fmt.Sprintf("%s: the peer counts %s over its own %s", p.Direction, unit.FormatRate(p.PeerBps),
			unit.FormatSeconds(p.Seconds))
		if p.Bps > 0 {
			text += fmt.Sprintf(", this host %s in the window: %s", unit.FormatRate(p.Bps),
				between(p.Change, p.Least, p.Most))
		}
		if l := p.Limit; l != nil {
			part, most := percents(l.Share, l.Allowed)
			text += fmt.Sprintf("; that is %s of the limit %s (allowed %s)", part, unit.FormatRate(l.LimitBps), most)
		}
		return text
	})
	spell(func(_ string, s fact.SwitchCounts) string {
		verb, other := "received", "sent"
		if !s.Receives {
			verb, other = other, verb
		}
		how := map[string]string{"": "whether the switch counts frame check sequences is not known",
			fact.FCSCounted:    "without the frame check sequences, which the switch counts",
			fact.FCSNotCounted: "the switch does not count frame check sequences"}[s.FCS]
		base := max(s.HostBytes, 1)
		part, most := percents(s.Bytes/base, s.Allowed/base)
		if s.HostBytes < s.Allowed { // shares of next to nothing
			part, most = unit.FormatBytes(s.Bytes), unit.FormatBytes(s.Allowed)
		}
		return fmt.Sprintf("port %s of %s %s %s, %s %s %s: %s apart (allowed %s; %s)", s.Port, s.Switch, verb,
			unit.FormatBytes(s.SwitchBytes), s.Peer, other, unit.FormatBytes(s.HostBytes), part, most, how)
	})
	spell(func(string, fact.NoPorts) string {
		return "at the other ends of its ports are no interfaces that were read, or links that lose frames as the " +
			"study says"
	})
	spell(func(_ string, p fact.PortsUnread) string {
		const most = 3
		var reasons []string
		for _, u := range p.List {
			of := u.Switch
			if u.Port != "" {
				of = fmt.Sprintf("port %s of %s", u.Port, u.Switch)
			}
			reasons = append(reasons, of+": "+u.Error)
		}
		if n := len(reasons) - most; n > 0 {
			reasons = append(reasons[:most], fmt.Sprintf("and %d more", n))
		}
		text := strings.Join(reasons, "; ")
		if p.Others {
			text = "not compared: " + text
		}
		return text
	})
})

// excess returns why a tool's rate is off.
func excess(e fact.ToolExcess) string {
	unsent := ""
	if e.UnsentBytes > 0 {
		unsent = fmt.Sprintf("; %s were still in send buffers", unit.FormatBytes(e.UnsentBytes))
	}
	switch {
	case e.PredictedBps > 0 && e.Explains:
		return fmt.Sprintf("; each connection's bytes over its own time, as the kernel counts them, make %s of "+
			"the %s%s",
			unit.FormatRate(e.PredictedBps), unit.FormatRate(e.SurplusBps), unsent)
	case e.PredictedBps > 0:
		return fmt.Sprintf("; each connection's bytes over its own time would make %s of the %s%s",
			unit.FormatRate(e.PredictedBps), unit.FormatRate(e.SurplusBps), unsent)
	}
	return "; its own time, " + unit.FormatSeconds(e.Seconds) + ", is not the window"
}
