package arp

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

func neighbourFailed(f facts.Trial, h *facts.Host) *record.Finding {
	finding := facts.Found(cause.NeighbourFailed, h, record.Possible, cause.None{})
	var names []string
	for _, n := range h.Reading.Snapshot.Neighbours {
		if !facts.Failed(n) || len(finding.Touches) == facts.MostPlaces || f.Filtered(h, n) {
			continue
		}
		address := facts.Parse(n.Address)
		finding.At(record.Touch{Address: address}, record.Touch{Via: address}, record.Touch{OnLink: n.Interface})
		if len(names) < 6 {
			names = append(names, n.Interface)
			finding.With(h.Name, facts.FailedEntry(n))
		}
	}
	if names == nil {
		return nil
	}
	if drops := h.Unresolved(names...); len(drops) > 0 {
		finding.Confidence = record.Likely
		finding.With(h.Name, drops...)
	}
	return finding
}

// neighbourTable finds neighbour tables that are at least 90 % full.
func neighbourTable(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, family := range []string{"ipv4", "ipv6"} {
			parameter := func(n int) string { return fmt.Sprintf("net.%s.neigh.default.gc_thresh%d", family, n) }
			key, n := parameter(3), h.State.Neighbours[family]
			if most := h.Number(key, 0); most > 0 && int64(n) >= most*9/10 {
				findings = append(findings, *facts.Found(cause.NeighbourTableFull, h, record.Certain,
					cause.Family{Family: family}).With(h.Name, fact.TableEntries{Entries: n, Key: key, Most: most}).
					Fixed(fix.Parameter(h, key, fmt.Sprint(4*most), parameter(2), fmt.Sprint(2*most))...))
			}
		}
	}
	return findings
}

// wrongNeighbours finds neighbour entries whose MAC address does not belong to the host that has
// the address.
func wrongNeighbours(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, n := range h.Reading.Snapshot.Neighbours {
			addr, err := netip.ParseAddr(n.Address)
			if err != nil || !facts.Resolved(n) || addr.IsLinkLocalUnicast() {
				continue
			}
			finding := facts.Found(cause.WrongNeighbour, h, record.Certain, cause.None{}).With(h.Name,
				fact.WrongEntry{Neighbour: fact.Neighbour{Address: n.Address, Interface: n.Interface, MAC: n.MAC,
					State: n.State}})
			finding.About.Address = addr
			right := false
			for _, other := range f.Hosts {
				p := other.Holder(addr)
				if p == nil || other == h || p.MAC == "" {
					continue
				}
				finding.With(other.Name, fact.Holder{Interface: p.Name, MAC: p.MAC})
				right = right || slices.ContainsFunc(other.Interfaces, func(q *facts.Interface) bool {
					return q.MAC == strings.ToLower(n.MAC)
				})
			}
			if answers := h.AnswersFor(n); len(finding.Facts) == 1 && n.State == "PERMANENT" && len(answers) > 0 &&
				!facts.Virtual(n.MAC) {
				finding.Confidence = record.Likely
				finding.With(h.Name, fact.AnsweredBy{MACs: answers})
				right = slices.Contains(answers, strings.ToLower(n.MAC))
			}
			if len(finding.Facts) == 1 || right {
				continue
			}
			// What another machine has answered is the consequence of that (duplicate-address).
			if n.State != "PERMANENT" && !slices.ContainsFunc(f.Hosts, func(o *facts.Host) bool {
				return o.Owner(n.MAC) != nil
			}) {
				finding.Confidence = record.Likely
			}
			findings = append(findings, *finding.Fixed(record.Step{Host: h.Name,
				Command: []string{"ip", "neigh", "del", n.Address, "dev", n.Interface}}))
		}
	}
	return findings
}

// NeighbourRules are about neighbours that do not answer, and neighbour tables that are nearly
// full.
var NeighbourRules = []rule.Rule{
	{ID: cause.NeighbourFailed.Code, Host: true, Parts: []string{"neighbours"},
		Find: rule.Each(rule.EveryHost, neighbourFailed), Explains: []string{"syn-unanswered"}},
	{ID: cause.NeighbourTableFull.Code, Host: true, Find: neighbourTable,
		Parts: []string{"neighbour tables",
			facts.Parameters("net.ipv4.neigh.default.gc_thresh3", "net.ipv6.neigh.default.gc_thresh3")},
		Explains: cause.Codes(cause.NeighbourFailed)},
}

// WrongNeighbourRules are about neighbour entries with wrong MAC addresses.
var WrongNeighbourRules = []rule.Rule{
	{ID: cause.WrongNeighbour.Code, Parts: []string{"neighbours"}, Host: true, Find: wrongNeighbours,
		Explains: append(cause.Codes(cause.StaticNeighbour, cause.ConnectFails), "other-host-frames",
			"syn-unanswered")},
}

// StaticRules are about static neighbour entries.
var StaticRules = []rule.Rule{
	{ID: cause.StaticNeighbour.Code, Host: true, Parts: []string{"neighbours"},
		Find: rule.Each(rule.EveryHost, staticNeighbour)},
}

// groupMAC reports whether a MAC address is of several machines, such as those of broadcasts in tables of Windows.
func groupMAC(text string) bool {
	mac, err := net.ParseMAC(text)
	return err == nil && mac[0]&1 == 1
}

func staticNeighbour(_ facts.Trial, h *facts.Host) *record.Finding {
	finding := facts.Found(cause.StaticNeighbour, h, record.Possible, cause.None{})
	for _, n := range h.Reading.Snapshot.Neighbours {
		if n.State == "PERMANENT" && facts.Parse(n.Address).Is4() && !facts.Parse(n.Address).IsMulticast() &&
			n.MAC != "" && !groupMAC(n.MAC) && len(finding.Facts) < 6 {
			finding.With(h.Name, fact.Neighbour{Address: n.Address, Interface: n.Interface, MAC: n.MAC, State: n.State})
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return finding
}
