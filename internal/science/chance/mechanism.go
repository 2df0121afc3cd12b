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

// mechanisms are the causes for which chance decides which of several paths a flow takes. Each
// function replaces the paths of a route by those that remain possible, and names what chance
// chooses among. To add a cause, such as the hash of a bond over its members, append it here.
var mechanisms = []func(*scene, *record.Flow, *route){hash, arp}

// path is one path that a flow may take, with what its frames carry besides IP on each link (wraps;
// nil: nothing).
type path struct {
	ends  []topology.End
	wraps []topology.Wrap
}

// route describes the paths that a flow may take.
type route struct {
	// intended has the paths of the topology, and paths those that the flow may take in the state
	// of the hosts.
	intended, paths []path
	// shares are the probabilities of the paths; nil: theory does not know them.
	shares []float64
	// by names what chance chooses among, and choices lists it. Empty: the path is the same in
	// every trial.
	by        string
	choices   []string
	capBps    float64
	frame     limits.Frame
	mtu       int // smallest MTU of the devices on the paths; 0: no device
	connected bool
}

// scene holds one trial, its topology, and caches of what its flows have in common.
type scene struct {
	trial    *record.Trial
	over     *topology.Topology
	ingress  facts.Ingress
	walked   map[pair]walked
	entered  map[pair][]string // the receiver's interfaces, by the peer and the address that it sends to
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

// once returns the cached value of a key, and calls find to compute it the first time.
func once[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, done := known[key]
	if !done {
		v = find()
		known[key] = v
	}
	return v
}

// route returns the paths that a flow may take; false: they are not known.
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

// hash lets a connection take any of several equal-cost paths where a host on the path hashes what
// changes with each connection, such as its port. Where a host hashes only addresses, or the ports
// were chosen to spread the flows, only the path that was taken remains.
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

// parting returns the index in ends at which the path leaves the other one.
func parting(ends, other []topology.End) int {
	at := 0
	for at < len(ends)-1 && at < len(other) && ends[at] == other[at] {
		at++
	}
	return at
}

// arp lets a flow reach any of its receiver's interfaces on one subnet whose MAC address the
// sender, or the last router, may have learned for the receiver's address. The route decides by
// which interface packets leave a host, so that part is not left to chance.
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

// by returns the path with everything from index from on replaced by segment.
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

// segment returns the path from a host's interface to an interface of another host; nil if there is
// none.
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
