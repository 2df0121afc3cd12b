package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// Rules about routes and rules, of one host and of two hosts towards each other.
var policyRules = []rule{
	{id: "return-route-missing", host: true,
		about: "A connection of one host waits for an answer of another one, which has no route back to its address, or one that discards. Needs the snapshots of both.",
		parts: []string{everyRoute, "sockets"}, find: returnRoutes, sameCause: sameSummary,
		explains: []string{"no-route", "blackhole-route", "loose-rp-filter"}, atPeers: []string{"syn-unanswered"}},
	{id: "nexthop-dead", host: true,
		about: "A group of nexthop objects has a member that is dead, without link or discarding, or whose gateway is FAILED or INCOMPLETE in the neighbour table; certain where the group is resilient, which sends to it all the same.",
		parts: []string{"nexthops"}, find: nexthopGroups, sameCause: sameSummary,
		explains: []string{"gateway-unresolved", "neighbour-failed", "syn-unanswered", "connect-fails"}},
	{id: "rule-without-routes", host: true,
		about: "A routing rule for some sources or destinations leads to a table that has no routes.",
		parts: []string{everyRoute}, find: each(everyHost, emptyTables)},
	{id: "rules-many", host: true,
		about: "There are more than 100 routing rules, through which each lookup goes in order.",
		parts: []string{"routes"}, find: each(everyHost, manyRules)},
}

// Rules about subnets that overlap.
var overlapRules = []rule{
	{id: "subnets-overlap", host: true,
		about: "Two interfaces, not of different VRFs, have addresses of subnets of which one contains the other.",
		parts: []string{"interfaces"}, find: each(everyHost, subnetsOverlap)},
}

// Rules about static entries of neighbours.
var staticRules = []rule{
	{id: "static-neighbour", host: true, about: "There are static entries for IPv4 neighbours (PERMANENT).",
		parts: []string{"neighbours"}, find: each(everyHost, staticNeighbour)},
}

// everyRoute is the part of a snapshot that rules need which conclude from a route that is absent.
const everyRoute = "every route"

const localTable, defaultTable = 255, 253

// destination is the prefix that a route is for.
func destination(r record.RouteEntry, v4 bool) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(r.To); err == nil {
		return p, p.Addr().Is4() == v4
	}
	a, err := netip.ParseAddr(r.To)
	return netip.PrefixFrom(a, a.BitLen()), err == nil && a.Is4() == v4
}

// back is the most specific route of a host's main table to an address.
func (h *host) back(to netip.Addr) (best record.RouteEntry, found bool) {
	bits := -1
	for _, r := range h.reading.Snapshot.Routes {
		p, is := destination(r, to.Is4())
		if is && (r.Table == mainTable || r.Table == defaultTable) && p.Contains(to) && p.Bits() > bits {
			best, bits, found = r, p.Bits(), true
		}
	}
	return best, found
}

// otherRoutes: routes hold for some packets that back does not look at, of other tables than main
// or left out of the snapshot.
func (h *host) otherRoutes() bool {
	return h.missing(everyRoute) != "" || slices.ContainsFunc(h.reading.Snapshot.Rules, func(r record.RuleEntry) bool {
		return r.Other || !slices.Contains([]int{mainTable, localTable, defaultTable}, r.Table)
	})
}

