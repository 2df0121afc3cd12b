//go:build linux && !portable

package hoststate

import (
	"net"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// TestStrictFilter: the client sends from eth0's address to the server's eth1, which the server
// would answer by eth0. The server drops the packets, or the ARP requests before them, and the
// interface that does is named.
func TestStrictFilter(t *testing.T) {
	for name, test := range map[string]struct {
		resolved bool // the client needs not ask
		evidence func(any) bool
	}{
		"packets": {true, func(is any) bool { r, ok := is.(fact.Received); return ok && r.Interface == "eth1" }},
		"ARP": {false, func(is any) bool {
			d, ok := is.(fact.DroppedRequest)
			return ok && d.Peer == "client" && d.From[0].To == netip.MustParseAddr("10.0.0.2") &&
				d.For == netip.MustParseAddr("10.1.0.1")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			kerneltest.InNamespace(t, func(t *testing.T) {
				b := newBench(t)
				for i, host := range []string{"server", "client"} {
					b.link(host, "eth1", 9+i)
					b.sh(host, "ip address add 10.1.0."+string(rune('1'+i))+"/24 dev eth1 && ip link set dev eth1 up")
					b.in(host, func() error { return writeParameter("net.ipv4.conf.all.arp_ignore", "1") })
				}
				b.in("server", func() error { return writeParameter("net.ipv4.conf.all.rp_filter", "1") })
				if test.resolved {
					b.sh("client", "ip neigh replace 10.1.0.1 lladdr 02:00:00:00:09:04 dev eth1 nud permanent")
				}
				e := b.diagnosed(func(b *bench) {
					var c net.Conn
					b.in("client", func() (err error) {
						d := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(addr("10.0.0.2:0"))}
						c, err = d.Dial("udp4", "10.1.0.1:9")
						return err
					})
					send(c.(*net.UDPConn), 200, 100)
					c.Close()
				}, "server", "client")
				i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "strict-rp-filter" })
				if i < 0 {
					t.Fatal(summary(e))
				}
				f := e.Findings[i]
				if f.Host != "server" || f.Confidence == record.Possible ||
					!reflect.DeepEqual(f.Args, cause.Filter{Interfaces: []string{"eth1"}}) ||
					!slices.ContainsFunc(f.Facts, func(one fact.Fact) bool { return test.evidence(one.Is) }) {
					t.Errorf("%+v", f)
				}
				for _, f := range e.Findings {
					if f.ID == "neighbour-failed" || f.ID == "rp-filter-drop" && f.ExplainedBy != "strict-rp-filter" {
						t.Errorf("also found: %s\n%s", f.ID, summary(e))
					}
				}
			})
		})
	}
}
