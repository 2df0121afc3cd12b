package measure

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"linerate/internal/bus/greeting"
)

// place is the two ends of one flow. Without a source the kernel chooses.
type place struct {
	source      netip.Addr
	sourcePort  uint16
	destination netip.AddrPort
}

// placeOf gives flows the destinations and sources in turn, by their number in their
// direction, and the ports by their number among all flows.
func placeOf(destinations []netip.AddrPort, sources []netip.Addr, ports []uint16, inDirection, inAll int) place {
	p := place{destination: destinations[inDirection%len(destinations)]}
	if n := len(sources); n > 0 {
		p.source = sources[inDirection%n]
	}
	if n := len(ports); n > 0 {
		p.sourcePort = ports[inAll%n]
	}
	return p
}

// Clash returns an error if two flows would have the same address and port at both
// ends, given the number of streams per direction and the number of directions.
func (o Options) Clash(streams, directions int) error {
	if len(o.SourcePorts) == 0 {
		return nil
	}
	// The addresses are not resolved yet; they differ.
	destinations := make([]netip.AddrPort, len(o.Addresses))
	for i := range destinations {
		destinations[i] = netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(i))
	}
	taken := map[place]bool{}
	for i := range streams * directions {
		p := placeOf(destinations, o.Sources, o.SourcePorts, i%streams, i)
		if taken[p] {
			return fmt.Errorf("%d flows from %d source ports: two would have the same addresses and ports at both ends",
				streams*directions, len(o.SourcePorts))
		}
		taken[p] = true
	}
	return nil
}

// maxOthersListed is how many addresses' errors are listed one by one.
const maxOthersListed = 8

// destinations resolves all the addresses, at the first of which the server has
// answered. It asks at each of the others whether that is the same server: no other
// knows a flow's cookie.
func destinations(ctx context.Context, o Options, server netip.AddrPort, name string) ([]netip.AddrPort, error) {
	found := make([]netip.AddrPort, len(o.Addresses))
	errs := make([]error, len(o.Addresses))
	found[0] = server
	const concurrent = 64 // neighbours, and descriptors
	places := make(chan struct{}, concurrent)
	var asking sync.WaitGroup
	for i := 1; i < len(o.Addresses); i++ {
		asking.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			stream, theirs, err := greet(ctx, o.Addresses[i], o.source(i), greeting.AskName)
			if errs[i] = err; err != nil {
				return
			}
			stream.Close()
			if found[i] = addrOf(stream.RemoteAddr()); theirs != name {
				errs[i] = fmt.Errorf("%s and %s are two servers: expected addresses of one server", found[i], server)
			}
		})
	}
	asking.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - maxOthersListed; more > 0 {
		errs = append(errs[:maxOthersListed], fmt.Errorf("and so on, for %d more addresses", more))
	}
	return found, errors.Join(errs...)
}

// source is the address that is paired with an address of the server's.
func (o Options) source(i int) netip.Addr {
	if n := len(o.Sources); n > 0 {
		return o.Sources[i%n]
	}
	return netip.Addr{}
}
