package chance

import (
	"net/netip"
	"slices"
	"strconv"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/ecmp"
	"linerate/internal/science/limits"
)

// mechanisms leave open which of several paths a flow takes. Each replaces a route's paths
// by those that it leaves. A further one, such as the hash of a bond over its members, is
// an entry here.
var mechanisms = []func(*scene, *record.Flow, *route){hash, arp}

// path is one that a flow may take, and what its frames have beside IP on each link; nil:
// nothing.
type path struct {
	ends  []topology.End
	wraps []topology.Wrap
}

// route is what a flow may take.
type route struct {
	// intended are the paths of the topology, paths those that it may take in the
	// state of the hosts.
	intended, paths []path
	// shares are the chances of the paths; nil: theory does not know them.
	shares []float64
	// by says among what chance chooses, and choices are these; empty: the path is the same
	// in every trial.
	by        string
	choices   []string
	capBps    float64
	frame     limits.Frame
	mtu       int // smallest of the devices on the paths; 0: none
	connected bool
}

// scene is one trial and its topology, with what flows have in common.
type scene struct {
	trial    *record.Trial
	over     *topology.Topology
	ingress  facts.Ingress
	walked   map[pair]walked
	entered  map[pair][]string // interfaces, by the peer and the address that it sends to
	segments map[[2]topology.End][]topology.End
}

type pair struct {
	from                string
	source, destination netip.Addr
}

type walked struct {
	paths  []path
	shares []float64
	mtu    int
}

func newScene(t *record.Trial, over *topology.Topology) *scene {
	return &scene{t, over, facts.NewIngress(*t, over), map[pair]walked{}, map[pair][]string{},
		map[[2]topology.End][]topology.End{}}
}

// once finds what is asked for again and again.
func once[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, done := known[key]
	if !done {
		v = find()
		known[key] = v
	}
	return v
}

// route finds what a flow may take; false: its paths are not known.
func (s *scene) route(f *record.Flow) (route, bool) {
	key := pair{f.From, f.SourceAddr(), f.DestinationAddr()}
	w := once(s.walked, key, func() (w walked) {
		paths, shares, _ := s.over.PathShares(key.from, key.source, key.destination)
		wraps, mtu := s.over.Wraps(key.from, key.source, key.destination)
		for i, ends := range paths {
			p := path{ends: ends}
			if wraps != nil {
				p.wraps = wraps[i]
			}
			w.paths = append(w.paths, p)
		}
		w.shares, w.mtu = shares, mtu
		return w
	})
	r := route{intended: w.paths, paths: w.paths, shares: w.shares, capBps: f.CapBps(), frame: limits.FrameOf(*f),
		mtu: w.mtu, connected: f.Connected && f.Error == ""}
	for _, leave := range mechanisms {
		leave(s, f, &r)
	}
	return r, len(w.paths) > 0
}

// hash leaves a connection any of several equal-cost paths where a host on the path hashes
// what is drawn for each connection, such as its port. Where a host hashes addresses alone,
// or the ports were chosen to spread the flows, the path is the one that was taken.
func hash(s *scene, f *record.Flow, r *route) {
	if len(r.paths) < 2 || r.shares == nil {
		return
	}
	draws := func(ends, other []topology.End) bool {
		at := parting(ends, other)
		if _, bond, is := s.over.Device(ends[at]); is && bond.Spread != nil {
			return bond.Spread.Hashes().Ports
		}
		_, ok := s.over.Host(ends[at].Node)
		return ok && f.SourcePorts != flow.PortsEven && ecmp.PerConnection(s.trial, s.over, ends[at].Node, *f)
	}
	var paths []path
	var shares []float64
	for i, p := range r.paths {
		if taken := f.Ends(); !f.Placed() || slices.Equal(p.ends, taken) || draws(p.ends, taken) {
			paths, shares = append(paths, p), append(shares, r.shares[i])
		}
	}
	if len(paths) > 0 {
		r.paths, r.shares = paths, shares
	}
	first := r.paths[0].ends
	if slices.ContainsFunc(r.paths[1:], func(p path) bool { return draws(p.ends, first) }) {
		r.open("equal-cost paths")
		for i := range r.paths {
			r.choices = append(r.choices, strconv.Itoa(i))
		}
	}
}

// parting is where a path leaves another one.
func parting(ends, other []topology.End) int {
	at := 0
	for at < len(ends)-1 && at < len(other) && ends[at] == other[at] {
		at++
	}
	return at
}

// arp leaves a flow any of its receiver's interfaces on one subnet whose MAC address the
// sender, or the last router, may have learned for the receiver's address. Where its
// packets leave a host is the route's matter, and no chance.
func arp(s *scene, f *record.Flow, r *route) {
	var paths []path
	var choices []string
	for _, p := range r.paths {
		out := len(p.ends) - 2
		for out > 0 && !s.isHost(p.ends[out].Node) {
			out--
		}
		peer := p.ends[out].Node
		names := once(s.entered, pair{from: peer, destination: f.DestinationAddr()}, func() []string {
			return s.ingress.Interfaces(peer, f.To, f.DestinationAddr())
		})
		found := false
		for _, name := range names {
			if segment := s.segment(p.ends[out], topology.End{Node: f.To, Interface: name}); segment != nil {
				paths, found = append(paths, p.by(segment, out)), true
				if len(names) > 1 {
					choices = append(choices, name)
				}
			}
		}
		if !found {
			paths = append(paths, p)
		}
	}
	if len(choices) > 1 {
		r.open("interfaces of " + f.To + " by ARP")
		r.choices, r.shares = append(r.choices, choices...), nil
	}
	r.paths = paths
}

// by is the path with another segment behind the device that it leaves an end by.
func (p path) by(segment []topology.End, from int) path {
	if slices.Equal(segment, p.ends[from:]) {
		return p
	}
	other := path{ends: slices.Concat(p.ends[:from], segment)}
	if p.wraps != nil {
		other.wraps = slices.Clip(p.wraps[:from/2+1])
		for i := 2; i < len(segment); i += 2 {
			other.wraps = append(other.wraps, topology.Wrap{From: segment[i]})
		}
	}
	return other
}

func (s *scene) isHost(node string) bool {
	_, ok := s.over.Host(node)
	return ok
}

// segment is the path from a host's interface to another host's; nil: there is none.
func (s *scene) segment(from, to topology.End) []topology.End {
	return once(s.segments, [2]topology.End{from, to}, func() []topology.End {
		host, _ := s.over.Host(to.Node)
		if p, ok := host.Interface(to.Interface); ok && len(p.Addresses) > 0 {
			return s.over.PathToNextHop(from, p.Addresses[0].First)
		}
		return nil
	})
}

func (r *route) open(by string) {
	if r.by != "" {
		by = r.by + " and " + by
	}
	r.by = by
}
