package facts

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/setting"
)

// hopsOf returns the next hops of a route; if it has only one, that one. Via is empty if the
// destination is on the link.
func hopsOf(r netstate.RouteEntry) []netstate.RouteNexthop {
	if len(r.Nexthops) > 0 {
		return r.Nexthops
	}
	return []netstate.RouteNexthop{{Interface: r.Interface, Via: r.Via}}
}

// EachGateway calls yield for each gateway once, with the first route by it.
func (h *Host) EachGateway(yield func(r netstate.RouteEntry, gateway netip.Addr, name string)) {
	seen := map[netip.Addr]bool{}
	for _, r := range h.Reading.Snapshot.Routes {
		for _, hop := range hopsOf(r) {
			gateway, err := netip.ParseAddr(hop.Via)
			if err == nil && !seen[gateway] {
				seen[gateway] = true
				yield(r, gateway, hop.Interface)
			}
		}
	}
}

// Routed reports whether a route without a gateway leads to an address by an interface.
func (h *Host) Routed(addr netip.Addr, name string) bool {
	return slices.ContainsFunc(h.Reading.Snapshot.Routes, func(r netstate.RouteEntry) bool {
		to, err := netip.ParsePrefix(r.To)
		return err == nil && to.Contains(addr) && r.Interface == name && r.Via == "" && len(r.Nexthops) == 0
	})
}

// discarding are the types of routes that discard packets, as ip-route(8) names them.
var discarding = []string{"blackhole", "unreachable", "prohibit", "throw"}

// IsDiscard reports whether a route discards the packets that it applies to.
func IsDiscard(r netstate.RouteEntry) bool { return slices.Contains(discarding, r.Type) }

// LastResort reports whether a route is a default route that applies only if there is no other:
// that of the kernel for IPv6, and the one that ends the lookup in a VRF's table
// (Documentation/networking/vrf.rst: metric 4278198272). The highest byte of such a metric is 255,
// which routing daemons use as the distance of a route that must not be used.
func LastResort(r netstate.RouteEntry) bool {
	to, _ := destination(r, !strings.Contains(r.To, ":"))
	return r.Metric >= 255<<24 && to.Bits() == 0
}

// Metric returns the metric of the main table's route to a prefix; 0: none. Without that metric, ip
// route replace would add a second route.
func (h *Host) Metric(to netip.Prefix) int {
	for _, r := range h.Reading.Snapshot.Routes {
		if r.Table == MainTable && r.To == to.String() && r.Metric > 0 {
			return int(r.Metric)
		}
	}
	return 0
}

// Object returns a nexthop object from the topology; false: it is not there.
func (f Trial) Object(h *Host, id int) (*setting.NexthopObject, bool) {
	declared, ok := f.Topology.Host(h.Name)
	if !ok {
		return nil, false
	}
	return declared.Nexthop(id)
}

// Object returns the number of the nexthop object that the main table's route to a destination
// uses; 0: none.
func (h *Host) Object(to netip.Prefix) int {
	for _, r := range h.Reading.Snapshot.Routes {
		if r.Object != 0 && r.Table == MainTable && r.To == to.String() {
			return r.Object
		}
	}
	return 0
}

// RouteVia reports whether a route that a user has made leaves by an interface. The kernel's own
// routes for local addresses are in table 255.
func RouteVia(r netstate.RouteEntry, name string) bool {
	if r.Table == 255 || strings.HasPrefix(r.To, "fe80:") || strings.HasPrefix(r.To, "ff00:") {
		return false
	}
	return r.By(name)
}

// Route returns the destination of the main table's route to an address, and the next hops if the
// route is a multipath route. to is invalid if there is no route.
func (h *Host) Route(destination netip.Addr) (to netip.Prefix, hops []netstate.RouteNexthop) {
	for _, r := range h.Reading.Snapshot.Routes {
		prefix, err := netip.ParsePrefix(r.To)
		if err == nil && r.Table == MainTable && prefix.Contains(destination) &&
			(!to.IsValid() || prefix.Bits() > to.Bits()) {
			to, hops = prefix, r.Nexthops
		}
	}
	return to, hops
}

// MainTable is the number of the routing table main (linux/rtnetlink.h).
const MainTable = 254

// Hop is a gateway on an interface.
type Hop struct {
	Dev string
	Via netip.Addr
}

// RoutesBy returns the routes that use a nexthop object.
func (h *Host) RoutesBy(id int) (list []netstate.RouteEntry) {
	return lists.Where(h.Reading.Snapshot.Routes, func(r netstate.RouteEntry) bool { return r.Object == id })
}

