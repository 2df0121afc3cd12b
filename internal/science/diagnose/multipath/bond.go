package multipath

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// A bond sends each flow by one member, chosen by a hash (device.Bond).

// BondRules are about bonds.
var BondRules = []rule.Rule{
	{ID: cause.BondHash.Code, Find: rule.Each(bonds, bondHash)},
	{ID: cause.LACPApart.Code, Host: true, Parts: []string{"bonds"}, Find: apart},
	{ID: cause.BondMemberDown.Code, Host: true, Parts: []string{"bonds"}, Find: membersDown},
}

// membersDown finds bonds that work without some of their members, because these have no link.
func membersDown(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, b := range h.State.Bonds {
			finding := facts.Found(cause.BondMemberDown, h, record.Likely, cause.None{})
			finding.About.Interface = b.Interface
			for _, m := range b.Slaves {
				if m.Link == "down" && len(finding.Facts) < 6 {
					finding.With(h.Name, fact.MemberDown{Interface: m.Interface, Members: len(b.Slaves),
						Failures: m.LinkFailures}).At(record.Touch{OnLink: m.Interface})
				}
			}
			works := slices.ContainsFunc(b.Slaves, func(m netstate.BondMember) bool { return m.Link == "up" })
			if works && len(finding.Facts) > 0 && len(findings) < rule.MostFindings {
				findings = append(findings, *finding)
			}
		}
	}
	return findings
}

// apart finds members of 802.3ad bonds and of teams with LACP that carry nothing although their link is up,
// because LACP did not bring them into the active aggregator (drivers/net/bonding/bond_3ad.c).
func apart(f facts.Trial) (findings []record.Finding) {
	const noPartner = "00:00:00:00:00:00"
	for _, h := range f.Hosts {
		for _, b := range h.State.Bonds {
			finding := facts.Found(cause.LACPApart, h, record.Likely, cause.None{})
			finding.About.Interface = b.Interface
			for _, m := range b.Slaves {
				is := fact.ApartMember{Interface: m.Interface, Aggregator: m.Aggregator, Active: b.Aggregator,
					Ports:   b.Ports,
					Members: len(b.Slaves), Silent: m.PartnerMAC == noPartner,
					Churned: m.ActorChurn == "churned" || m.PartnerChurn == "churned"}
				elsewhere := m.Aggregator > 0 && b.Aggregator > 0 && m.Aggregator != b.Aggregator
				if b.Mode != "802.3ad" && b.Mode != "lacp" || m.Link != "up" ||
					!elsewhere && !is.Silent && !is.Churned ||
					len(finding.Facts) == 6 {
					continue
				}
				if elsewhere {
					finding.Confidence = record.Certain
				}
				finding.With(h.Name, is).At(record.Touch{OnLink: m.Interface})
			}
			if len(finding.Facts) > 0 && len(findings) < rule.MostFindings {
				findings = append(findings, *finding)
			}
		}
	}
	return findings
}

// bond is a bond that sent flows of a trial.
type bond struct {
	at    topology.End
	shape device.Shape
	flows []record.Flow
	by    []string // member of each flow
}

// bonds returns the bonds that sent flows, of the flows whose paths are known.
func bonds(f facts.Trial) (list []*bond) {
	for _, flow := range f.Trial.Flows {
		if !flow.Placed() {
			continue
		}
		// A path is an egress and an ingress by turns.
		for i, ends := 0, flow.Ends(); i < len(ends); i += 2 {
			at, shape, is := f.Topology.Device(ends[i])
			if !is || shape.Spread == nil || len(shape.Beneath) < 2 {
				continue
			}
			k := slices.IndexFunc(list, func(b *bond) bool { return b.at == at })
			if k < 0 {
				k, list = len(list), append(list, &bond{at: at, shape: shape})
			}
			list[k].flows, list[k].by = append(list[k].flows, flow), append(list[k].by, ends[i].Interface)
		}
	}
	return list
}

// distinct returns the number of different values that a function has for flows.
func distinct[T comparable](flows []record.Flow, of func(record.Flow) T) int {
	seen := map[T]bool{}
	for _, f := range flows {
		seen[of(f)] = true
	}
	return len(seen)
}

// bondHash finds bonds whose hash does not include ports, so that members stay unused because the
// flows have fewer different pairs of hosts or addresses than the bond has members.
func bondHash(f facts.Trial, b *bond) *record.Finding {
	hashed := b.shape.Spread.Hashes()
	n := distinct(b.flows, func(f record.Flow) [2]string { return [2]string{f.From, f.To} })
	if hashed.Addresses {
		n = distinct(b.flows, func(f record.Flow) [2]string {
			return [2]string{f.SourceAddr().String(), f.DestinationAddr().String()}
		})
	}
	used := map[string]int{}
	for _, member := range b.by {
		used[member]++
	}
	if hashed.Ports || len(used) >= min(len(b.shape.Beneath), len(b.flows)) || !f.HeldBack() {
		return nil
	}
	placed := fact.Placed{Bond: b.at.Interface, Flows: len(b.flows)}
	for _, member := range b.shape.Beneath {
		placed.By = append(placed.By, fact.PlacedBy{Interface: member, Flows: used[member]})
	}
	finding := &record.Finding{ID: cause.BondHash.Code, Host: b.at.Node, Confidence: record.Certain,
		Args: cause.Bond{Interface: b.at.Interface, Policy: b.shape.Policy, Addresses: hashed.Addresses,
			Members: len(b.shape.Beneath)}}
	finding.With(b.at.Node, placed, fact.Pairs{Pairs: n, Hosts: !hashed.Addresses})
	for _, flow := range b.flows {
		if same, known := flow.AsPredicted(); !same || !known {
			finding.Confidence = record.Likely
		}
	}
	if h := f.Host(b.at.Node); h != nil {
		finding.Fixed(record.Settings(setting.Setting{Host: h.Name,
			Link: &setting.Link{Interface: b.at.Interface, XmitHashPolicy: "layer3+4"}})...)
	}
	return finding
}