func returnRoutes(f observed) (findings []record.Finding) {
	for _, h := range f.hosts {
		for _, c := range h.state.Notable {
			local, err := netip.ParseAddrPort(c.Local)
			remote, remoteErr := netip.ParseAddrPort(c.Remote)
			if err != nil || remoteErr != nil || c.State != "SYN-SENT" || c.Info == nil || c.Info.Retransmits == 0 {
				continue
			}
			for _, other := range f.hosts {
				if other == h || other.holder(remote.Addr()) == nil || other.otherRoutes() ||
					len(findings) == mostFindings {
					continue
				}
				r, found := other.back(local.Addr().Unmap())
				row, fix := "its routes have none for "+local.Addr().String(),
					fmt.Sprintf("ip route add %s via GATEWAY", local.Addr())
				var places []string
				if found {
					row, places = "its route: "+r.Text, []string{"route " + r.To}
					fix = "ip route del " + r.Text + ", if all that it discards is to be reached; or " + fix
				}
				if found && !isDiscard(r) {
					continue
				}
				findings = append(findings, record.Finding{
					Host: other.name, Places: onePlace(append(places, "from "+local.Addr().Unmap().String())...),
					Confidence: record.Certain,
					Summary: fmt.Sprintf(
						"%s has no route back to %s: what %s sends arrives, and the answers do not leave", other.name,
						local.Addr(), h.name),
					Evidence: []string{fmt.Sprintf("%s waits for an answer: %s to %s, SYN-SENT, sent again %d times",
						h.name, c.Local, c.Remote, c.Info.Retransmits), row},
					Fix:       on(other.name, false, fix+"; to confirm: ip route get "+local.Addr().String()),
					Reference: "RFC 1812, section 5.2; ip-route(8)",
				})
			}
		}
	}
	return findings
}

// emptyTables leaves out rules for all packets, which a lookup without a route in their table
// passes: strongSwan has one (220: from all lookup 220) before a tunnel is up.
func emptyTables(_ observed, h *host) *record.Finding {
	if h.missing(everyRoute) != "" {
		return nil
	}
	filled := map[int]bool{mainTable: true, localTable: true, defaultTable: true, 0: true}
	for _, r := range h.reading.Snapshot.Routes {
		filled[r.Table] = true
	}
	var rows []string
	for _, r := range h.reading.Snapshot.Rules {
		if !filled[r.Table] && !r.Other && r.From+r.To != "" && len(rows) < 6 {
			rows = append(rows, strings.Join(strings.Fields(fmt.Sprintf("%d: from %s %s lookup %d", r.Priority, r.From,
				r.To, r.Table)), " ")+", which has no routes")
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: "routing rules have no effect: their tables are empty", Evidence: rows, Reference: "ip-rule(8)",
		Fix: on(h.name, h.alone,
			"ip route add … table N with the routes that are missing (they go with their interface when it is set down), or ip rule del")}
}

func manyRules(_ observed, h *host) *record.Finding {
	const many = 100
	n := len(h.reading.Snapshot.Rules)
	if n <= many {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary:   "there are many routing rules, and each lookup that is not cached goes through them in order",
		Reference: "ip-rule(8)",
		Evidence:  []string{fmt.Sprintf("%d rules", n)},
		Fix:       on(h.name, h.alone, "fewer rules with longer tables, or a VRF for each group")}
}

func subnetsOverlap(_ observed, h *host) *record.Finding {
	list := h.attachments()
	for n, a := range list {
		for _, b := range list[n+1:] {
			for _, x := range a.networks {
				for _, y := range b.networks {
					if x == y || !x.Overlaps(y) || a.vrf != b.vrf {
						continue
					}
					wide, narrow := a, b
					if y.Bits() < x.Bits() {
						wide, narrow, x, y = b, a, y, x
					}
					return &record.Finding{Host: h.name, Confidence: record.Possible,
						Summary: fmt.Sprintf(
							"the subnet of %s contains that of %s: its hosts with these addresses are not reached by %s",
							wide.i.Interface, narrow.i.Interface, wide.i.Interface),
						Evidence:  []string{fmt.Sprintf("%s: %s; %s: %s", wide.i.Interface, x, narrow.i.Interface, y)},
						Reference: "RFC 4632; ip-route(8)",
						Fix: on(h.name, h.alone,
							"none if that is meant; otherwise subnets apart, or the right prefix lengths")}
				}
			}
		}
	}
	return nil
}

func staticNeighbour(_ observed, h *host) *record.Finding {
	var rows []string
	for _, n := range h.reading.Snapshot.Neighbours {
		if n.State == "PERMANENT" && parse(n.Address).Is4() && !parse(n.Address).IsMulticast() && n.MAC != "" &&
			len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s on %s: %s", n.Address, n.Interface, n.MAC))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "static neighbour entries: a replaced card or a moved address is not noticed", Evidence: rows,
		Reference: "ip-neighbour(8)",
		Fix:       on(h.name, h.alone, "ip neigh del ADDRESS dev DEV, unless it is meant")}
}
