//go:build linux && !portable

package netlink

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
)

// tiers are three namespaces in a row, joined by so many cables each: what near
// sends to far is hashed by near, as its sender, and by middle, as a router.
type tiers struct{ near, middle, far *Namespace }

const (
	nearFour, farFour = "10.0.200.1", "10.0.200.2"
	nearSix, farSix   = "fd00:200::1", "fd00:200::2"
)

// fiveTuple is addresses, protocol and ports
// (Documentation/networking/ip-sysctl.rst, fib_multipath_hash_fields).
const fiveTuple = "55"

// policies of each namespace, for IPv4 and IPv6. What a router does by policy 1
// is unknown where no hardware is in between, since it takes the hash that
// the sender's socket gave the packet; nor what it does with IPv6 by policy 3,
// where the kernel answers by another hash than it forwards by; nor by policy 0
// with flow labels.
var policies = map[string][2]string{"near": {"1", "1"}, "middle": {"3", "0"}, "far": {"1", "1"}}

func newTiers(t *testing.T, links int) tiers {
	t.Helper()
	var list []*Namespace
	for _, name := range []string{"near", "middle", "far"} {
		n, err := NewNamespace(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		list = append(list, n)
		err = n.Do(func() error {
			for key, value := range map[string]string{
				"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1",
				"net.ipv4.fib_multipath_hash_policy": policies[name][0],
				"net.ipv6.fib_multipath_hash_policy": policies[name][1],
				"net.ipv4.fib_multipath_hash_fields": fiveTuple, "net.ipv6.auto_flowlabels": "0",
				"net.ipv6.conf.default.accept_dad": "0", "net.ipv6.conf.all.accept_dad": "0",
				"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.default.rp_filter": "0",
			} {
				if err := (proc.Sysctls{}).Write(key, value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s := tiers{list[0], list[1], list[2]}
	join := func(a, b *Namespace, tier int) {
		for i := range links {
			mac := func(end int) string { return fmt.Sprintf("02:00:00:%02x:%02x:%02x", tier, end, i) }
			down := LinkEnd{Namespace: a, Interface: fmt.Sprintf("down%d", i), MAC: mac(1), MTU: 1500}
			up := LinkEnd{Namespace: b, Interface: fmt.Sprintf("up%d", i), MAC: mac(2), MTU: 1500}
			if err := down.NewVethPair(up); err != nil {
				t.Fatal(err)
			}
		}
	}
	join(s.near, s.middle, 1)
	join(s.middle, s.far, 2)
	give := func(n *Namespace, port string, addresses ...string) {
		for _, a := range addresses {
			p := netip.MustParseAddr(a)
			if err := n.conn.AddAddresses(port, []netip.Prefix{netip.PrefixFrom(p, p.BitLen())}); err != nil {
				t.Fatal(err)
			}
		}
	}
	give(s.near, "down0", nearFour, nearSix)
	give(s.far, "up0", farFour, farSix)
	// By link-local next hops, IPv4 too, as routers that speak BGP unnumbered do.
	route := func(n *Namespace, port string, tier, end int, to ...string) {
		for _, a := range to {
			p := netip.MustParseAddr(a)
			spec := RouteSpec{To: netip.PrefixFrom(p, p.BitLen())}
			for i := range links {
				via := netip.MustParseAddr(fmt.Sprintf("fe80::ff:fe%02x:%x", tier, end<<8|i))
				spec.Nexthops = append(spec.Nexthops, Nexthop{Via: via, Interface: fmt.Sprintf("%s%d", port, i)})
			}
			if err := n.conn.ReplaceRoute(spec); err != nil {
				t.Fatal(err)
			}
		}
	}
	route(s.near, "down", 1, 2, farFour, farSix)
	route(s.middle, "down", 2, 2, farFour, farSix)
	route(s.middle, "up", 1, 1, nearFour, nearSix)
	route(s.far, "up", 2, 1, nearFour, nearSix)
	return s
}

// TestPredictedPath: the kernel's answer for a packet's route, looked up with protocol
// and ports, is the one that it takes: at the sender and at a router, over
// 2, 4 and 8 links, IPv4 and IPv6.
func TestPredictedPath(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		const flows = 1000
		for _, links := range []int{2, 4, 8} {
			for from, to := range map[string]string{nearFour: farFour, nearSix: farSix} {
				s := newTiers(t, links)
				wrong, taken := s.compare(t, netip.MustParseAddr(from), netip.MustParseAddr(to), flows)
				if wrong*1000 > flows {
					t.Errorf("%d links to %s: %d of %d flows took another path than the kernel answered", links, to,
						wrong, flows)
				}
				for tier, ports := range taken {
					if byAddress := tier == 1 && to == farSix; len(ports) != links && !byAddress {
						t.Errorf("%d links to %s: flows arrived by %d of them at tier %d: %v", links, to, len(ports),
							tier, ports)
					}
				}
			}
		}
	})
}

// compare opens connections from near to far, looks up in both kernels which path each
// goes, and looks by which interfaces their packets arrive.
func (s tiers) compare(t *testing.T, from, to netip.Addr, flows int) (wrong int, taken [2]map[string]int) {
	t.Helper()
	type seen struct{ middle, far string }
	paths := map[netip.AddrPort]*seen{} // by the client's address
	var watches [2]*PacketCapture
	var names [2]map[int]string
	for i, n := range []*Namespace{s.middle, s.far} {
		err := n.Do(func() (err error) {
			watches[i], err = OpenPacketCapture()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		defer watches[i].Close()
		if names[i], err = n.conn.names(); err != nil {
			t.Fatal(err)
		}
	}
	var listener *net.TCPListener
	err := s.far.Do(func() (err error) {
		listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: to.AsSlice()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	at := listener.Addr().(*net.TCPAddr).AddrPort()
	look := func() {
		for i := range watches {
			watches[i].Read(func(a CapturedPacket) {
				if path := paths[a.Source]; path != nil && a.Protocol == flow.TCP && a.Destination == at {
					*[]*string{&path.middle, &path.far}[i] = names[i][a.Index]
				}
			})
		}
	}
	var order []netip.AddrPort
	err = s.near.Do(func() error {
		for i := range flows {
			// where connect(2) chooses the port, it chooses the path at random (6.16),
			// or before it knows the interface; and likewise with the address (IPv6).
			local := net.TCPAddr{IP: from.AsSlice(), Port: 20000 + i}
			conn, err := net.DialTCP("tcp", &local, net.TCPAddrFromAddrPort(at))
			if err != nil {
				return err
			}
			opened := conn.LocalAddr().(*net.TCPAddr).AddrPort()
			paths[opened] = &seen{}
			order = append(order, opened)
			if _, err := conn.Write([]byte("x")); err != nil {
				return err
			}
			accepted, err := listener.AcceptTCP()
			if err != nil {
				return err
			}
			_ = accepted.SetDeadline(time.Now().Add(20 * time.Second))
			if _, err := accepted.Read(make([]byte, 1)); err != nil {
				return err
			}
			look()
			accepted.Close()
			conn.Close()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	taken = [2]map[string]int{{}, {}}
	for _, opened := range order {
		q := netstate.RouteLookup{Source: from.String(), Destination: to.String(), Protocol: flow.TCP,
			SourcePort: opened.Port(), DestinationPort: at.Port()}
		first, err := s.near.conn.LookupRoute(q, nil)
		if err != nil {
			t.Fatal(err)
		}
		came := paths[opened]
		taken[0][came.middle]++
		taken[1][came.far]++
		q.In = came.middle
		second, err := s.middle.conn.LookupRoute(q, names[0])
		if err != nil {
			t.Fatal(err)
		}
		if "up"+first.Interface[len("down"):] != came.middle || "up"+second.Interface[len("down"):] != came.far {
			wrong++
		}
	}
	return wrong, taken
}
