package drop

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about nftables.
var FirewallRules = []rule.Rule{
	{ID: "firewall-drop", Host: true, Growth: true, Parts: []string{"nftables"}, Find: firewallDrops,
		SameCause: rule.SameSummary,
		About:     "The counter of a rule of nftables that drops or rejects grew, or that of a chain whose policy does; likely from ten packets on that are to be sent, or that are at least a hundredth of those received.",
		Explains:  append([]string{"netfilter-drop"}, filterExplains...), AtPeers: filterAtPeers},
	{ID: "nft-set-full", Host: true, Own: true, Parts: []string{"nftables"}, Find: fullSets,
		SameCause: rule.SameSummary,
		About:     "A set of nftables has at least 90 % of the elements that it may have: rules that add to it do nothing more."},
	{ID: "nft-quota-used", Host: true, Own: true, Parts: []string{"nftables"}, Find: usedQuotas,
		SameCause: rule.SameSummary,
		About:     "A named quota of nftables is used up: rules that refer to it match, or do no longer."},
}

// nftGrown is by how many packets the counter of a rule grew, or was before the readings.
func nftGrown(h *facts.Host, r record.NftRule) uint64 {
	return facts.Between(h, r.Before, r.Packets, h.State.Nftables.CountedS)
}

// nftDroppers are the rules whose counters of dropped packets grew, those by most first, and
// those that drop without a counter.
func nftDroppers(h *facts.Host) (grown, uncounted []record.NftRule) {
	if h.State.Nftables == nil {
		return nil, nil
	}
	for _, r := range h.State.Nftables.Rules {
		switch {
		case !r.Drops():
		case !r.Counted:
			uncounted = append(uncounted, r)
		case nftGrown(h, r) > 0:
			grown = append(grown, r)
		}
	}
	slices.SortStableFunc(grown, func(a, b record.NftRule) int {
		return int(min(nftGrown(h, b), 1<<31)) - int(min(nftGrown(h, a), 1<<31))
	})
	return grown, uncounted
}

// sends reports whether packets at a hook are to be sent.
func sends(hook string) bool {
	return slices.Contains([]string{"output", "postrouting", "egress"}, hook)
}

func firewallDrops(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		var received uint64
		for _, c := range h.Counted {
			received += c.RxPackets
		}
		grown, _ := nftDroppers(h)
		for _, r := range grown[:min(len(grown), rule.MostFindings)] {
			n := nftGrown(h, r)
			confidence := record.Possible
			if n >= 10 && (sends(r.Hook) || float64(n) >= 0.01*float64(received)) {
				confidence = record.Likely
			}
			chain := fmt.Sprintf("%s %s %s", r.Family, r.Table, r.Chain)
			remove := fmt.Sprintf("nft delete rule %s", r.Place())
			if r.Handle == 0 {
				remove = fmt.Sprintf("nft chain %s '{ policy accept; }'", chain)
			}
			findings = append(findings, record.Finding{
				Host: h.Name, Confidence: confidence, Summary: "a firewall rule drops packets: " + r.Place(),
				Evidence: []string{fmt.Sprintf("%s: %s", r.Place(), r.Text),
					fmt.Sprintf("its counter grew by %d packets%s", n, said.Over(h, h.State.Nftables.CountedS))},
				Fix: said.On(h.Name, h.Alone,
					fmt.Sprintf("nft -a list chain %s; accept what is to pass before it, or: %s", chain, remove)),
				Reference: "nft(8)",
			})
		}
	}
	return findings
}

// nftPlace are the rules by which packets of a direction were dropped; empty: not known.
func nftPlace(h *facts.Host, direction string) string {
	grown, _ := nftDroppers(h)
	grown = slices.DeleteFunc(grown, func(r record.NftRule) bool {
		return r.Hook != "" && r.Hook != "forward" && direction != "" && sends(r.Hook) != (direction == "tx")
	})
	switch len(grown) {
	case 0:
		return ""
	case 1:
		return grown[0].Place()
	}
	return fmt.Sprintf("%s and %d more rules", grown[0].Place(), len(grown)-1)
}

// nftUncounted are the rules without a counter by which packets may have been dropped, where
// those with one do not say it.
func nftUncounted(h *facts.Host, direction string) (rows []string) {
	_, uncounted := nftDroppers(h)
	if nftPlace(h, direction) != "" {
		return nil
	}
	for _, r := range uncounted[:min(len(uncounted), 3)] {
		rows = append(rows, fmt.Sprintf("perhaps by %s, which has no counter: %s", r.Place(), r.Text))
	}
	return rows
}

func fullSets(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		if h.State.Nftables == nil {
			continue
		}
		for _, s := range h.State.Nftables.Sets {
			if s.Size <= 0 || float64(s.Elements) < 0.9*float64(s.Size) {
				continue
			}
			name := strings.Join([]string{s.Family, s.Table, s.Name}, " ")
			findings = append(findings, record.Finding{
				Host: h.Name, Confidence: record.Likely, Summary: "a set of the firewall is nearly full: " + name,
				Reference: "nft(8), SETS",
				Evidence:  []string{fmt.Sprintf("%s: %d of %d elements", name, s.Elements, s.Size)},
				Fix: said.On(h.Name, h.Alone,
					fmt.Sprintf("nft list set %s; a larger size, or a timeout of its elements", name)),
			})
		}
	}
	return findings
}

func usedQuotas(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		if h.State.Nftables == nil {
			continue
		}
		for _, o := range h.State.Nftables.Objects {
			if o.Kind != "quota" || o.Quota == 0 || o.Bytes < o.Quota {
				continue
			}
			name := strings.Join([]string{o.Family, o.Table, o.Name}, " ")
			findings = append(findings, record.Finding{
				Host: h.Name, Confidence: record.Possible, Summary: "a quota of the firewall is used up: " + name,
				Reference: "nft(8), QUOTA",
				Evidence:  []string{fmt.Sprintf("%s: %d of %d bytes", name, o.Bytes, o.Quota)},
				Fix: said.On(h.Name, h.Alone, fmt.Sprintf("nft list quota %s; nft reset quota %s begins it anew",
					name, name)),
			})
		}
	}
	return findings
}
