package topology

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/setting"
)

// maxPaths bounds the number of paths listed: they multiply with the tiers of a fabric,
// and no limit or figure needs more.
const maxPaths = 1024

// Paths lists every intended path of a packet that leaves host from, with the given
// source address (the zero Addr: unset), for destination. A path is a list of ends: the
// sender's interface, then the ingress and egress port of each switch, the ingress and
// egress interface of each router, and last the receiver's interface.
//
// Intended is what the topology is designed for, not what a kernel will do: a packet
// leaves through the interface that has its source address if the destination is
// reachable there, otherwise through an interface with the destination's prefix,
// otherwise by the routes. Several next hops make several paths.
func (t *Topology) Paths(from string, source, destination netip.Addr) ([][]End, error) {
	paths, _, err := t.PathShares(from, source, destination)
	return paths, err
}

// PathShares lists Paths and the share of all packets' hashes that each gets, by the weights
// of the next hops along it. shares is nil where some host has several routes to the
// destination: no hash chooses among these.
func (t *Topology) PathShares(from string, source, destination netip.Addr) (paths [][]End, shares []float64, err error) {
	host, ok := t.Host(from)
	if !ok {
		return nil, nil, fmt.Errorf("no host %q to send from", from)
	}
	w := walk{t: t, destination: destination, index: newIndex(t)}
	if host.holds(destination) {
		err = fmt.Errorf("%s is an address of %s itself, and such traffic never leaves the host", destination, from)
	} else if len(t.holders(destination)) == 0 {
		err = fmt.Errorf("no interface holds %s", destination)
	} else {
		err = w.from(host, source, nil, 1)
	}
	if len(w.paths) > 0 {
		if w.severalRoutes {
			w.shares = nil
		}
		return w.paths, w.shares, nil
	}
	if source.IsValid() {
		from += " (" + source.String() + ")"
	}
	return nil, nil, fmt.Errorf("no path from %s to %s: %w", from, destination, err)
}

// walk collects the paths to one destination, and the share of each.
type walk struct {
	t             *Topology
	destination   netip.Addr
	index         index
	paths         [][]End
	shares        []float64
	severalRoutes bool // at some host
}

// index finds hosts, switches and ends by name in constant time. A name that a host and a
// switch share is the host's.
type index struct {
	hosts    map[string]*Host
	switches map[string]*Switch
	far      map[End]End
	ends     map[string][]End // of a switch, in the order of the links
}

func newIndex(t *Topology) index {
	p := index{make(map[string]*Host, len(t.Hosts)), map[string]*Switch{}, make(map[End]End, 2*len(t.Links)), map[string][]End{}}
	for i := range t.Hosts {
		p.hosts[t.Hosts[i].Name] = &t.Hosts[i]
	}
	for i, s := range t.Switches {
		if p.hosts[s.Name] == nil {
			p.switches[s.Name] = &t.Switches[i]
		}
	}
	for _, l := range t.Links {
		p.far[l.From], p.far[l.To] = l.To, l.From
		for _, end := range []End{l.From, l.To} {
			if p.switches[end.Node] != nil {
				p.ends[end.Node] = append(p.ends[end.Node], end)
			}
		}
	}
	return p
}

// nextHop is one candidate for leaving a host: through an interface, to an address or to an interface
// that the file names.
type nextHop struct {
	out    string // empty: any interface through which it is reachable
	to     netip.Addr
	end    End
	weight int // among the next hops of its route; 0: 1
}

func (h nextHop) share(of []nextHop) float64 {
	sum := 0
	for _, o := range of {
		sum += max(1, o.weight)
	}
	return float64(max(1, h.weight)) / float64(sum)
}

// from continues a path at a host, the sender or a router, which gets a share of the
// packets. The error is why no path was found.
func (w *walk) from(host *Host, source netip.Addr, sofar []End, share float64) error {
	routes := host.bestRoutes(source, w.destination)
	if len(routes) == 0 {
		return fmt.Errorf("%s has neither an interface on its prefix nor a route", host.Name)
	}
	w.severalRoutes = w.severalRoutes || len(routes) > 1
	var hops []nextHop
	for _, r := range routes {
		hops = append(hops, r.nextHops...)
	}
	var reasons []error
	for _, h := range hops {
		if len(w.paths) >= maxPaths {
			break
		}
		if err := w.follow(host, h, sofar, share*h.share(hops)); err != nil {
			reasons = append(reasons, err)
		}
	}
	return errors.Join(slices.Compact(reasons)...)
}

