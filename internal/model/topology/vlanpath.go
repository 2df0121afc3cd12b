package topology

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/lists"
)

// VLANMismatch is the point at which the frames from one interface to another are dropped because
// of their VLAN.
type VLANMismatch struct {
	In    End           // end at which they arrive and are dropped
	Out   End           // of a switch: the port through which they would leave; of a host: the zero End
	Tags  []device.VLAN // tags of the frames at In, outermost first
	Takes string        // description of the frames that In accepts
}

// VLANMismatch returns the point at which frames from one host's interface to another's are dropped
// on the links between them. It returns false if they arrive, or if no links lead there.
func (t *Topology) VLANMismatch(from, to End) (VLANMismatch, bool) {
	near, known := t.Host(from.Node)
	far, alsoKnown := t.Host(to.Node)
	if !known || !alsoKnown {
		return VLANMismatch{}, false
	}
	f := newIndex(t)
	var first VLANMismatch
	found := false
	for _, w := range near.lowers(from.Interface) {
		for _, v := range far.lowers(to.Interface) {
			path := f.wires(End{near.Name, w.name}, End{far.Name, v.name})
			if path == nil {
				continue
			}
			m, is := f.mismatch(path, w.tags, v, to)
			if !is {
				return VLANMismatch{}, false
			}
			if !found {
				first, found = m, true
			}
		}
	}
	return first, found
}

// wires returns the path of links between two ends, ignoring VLANs. Nil: there is none.
func (f index) wires(from, to End) []End {
	queue := []*pathNode{{end: from}}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		far, linked := f.far[node.end]
		switch {
		case !linked:
		case far == to:
			return (&pathNode{end: far, before: node}).path()
		case f.switches[far.Node] != nil && !node.passes(far.Node):
			for _, end := range f.ends[far.Node] {
				if end != far {
					queue = append(queue, &pathNode{end: end, before: &pathNode{end: far, before: node}})
				}
			}
		}
	}
	return nil
}

func (s *pathNode) path() (list []End) {
	for ; s != nil; s = s.before {
		list = append(list, s.end)
	}
	slices.Reverse(list)
	return list
}

// mismatch follows tags along a path to an interface of its last host.
func (f index) mismatch(path []End, tags []device.VLAN, as lower, to End) (VLANMismatch, bool) {
	for i := 1; i+1 < len(path); i += 2 {
		in, out := path[i], path[i+1]
		s := f.switches[in.Node]
		next, ok := s.forwards(in.Interface, tags, out.Interface)
		if !ok {
			return VLANMismatch{In: in, Out: out, Tags: tags, Takes: fmt.Sprintf("%s has %s, %s has %s", in,
				s.portVLANs(in.Interface), out, s.portVLANs(out.Interface))}, true
		}
		tags = next
	}
	last := path[len(path)-1]
	if slices.Equal(tags, as.tags) {
		return VLANMismatch{}, false
	}
	return VLANMismatch{In: last, Tags: tags, Takes: fmt.Sprintf("%s takes frames %s", to, Tagged(as.tags))}, true
}

// Tagged describes tags: "without a tag", "with tag 5", "with tags 5, 6".
func Tagged(tags []device.VLAN) string {
	switch len(tags) {
	case 0:
		return "without a tag"
	case 1:
		return fmt.Sprintf("with tag %d", tags[0])
	}
	return "with tags " + numbers(tags)
}

func numbers(tags []device.VLAN) string {
	list := lists.Map(tags, func(v device.VLAN) string { return fmt.Sprint(int(v)) })
	return strings.Join(list, ", ")
}

// portVLANs describes the VLANs of a port.
func (s *Switch) portVLANs(port string) string {
	untagged, tagged := s.VLANs(port)
	var list []string
	if untagged != 0 {
		list = append(list, fmt.Sprintf("VLAN %d without a tag", untagged))
	}
	if len(tagged) > 0 {
		list = append(list, "with a tag "+numbers(tagged))
	}
	return strings.Join(list, " and ")
}
