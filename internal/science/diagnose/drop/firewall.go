package drop

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// FirewallRules are about rules, sets and quotas of nftables.
var FirewallRules = []rule.Rule{
	{ID: cause.FirewallDrop.Code, Host: true, Growth: true, Parts: []string{"nftables"}, Find: firewallDrops,
		Explains: append([]string{cause.NetfilterDrop.Code}, filterExplains...), AtPeers: filterAtPeers},
	{ID: cause.NftSetFull.Code, Host: true, Own: true, Parts: []string{"nftables"}, Find: fullSets},
	{ID: cause.NftQuotaUsed.Code, Host: true, Own: true, Parts: []string{"nftables"}, Find: usedQuotas},
}

// nftGrown returns by how much the counter of a rule grew or, since the boot, its value.
func nftGrown(h *facts.Host, r netstate.NftRule) uint64 {
	return facts.Between(h, r.Before, r.Packets, h.State.Nftables.CountedS)
}

// nftDroppers returns the dropping rules whose counters grew, the largest growth first, and the
// dropping rules without a counter.
func nftDroppers(h *facts.Host) (grown, uncounted []netstate.NftRule) {
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
	slices.SortStableFunc(grown, func(a, b netstate.NftRule) int {
		return int(min(nftGrown(h, b), 1<<31)) - int(min(nftGrown(h, a), 1<<31))
	})
	return grown, uncounted
}

// sends reports whether a hook of netfilter is for packets that are sent.
func sends(hook string) bool {
	return slices.Contains([]string{"output", "postrouting", "egress"}, hook)
}

func firewallDrops(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		received := lists.Sum(h.Counted, func(c netstate.InterfaceCounters) uint64 { return c.RxPackets })
		grown, _ := nftDroppers(h)
		for _, r := range grown[:min(len(grown), rule.MostFindings)] {
			n := nftGrown(h, r)
			confidence := record.Possible
			if n >= 10 && (sends(r.Hook) || float64(n) >= 0.01*float64(received)) {
				confidence = record.Likely
			}
			rule := cause.FirewallRule{Family: r.Family, Table: r.Table, Chain: r.Chain, Handle: r.Handle, Tool: r.Tool}
			if r.Handle == 0 && r.Text != netstate.PolicyDrop {
				rule.Number, rule.Text = r.Number, r.Text
			}
			findings = append(findings, *facts.Found(cause.FirewallDrop, h, confidence, rule).With(h.Name,
				fact.FirewallRule{Place: r.Place(), Text: r.Text, Counted: true},
				fact.RuleCounter{Packets: n, Time: h.TimeOver(h.State.Nftables.CountedS)}))
		}
	}
	return findings
}

// nftAt returns the rules that dropped packets of a direction; none: it is not known which did.
func nftAt(h *facts.Host, direction string) []netstate.NftRule {
	grown, _ := nftDroppers(h)
	return slices.DeleteFunc(grown, func(r netstate.NftRule) bool {
		return r.Hook != "" && r.Hook != "forward" && direction != "" && sends(r.Hook) != (direction == "tx")
	})
}

// nftUncounted returns dropping rules without a counter as evidence, at most three; none if a
// counter shows which rule dropped.
func nftUncounted(h *facts.Host, direction string) (list []any) {
	_, uncounted := nftDroppers(h)
	if len(nftAt(h, direction)) > 0 {
		return nil
	}
	for _, r := range uncounted[:min(len(uncounted), 3)] {
		list = append(list, fact.FirewallRule{Place: r.Place(), Text: r.Text})
	}
	return list
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
			args := cause.FirewallObject{Family: s.Family, Table: s.Table, Name: s.Name}
			findings = append(findings, *facts.Found(cause.NftSetFull, h, record.Likely, args).With(h.Name,
				fact.FirewallSet{Name: args.String(), Elements: s.Elements, Size: s.Size}))
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
			args := cause.FirewallObject{Family: o.Family, Table: o.Table, Name: o.Name}
			findings = append(findings, *facts.Found(cause.NftQuotaUsed, h, record.Possible, args).With(h.Name,
				fact.FirewallQuota{Name: args.String(), Bytes: o.Bytes, Quota: o.Quota}))
		}
	}
	return findings
}
