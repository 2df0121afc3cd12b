package route

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/said"
)

// nexthopGroups finds groups of nexthop objects with members by which nothing gets through.
// An ordinary group leaves out members whose gateway is known not to answer; a resilient one
// does not (net/ipv4/nexthop.c), nor does either know while there is no entry for the gateway.
func nexthopGroups(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		unanswered := map[facts.Hop]string{} // states of gateways that do not answer
		for _, e := range h.Reading.Snapshot.Neighbours {
			if address, err := netip.ParseAddr(e.Address); err == nil && facts.Failed(e) {
				unanswered[facts.Hop{Dev: e.Interface, Via: address}] = e.State
			}
		}
		why, gateways := map[int]string{}, map[int]string{} // nothing gets through by a single next hop
		for _, n := range h.State.Nexthops {
			why[n.ID], gateways[n.ID] = deadNexthop(n, unanswered), n.Via
		}
		for _, group := range h.State.Nexthops {
			var rows, places []string
			dead, all := 0, 0
			rest := setting.NexthopObject{ID: group.ID}
			for _, m := range group.Group {
				weight := min(max(m.Weight, 1), 1<<16)
				all += weight
				if why[m.ID] == "" {
					rest.Group = append(rest.Group, setting.Member{ID: m.ID, Weight: weight})
					continue
				}
				dead += weight
				if gateway := gateways[m.ID]; gateway != "" {
					places = append(places, "via "+gateway)
				}
				rows = append(rows, fmt.Sprintf("member %d of group %d (weight %d): %s", m.ID, group.ID, weight,
					why[m.ID]))
			}
			if len(rows) == 0 {
				continue
			}
			confidence, does := record.Likely, "the group leaves it out only while it is known that it does not answer"
			if group.Resilient || dead == all {
				confidence, does = record.Certain, "what is hashed to it is lost"
			}
			rows = append(rows[:min(len(rows), 4)], fmt.Sprintf("that is %s of the weights; %s",
				facts.Percent(float64(dead)/float64(all)), does))
			routes := h.RoutesBy(group.ID)
			for _, r := range routes {
				places = append(places, "route "+r.To)
			}
			for _, r := range routes[:min(len(routes), 2)] {
				rows = append(rows, "route by it: "+r.Text)
			}
			finding := record.Finding{Host: h.Name, Places: facts.OnePlace(places...), Confidence: confidence,
				Evidence:  rows,
				Reference: "ip-nexthop(8); Linux Documentation/networking/nexthop-group-resilient.rst",
				Summary: fmt.Sprintf("group %d of nexthop objects has members by which nothing gets through",
					group.ID)}
			if len(rest.Group) == 0 || group.Resilient { // to replace one needs its buckets and timers
				finding.Fix = said.On(h.Name, h.Alone,
					fmt.Sprintf(
						"see why the gateway does not answer; meanwhile ip nexthop replace id %d group with members that do", group.ID))
			} else {
				finding.Fix, finding.Settings = fix.FixedBy(h,
					[]string{"see why the gateway does not answer; meanwhile the group without it:"},
					setting.Setting{Host: h.Name, Nexthop: &rest})
			}
			findings = append(findings, finding)
		}
	}
	return findings
}

// deadNexthop is why nothing gets through by a single next hop; empty: nothing is known.
func deadNexthop(n record.Nexthop, unanswered map[facts.Hop]string) string {
	for _, flag := range []string{"dead", "linkdown", "blackhole"} {
		if slices.Contains(n.Flags, flag) {
			return strings.TrimSpace("it has the flag " + flag + " " + n.Interface)
		}
	}
	via, err := netip.ParseAddr(n.Via)
	if err != nil || unanswered[facts.Hop{Dev: n.Interface, Via: via}] == "" {
		return ""
	}
	return fmt.Sprintf("its gateway %s on %s is %s", n.Via, n.Interface,
		unanswered[facts.Hop{Dev: n.Interface, Via: via}])
}
