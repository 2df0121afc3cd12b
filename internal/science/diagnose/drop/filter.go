package drop

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// Rules are about packets that the kernel drops for a reason that only a trace shows (kfree_skb).
var Rules = []rule.Rule{
	filterDrop(cause.NetfilterDrop, "NETFILTER_DROP"),
	filterDrop(cause.TCDrop, "TC_INGRESS", "TC_EGRESS", "TC_COOKIE_ERROR", "TC_CHAIN_NOTFOUND", "TC_RECLASSIFY_LOOP"),
}

// filterDrop returns the rule for packets that the host's own filters drop, intended or not.
func filterDrop(c cause.Of[cause.Direction], reasons ...string) rule.Rule {
	return rule.Rule{
		ID: c.Code, Host: true, Parts: []string{record.ByTracepoint},
		Find: func(f facts.Trial) (findings []record.Finding) {
			return lists.Flat(f.Hosts, func(h *facts.Host) []record.Finding { return filtered(h, c, reasons) })
		},
		Explains: filterExplains, AtPeers: filterAtPeers,
	}
}

// filterAtPeers and filterExplains are the rules whose findings may follow from packets that a
// filter drops: on the hosts whose connections lead to the filter's host, and on that host itself.
var filterAtPeers = []string{"syn-unanswered", "unacknowledged"}

var filterExplains = []string{"syn-unanswered", "connect-fails", "tcp-retransmissions", "ip-discards",
	"udp-send-buffer", "rx-dropped", "tx-dropped", "unacknowledged"}

func filtered(h *facts.Host, c cause.Of[cause.Direction], names []string) (findings []record.Finding) {
	type side struct{ name, direction string } // of an interface: rx or tx
	var sides []side
	packets, received := map[side]int64{}, map[string]uint64{}
	for _, d := range h.Traced {
		if !slices.Contains(names, d.Reason) {
			continue
		}
		s := side{d.Interface, d.Direction}
		if packets[s] == 0 {
			sides = append(sides, s)
		}
		packets[s] += d.Packets
	}
	for _, c := range h.Counted {
		received[c.Interface] = c.RxPackets
	}
	for _, s := range sides[:min(len(sides), rule.MostFindings)] {
		confidence := record.Possible
		if n := packets[s]; n >= 10 && (s.direction == "tx" || float64(n) >= 0.01*float64(received[s.name])) {
			confidence = record.Likely
		}
		args := cause.Direction{Direction: s.direction}
		if s.name == "" {
			args = cause.Direction{}
		}
		finding := facts.Found(c, h, confidence, args).With(h.Name, h.Dropped(func(d netstate.KernelDrop) bool {
			return slices.Contains(names, d.Reason) && d.Interface == s.name && d.Direction == s.direction
		})...)
		finding.About.Interface = s.name
		if c == cause.NetfilterDrop {
			finding.With(h.Name, nftUncounted(h, s.direction)...)
		}
		if s.direction == "tx" { // what arrives may be answers to what left by another
			finding.At(h.Devices(s.name)...)
		}
		findings = append(findings, *finding)
	}
	return findings
}