// Lookup returns the interface by which a packet leaves, as the host's kernel answered; nil: not
// known. The kernel is asked without a VRF, so its answer is not used for an address in one.
func (h *Host) Lookup(source, destination netip.Addr) *Interface {
	holder := h.Holder(source)
	for _, l := range h.Reading.Snapshot.Lookups {
		if l.Error == "" && l.Source == source.String() && l.Destination == destination.String() {
			if p := h.Interface(l.Interface); p != nil && (holder == nil || holder.VRF == p.VRF) {
				return p
			}
		}
	}
	return nil
}

// EveryRoute is the part of a snapshot that rules need which conclude something from an absent
// route.
const EveryRoute = "every route"

// LocalTable and DefaultTable are the numbers of the routing tables local and default (linux/rtnetlink.h).
const LocalTable, DefaultTable = 255, 253

// destination returns the prefix of a route, and whether it is of the given family.
func destination(r netstate.RouteEntry, v4 bool) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(r.To); err == nil {
		return p, p.Addr().Is4() == v4
	}
	a, err := netip.ParseAddr(r.To)
	return netip.PrefixFrom(a, a.BitLen()), err == nil && a.Is4() == v4
}

// Back returns the most specific route to an address in a host's main and default tables.
func (h *Host) Back(to netip.Addr) (best netstate.RouteEntry, found bool) {
	bits := -1
	for _, r := range h.Reading.Snapshot.Routes {
		p, is := destination(r, to.Is4())
		if is && (r.Table == MainTable || r.Table == DefaultTable) && p.Contains(to) && p.Bits() > bits {
			best, bits, found = r, p.Bits(), true
		}
	}
	return best, found
}

// OtherRoutes reports whether some packets may use routes that Back does not see, because they are
// in other tables or were left out of the snapshot.
func (h *Host) OtherRoutes() bool {
	return h.Missing(EveryRoute) != nil || slices.ContainsFunc(h.Reading.Snapshot.Rules,
		func(r netstate.RuleEntry) bool {
			return r.Other || !slices.Contains([]int{MainTable, LocalTable, DefaultTable}, r.Table)
		})
}

// senders returns the addresses that may be the sender of the host's ARP requests for target by an
// interface: those that the kernel chooses from (inet_select_addr) and, if arp_announce is 0, every
// address of the host in that VRF, because a packet may have any of them as its source.
func (h *Host) senders(name string, target netip.Addr) (list []netip.Addr) {
	q := h.Interface(name)
	if q == nil {
		return nil
	}
	add := func(p *Interface, near bool) {
		for _, prefix := range p.V4() {
			if (!near || prefix.Contains(target)) && !slices.Contains(list, prefix.Addr()) && len(list) < MostNetworks {
				list = append(list, prefix.Addr())
			}
		}
	}
	if add(q, true); len(list) == 0 {
		add(q, false)
	}
	if len(list) == 0 || h.Effective("arp_announce", q) == 0 {
		for _, p := range h.Interfaces {
			if p.VRF == q.VRF {
				add(p, false)
			}
		}
		for _, r := range h.Reading.Snapshot.Routes { // addresses of the loopback are local routes only
			to, known := destination(r, true)
			if known && r.Table == LocalTable && r.Type == "local" && to.IsSingleIP() &&
				!to.Addr().IsLoopback() {
				add(&Interface{Prefixes: []netip.Prefix{to}}, false)
			}
		}
	}
	return list
}

// elsewhere reports whether the host sends to an address by another interface than p, and returns
// that interface; nil: it has no route there. It reports false if the host sends by p, or if that
// is not known. A route with several next hops counts for each of their interfaces, as in the
// kernel (fib_info_nh_uses_dev).
func (h *Host) elsewhere(from, to netip.Addr, p *Interface) (out *Interface, is bool) {
	if out := h.Lookup(from, to); out != nil {
		return out, out != p
	}
	if !to.Is4() || h.Holder(to) != nil || p.VRF != "" { // whose table is not known
		return nil, false
	}
	names, known := h.Egress(from, to)
	if !known || slices.Contains(names, p.Name) {
		return nil, false
	}
	if len(names) == 0 {
		return nil, true
	}
	out = h.Interface(names[0])
	return out, out != nil
}

