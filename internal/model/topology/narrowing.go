package topology

import "slices"

// Narrowing is an interface of a host that linerate makes whose largest packets are too large for
// another interface of the same layer-2 segment. Nothing there can fragment them or tell the
// sender.
type Narrowing struct {
	From  End // the host's interface, which can be a device
	First End // the end of a link by which its frames leave
	MTU   int // of From
	At    End // the interface with the smallest MTU: a host's or a port
	Least int // the MTU of At
}

// Narrowings lists every such interface, with the smallest MTU that its frames can meet.
func (t *Topology) Narrowings() (list []Narrowing) {
	mtus, sizes := make(map[End]int, 2*len(t.Links)), map[int]bool{}
	for _, l := range t.Links {
		for _, end := range []End{l.From, l.To} {
			mtus[end] = l.Towards(end).MTU
			sizes[mtus[end]] = true
		}
	}
	if len(sizes) < 2 {
		return nil
	}
	index := newIndex(t)
	for i := range t.Hosts {
		h := &t.Hosts[i]
		for _, p := range h.Interfaces {
			from := End{h.Name, p.Name}
			own, linked := mtus[from]
			if shape, is := p.Shape(p.Name); len(h.Via) > 0 || is && shape.Tunnel != nil {
				continue
			} else if !linked {
				own = t.DeviceMTU(from)
			}
			firsts := map[End]int{} // indexes into list
			for _, s := range index.segmentsFrom(h, from) {
				for _, end := range s.ends[1:] {
					mtu, first := mtus[end], s.ends[0]
					if k, known := firsts[first]; mtu >= own || known && mtu >= list[k].Least {
						continue
					} else if known {
						list = slices.Delete(list, k, k+1)
					}
					firsts[first] = len(list)
					list = append(list, Narrowing{from, first, own, end, mtu})
				}
			}
		}
	}
	return list
}
