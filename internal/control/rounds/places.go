package rounds

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/bus"
	"linerate/internal/control/reach"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/unit"
)

// place is where a host is measured.
type place struct {
	address netip.Addr // invalid: there is none
	port    string     // the interface that has the address; empty: it is not known
	rateBps float64    // of the interface; 0: not known
	bits    int        // prefix length of the address
}

// candidates are the places where a host may be measured: the addresses of interfaces that are up,
// without those that only their own link knows.
func candidates(hello message.Hello) (list []place) {
	for _, i := range hello.Interfaces {
		if !i.Up {
			continue
		}
		for _, text := range i.Addresses {
			prefix, err := netip.ParsePrefix(text)
			a := prefix.Addr()
			if err != nil || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() ||
				slices.Contains(i.Duplicates, text) {
				continue
			}
			list = append(list, place{a, i.Interface, rateOf(i), prefix.Bits()})
		}
	}
	return list
}

// rateOf is the rate of an interface in bits per second: that of its link or, if lower, of its shaper.
// 0: not known.
func rateOf(i netstate.InterfaceSnapshot) float64 {
	shaped := 0.0
	if i.Shaper.Bounds() {
		shaped = i.Shaper.RateBps
	}
	return unit.LeastSet(i.SpeedBps, shaped)
}

// choose chooses one of each host's candidates: of the addresses in subnets that several hosts have,
// the one of the fastest interface, then that in the subnet of the most hosts, IPv4 before IPv6. An
// address that several hosts have, as bridges of containers do, is no host's. sure reports for each
// host whether the choice follows from a subnet, or there is none.
func choose(of [][]place) (chosen []place, sure []bool) {
	owners, members := map[netip.Addr]int{}, map[netip.Prefix]int{}
	subnet := func(p place) netip.Prefix { return netip.PrefixFrom(p.address, p.bits).Masked() }
	for _, list := range of {
		subnets := map[netip.Prefix]bool{}
		for _, p := range list {
			owners[p.address]++
			subnets[subnet(p)] = true
		}
		for s := range subnets {
			members[s]++
		}
	}
	chosen, sure = make([]place, len(of)), make([]bool, len(of))
	for i, list := range of {
		list = lists.Where(list, func(p place) bool { return owners[p.address] == 1 })
		shared := func(p place) bool { return members[subnet(p)] > 1 }
		order := func(a, b place) int {
			return cmp.Or(compareBool(shared(b), shared(a)), cmp.Compare(b.rateBps, a.rateBps),
				cmp.Compare(members[subnet(b)], members[subnet(a)]),
				compareBool(b.address.Is4(), a.address.Is4()))
		}
		slices.SortStableFunc(list, order)
		if len(list) > 0 {
			chosen[i] = list[0]
		}
		sure[i] = len(list) <= 1 || shared(list[0])
	}
	return chosen, sure
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// asked is how many other hosts' addresses a host is asked for the route to.
const asked = 3

// place finds the address of each host that was reached, and the rate of its interface.
func (c *conductor) place(ctx context.Context) error {
	list := c.present()
	hellos, err := c.reached.Bus().Hellos(ctx, lists.Map(list, node))
	if err != nil {
		return err
	}
	of := make([][]place, len(c.hosts))
	for _, i := range list {
		of[i] = candidates(hellos[node(i)])
		if given := c.hosts[i].Address; given.IsValid() {
			own := lists.Where(of[i], func(p place) bool { return p.address == given.WithZone("") })
			of[i] = append(own, place{address: given})[:1]
		}
	}
	chosen, sure := choose(of)
	c.byRoute(ctx, of, chosen, sure)
	var several []string
	for _, i := range list {
		p := &c.places[i]
		if *p = chosen[i]; !p.address.IsValid() {
			c.lose(i, c.missing(), &reach.Error{Host: c.hosts[i].Name, Reason: noAddress,
				Err: fmt.Errorf("no address that other hosts could reach; an inventory can name one")})
			continue
		}
		if len(of[i]) > 1 {
			several = append(several, fmt.Sprintf("%s %s (%s)", c.hosts[i].Name, p.address, p.port))
		}
		if h := &c.plan.Hosts[i]; h.RateBps == 0 {
			h.RateBps = p.rateBps
		}
		p.rateBps = c.plan.Hosts[i].RateBps
	}
	if len(several) > 0 {
		c.options.Say(fmt.Sprintf("%s with several addresses, measured on: %s", unit.Plural(len(several), "host"),
			few(several)))
	}
	c.run.Topology.Hosts = measuredOn(c.run.Topology.Hosts, c.places)
	return c.paced()
}

// few lists some of many.
func few(list []string) string {
	const most = 4
	if n := len(list) - most; n > 0 {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(list, ", ")
}

// byRoute asks hosts whose subnets do not tell by which of their addresses they reach others.
func (c *conductor) byRoute(ctx context.Context, of [][]place, chosen []place, sure []bool) {
	ctx, cancel := context.WithTimeout(ctx, c.options.limit)
	defer cancel()
	var known []netip.Addr
	var unsure []int
	for _, i := range c.present() {
		switch {
		case !sure[i]:
			unsure = append(unsure, i)
		case chosen[i].address.IsValid() && len(known) < asked:
			known = append(known, chosen[i].address)
		}
	}
	if len(known) == 0 {
		return
	}
	var lookups message.Lookups
	for _, to := range known {
		lookups.Lookups = append(lookups.Lookups, netstate.RouteLookup{Destination: to.String()})
	}
	replies, _ := bus.Collect(lists.Map(unsure, node), func(node string) (message.Lookups, error) {
		return bus.Call(ctx, c.reached.Bus(), node, message.Lookup, lookups)
	}) // without one, the fastest interface is taken
	for _, i := range unsure {
		for _, l := range replies[node(i)].Lookups {
			at := slices.IndexFunc(of[i], func(p place) bool { return p.address.String() == l.ChosenSource })
			if at >= 0 {
				chosen[i] = of[i][at]
				break
			}
		}
	}
}

// paced refuses a share of rates that are not known.
func (c *conductor) paced() error {
	if c.plan.Share == 0 || c.options.latency() {
		return nil
	}
	var unknown []string
	for _, i := range c.present() {
		if c.places[i].rateBps == 0 {
			unknown = append(unknown, c.hosts[i].Name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("a share of %s needs the rates of the interfaces, and those of %s do not report theirs (%s); "+
		"expected rates in the inventory", unit.FormatPercent(c.plan.Share), unit.Plural(len(unknown), "host"),
		few(unknown))
}
