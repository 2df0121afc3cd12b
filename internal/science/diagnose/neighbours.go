package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// failedRow is an entry of a neighbour that does not answer, as evidence.
func failedRow(n record.Neighbour) string {
	return fmt.Sprintf("%s on %s: %s", n.Address, n.Interface, n.State)
}

// unresolvedDrops are the packets that the kernel dropped on interfaces because a neighbour did
// not answer, as evidence, where they are more than a few tries to reach a host that is off.
func (h *host) unresolvedDrops(names ...string) []string {
	const many = 10
	return h.tracedRows(func(d record.KernelDrop) bool {
		return d.Reason == "NEIGH_FAILED" && d.Packets >= many && slices.Contains(names, d.Interface)
	})
}

func neighbourFailed(f observed, h *host) *record.Finding {
	var rows, names []string
	var places [][]string
	for _, n := range h.reading.Snapshot.Neighbours {
		if !failed(n) || len(places) == mostPlaces || f.filtered(h, n) {
			continue
		}
		if places = append(places, []string{n.Address, "via " + n.Address, "on " + n.Interface}); len(rows) < 6 {
			rows, names = append(rows, failedRow(n)), append(names, n.Interface)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	confidence := record.Possible
	if drops := h.unresolvedDrops(names...); len(drops) > 0 {
		confidence, rows = record.Likely, append(rows, drops...)
	}
	return &record.Finding{
		Host: h.name, Places: places, Confidence: confidence,
		Summary:  "neighbours do not answer: they are off, or on another link or VLAN",
		Evidence: rows, Fix: on(h.name, h.alone, "see which of them should: arping ADDRESS"),
		Reference: "ip-neighbour(8); RFC 826",
	}
}

// neighbourTable finds tables that hold nearly as many entries as they can.
func neighbourTable(f observed) (findings []record.Finding) {
	for _, h := range f.hosts {
		for _, family := range []string{"ipv4", "ipv6"} {
			key := "net." + family + ".neigh.default.gc_thresh3"
			most := h.number(key, 0)
			if n := h.state.Neighbours[family]; most > 0 && int64(n) >= most*9/10 {
				finding := record.Finding{
					Host: h.name, Confidence: record.Certain, Summary: "the table of " + family +
						" neighbours is nearly full: further ones cannot be reached",
					Evidence:  []string{fmt.Sprintf("%d entries; %s is %d", n, key, most)},
					Reference: ipSysctl + " (gc_thresh3); arp(7)",
				}
				finding.Fix, finding.Settings = h.fixed(nil, key, fmt.Sprint(4*most), "net."+family+
					".neigh.default.gc_thresh2", fmt.Sprint(2*most))
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

// wrongNeighbours finds entries for an address of another host at a MAC address that is none
// of that host's.
func wrongNeighbours(f observed) (findings []record.Finding) {
	for _, h := range f.hosts {
		for _, n := range h.reading.Snapshot.Neighbours {
			addr, err := netip.ParseAddr(n.Address)
			if err != nil || !resolved(n) || addr.IsLinkLocalUnicast() {
				continue
			}
			var owners []string
			right := false
			for _, other := range f.hosts {
				p := other.holder(addr)
				if p == nil || other == h || p.mac == "" {
					continue
				}
				owners = append(owners, fmt.Sprintf("%s has it on %s, %s", other.name, p.name, p.mac))
				right = right || slices.ContainsFunc(other.netifs, func(q *netif) bool {
					return q.mac == strings.ToLower(n.MAC)
				})
			}
			confidence := record.Certain
			if answers := h.answersFor(n); len(owners) == 0 && n.State == "PERMANENT" && len(answers) > 0 &&
				!virtual(n.MAC) {
				confidence, owners = record.Likely, []string{"ARP requests for it are answered by " + join(answers)}
				right = slices.Contains(answers, strings.ToLower(n.MAC))
			}
			if len(owners) == 0 || right {
				continue
			}
			// What another machine has answered is the consequence of that (duplicate-address).
			kind := "ARP taught it that (" + n.State + ")"
			if n.State == "PERMANENT" {
				kind = "it is a static entry"
			} else if !slices.ContainsFunc(f.hosts, func(o *host) bool { return o.owner(n.MAC) != nil }) {
				confidence = record.Likely
			}
			findings = append(findings, record.Finding{
				Host: h.name, Subject: n.Address, Confidence: confidence,
				Summary: fmt.Sprintf("%s sends packets for %s to a MAC address that is not that host's", h.name,
					n.Address),
				Evidence: append([]string{fmt.Sprintf("neighbour %s on %s: %s, and %s", n.Address, n.Interface, n.MAC,
					kind)}, owners...),
				Fix:       on(h.name, h.alone, fmt.Sprintf("ip neigh del %s dev %s", n.Address, n.Interface)),
				Reference: "ip-neighbour(8); RFC 826",
			})
		}
	}
	return findings
}

// answersFor are the MAC addresses that answered ARP requests for a neighbour.
func (h *host) answersFor(n record.Neighbour) (macs []string) {
	for _, a := range h.reading.Snapshot.Answers {
		if a.Interface == n.Interface && a.Address == n.Address {
			macs = append(macs, strings.ToLower(a.MAC))
		}
	}
	return macs
}
