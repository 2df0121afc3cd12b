// Package probe examines a peer by sending it a few packets: who answers ARP for it, whether echo requests are
// answered, the largest packet that passes, and whether it accepts connections. It also asks this host's name
// servers for the peer's name.
//
// Everything is limited: tens of packets, at most twenty per second, and one deadline. The record lists what
// was sent. Everything is sent from the calling goroutine's thread, in sequence, so the caller may have moved
// that thread to another network namespace.
package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"linerate/internal/host/caused"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/unit"
)

// Options of Run. The zero value probes everything except connections.
type Options struct {
	// Port is the TCP port to connect to; 0: none.
	Port int
	// Servers are the name servers; nil: those of resolv.conf(5).
	Servers []string
}

// Timeout limits the duration of Run.
const Timeout = 20 * time.Second

const (
	echoes       = 24
	echoPause    = 50 * time.Millisecond
	echoWait     = time.Second // wait for the last reply
	sizeTries    = 2
	sizeWait     = 500 * time.Millisecond
	connects     = 3
	connectWait  = 2 * time.Second
	arpWait      = 500 * time.Millisecond
	resolverWait = 1500 * time.Millisecond
	lookupWait   = 6 * time.Second // wait for the address of a name, which leaves time to ask name servers
	mostServers  = 8
	leastMTU4    = 68    // RFC 791
	leastMTU6    = 1280  // RFC 8200
	mostMTU4     = 65535 // the maximum length of an IPv4 packet; the MTU of lo is 65536
	besides      = 8     // addresses to ask on either side, if several MAC addresses answer for the peer
)

// Run probes a peer, an address or a name. It fails if the name servers answer that the name has no address.
func Run(ctx context.Context, peer string, o Options) (netstate.Probe, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	p := &prober{ctx: ctx, Probe: netstate.Probe{Peer: peer, Sent: []string{}}}
	address, err := addressOf(ctx, peer)
	if err != nil {
		p.address = netip.AddrFrom4([4]byte{127, 0, 0, 1}) // every server can be asked for this address
		p.names(o.Servers)
		if slices.ContainsFunc(p.Resolvers, func(r netstate.ResolverProbe) bool { return r.Error != "" }) {
			p.missing("address", err)
			return p.Probe, nil
		}
		return p.Probe, err
	}
	p.address, p.Address = address, address.String()
	p.route()
	p.arp()
	p.echo()
	p.connect(o.Port)
	p.names(o.Servers)
	return p.Probe, nil
}

func addressOf(ctx context.Context, peer string) (netip.Addr, error) {
	if address, err := netip.ParseAddr(peer); err == nil {
		return address.Unmap(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWait)
	defer cancel()
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", peer)
	if err != nil || len(list) == 0 {
		return netip.Addr{}, errors.Join(fmt.Errorf("%s has no address", peer), err)
	}
	return list[0].Unmap(), nil
}

type prober struct {
	netstate.Probe
	ctx     context.Context
	address netip.Addr
	own     net.HardwareAddr
	index   int
	onLink  bool
	prefix  netip.Prefix
}

func (p *prober) sent(format string, words ...any) {
	p.Sent = append(p.Sent, fmt.Sprintf(format, words...))
}

func (p *prober) missing(part string, err error) {
	p.Missing = append(p.Missing, part+": "+err.Error())
}

// pause waits; it returns false if the deadline has passed.
func (p *prober) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.ctx.Done():
		return false
	}
}

// within returns a deadline that is not after the overall one.
func (p *prober) within(d time.Duration) time.Time {
	at, all := time.Now().Add(d), time.Now().Add(d)
	if end, has := p.ctx.Deadline(); has {
		all = end
	}
	if all.Before(at) {
		return all
	}
	return at
}

// has reports whether d is left before the deadline. If not, it lists the part as missing, since a probe
// without time for an answer is not an unanswered one.
func (p *prober) has(d time.Duration, part string) bool {
	end, bounded := p.ctx.Deadline()
	if p.ctx.Err() == nil && (!bounded || time.Until(end) >= d) {
		return true
	}
	p.missing(part, context.DeadlineExceeded)
	return false
}

