package apply

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/setting"
)

// route is one route, identified by table, destination and metric.
type route struct {
	baseTarget
	r    setting.Route
	spec netlink.RouteSpec
}

func newRoute(base baseTarget, r setting.Route) (*route, error) {
	t := &route{baseTarget: base, r: r}
	fail := func(err error) (*route, error) { return nil, fmt.Errorf("route to %s: %w", r.To, err) }
	t.spec = netlink.RouteSpec{Table: r.Table, Source: r.Source, InitCwnd: r.InitCwnd}
	t.spec.Table = cmp.Or(t.spec.Table, netlink.TableMain)
	hops := r.Nexthops
	t.spec.NexthopObject = r.Object
	if r.Object != 0 {
		if len(hops) > 0 || r.Via != "" || r.Interface != "" {
			return fail(errors.New("it has both a nexthop object and next hops of its own: expected one or the other"))
		}
	} else if len(hops) == 0 {
		hops = []setting.Nexthop{{Via: r.Via, Interface: r.Interface}}
	} else if r.Via != "" || r.Interface != "" {
		return fail(errors.New("it has both nexthops and a via or interface of its own: expected one or the other"))
	}
	for _, hop := range hops {
		via, err := parseVia(hop.Via)
		if err != nil {
			return fail(err)
		}
		if !via.IsValid() && hop.Interface == "" {
			return fail(errors.New("a next hop needs a via, an interface, or both"))
		}
		t.spec.Nexthops = append(t.spec.Nexthops, netlink.Nexthop{Via: via, Interface: hop.Interface,
			Weight: hop.Weight})
	}
	var err error
	if t.spec.To, err = parseDestination(r.To, r.IPv6()); err != nil {
		return fail(err)
	}
	t.spec.Metric = r.Priority(t.spec.To.Addr().Is6())
	return t, nil
}

func parseVia(text string) (via netip.Addr, err error) {
	if text == "" {
		return netip.Addr{}, nil
	}
	plain, inet6 := strings.CutPrefix(text, "inet6 ")
	if via, err = netip.ParseAddr(strings.TrimSpace(plain)); err != nil || inet6 && !via.Is6() {
		return via, fmt.Errorf("via %q: expected an address, or inet6 and an IPv6 address", text)
	}
	return via, nil
}

// parseDestination reads a prefix, an address, or default, which is IPv6's if
// its next hops or its source are.
func parseDestination(text string, is6 bool) (netip.Prefix, error) {
	if text == "default" {
		if is6 {
			return netip.MustParsePrefix("::/0"), nil
		}
		return netip.MustParsePrefix("0.0.0.0/0"), nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("%q: expected a prefix such as 10.0.0.0/8, an address, or default", text)
	}
	return prefix.Masked(), nil
}

func (t *route) what() string {
	text := t.spec.To.String()
	if t.spec.To.Bits() == 0 {
		text = "default"
		if t.spec.To.Addr().Is6() {
			text = "default (IPv6)"
		}
	}
	if t.r.Metric != 0 {
		text += fmt.Sprintf(" metric %d", t.r.Metric)
	}
	return fmt.Sprintf("%s in table %d", text, t.spec.Table)
}

// found lists the routes with this one's key.
func (t *route) found() ([]netlink.Route, error) {
	all, err := t.host.conn.Routes()
	list := lists.Where(all, func(r netlink.Route) bool {
		return r.Table == t.spec.Table && r.To == t.spec.To && r.Metric == t.spec.Metric && r.TOS == 0
	})
	return list, err
}

func (t *route) read() (State, error) {
	list, err := t.found()
	if err != nil || len(list) == 0 {
		return State{Text: Absent}, err
	}
	return State{Text: list[0].Text, Object: list[0].Object, Nexthop: list[0].NexthopObject()}, nil
}

func (t *route) leaveIfPresent(prior State) bool { return !prior.absent() }

// between: a route by a nexthop object changes and is deleted with it.
func (t *route) between(_, _, is State) bool {
	return t.r.Object != 0 && (is.absent() || is.Nexthop == t.r.Object)
}

func (t *route) plan(State) (State, error) {
	list, err := t.found()
	if err != nil {
		return State{}, err
	}
	// IPv4 has an order among such routes, and the first one is replaced and put
	// back in its place. In IPv6 which one is replaced depends on their kinds.
	if t.spec.To.Addr().Is6() && len(list) > 1 {
		return State{}, fmt.Errorf(
			"there are %d routes with this destination, table and metric (%s; %s; …): which one the kernel would "+
				"replace is not certain, so undoing is not either",
			len(list), list[0].Text, list[1].Text)
	}
	if err := t.resolve(); err != nil {
		return State{}, err
	}
	wanted, err := t.host.conn.ExpectRoute(t.spec)
	return State{Text: wanted.Text, Object: wanted.Object, Nexthop: wanted.NexthopObject()}, err
}

// resolve finds the interfaces of next hops that have only an address.
func (t *route) resolve() error {
	for i, hop := range t.spec.Nexthops {
		if hop.Interface != "" {
			continue
		}
		towards, err := t.host.conn.LookupRoute(netstate.RouteLookup{Destination: hop.Via.String()}, nil)
		if err != nil {
			return fmt.Errorf("finding the interface that leads to the next hop: %w", err)
		}
		t.spec.Nexthops[i].Interface = towards.Interface
	}
	return nil
}

func (t *route) change(State) error {
	if source := t.spec.Source; source.Is6() {
		if err := t.host.settle(func(a netlink.Address) bool { return a.Prefix.Addr() == source }); err != nil {
			return err
		}
	}
	return t.host.conn.ReplaceRoute(t.spec)
}

func (t *route) restore(prior, is State) error {
	if !prior.absent() {
		return t.host.conn.RestoreRoute(prior.Object, true)
	}
	return t.host.conn.DeleteRoute(is.Object)
}
