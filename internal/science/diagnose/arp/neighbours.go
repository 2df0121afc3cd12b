package arp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

func neighbourFailed(f facts.Trial, h *facts.Host) *record.Finding {
	var rows, names []string
	var places [][]string
	for _, n := range h.Reading.Snapshot.Neighbours {
		if !facts.Failed(n) || len(places) == facts.MostPlaces || f.Filtered(h, n) {
			continue
		}
		if places = append(places, []string{n.Address, "via " + n.Address, "on " + n.Interface}); len(rows) < 6 {
			rows, names = append(rows, said.FailedRow(n)), append(names, n.Interface)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	confidence := record.Possible
	if drops := said.UnresolvedDrops(h, names...); len(drops) > 0 {
		confidence, rows = record.Likely, append(rows, drops...)
	}
	return &record.Finding{
		Host: h.Name, Places: places, Confidence: confidence,
		Summary:  "neighbours do not answer: they are off, or on another link or VLAN",
		Evidence: rows, Fix: said.On(h.Name, h.Alone, "see which of them should: arping ADDRESS"),
		Reference: "ip-neighbour(8); RFC 826",
	}
}

// neighbourTable finds tables that hold nearly as many entries as they can.
func neighbourTable(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, family := range []string{"ipv4", "ipv6"} {
			key := "net." + family + ".neigh.default.gc_thresh3"
			most := h.Number(key, 0)
			if n := h.State.Neighbours[family]; most > 0 && int64(n) >= most*9/10 {
				finding := record.Finding{
					Host: h.Name, Confidence: record.Certain, Summary: "the table of " + family +
						" neighbours is nearly full: further ones cannot be reached",
					Evidence:  []string{fmt.Sprintf("%d entries; %s is %d", n, key, most)},
					Reference: said.IPSysctl + " (gc_thresh3); arp(7)",
				}
				finding.Fix, finding.Settings = fix.Fixed(h, nil, key, fmt.Sprint(4*most), "net."+family+
					".neigh.default.gc_thresh2", fmt.Sprint(2*most))
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

// wrongNeighbours finds entries for an address of another host at a MAC address that is none
// of that host's.
func wrongNeighbours(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, n := range h.Reading.Snapshot.Neighbours {
			addr, err := netip.ParseAddr(n.Address)
			if err != nil || !facts.Resolved(n) || addr.IsLinkLocalUnicast() {
				continue
			}
			var owners []string
			right := false
			for _, other := range f.Hosts {
				p := other.Holder(addr)
				if p == nil || other == h || p.MAC == "" {
					continue
				}
				owners = append(owners, fmt.Sprintf("%s has it on %s, %s", other.Name, p.Name, p.MAC))
				right = right || slices.ContainsFunc(other.Interfaces, func(q *facts.Interface) bool {
					return q.MAC == strings.ToLower(n.MAC)
				})
			}
			confidence := record.Certain
			if answers := h.AnswersFor(n); len(owners) == 0 && n.State == "PERMANENT" && len(answers) > 0 &&
				!facts.Virtual(n.MAC) {
				confidence, owners = record.Likely, []string{"ARP requests for it are answered by " +
					facts.Join(answers)}
				right = slices.Contains(answers, strings.ToLower(n.MAC))
			}
			if len(owners) == 0 || right {
				continue
			}
			// What another machine has answered is the consequence of that (duplicate-address).
			kind := "ARP taught it that (" + n.State + ")"
			if n.State == "PERMANENT" {
				kind = "it is a static entry"
			} else if !slices.ContainsFunc(f.Hosts, func(o *facts.Host) bool { return o.Owner(n.MAC) != nil }) {
				confidence = record.Likely
			}
			findings = append(findings, record.Finding{
				Host: h.Name, Subject: n.Address, Confidence: confidence,
				Summary: fmt.Sprintf("%s sends packets for %s to a MAC address that is not that host's", h.Name,
					n.Address),
				Evidence: append([]string{fmt.Sprintf("neighbour %s on %s: %s, and %s", n.Address, n.Interface, n.MAC,
					kind)}, owners...),
				Fix:       said.On(h.Name, h.Alone, fmt.Sprintf("ip neigh del %s dev %s", n.Address, n.Interface)),
				Reference: "ip-neighbour(8); RFC 826",
			})
		}
	}
	return findings
}

// Rules about neighbours that do not answer.
var NeighbourRules = []rule.Rule{
	{ID: "neighbour-failed", Host: true, Parts: []string{"neighbours"},
		About: "Neighbour entries are FAILED or INCOMPLETE; likely where the kernel drops at least ten packets for it (NEIGH_FAILED, traced).",
		Find:  rule.Each(rule.EveryHost, neighbourFailed), Explains: []string{"syn-unanswered"}},
	{ID: "neighbour-table-full", Host: true, About: "The neighbour table has at least 90 % of gc_thresh3 entries.",
		Find: neighbourTable, Parts: []string{"neighbour tables", "parameters"}, SameCause: rule.SameSummary,
		Explains: []string{"neighbour-failed"}},
}

// Rules about entries of neighbours with wrong MAC addresses.
var WrongNeighbourRules = []rule.Rule{
	{ID: "wrong-neighbour", Parts: []string{"neighbours"}, Host: true,
		About: "A host's entry for an address of another host has a MAC address that is none of that host's interfaces; certain if it is a static entry or another read host's. Without that host's snapshot, a static entry (PERMANENT) has another one than answers ARP requests.",
		Find:  wrongNeighbours, SameCause: rule.SameSummary, Explains: []string{"static-neighbour", "other-host-frames",
			"syn-unanswered", "connect-fails"}},
}

// Rules about static entries of neighbours.
var StaticRules = []rule.Rule{
	{ID: "static-neighbour", Host: true, About: "There are static entries for IPv4 neighbours (PERMANENT).",
		Parts: []string{"neighbours"}, Find: rule.Each(rule.EveryHost, staticNeighbour)},
}

func staticNeighbour(_ facts.Trial, h *facts.Host) *record.Finding {
	var rows []string
	for _, n := range h.Reading.Snapshot.Neighbours {
		if n.State == "PERMANENT" && facts.Parse(n.Address).Is4() && !facts.Parse(n.Address).IsMulticast() &&
			n.MAC != "" &&
			len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s on %s: %s", n.Address, n.Interface, n.MAC))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "static neighbour entries: a replaced card or a moved address is not noticed", Evidence: rows,
		Reference: "ip-neighbour(8)",
		Fix:       said.On(h.Name, h.Alone, "ip neigh del ADDRESS dev DEV, unless it is meant")}
}