// route finds the interface through which packets to the peer leave; it may differ from that of their source
// address.
func (p *prober) route() {
	conn, err := netlink.Dial()
	if err != nil {
		p.missing("route", err)
		return
	}
	defer conn.Close()
	answer, err := conn.LookupRoute(netstate.RouteLookup{Destination: p.address.WithZone("").String()}, nil)
	if p.address.Zone() != "" { // a link-local address names its interface
		answer.Interface, err = p.address.Zone(), nil
	}
	if err != nil {
		p.missing("route", err)
		return
	}
	i, err := net.InterfaceByName(answer.Interface)
	if err != nil {
		p.missing("route", err)
		return
	}
	p.Interface, p.InterfaceMTU, p.own, p.index = i.Name, i.MTU, i.HardwareAddr, i.Index
	p.onLink = answer.Gateway == ""
	addresses, _ := i.Addrs()
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Contains(p.address) {
			p.prefix = prefix
		}
	}
}

// arp asks who has the address and, if several answer, who has those next to it.
func (p *prober) arp() {
	if !p.onLink || !p.address.Is4() || len(p.own) != 6 {
		return
	}
	p.ARP = append(p.ARP, lists.Map(p.ask(p.address), func(r netlink.ARP) string { return r.MAC })...)
	slices.Sort(p.ARP)
	if len(p.ARP) > 1 {
		for _, r := range p.ask(p.beside()...) {
			p.Answers = append(p.Answers, netstate.Neighbour{Interface: p.Interface, Address: r.Address.String(),
				MAC: r.MAC})
		}
	}
}

// ask sends an ARP request for each address.
func (p *prober) ask(addresses ...netip.Addr) []netlink.ARP {
	var requests []netlink.ARP
	for _, a := range addresses {
		requests = append(requests, netlink.ARP{Index: p.index, MAC: p.own.String(), Address: a})
	}
	replies, err := netlink.ProbeARP(requests, arpWait)
	switch {
	case err != nil:
		p.missing("arp", err)
	case len(addresses) == 1:
		p.sent("1 ARP request for %s by %s", addresses[0], p.Interface)
	case len(addresses) > 1:
		p.sent("%d ARP requests for addresses from %s to %s by %s", len(addresses),
			slices.MinFunc(addresses, netip.Addr.Compare), slices.MaxFunc(addresses, netip.Addr.Compare), p.Interface)
	}
	return replies
}

// beside returns the addresses next to the peer's that are in the subnet and not this host's.
func (p *prober) beside() (list []netip.Addr) {
	below, above := p.address, p.address
	for range besides {
		below, above = below.Prev(), above.Next()
		list = append(list, lists.Where([]netip.Addr{below, above}, func(a netip.Addr) bool {
			return a.IsValid() && p.prefix.Contains(a) && a != p.prefix.Addr() && a != p.prefix.Masked().Addr()
		})...)
	}
	return list
}

// echo sends echo requests of normal size, and then larger ones.
func (p *prober) echo() {
	socket, err := sock.OpenEcho(p.address, uint32(p.index))
	if err != nil {
		p.missing("echo", err)
		return
	}
	defer socket.Close()
	const bytes = 84 // the size that ping(8) uses; 104 for IPv6
	began := map[uint16]time.Time{}
	var times []float64
	e := &netstate.EchoProbe{}
	take := func(a sock.EchoAnswer) {
		at, asked := began[a.Sequence]
		switch {
		case a.MTU != 0:
		case asked:
			delete(began, a.Sequence)
			times = append(times, ms(at))
		case int(a.Sequence) < e.Sent:
			e.Duplicates++
		}
	}
	forOthers := p.otherMAC()
	for n := range echoes {
		began[uint16(n)] = time.Now()
		if _, err := socket.Send(uint16(n), bytes); err != nil {
			delete(began, uint16(n))
			p.missing("echo", err)
			break
		}
		e.Sent++
		for until := p.within(echoPause); time.Now().Before(until); {
			if a, got := socket.Receive(until); got {
				take(a)
			}
		}
		if p.ctx.Err() != nil {
			break
		}
	}
	for until := p.within(echoWait); len(began) > 0; {
		a, got := socket.Receive(until)
		if !got {
			break
		}
		take(a)
	}
	p.sent("%s of %d bytes, %s apart", unit.Plural(e.Sent, "ICMP echo request"), bytes, echoPause)
	if !p.has(0, "echo") {
		return
	}
	if n := p.otherMAC(); n > forOthers {
		e.OtherMAC = n - forOthers
	}
	slices.Sort(times)
	if e.Received = len(times); e.Received > 0 {
		e.MinMs, e.MedianMs, e.MaxMs = times[0], times[len(times)/2], times[len(times)-1]
		defer p.size(socket, time.Duration(e.MaxMs*3)*time.Millisecond)
	}
	if e.Sent > 0 {
		p.Echo = e
	}
}