// follow follows one next hop and continues at the host that it reaches.
func (w *walk) follow(host *Host, h nextHop, sofar []End, share float64) error {
	segment := w.index.pathToNextHop(host, h)
	if segment == nil {
		return fmt.Errorf("%s is not reachable from %s", h.target(), End{host.Name, h.out})
	}
	path := slices.Concat(sofar, segment)
	arrived := path[len(path)-1]
	next := w.index.hosts[arrived.Node]
	if next.holds(w.destination) {
		w.paths, w.shares = append(w.paths, path), append(w.shares, share)
		return nil
	}
	if !next.Forward {
		return fmt.Errorf("%s does not forward (forward: true would make it a router)", next.Name)
	}
	if slices.ContainsFunc(sofar, func(e End) bool { return e.Node == next.Name }) {
		return fmt.Errorf("the routes lead back to %s", next.Name)
	}
	return w.from(next, netip.Addr{}, path, share)
}

func (h nextHop) target() string {
	if h.end != (End{}) {
		return h.end.String()
	}
	return h.to.String()
}

// bestRoutes chooses the routes as Paths documents.
func (h *Host) bestRoutes(source, destination netip.Addr) []route {
	holder := ""
	if source.IsValid() {
		for _, p := range h.Interfaces {
			if p.holds(source) {
				holder = p.Name
			}
		}
	}
	for _, table := range h.tables(source, destination) {
		entries := h.routesTo(table, destination)
		if holder != "" {
			own := slices.DeleteFunc(slices.Clone(entries), func(e route) bool { return !e.leavesThrough(holder) })
			if len(own) > 0 {
				return best(own)
			}
		}
		if len(entries) > 0 {
			return best(entries)
		}
	}
	return nil
}

// tables lists the routing tables for a lookup: those of the rules that match, by
// priority, then the main table, 0.
func (h *Host) tables(source, destination netip.Addr) []int {
	rules := slices.Clone(h.Rules)
	slices.SortStableFunc(rules, func(a, b setting.Rule) int { return a.Priority - b.Priority })
	var tables []int
	for _, r := range rules {
		_, from := match(r.From, source)
		_, to := match(r.To, destination)
		if (r.From == "" || from) && (r.To == "" || to) {
			tables = append(tables, mainTable(r.Table))
		}
	}
	return append(tables, 0)
}

// route is a candidate of a route lookup.
type route struct {
	bits, metric int
	nextHops     []nextHop
}

func (e route) leavesThrough(iface string) bool {
	return slices.ContainsFunc(e.nextHops, func(h nextHop) bool { return h.out == iface })
}

// best returns the routes with the longest prefix and, among those, the lowest metric.
// Interfaces that share a prefix are equally intended.
func best(entries []route) []route {
	first := slices.MinFunc(entries, func(a, b route) int {
		if a.bits != b.bits {
			return b.bits - a.bits
		}
		return a.metric - b.metric
	})
	return slices.DeleteFunc(entries, func(e route) bool { return e.bits != first.bits || e.metric != first.metric })
}

// routesTo lists the routes of one table that match a destination.
func (h *Host) routesTo(table int, destination netip.Addr) []route {
	var entries []route
	if table == 0 {
		for _, p := range h.Interfaces {
			if a, ok := find(p.Addresses, func(a *Address) bool { return a.onPrefix(destination) }); ok {
				entries = append(entries, route{a.Bits, 0, []nextHop{{out: p.Name, to: destination}}})
			}
		}
	}
	for _, r := range h.Routes {
		if mainTable(r.Table) != table {
			continue
		}
		bits, ok := match(r.To, destination)
		if !ok {
			continue
		}
		nexthops := r.Nexthops
		if r.Object != 0 {
			nexthops = h.members(r.Object)
		} else if len(nexthops) == 0 {
			nexthops = []setting.Nexthop{{Via: r.Via, Interface: r.Interface}}
		}
		e := route{bits: bits, metric: r.Metric}
		for _, n := range nexthops {
			if out, ok := h.nexthop(n, destination, r.To == "default"); ok {
				e.nextHops = append(e.nextHops, out)
			}
		}
		if len(e.nextHops) > 0 {
			entries = append(entries, e)
		}
	}
	return entries
}

// nexthop reads a next hop. "default" is the same in both families: there an address of
// the other family means a route of the other family, and ok is false.
func (h *Host) nexthop(n setting.Nexthop, destination netip.Addr, isDefault bool) (nextHop, bool) {
	out := nextHop{out: n.Interface, to: destination, weight: n.Weight}
	if n.Via == "" {
		return out, true
	}
	text, otherFamily := strings.CutPrefix(n.Via, "inet6 ")
	if addr, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
		if isDefault && !otherFamily && addr.Is4() != destination.Is4() {
			return nextHop{}, false
		}
		out.to = addr
		if out.out == "" {
			if p, ok := find(h.Interfaces, func(p *Interface) bool { return p.onPrefix(addr) }); ok {
				out.out = p.Name
			}
		}
		return out, true
	}
	node, iface, _ := strings.Cut(n.Via, ".")
	out.end = End{node, iface}
	return out, true
}

