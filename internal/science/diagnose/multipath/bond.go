package multipath

import (
	"fmt"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// A bond sends each flow by one member, which a hash chooses (device.Bond).

const bondReference = "Linux Documentation/networking/bonding.rst (xmit_hash_policy)"

// BondRules are about bonds.
var BondRules = []rule.Rule{
	{ID: "bond-hash",
		About: "Flows use fewer members of a bond than there are flows and members, because its hash has no ports. Needs a run.",
		Find:  rule.Each(bonds, bondHash)},
}

// bond is a bond that flows of a trial were sent by.
type bond struct {
	at    topology.End
	shape device.Shape
	flows []record.Flow
	by    []string // member of each flow
}

// bonds lists the bonds that flows took whose paths are known.
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

// distinct counts the different values of some flows.
func distinct[T comparable](flows []record.Flow, of func(record.Flow) T) int {
	seen := map[T]bool{}
	for _, f := range flows {
		seen[of(f)] = true
	}
	return len(seen)
}

// bondHash finds bonds whose hash leaves out the ports, so that the flows between fewer
// hosts or addresses than there are members leave members unused.
func bondHash(f facts.Trial, b *bond) *record.Finding {
	hashed := b.shape.Spread.Hashes()
	what, n := "hosts", distinct(b.flows, func(f record.Flow) [2]string { return [2]string{f.From, f.To} })
	if hashed.Addresses {
		what, n = "addresses", distinct(b.flows, func(f record.Flow) [2]string {
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
	var shares []string
	for _, member := range b.shape.Beneath {
		shares = append(shares, fmt.Sprintf("%s %d", member, used[member]))
	}
	finding := &record.Finding{
		Host: b.at.Node, Confidence: record.Certain,
		Summary: fmt.Sprintf(
			"%s places flows by %s (xmit_hash_policy %s), and so sends all of a pair of %s by one of %d members",
			b.at, hashed, b.shape.Policy, what, len(b.shape.Beneath)),
		Evidence: []string{
			fmt.Sprintf("of %s, %s sent by %s", unit.Plural(len(b.flows), "flow"), b.at, facts.Join(shares)),
			fmt.Sprintf("they have %s of %s", unit.Plural(n, "pair"), what),
		},
		Reference: bondReference,
	}
	for _, flow := range b.flows {
		if same, known := flow.AsPredicted(); !same || !known {
			finding.Confidence = record.Likely
		}
	}
	finding.Fix = []string{"on the switch " + b.at.Node + ": hash by IP addresses and ports (layer3+4)"}
	if h := f.Host(b.at.Node); h != nil {
		finding.Settings = []setting.Setting{
			{Host: h.Name, Link: &setting.Link{Interface: b.at.Interface, XmitHashPolicy: "layer3+4"}}}
		finding.Fix = append(fix.Commands(h, finding.Settings),
			"it places what this host sends; what is sent to it, the other end of the bond does")
	}
	return finding
}
