//go:build linux && !portable

package hoststate

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/probe"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/netstate"
)

// probes has the client probe a peer.
func (b *bench) probes(peer string, port int, servers ...string) {
	if servers == nil {
		servers = []string{}
	}
	b.probe = func() (netstate.Probe, error) {
		return probe.Run(context.Background(), peer, probe.Options{Port: port, Servers: servers})
	}
}

// nameServer answers each query with the name nas.example.
func (b *bench) nameServer(host, at string) {
	c := b.udp(host, at, "")
	go func() {
		buffer := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response = true
			m.Answers = []dnsmessage.Resource{
				{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypePTR,
					Class: dnsmessage.ClassINET},
					Body: &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName("nas.example.")}}}
			if packet, err := m.Pack(); err == nil {
				_, _ = c.WriteToUDPAddrPort(packet, from)
			}
		}
	}()
}

// TestProbe: what a probe finds out in a lab whose answers are known, and that it says what it
// sent: as many packets as the peer received, and no more.
func TestProbe(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		b.nameServer("other", "10.0.0.3:53")
		b.listen("server", "10.0.0.1:7000")
		b.sh("switch", "ip link set dev server-eth0 mtu 1400") // a segment between, which says nothing
		b.probes("10.0.0.1", 7000, "10.0.0.99", "10.0.0.3", "203.0.113.1", "10.0.0.1")
		var p netstate.Probe
		b.in("client", func() (err error) { p, err = b.probe(); return err })
		if p.Interface != "eth0" || len(p.ARP) != 1 || len(p.Missing) > 0 {
			t.Errorf("%+v", p)
		}
		if e := p.Echo; e == nil || e.Sent != 24 || e.Received < 20 || e.MinMs <= 0 || e.MedianMs < e.MinMs ||
			e.MaxMs < e.MedianMs {
			t.Errorf("%+v", p.Echo)
		}
		// Some kernels forward 4 bytes more between the ports of a bridge, as for a VLAN tag
		// (__is_skb_forwardable in net/core/dev.c).
		if m := p.PathMTU; m == nil || m.MTU != 1400 && m.MTU != 1404 || m.Reported {
			t.Errorf("%+v", m)
		}
		if len(p.Connects) != 3 || slices.ContainsFunc(p.Connects, func(c netstate.ConnectProbe) bool {
			return c.Outcome != netstate.ConnectAccepted
		}) {
			t.Errorf("%+v", p.Connects)
		}
		if r := p.Resolvers; len(r) != 4 || r[0].Error != netstate.ResolverSilent || r[1].Error != "" ||
			!strings.Contains(r[2].Error, "unreachable") || !strings.Contains(r[3].Error, "refused") ||
			p.Reverse == nil || p.Reverse.Name != "nas.example" {
			t.Errorf("%+v, %+v", r, p.Reverse)
		}
		sent := strings.Join(p.Sent, "; ")
		for _, want := range []string{"1 ARP request for 10.0.0.1 by eth0", "24 ICMP echo requests of 84 bytes",
			"3 TCP connections to port 7000", "at most 2 DNS queries"} {
			if !strings.Contains(sent, want) {
				t.Errorf("%q is not in %q", want, sent)
			}
		}
		// What had no time is missing, and not unanswered.
		b.in("client", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond) // within the echo requests
			defer cancel()
			p, err := probe.Run(ctx, "10.0.0.1", probe.Options{Port: 7000, Servers: []string{"10.0.0.3"}})
			if p.Echo != nil || p.PathMTU != nil || len(p.Connects) > 0 || len(p.Resolvers) > 0 || len(p.Missing) != 3 {
				t.Errorf("%+v", p)
			}
			return err
		})
		// A router's message names the size.
		b.in("other", func() error { return writeParameter("net.ipv4.ip_forward", "1") })
		b.sh("other",
			"ip link add name narrow0 type veth peer name narrow1 && ip address add 10.1.0.1/24 dev narrow0 && ip "+
				"link set dev narrow0 mtu 1300 up && ip link set dev narrow1 up && ip neigh add 10.1.0.9 lladdr "+
				"02:00:00:99:99:99 dev narrow0")
		b.sh("client", "ip route add 10.1.0.0/24 via 10.0.0.3")
		b.in("client", func() error {
			socket, err := sock.OpenEcho(netip.MustParseAddr("10.1.0.9"), 0)
			if err != nil {
				return err
			}
			defer socket.Close()
			if _, err := socket.Send(7, 1400); err != nil {
				return err
			}
			if a, got := socket.Receive(time.Now().Add(2 * time.Second)); !got || a.MTU != 1300 || a.Local ||
				a.Sequence != 7 {
				t.Errorf("%+v %v", a, got)
			}
			if a, err := socket.Send(8, 1600); err != nil || !a.Local || a.MTU != 1500 {
				t.Errorf("%+v %v", a, err)
			}
			return nil
		})
	})
}

// TestProbeAddsNothing: what a probe sends is not counted as a fault of its host, and the MTU of lo,
// which is larger than an IPv4 packet can be, is none of the path, nor is that of an interface
// by which the packets do not leave.
func TestProbeAddsNothing(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		b.sh("client", "ip address add 10.9.0.1/32 dev lo && ip route replace 10.0.0.0/24 dev eth0 src 10.9.0.1")
		b.sh("server", "ip route add 10.9.0.1/32 via 10.0.0.2")
		for _, peer := range []string{"127.0.0.1", "10.0.0.2", "10.0.0.1"} {
			b.probes(peer, 0)
			fails := func() (n int64) {
				b.in("client", func() error {
					c, err := proc.Proc{}.SNMP()
					n = c["Ip.FragFails"]
					return err
				})
				return n
			}
			before := fails()
			var p netstate.Probe
			b.in("client", func() (err error) { p, err = b.probe(); return err })
			if n := fails() - before; n > 0 || len(p.Missing) > 0 {
				t.Errorf("%s: Ip.FragFails grew by %d: %+v %+v", peer, n, p, p.PathMTU)
			}
			for _, f := range b.diagnosed(nil, "client").Findings {
				if slices.Contains([]string{"path-mtu-smaller", "mtu-blackhole", "fragmentation-needed"}, f.ID) {
					t.Errorf("%s: %+v", peer, f)
				}
			}
		}
	})
}