// otherMAC returns how many packets for other MAC addresses the interface has received; 0 if unknown.
func (p *prober) otherMAC() uint64 {
	conn, err := netlink.Dial()
	if err != nil {
		return 0
	}
	defer conn.Close()
	counters, _ := conn.InterfaceCounters(map[int]string{p.index: p.Interface}) // empty: unknown
	for _, c := range counters {
		if c.Interface == p.Interface {
			return c.RxOtherhost
		}
	}
	return 0
}

// size searches the largest packet that is answered: first the interface's MTU, then the one that a router
// reports, otherwise by bisection.
func (p *prober) size(socket *sock.Echo, wait time.Duration) {
	least, most, n := leastMTU4, min(p.InterfaceMTU, mostMTU4), 0
	if p.address.Is6() {
		least, most = leastMTU6, p.InterfaceMTU
	}
	if most < least {
		return
	}
	wait = min(max(wait, sizeWait/5), sizeWait)
	sequence := uint16(1000)
	reported := 0
	passes := func(size int) bool {
		for range sizeTries {
			sequence++
			answer, err := socket.Send(sequence, size)
			if err != nil {
				return false
			}
			n++
			for until := p.within(wait); answer.MTU == 0; {
				got := false
				if answer, got = socket.Receive(until); !got {
					break
				}
				if answer.Sequence == sequence && answer.MTU == 0 {
					return true
				}
			}
			if answer.MTU > 0 && answer.MTU < size {
				reported = answer.MTU
				return false
			}
		}
		return false
	}
	m := &netstate.PathMTUProbe{}
	low, high := least, most+1
	for next := most; low < high-1 || m.MTU == 0; next = (low + high) / 2 {
		if passes(next) {
			m.MTU, low = next, next
		} else {
			high = next
		}
		if reported >= least && reported < high && m.MTU == 0 {
			m.Reported = true
			if passes(reported) {
				m.MTU = reported
				break
			}
			high, reported = reported, 0
		}
		if high <= least || p.ctx.Err() != nil {
			break
		}
	}
	p.sent("%s of %d to %d bytes that must not be fragmented", unit.Plural(n, "ICMP echo request"), least, most)
	if !p.has(0, "path_mtu") {
		return
	}
	p.PathMTU = m
}

func (p *prober) connect(port int) {
	if port == 0 {
		return
	}
	for range connects {
		if !p.has(connectWait, "connections") {
			break
		}
		began := time.Now()
		d := net.Dialer{Deadline: time.Now().Add(connectWait), FallbackDelay: -1}
		c, err := d.DialContext(p.ctx, "tcp", netip.AddrPortFrom(p.address, uint16(port)).String())
		one := netstate.ConnectProbe{Port: port, Ms: ms(began)}
		var timeout net.Error
		switch {
		case err == nil:
			one.Outcome = netstate.ConnectAccepted
			c.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			caused.Add(caused.Unaccepted)
			one.Outcome = netstate.ConnectRefused
		case errors.As(err, &timeout) && timeout.Timeout():
			caused.Add(caused.Unaccepted)
			one.Outcome = netstate.ConnectUnanswered
		default:
			routeless(err)
			one.Outcome = err.Error()
		}
		p.Connects = append(p.Connects, one)
		if one.Outcome != netstate.ConnectAccepted || !p.pause(echoPause) {
			break
		}
	}
	if len(p.Connects) > 0 {
		p.sent("%s to port %d, without data", unit.Plural(len(p.Connects), "TCP connection"), port)
	}
}

// names asks each name server for the name of the peer's address.
func (p *prober) names(servers []string) {
	if servers == nil {
		r, err := proc.Resolver()
		if err != nil {
			p.missing("resolvers", err)
			return
		}
		servers = r.Servers
	}
	for _, server := range servers[:min(len(servers), mostServers)] {
		if !p.has(resolverWait, "name server "+server) {
			break
		}
		began := time.Now()
		name, err := reverse(p.address, server, time.Now().Add(resolverWait))
		one := netstate.ResolverProbe{Server: server, Ms: ms(began)}
		if err != nil {
			routeless(err)
			one.Error = err.Error()
		}
		p.Resolvers = append(p.Resolvers, one)
		if err == nil && p.Reverse == nil {
			p.Reverse = &netstate.ReverseProbe{Name: name, Ms: one.Ms}
		}
	}
	if len(p.Resolvers) > 0 {
		p.sent("at most 2 DNS queries for the name of %s to each of %s", p.address,
			unit.Plural(len(p.Resolvers), "server"))
	}
}

// routeless counts a packet that was not sent because there is no route to its destination.
func routeless(err error) {
	if errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) {
		caused.Add(caused.NoRoute)
	}
}

func ms(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1e3 }
