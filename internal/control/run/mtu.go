package run

import (
	"fmt"
	"slices"

	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// topologies returns the topology of each treatment of a plan that differs from the study's.
func topologies(p *study.Plan) (list []*topology.Topology) {
	base := &p.Study.Topology
	for _, t := range p.Treatments {
		if over := base.With(t.Settings); over != base {
			list = append(list, over)
		}
	}
	return list
}

// MTUWarnings says which interfaces of a lab's layer-2 segments have different MTUs, since larger
// frames are dropped there and nothing tells the sender.
func MTUWarnings(p *study.Plan) (list []string) {
	for _, t := range append([]*topology.Topology{&p.Study.Topology}, topologies(p)...) {
		found := t.Narrowings()
		for len(found) > 0 {
			first := found[0]
			alike := func(n topology.Narrowing) bool { return n.MTU == first.MTU && n.Least == first.Least }
			n := len(found)
			found = slices.DeleteFunc(found, alike)
			text := fmt.Sprintf("%s sends packets of up to %d bytes (MTU), and %s, on the same layer-2 segment, takes "+
				"%d: larger ones are dropped there, and nothing tells the sender", first.From, first.MTU, first.At,
				first.Least)
			if more := n - len(found) - 1; more > 0 {
				text += fmt.Sprintf("; %s more like that", unit.Plural(more, "interface"))
			}
			if !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}
