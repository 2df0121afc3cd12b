package topology

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/device"
)

// segment is the part of a path from a host's interface through links and switches to an interface
// of the next host. Without from and to it is a whole path so far.
type segment struct {
	from, to End    // interfaces with IP addresses: ends of links, or devices
	ends     []End  // of the links
	wraps    []Wrap // of each link

	arrived *pathNode // of a segment that has neither ends nor wraps yet
	shapers []Shaper  // of the first link
}

// PathToNextHop returns the part of a path from a host's interface through switches to the
// interface of the next host, for a packet with the next hop via: a gateway, or the destination.
// Nil: no link leads there.
func (t *Topology) PathToNextHop(from End, via netip.Addr) []End {
	if paths, _ := t.PathsToNextHop(from, via); len(paths) > 0 {
		return paths[0]
	}
	return nil
}

// PathsToNextHop returns all paths as PathToNextHop describes them, since a bond can have several,
// and the interface with IP addresses that receives the packet. Nil: no link leads there.
func (t *Topology) PathsToNextHop(from End, via netip.Addr) (paths [][]End, to End) {
	host, ok := t.Host(from.Node)
	if !ok {
		return nil, End{}
	}
	w := walk{t: t, index: newIndex(t)}
	segments, _ := w.segments(host, nextHop{out: from.Interface, to: via})
	for _, s := range segments {
		paths, to = append(paths, s.ends), s.to
	}
	return paths, to
}

// Adjacent reports whether a host has an interface on the same layer-2 segment as an
// interface of another host.
func (t *Topology) Adjacent(host string, far End) bool {
	f := newIndex(t)
	for _, s := range f.reached(lower{name: far.Interface}, far) {
		if s.node.end.Node == host {
			return true
		}
	}
	h, ok := t.Host(far.Node)
	return ok && slices.ContainsFunc(h.Interfaces, func(p Interface) bool {
		return slices.ContainsFunc(h.lowers(p.Name), func(w lower) bool {
			return len(w.tags) > 0 && w.name == far.Interface &&
				slices.ContainsFunc(f.reached(w, far), func(s arrival) bool { return s.node.end.Node == host })
		})
	})
}

// maxTunnels limits nested tunnels.
const maxTunnels = 4

// segments returns the paths through switches from a host's interface to the next host's, the shortest
// ones. The error is why a tunnel leads nowhere.
func (w *walk) segments(host *Host, h nextHop) (list []segment, err error) {
	for _, p := range host.Interfaces {
		if h.out != "" && p.Name != h.out {
			continue
		}
		from := End{host.Name, p.Name}
		var reached []segment
		if shape, _ := p.Shape(p.Name); shape.Tunnel != nil {
			reached, err = w.tunnel(host, from, shape)
		} else {
			reached = w.index.arrivals(host, from)
		}
		to := func(end End) []segment {
			return whole(slices.DeleteFunc(reached, func(s segment) bool { return s.to != end }))
		}
		for _, s := range reached {
			if h.end != (End{}) {
				if s.to == h.end {
					return to(s.to), nil
				}
			} else if next, ok := w.index.hosts[s.to.Node].Interface(s.to.Interface); ok && next.holds(h.to) {
				return to(s.to), nil
			}
		}
		// A link-local next hop, or a route with only an interface, matches no address in the file.
		// On a segment with two interfaces it refers to the other one.
		if h.end == (End{}) && len(reached) > 0 && (h.to.IsLinkLocalUnicast() || !p.onPrefix(h.to)) {
			if only := reached[0].to; !slices.ContainsFunc(reached, func(s segment) bool { return s.to != only }) {
				return whole(reached), nil
			}
		}
	}
	return nil, err
}

