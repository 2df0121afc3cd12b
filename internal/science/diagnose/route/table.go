// Package route has the rules about gateways, routes, routing rules, next hop groups and reverse-path
// filters.
package route

import (
	"fmt"
	"net/netip"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about routes and rules, of one host and of two hosts towards each other.
var PolicyRules = []rule.Rule{
	{ID: "return-route-missing", Host: true,
		About: "A connection of one host waits for an answer of another one, which has no route back to its address, or one that discards. Needs the snapshots of both.",
		Parts: []string{facts.EveryRoute, "sockets"}, Find: returnRoutes, SameCause: rule.SameSummary,
		Explains: []string{"no-route", "blackhole-route", "loose-rp-filter"}, AtPeers: []string{"syn-unanswered"}},
	{ID: "nexthop-dead", Host: true,
		About: "A group of nexthop objects has a member that is dead, without link or discarding, or whose gateway is FAILED or INCOMPLETE in the neighbour table; certain where the group is resilient, which sends to it all the same.",
		Parts: []string{"nexthops"}, Find: nexthopGroups, SameCause: rule.SameSummary,
		Explains: []string{"gateway-unresolved", "neighbour-failed", "syn-unanswered", "connect-fails"}},
	{ID: "rule-without-routes", Host: true,
		About: "A routing rule for some sources or destinations leads to a table that has no routes.",
		Parts: []string{facts.EveryRoute}, Find: rule.Each(rule.EveryHost, emptyTables)},
	{ID: "rules-many", Host: true,
		About: "There are more than 100 routing rules, through which each lookup goes in order.",
		Parts: []string{"routes"}, Find: rule.Each(rule.EveryHost, manyRules)},
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
				row, fix := "its routes have none for "+local.Addr().String(),
					fmt.Sprintf("ip route add %s via GATEWAY", local.Addr())
				var places []string
				if found {
					row, places = "its route: "+r.Text, []string{"route " + r.To}
					fix = "ip route del " + r.Text + ", if all that it discards is to be reached; or " + fix
				}
				if found && !facts.IsDiscard(r) {
					continue
				}
				findings = append(findings, record.Finding{
					Host: other.Name, Places: facts.OnePlace(append(places, "from "+local.Addr().Unmap().String())...),
					Confidence: record.Certain,
					Summary: fmt.Sprintf(
						"%s has no route back to %s: what %s sends arrives, and the answers do not leave", other.Name,
						local.Addr(), h.Name),
					Evidence: []string{fmt.Sprintf("%s waits for an answer: %s to %s, SYN-SENT, sent again %d times",
						h.Name, c.Local, c.Remote, c.Info.Retransmits), row},
					Fix:       said.On(other.Name, false, fix+"; to confirm: ip route get "+local.Addr().String()),
					Reference: "RFC 1812, section 5.2; ip-route(8)",
				})
			}
		}
	}
	return findings
}

// emptyTables leaves out rules for all packets, which a lookup without a route in their table
// passes: strongSwan has one (220: from all lookup 220) before a tunnel is up.
func emptyTables(_ facts.Trial, h *facts.Host) *record.Finding {
	if h.Missing(facts.EveryRoute) != "" {
		return nil
	}
	filled := map[int]bool{facts.MainTable: true, facts.LocalTable: true, facts.DefaultTable: true, 0: true}
	for _, r := range h.Reading.Snapshot.Routes {
		filled[r.Table] = true
	}
	var rows []string
	for _, r := range h.Reading.Snapshot.Rules {
		if !filled[r.Table] && !r.Other && r.From+r.To != "" && len(rows) < 6 {
			rows = append(rows, strings.Join(strings.Fields(fmt.Sprintf("%d: from %s %s lookup %d", r.Priority, r.From,
				r.To, r.Table)), " ")+", which has no routes")
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "routing rules have no effect: their tables are empty", Evidence: rows, Reference: "ip-rule(8)",
		Fix: said.On(h.Name, h.Alone,
			"ip route add … table N with the routes that are missing (they go with their interface when it is set down), or ip rule del")}
}

func manyRules(_ facts.Trial, h *facts.Host) *record.Finding {
	const many = 100
	n := len(h.Reading.Snapshot.Rules)
	if n <= many {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary:   "there are many routing rules, and each lookup that is not cached goes through them in order",
		Reference: "ip-rule(8)",
		Evidence:  []string{fmt.Sprintf("%d rules", n)},
		Fix:       said.On(h.Name, h.Alone, "fewer rules with longer tables, or a VRF for each group")}
}