// match reports whether addr matches a prefix, an address or "default", and the length
// of that prefix.
func match(text string, addr netip.Addr) (int, bool) {
	if text == "default" {
		return 0, true
	}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.Bits(), prefix.Contains(addr)
	}
	single, err := netip.ParseAddr(text)
	return single.BitLen(), err == nil && single == addr
}

// onPrefix reports whether addr is on the link that one of the range's
// addresses, with its prefix length, declares.
func (a Address) onPrefix(addr netip.Addr) bool {
	if a.First.Is4() != addr.Is4() {
		return false
	}
	network := func(x netip.Addr) netip.Addr { return netip.PrefixFrom(x.WithZone(""), a.Bits).Masked().Addr() }
	mine := network(addr)
	return network(a.First).Compare(mine) <= 0 && mine.Compare(network(a.Last)) <= 0
}

func (p *Interface) onPrefix(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Addresses, func(a Address) bool { return a.onPrefix(addr) })
}

func (p *Interface) holds(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Addresses, func(a Address) bool { return a.Contains(addr) })
}

func (h *Host) holds(addr netip.Addr) bool {
	return slices.ContainsFunc(h.Interfaces, func(p Interface) bool { return p.holds(addr) })
}

// holders lists every interface that holds an address: a link-local or an anycast
// address may be in several places.
func (t *Topology) holders(addr netip.Addr) []End {
	var ends []End
	for _, h := range t.Hosts {
		for _, p := range h.Interfaces {
			if p.holds(addr) {
				ends = append(ends, End{h.Name, p.Name})
			}
		}
	}
	return ends
}

// PathToNextHop is the part of a path from a host's interface through switches to the
// interface of the next host, for a packet with that next hop: a gateway, or its
// destination. nil: no link leads there.
func (t *Topology) PathToNextHop(from End, via netip.Addr) []End {
	host, ok := t.Host(from.Node)
	if !ok {
		return nil
	}
	return newIndex(t).pathToNextHop(host, nextHop{out: from.Interface, to: via})
}

// Adjacent reports whether a host has an interface on the same layer-2 segment as an
// interface of another host.
func (t *Topology) Adjacent(host string, far End) bool {
	for _, s := range newIndex(t).segmentPaths(far) {
		if s.end.Node == host {
			return true
		}
	}
	return false
}

// pathToNextHop finds the path through switches from a host's interface to the next
// host's: the shortest, since a lab's switches have no loops.
func (f index) pathToNextHop(host *Host, h nextHop) []End {
	for _, p := range host.Interfaces {
		if h.out != "" && p.Name != h.out {
			continue
		}
		reached := f.segmentPaths(End{host.Name, p.Name})
		for _, last := range reached {
			if h.end != (End{}) {
				if last.end == h.end {
					return last.path()
				}
			} else if next, ok := f.hosts[last.end.Node].Interface(last.end.Interface); ok && next.holds(h.to) {
				return last.path()
			}
		}
		// A link-local next hop, or a route that names only an interface, matches no
		// address of the file: on a segment of two interfaces it means the other one.
		if h.end == (End{}) && len(reached) == 1 && (h.to.IsLinkLocalUnicast() || !p.onPrefix(h.to)) {
			return reached[0].path()
		}
	}
	return nil
}

// pathNode is an end on a path, with the one before it.
type pathNode struct {
	end    End
	before *pathNode
}

func (s *pathNode) path() []End {
	var list []End
	for ; s != nil; s = s.before {
		list = append(list, s.end)
	}
	slices.Reverse(list)
	return list
}

// segmentPaths lists the paths from a host's interface to every other host interface
// of the same layer-2 segment, by their last node, nearest first.
func (f index) segmentPaths(start End) []*pathNode {
	var reached []*pathNode
	seen := map[string]bool{} // switches
	queue := []*pathNode{{end: start}}
	for len(queue) > 0 {
		here := queue[0]
		queue = queue[1:]
		far, linked := f.far[here.end]
		if !linked {
			continue
		}
		onward := &pathNode{far, here}
		if f.switches[far.Node] == nil {
			if f.hosts[far.Node] != nil {
				reached = append(reached, onward)
			}
			continue
		}
		if seen[far.Node] {
			continue
		}
		seen[far.Node] = true
		for _, end := range f.ends[far.Node] {
			if end != far {
				queue = append(queue, &pathNode{end, onward})
			}
		}
	}
	return reached
}