// Egress returns the interfaces of the route to an address according to the host's rules and
// tables; none: there is no route, or it discards. known is false if routes were not read
// completely, or if a rule depends on something that is not known here.
func (h *Host) Egress(from, to netip.Addr) (names []string, known bool) {
	if len(h.Reading.Snapshot.Routes) == 0 || h.Missing(EveryRoute) != nil {
		return nil, false
	}
	rules := slices.Clone(h.Reading.Snapshot.Rules)
	slices.SortStableFunc(rules, func(a, b netstate.RuleEntry) int { return a.Priority - b.Priority })
	if len(rules) == 0 {
		rules = []netstate.RuleEntry{{Table: MainTable}}
	}
	selects := func(prefix string, addr netip.Addr) bool {
		p, err := netip.ParsePrefix(prefix)
		return prefix == "" || err == nil && p.Contains(addr)
	}
	for _, rule := range rules {
		if rule.Other {
			return nil, false
		}
		if !selects(rule.From, from) || !selects(rule.To, to) {
			continue
		}
		var best netstate.RouteEntry
		bits := -1
		for _, r := range h.Reading.Snapshot.Routes {
			prefix, err := netip.ParsePrefix(r.To)
			// Of several, the kernel lists the one with the smallest metric first.
			if err == nil && r.Table == rule.Table && prefix.Contains(to) && prefix.Bits() > bits &&
				!r.Dead {
				best, bits = r, prefix.Bits()
			}
		}
		if bits < 0 {
			continue
		}
		for _, hop := range best.Nexthops {
			names = append(names, hop.Interface)
		}
		if len(names) == 0 && best.Interface != "" && best.Type != "broadcast" && best.Type != "local" {
			names = append(names, best.Interface)
		}
		return names, true
	}
	return nil, true
}

// Asymmetry is a route decision by another interface than the one that has the source address.
// Replies arrive at the latter (asymmetric routing).
type Asymmetry struct {
	Source, Destination netip.Addr
	Holder, Out         *Interface
}

// Asymmetries returns the host's recorded route decisions of that kind.
func (h *Host) Asymmetries() []Asymmetry {
	var list []Asymmetry
	for _, l := range h.Reading.Snapshot.Lookups {
		d := Asymmetry{Source: Parse(l.Source), Destination: Parse(l.Destination)}
		d.Holder, d.Out = h.Holder(d.Source), h.Lookup(d.Source, d.Destination)
		if d.Holder != nil && d.Out != nil && d.Holder != d.Out && d.Holder.MAC != d.Out.MAC {
			list = append(list, d)
		}
	}
	return list
}

// Leaving returns by which interfaces the packets of route decisions leave, as evidence.
func Leaving(list []Asymmetry) (all []any) {
	for i, d := range list {
		if slices.ContainsFunc(list[:i], func(o Asymmetry) bool { return o.Out == d.Out }) {
			continue
		}
		is := fact.Leaving{Interface: d.Out.Name}
		for _, o := range list[i:] {
			if o.Out != d.Out {
				continue
			}
			if at := (fact.At{Address: o.Source, Interface: o.Holder.Name}); !slices.Contains(is.Sources, at) {
				is.Sources = append(is.Sources, at)
			}
			if !slices.Contains(is.Destinations, o.Destination) {
				is.Destinations = append(is.Destinations, o.Destination)
			}
		}
		all = append(all, is)
	}
	return all
}

// Parse returns the address that text spells; the zero Addr if it spells none.
func Parse(text string) netip.Addr {
	addr, _ := netip.ParseAddr(text)
	return addr
}

// UsesTable reports whether the host has a rule or a route in a table.
func (h *Host) UsesTable(table int) bool {
	s := h.Reading.Snapshot
	return slices.ContainsFunc(s.Rules, func(r netstate.RuleEntry) bool { return r.Table == table }) ||
		slices.ContainsFunc(s.Routes, func(r netstate.RouteEntry) bool { return r.Table == table })
}

// Gateway returns the gateway of the main table's default route for IPv6 if six is set, otherwise
// for IPv4; the zero Addr if there is none.
func (h *Host) Gateway(six bool) netip.Addr {
	for _, r := range h.Reading.Snapshot.Routes {
		to, is := destination(r, !six)
		via := Parse(r.Via)
		if is && to.Bits() == 0 && (r.Table == MainTable || r.Table == 0) && via.IsValid() && via.Is6() == six {
			return via
		}
	}
	return netip.Addr{}
}

// Route returns a route as evidence.
func Route(r netstate.RouteEntry, is string) fact.Route {
	f := fact.Route{Is: is, Table: r.Table, Route: r.Text}
	for _, hop := range hopsOf(r) {
		f.Interfaces = append(f.Interfaces, hop.Interface)
	}
	return f
}
