package drop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about what the kernel drops for reasons that no counter tells apart (kfree_skb).
var Rules = []rule.Rule{
	filterDrop("netfilter-drop", []string{"NETFILTER_DROP"}, "a firewall rule (netfilter)", "nft(8); iptables(8)",
		"nft list ruleset, or iptables-save -c and ip6tables-save -c: a rule with a counter, or with log, shows which one; accept what is to pass before it"),
	filterDrop("tc-drop", []string{"TC_INGRESS", "TC_EGRESS", "TC_COOKIE_ERROR", "TC_CHAIN_NOTFOUND",
		"TC_RECLASSIFY_LOOP"}, "a tc filter", "tc(8)",
		"tc -s filter show dev DEV ingress, and egress or parent of its qdisc: change the filter that drops, or remove it"),
}

// filterDrop is the rule for packets that this host's own configuration drops, on purpose or not.
func filterDrop(id string, reasons []string, by, reference, fix string) rule.Rule {
	return rule.Rule{
		ID: id, Host: true, Parts: []string{record.ByTracepoint}, SameCause: rule.SameSummary,
		About: fmt.Sprintf(
			"The kernel dropped packets of an interface by %s (%s); likely from ten on that are to be sent, or that are at least a hundredth of those received.",
			by, strings.Join(reasons, ", ")),
		Find: func(f facts.Trial) (findings []record.Finding) {
			for _, h := range f.Hosts {
				findings = append(findings, filtered(h, reasons, by, reference, fix)...)
			}
			return findings
		},
		Explains: filterExplains, AtPeers: filterAtPeers,
	}
}

// filterAtPeers and filterExplains are the rules whose findings follow from packets that are
// dropped by a filter: on the hosts whose connections lead there, and on the filter's own.
var filterAtPeers = []string{"syn-unanswered", "unacknowledged"}

var filterExplains = []string{"syn-unanswered", "connect-fails", "tcp-retransmissions", "ip-discards",
	"udp-send-buffer", "rx-dropped", "tx-dropped", "unacknowledged"}

func filtered(h *facts.Host, names []string, by, reference, fix string) (findings []record.Finding) {
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
		what := map[string]string{"rx": " that arrive by ", "tx": " that are to leave by "}[s.direction]
		name := cmp.Or(s.name, "this host")
		if what == "" || s.name == "" {
			what = " of "
		}
		evidence := said.TracedRows(h, func(d record.KernelDrop) bool {
			return slices.Contains(names, d.Reason) && d.Interface == s.name && d.Direction == s.direction
		})
		if slices.Contains(names, "NETFILTER_DROP") {
			evidence = append(evidence, nftUncounted(h, s.direction)...)
		}
		var places [][]string
		if s.direction == "tx" && s.name != "" { // what arrives may be answers to what left by another
			places = facts.OnePlace(h.Device(s.name)...)
		}
		findings = append(findings, record.Finding{
			Host: h.Name, Places: places, Confidence: confidence, Summary: by + " drops packets" + what + name,
			Evidence: evidence,
			Fix:      said.On(h.Name, h.Alone, strings.ReplaceAll(fix, "DEV", cmp.Or(s.name, "DEV"))),
			Reference: reference +
				"; " + said.DropReasons,
		})
	}
	return findings
}
