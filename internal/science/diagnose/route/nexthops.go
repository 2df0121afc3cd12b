package route

import (
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
)

// nexthopGroups finds groups of nexthop objects with members that let nothing through. An ordinary
// group leaves out members whose gateway is known not to answer; a resilient group does not
// (net/ipv4/nexthop.c). Neither leaves out a member while there is no neighbour entry for its
// gateway.
func nexthopGroups(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		unanswered := map[facts.Hop]string{} // states of gateways that do not answer
		for _, e := range h.Reading.Snapshot.Neighbours {
			if address, err := netip.ParseAddr(e.Address); err == nil && facts.Failed(e) {
				unanswered[facts.Hop{Dev: e.Interface, Via: address}] = e.State
			}
		}
		dead := map[int]*fact.DeadMember{} // nothing gets through by a single next hop
		for _, n := range h.State.Nexthops {
			dead[n.ID] = deadNexthop(n, unanswered)
		}
		for _, group := range h.State.Nexthops {
			var members []any
			var places []record.Touch
			lost, all := 0, 0
			rest := setting.NexthopObject{ID: group.ID}
			for _, m := range group.Group {
				weight := min(max(m.Weight, 1), 1<<16)
				all += weight
				if dead[m.ID] == nil {
					rest.Group = append(rest.Group, setting.Member{ID: m.ID, Weight: weight})
					continue
				}
				lost += weight
				is := *dead[m.ID]
				is.Group, is.Weight = group.ID, weight
				members = append(members, is)
				if via := facts.Parse(is.Gateway); via.IsValid() {
					places = append(places, record.Touch{Via: via})
				}
			}
			if members == nil {
				continue
			}
			certain := group.Resilient || lost == all
			finding := facts.Found(cause.NexthopDead, h, record.Likely, cause.Group{ID: group.ID}).
				With(h.Name, members[:min(len(members), 4)]...).
				With(h.Name, fact.DeadShare{Share: float64(lost) / float64(all), Lost: certain})
			if certain {
				finding.Confidence = record.Certain
			}
			for i, r := range h.RoutesBy(group.ID) {
				if places = append(places, facts.To(r)...); i < 2 {
					finding.With(h.Name, facts.Route(r, fact.ByGroup))
				}
			}
			if len(rest.Group) > 0 && !group.Resilient { // to replace one needs its buckets and timers
				finding.Fixed(record.Settings(setting.Setting{Host: h.Name, Nexthop: &rest})...)
			}
			findings = append(findings, *finding.At(facts.OneTouch(places...)...))
		}
	}
	return findings
}

// deadNexthop returns why nothing gets through by a single next hop; nil: there is no sign of that.
func deadNexthop(n netstate.Nexthop, unanswered map[facts.Hop]string) *fact.DeadMember {
	is := fact.DeadMember{ID: n.ID, Interface: n.Interface, Gateway: n.Via}
	for _, flag := range []string{"dead", "linkdown", "blackhole"} {
		if slices.Contains(n.Flags, flag) {
			is.Flag = flag
			return &is
		}
	}
	via, err := netip.ParseAddr(n.Via)
	if is.State = unanswered[facts.Hop{Dev: n.Interface, Via: via}]; err != nil || is.State == "" {
		return nil
	}
	return &is
}
