package chance

import (
	"net/netip"
	"slices"
	"strconv"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/ecmp"
	"linerate/internal/science/limits"
)

// mechanisms leave open which of several paths a flow takes. Each replaces a route's paths
// by those that it leaves. A further one, such as the hash of a bond over its members, is
// an entry here.
var mechanisms = []func(*scene, *record.Flow, *route){hash, arp}

// route is what a flow may take.
type route struct {
	// intended are the paths of the topology, paths those that it may take in the
	// state of the hosts.
	intended, paths [][]topology.End
	// shares are the chances of the paths; nil: theory does not know them.
	shares []float64
	// by says among what chance chooses, and choices are these; empty: the path is the same
	// in every trial.
	by        string
	choices   []string
	capBps    float64
	frame     limits.Frame
	connected bool
}

// scene is one trial and its topology, with what flows have in common.
type scene struct {
	trial    *record.Trial
	over     *topology.Topology
	ingress  diagnose.Ingress
	walked   map[pair]walked
	entered  map[pair][]string // interfaces, by the peer and the address that it sends to
	segments map[[2]topology.End][]topology.End
}

type pair struct {
	from                string
	source, destination netip.Addr
}

type walked struct {
	paths  [][]topology.End
	shares []float64
}

func newScene(t *record.Trial, over *topology.Topology) *scene {
	return &scene{t, over, diagnose.NewIngress(*t, over), map[pair]walked{}, map[pair][]string{}, map[[2]topology.End][]topology.End{}}
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
		w.paths, w.shares, _ = s.over.PathShares(key.from, key.source, key.destination)
		return w
	})
	r := route{intended: w.paths, paths: w.paths, shares: w.shares, capBps: f.CapBps(), frame: limits.FrameOf(*f), connected: f.Connected && f.Error == ""}
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
	draws := func(path, other []topology.End) bool {
		at := parting(path, other)
		if _, bond, is := s.over.Device(path[at]); is && bond.Spread != nil {
			return bond.Spread.Hashes().Ports
		}
		_, ok := s.over.Host(path[at].Node)
		return ok && f.SourcePorts != flow.PortsEven && ecmp.PerConnection(s.trial, s.over, path[at].Node, *f)
	}
	var paths [][]topology.End
	var shares []float64
	for i, path := range r.paths {
		if taken := f.Ends(); !f.Placed() || slices.Equal(path, taken) || draws(path, taken) {
			paths, shares = append(paths, path), append(shares, r.shares[i])
		}
	}
	if len(paths) > 0 {
		r.paths, r.shares = paths, shares
	}
	first := r.paths[0]
	if slices.ContainsFunc(r.paths[1:], func(path []topology.End) bool { return draws(path, first) }) {
		r.open("equal-cost paths")
		for i := range r.paths {
			r.choices = append(r.choices, strconv.Itoa(i))
		}
	}
}

// parting is where a path leaves another one.
func parting(path, other []topology.End) int {
	at := 0
	for at < len(path)-1 && at < len(other) && path[at] == other[at] {
		at++
	}
	return at
}

// arp leaves a flow any of its receiver's interfaces on one subnet whose MAC address the
// sender, or the last router, may have learned for the receiver's address. Where its
// packets leave a host is the route's matter, and no chance.
func arp(s *scene, f *record.Flow, r *route) {
	var paths [][]topology.End
	var choices []string
	for _, path := range r.paths {
		out := len(path) - 2
		for out > 0 && !s.isHost(path[out].Node) {
			out--
		}
		peer := path[out].Node
		names := once(s.entered, pair{from: peer, destination: f.DestinationAddr()}, func() []string {
			return s.ingress.Interfaces(peer, f.To, f.DestinationAddr())
		})
		found := false
		for _, name := range names {
			if segment := s.segment(path[out], topology.End{Node: f.To, Interface: name}); segment != nil {
				paths, found = append(paths, slices.Concat(path[:out], segment)), true
				if len(names) > 1 {
					choices = append(choices, name)
				}
			}
		}
		if !found {
			paths = append(paths, path)
		}
	}
	if len(choices) > 1 {
		r.open("interfaces of " + f.To + " by ARP")
		r.choices, r.shares = append(r.choices, choices...), nil
	}
	r.paths = paths
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