// tunnel returns the paths of a tunnel's packets to the other end.
func (w *walk) tunnel(host *Host, from End, shape device.Shape) (list []segment, err error) {
	remote, ok := w.t.Holder(shape.Tunnel.Remote)
	if !ok {
		return nil, fmt.Errorf("no interface holds %s, the other end of %s", shape.Tunnel.Remote, from)
	}
	far := w.index.hosts[remote.Node]
	i := slices.IndexFunc(far.Interfaces, func(p Interface) bool {
		other, _ := p.Shape(p.Name)
		return other.Kind == shape.Kind &&
			*other.Tunnel == device.Tunnel{Local: shape.Tunnel.Remote, Remote: shape.Tunnel.Local, ID: shape.Tunnel.ID}
	})
	if i < 0 {
		return nil, fmt.Errorf("%s has no %s with the identifier %d from %s to %s", far.Name, shape.Key,
			shape.Tunnel.ID, shape.Tunnel.Remote, shape.Tunnel.Local)
	}
	outer := walk{t: w.t, destination: shape.Tunnel.Remote, index: w.index, tunnels: w.tunnels + 1}
	if outer.tunnels > maxTunnels {
		return nil, fmt.Errorf("%s: more than %d tunnels inside each other", from, maxTunnels)
	}
	if err := outer.all(host, shape.Tunnel.Local); len(outer.paths) == 0 {
		return nil, fmt.Errorf("the tunnel of %s: %w", from, err)
	}
	for n, ends := range outer.paths {
		s := segment{from: from, to: End{far.Name, far.Interfaces[i].Name}, ends: ends}
		for k, wrap := range outer.wraps[n] {
			wrap.Tunnel += shape.Overhead
			wrap.Shapers = slices.Clone(wrap.Shapers)
			for i := range wrap.Shapers {
				wrap.Shapers[i].Tunnel += shape.Overhead
			}
			if p, _ := host.Interface(from.Interface); k == 0 && p.Shaper != nil {
				wrap.Shapers = append(wrap.Shapers, p.Shaper.at(host, p))
			}
			s.wraps = append(s.wraps, wrap)
		}
		list = append(list, s)
	}
	return list, nil
}

// segmentsFrom lists the paths from a host's interface to every interface of other hosts that
// receives its frames, nearest first.
func (f index) segmentsFrom(host *Host, from End) []segment { return whole(f.arrivals(host, from)) }

// arrivals lists the same without their ends and wraps: a segment has many hosts, of which a packet
// goes to one.
func (f index) arrivals(host *Host, from End) (list []segment) {
	for _, w := range host.lowers(from.Interface) {
		reached := f.reached(w, End{host.Name, w.name})
		list = slices.Grow(list, len(reached))
		for _, a := range reached {
			list = append(list, segment{from: from, to: a.top, arrived: a.node, shapers: w.shapers})
		}
	}
	return list
}

// whole sets the ends and wraps of segments.
func whole(list []segment) []segment {
	for i := range list {
		s := &list[i]
		if s.arrived == nil {
			continue
		}
		for n := s.arrived; n != nil; n = n.before {
			s.ends = append(s.ends, n.end)
			if len(s.ends)%2 == 0 { // where a link begins
				s.wraps = append(s.wraps, Wrap{From: n.end, VLANs: len(n.tags)})
			}
		}
		slices.Reverse(s.ends)
		slices.Reverse(s.wraps)
		s.wraps[0].Shapers, s.arrived = s.shapers, nil
	}
	return list
}

// pathNode is an end on a path with the previous one, and the tags of frames on the end's link.
type pathNode struct {
	end    End
	tags   []device.VLAN
	before *pathNode
}

// passes reports whether a path contains a switch.
func (s *pathNode) passes(node string) bool {
	for ; s != nil; s = s.before {
		if s.end.Node == node {
			return true
		}
	}
	return false
}

// links returns how many ends a path has, which are two of each link that it has passed, and one.
func (s *pathNode) links() (n int) {
	for ; s != nil; s = s.before {
		n++
	}
	return n
}

// mostArrivals limits how many ends of paths are listed. Of real switches each host has several.
const mostArrivals = 64 * maxPaths

// arrival is the end of a path at a host, and the interface there that receives the frames.
type arrival struct {
	node *pathNode
	top  End
}

// reached lists where frames arrive that leave through start, the end of a link, with the tags of w:
// at every interface of other hosts on the same layer-2 segment, nearest first. Where real switches have
// several paths, these are the shortest ones.
func (f index) reached(w lower, start End) (list []arrival) {
	queue := []*pathNode{{end: start, tags: w.tags}}
	away := map[string]int{} // length of the shortest path to each switch
	for len(queue) > 0 && len(list) < mostArrivals {
		node := queue[0]
		queue = queue[1:]
		far, linked := f.far[node.end]
		if !linked {
			continue
		}
		onward := &pathNode{far, node.tags, node}
		s := f.switches[far.Node]
		if s == nil {
			if host := f.hosts[far.Node]; host != nil {
				for _, name := range host.receivers(far.Interface, node.tags) {
					list = append(list, arrival{onward, End{far.Node, name}})
				}
			}
			continue
		}
		if least, known := away[far.Node]; known && node.links() > least || node.passes(far.Node) {
			continue
		}
		away[far.Node] = node.links()
		for _, end := range f.ends[far.Node] {
			if tags, ok := s.forwards(far.Interface, node.tags, end.Interface); ok && end != far {
				queue = append(queue, &pathNode{end, tags, onward})
			}
		}
	}
	return list
}
