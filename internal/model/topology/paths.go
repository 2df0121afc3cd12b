package topology

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/setting"
)

// maxPaths limits the number of paths that are listed. They multiply with each tier of a fabric,
// and no limit or figure requires more.
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

// PathShares returns Paths and the share of hash values that each path gets, by the weights of the
// next hops along it. Shares is nil if a host has several routes to the destination, since no hash
// selects among these.
func (t *Topology) PathShares(from string, source, destination netip.Addr) (paths [][]End, shares []float64,
	err error) {
	host, ok := t.Host(from)
	if !ok {
		return nil, nil, fmt.Errorf("no host %q to send from", from)
	}
	w := walk{t: t, destination: destination, index: newIndex(t)}
	err = w.all(host, source)
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

// Wraps returns a Wrap for each link of each path of Paths, or nil if no host has devices. It also
// returns the smallest MTU of the devices on the paths; 0: there are no devices.
func (t *Topology) Wraps(from string, source, destination netip.Addr) (wraps [][]Wrap, mtu int) {
	host, ok := t.Host(from)
	if !ok || !slices.ContainsFunc(t.Hosts, func(h Host) bool { return h.hasDevices() }) {
		return nil, 0
	}
	w := walk{t: t, destination: destination, index: newIndex(t)}
	_ = w.all(host, source) // without paths there are no wraps
	return w.wraps, w.mtu
}

// Exit returns the interface with IP addresses through which the first of Paths leaves its host:
// the end of a link, or a device.
func (t *Topology) Exit(from string, source, destination netip.Addr) (End, bool) {
	host, ok := t.Host(from)
	if !ok {
		return End{}, false
	}
	w := walk{t: t, destination: destination, index: newIndex(t)}
	_ = w.all(host, source)
	return w.exit, len(w.paths) > 0
}

// walk collects the paths to one destination with their shares.
type walk struct {
	t             *Topology
	destination   netip.Addr
	index         index
	paths         [][]End
	shares        []float64
	severalRoutes bool     // at some host
	wraps         [][]Wrap // of each path
	mtu           int      // smallest of the devices on the paths; 0: none
	tunnels       int      // number of tunnels around the current path
	exit          End      // of the first path: the interface with IP addresses by which it leaves
}

// all collects all paths from a host.
func (w *walk) all(host *Host, source netip.Addr) error {
	holders := w.t.holders(w.destination)
	if host.holds(w.destination) {
		return fmt.Errorf("%s is an address of %s itself, and such traffic never leaves the host",
			w.destination, host.Name)
	} else if len(holders) == 0 {
		return fmt.Errorf("no interface holds %s", w.destination)
	}
	for _, end := range holders {
		if vrf, table := w.index.hosts[end.Node].vrf(end.Interface); table != 0 && len(holders) == 1 {
			return fmt.Errorf("%s is in VRF %s, and no flow's socket is bound to that", end, vrf)
		}
	}
	return w.from(host, "", source, segment{}, 1)
}

// index finds hosts, switches and ends by name in constant time. If a host and a switch have the
// same name, the name refers to the host.
type index struct {
	hosts    map[string]*Host
	switches map[string]*Switch
	far      map[End]End
	ends     map[string][]End // of a switch, in the order of the links
}

func newIndex(t *Topology) index {
	p := index{make(map[string]*Host, len(t.Hosts)), map[string]*Switch{}, make(map[End]End, 2*len(t.Links)),
		map[string][]End{}}
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

// nextHop is a candidate next hop of a host: an interface of the host and the address, or the
// interface named in the file, that it leads to.
type nextHop struct {
	out    string // empty: any interface through which it is reachable
	to     netip.Addr
	end    End
	weight int // relative to the other next hops of its route; 0 means 1
}

func (h nextHop) share(of []nextHop) float64 {
	sum := lists.Sum(of, func(o nextHop) int { return max(1, o.weight) })
	return float64(max(1, h.weight)) / float64(sum)
}

// from continues a path at a host, the sender or a router, which receives a share of the packets
// through interface in; empty: it sends them. The error is why no path was found.
func (w *walk) from(host *Host, in string, source netip.Addr, sofar segment, share float64) error {
	routes := w.bestRoutes(host, in, source)
	if len(routes) == 0 {
		return fmt.Errorf("%s has neither an interface on its prefix nor a route", host.Name)
	}
	w.severalRoutes = w.severalRoutes || len(routes) > 1
	hops := lists.Flat(routes, func(r route) []nextHop { return r.nextHops })
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

// follow follows one next hop and continues at the host that it reaches. If a device spreads
// packets over several links, each gets the same share.
func (w *walk) follow(host *Host, h nextHop, sofar segment, share float64) error {
	segments, err := w.segments(host, h)
	if len(segments) == 0 {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s is not reachable from %s", h.target(), End{host.Name, h.out})
	}
	for _, segment := range segments {
		if err := w.onward(segment, sofar, share/float64(len(segments))); err != nil {
			return err
		}
		if len(w.paths) >= maxPaths {
			break
		}
	}
	return nil
}

// onward continues a path at the end of a segment.
func (w *walk) onward(s, sofar segment, share float64) error {
	if sofar.ends == nil && len(w.paths) == 0 {
		w.exit = s.from
	}
	path := segment{ends: slices.Concat(sofar.ends, s.ends), wraps: slices.Concat(sofar.wraps, s.wraps)}
	next := w.index.hosts[s.to.Node]
	if next.holds(w.destination) {
		w.paths, w.wraps, w.shares = append(w.paths, path.ends), append(w.wraps, path.wraps), append(w.shares, share)
		w.through(s)
		return nil
	}
	if !next.Forward {
		return fmt.Errorf("%s does not forward (forward: true would make it a router)", next.Name)
	}
	if slices.ContainsFunc(sofar.ends, func(e End) bool { return e.Node == next.Name }) {
		return fmt.Errorf("the routes lead back to %s", next.Name)
	}
	found := len(w.paths)
	err := w.from(next, s.to.Interface, netip.Addr{}, path, share)
	if len(w.paths) > found {
		w.through(s)
	}
	return err
}

// through records the MTU of a segment's devices.
func (w *walk) through(s segment) {
	for _, mtu := range []int{w.t.DeviceMTU(s.from), w.t.DeviceMTU(s.to)} {
		if mtu != 0 && (w.mtu == 0 || mtu < w.mtu) {
			w.mtu = mtu
		}
	}
}

func (h nextHop) target() string {
	if h.end != (End{}) {
		return h.end.String()
	}
	return h.to.String()
}

// bestRoutes selects routes as Paths documents, for packets that arrive through interface in;
// empty: the host sends them.
func (w *walk) bestRoutes(h *Host, in string, source netip.Addr) []route {
	holder := ""
	if source.IsValid() {
		for _, p := range h.Interfaces {
			if p.holds(source) {
				holder = p.Name
			}
		}
	}
	for _, table := range h.tables(in, source, w.destination) {
		entries := w.routesTo(h, table)
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

// l3mdevRule is the priority of the kernel's rule for VRFs (Documentation/networking/vrf.rst).
const l3mdevRule = 1000

// tables lists the routing tables for a lookup by priority: those of the rules that match, and that
// of the VRF of the interface through which the packet arrived; then the main table, 0. A rule
// without a priority gets the one before all other rules of its family when it is added; without
// prefixes it is an IPv4 rule. A rule that exists is not added again.
func (h *Host) tables(in string, source, destination netip.Addr) []int {
	lowest := 32766 // of the rule for the main table
	if slices.ContainsFunc(h.Interfaces, func(p Interface) bool { _, table := h.vrf(p.Name); return table != 0 }) {
		lowest = l3mdevRule
	}
	var rules []setting.Rule
	if _, table := h.vrf(in); table != 0 {
		rules = append(rules, setting.Rule{Table: table, Priority: l3mdevRule})
	}
	for i, r := range h.Rules {
		again := func(o setting.Rule) bool { return o.From == r.From && o.To == r.To && o.Table == r.Table }
		if strings.Contains(r.From+r.To, ":") != destination.Is6() || r.Priority == 0 &&
			slices.ContainsFunc(h.Rules[:i], again) {
			continue
		}
		r.Priority = cmp.Or(r.Priority, lowest-1)
		lowest = min(lowest, r.Priority)
		rules = append(rules, r)
	}
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

// connectedMetric is the metric of the routes that the kernel creates for IPv6 addresses
// (IP6_RT_PRIO_ADDRCONF). Those for IPv4 addresses have 0.
const connectedMetric = 256

// routesTo lists the routes of one table of a host that match the destination. "default" is the
// same word in both families.
func (w *walk) routesTo(h *Host, table int) []route {
	var entries []route
	destination := w.destination
	connected := 0
	if destination.Is6() {
		connected = connectedMetric
	}
	for _, p := range h.Interfaces {
		if _, own := h.vrf(p.Name); own == table {
			if a, ok := find(p.Addresses, func(a *Address) bool { return a.onPrefix(destination) }); ok {
				entries = append(entries, route{a.Bits, connected, []nextHop{{out: p.Name, to: destination}}})
			}
		}
	}
	for _, r := range h.Routes {
		if mainTable(r.Table) != table {
			continue
		}
		bits, ok := match(r.To, destination)
		if r.Number() > 1 {
			ok = r.Holds(destination)
		}
		if !ok || r.To == "default" && w.t.ipv6(h.Name, r) != destination.Is6() {
			continue
		}
		nexthops := r.Nexthops
		if r.Object != 0 {
			nexthops = h.members(r.Object)
		} else if len(nexthops) == 0 {
			nexthops = []setting.Nexthop{{Via: r.Via, Interface: r.Interface}}
		}
		e := route{bits: bits, metric: r.Priority(destination.Is6())}
		for _, n := range nexthops {
			e.nextHops = append(e.nextHops, h.nexthop(n, destination))
		}
		if len(e.nextHops) > 0 {
			entries = append(entries, e)
		}
	}
	return entries
}

// nexthop converts a next hop of the file.
func (h *Host) nexthop(n setting.Nexthop, destination netip.Addr) nextHop {
	out := nextHop{out: n.Interface, to: destination, weight: n.Weight}
	if n.Via == "" {
		return out
	}
	if addr, err := netip.ParseAddr(strings.TrimSpace(strings.TrimPrefix(n.Via, "inet6 "))); err == nil {
		out.to = addr
		if out.out == "" {
			if p, ok := find(h.Interfaces, func(p *Interface) bool { return p.onPrefix(addr) }); ok {
				out.out = p.Name
			}
		}
		return out
	}
	node, iface, _ := strings.Cut(n.Via, ".")
	out.end = End{node, iface}
	return out
}

// match reports whether addr matches text, a prefix, an address or "default", and returns the
// prefix length of text.
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
