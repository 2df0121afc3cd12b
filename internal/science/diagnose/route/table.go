// Package route has the rules about gateways, routes, routing rules, groups of nexthop objects and
// reverse-path filters.
package route

import (
	"net/netip"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// PolicyRules are about routes and routing rules, of one host and between two hosts.
var PolicyRules = []rule.Rule{
	{ID: cause.ReturnRouteMissing.Code, Host: true, Parts: []string{facts.EveryRoute, "tcp timers"}, Find: returnRoutes,
		Explains: cause.Codes(cause.NoRoute, cause.BlackholeRoute, cause.LooseRPFilter),
		AtPeers:  []string{"syn-unanswered"}},
	{ID: cause.NexthopDead.Code, Host: true, Parts: []string{"nexthops"}, Find: nexthopGroups,
		Explains: append(cause.Codes(cause.GatewayUnresolved, cause.NeighbourFailed, cause.ConnectFails),
			"syn-unanswered")},
	{ID: cause.RuleWithoutRoutes.Code, Host: true, Parts: []string{facts.EveryRoute, "every table"},
		Find: rule.Each(rule.EveryHost, emptyTables)},
	{ID: cause.RulesMany.Code, Host: true, Parts: []string{"rules"}, Find: rule.Each(rule.EveryHost, manyRules)},
}

func returnRoutes(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, c := range h.State.Notable {
			local, err := netip.ParseAddrPort(c.Local)
			remote, remoteErr := netip.ParseAddrPort(c.Remote)
			if err != nil || remoteErr != nil || c.State != "SYN-SENT" || c.Info == nil || c.Info.Retransmits == 0 {
				continue
			}
			for _, other := range f.Hosts {
				if other == h || other.Holder(remote.Addr()) == nil || other.OtherRoutes() ||
					len(findings) == rule.MostFindings {
					continue
				}
				r, found := other.Back(local.Addr().Unmap())
				if found && !facts.IsDiscard(r) {
					continue
				}
				finding := facts.Found(cause.ReturnRouteMissing, other, record.Certain,
					cause.Back{To: local.Addr(), Host: h.Name}).With(h.Name,
					fact.Waiting{Local: c.Local, Remote: c.Remote, Again: int(c.Info.Retransmits)})
				var places []record.Touch
				advice := hint.AddRoute{To: local.Addr()}
				if found {
					finding.With(other.Name, facts.Route(r, fact.WayBack))
					places, advice.Discard = facts.To(r), r.Text
				} else {
					finding.With(other.Name, fact.Routeless{To: local.Addr()})
				}
				back := local.Addr().Unmap()
				findings = append(findings, *finding.Fixed(record.Advice(other.Name, advice)).
					At(append(places, record.Touch{Back: netip.PrefixFrom(back, back.BitLen())})...))
			}
		}
	}
	return findings
}

// emptyTables finds rules whose table has no routes. It ignores rules for all packets: a lookup in
// an empty table goes on with the next rule, and strongSwan has such a rule (220: from all lookup
// 220) before a tunnel is up.
func emptyTables(_ facts.Trial, h *facts.Host) *record.Finding {
	if h.Missing(facts.EveryRoute) != nil {
		return nil
	}
	filled := map[int]bool{facts.MainTable: true, facts.LocalTable: true, facts.DefaultTable: true, 0: true}
	for _, r := range h.Reading.Snapshot.Routes {
		filled[r.Table] = true
	}
	finding := facts.Found(cause.RuleWithoutRoutes, h, record.Likely, cause.None{})
	for _, r := range h.Reading.Snapshot.Rules {
		if !filled[r.Table] && !r.Other && r.From+r.To != "" && len(finding.Facts) < 6 {
			finding.With(h.Name, fact.Rule{Priority: r.Priority, From: r.From, To: r.To, Table: r.Table})
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return finding
}

func manyRules(_ facts.Trial, h *facts.Host) *record.Finding {
	const many = 100
	n := len(h.Reading.Snapshot.Rules)
	if n <= many {
		return nil
	}
	return facts.Found(cause.RulesMany, h, record.Possible, cause.None{}).With(h.Name, fact.Rules{Count: n})
}
