package measure

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/limits"
)

// TestSpread: flows take addresses in turn, and every one has a source port of
// its own where there are enough.
func TestSpread(t *testing.T) {
	s := session{
		options: Options{Flows: flow.Spec{Direction: flow.Both, Streams: 4}, SourcePorts: []uint16{7, 8, 9, 10, 11,
			12, 13, 14}},
		servers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:2")},
		sources: []netip.Addr{netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12"),
			netip.MustParseAddr("192.0.2.13")},
	}
	var got []string
	for _, f := range s.plan() {
		got = append(got, fmt.Sprintf("%s %s:%d>%s", f.ID, f.Source, f.SourcePort, f.Accepted))
		if f.Destination != f.Accepted.Addr() {
			t.Errorf("%s is meant for %s and goes to %s", f.ID, f.Destination, f.Accepted)
		}
	}
	want := []string{
		"w1 192.0.2.11:7>192.0.2.1:1", "w2 192.0.2.12:8>192.0.2.2:2", "w3 192.0.2.13:9>192.0.2.1:1",
		"w4 192.0.2.11:10>192.0.2.2:2",
		"r1 192.0.2.11:11>192.0.2.1:1", "r2 192.0.2.12:12>192.0.2.2:2", "r3 192.0.2.13:13>192.0.2.1:1",
		"r4 192.0.2.11:14>192.0.2.2:2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestClash(t *testing.T) {
	ports := func(n int) []uint16 { return make([]uint16, n) }
	for i, test := range []struct {
		addresses, ports, streams, directions int
		clash                                 bool
	}{
		{1, 0, 100, 2, false}, {1, 4, 4, 1, false}, {1, 4, 4, 2, true}, {1, 4, 5, 1, true},
		{2, 1, 2, 1, false}, // one port, two destinations
		{2, 1, 2, 2, true}, {3, 2, 6, 1, false}, {3, 2, 7, 1, true},
	} {
		o := Options{Addresses: make([]string, test.addresses), SourcePorts: ports(test.ports)}
		for j := range o.SourcePorts {
			o.SourcePorts[j] = uint16(j + 1)
		}
		if err := o.Clash(test.streams, test.directions); (err != nil) != test.clash {
			t.Errorf("%d: %+v: %v", i, test, err)
		}
	}
}

// severalInterfaces is a trial between hosts with interfaces of those speeds; each flow uses
// one of either, and sends one way.
func severalInterfaces(client, server []float64, flows ...[2]int) (*record.Trial, []limits.Ends) {
	t := &record.Trial{WindowS: 1}
	hosts := map[string][]float64{record.NodeClient: client, record.NodeServer: server}
	address := func(node string, port int) string {
		return fmt.Sprintf("10.0.%d.%d", port, map[string]int{record.NodeClient: 2, record.NodeServer: 1}[node])
	}
	for _, node := range []string{record.NodeClient, record.NodeServer} {
		h := netstate.HostReading{Host: node}
		for i, speed := range hosts[node] {
			h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, netstate.InterfaceSnapshot{
				Interface: fmt.Sprintf("eth%d", i), SpeedBps: speed, Addresses: []string{address(node, i) + "/24"},
			})
		}
		t.Hosts = append(t.Hosts, h)
	}
	for _, f := range flows {
		from, to := address(record.NodeClient, f[0]), address(record.NodeServer, f[1])
		lookups := &t.Hosts[0].Snapshot.Lookups
		*lookups = append(*lookups, netstate.RouteLookup{Source: from, Destination: to,
			Interface: fmt.Sprintf("eth%d", f[0])})
		t.Flows = append(t.Flows, record.Flow{
			From: record.NodeClient, To: record.NodeServer, Source: from + ":1", Destination: to + ":2",
			Connected: true, GoodputBps: 1e8,
		})
	}
	return t, limits.EndsOf(t.Flows, t.Hosts)
}

// TestLimitOfSeveralInterfaces: each interface's speed counts once, however many flows use
// it, and the slower side decides.
func TestLimitOfSeveralInterfaces(t *testing.T) {
	const full = 1448.0 / 1538
	gbit := func(n ...float64) (list []float64) {
		for _, v := range n {
			list = append(list, v*1e9)
		}
		return list
	}
	for _, test := range []struct {
		name           string
		client, server []float64
		flows          [][2]int
		want           float64 // Gbit/s of the wire; 0: unknown
	}{
		{"two to two", gbit(1, 1), gbit(1, 1), [][2]int{{0, 0}, {1, 1}}, 2},
		{"twice over the same interfaces", gbit(1, 1), gbit(1, 1), [][2]int{{0, 0}, {1, 1}, {0, 0}, {1, 1}}, 2},
		{"one client interface to four", gbit(10), gbit(1, 1, 1, 1), [][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 4},
		{"a slow client interface to four", gbit(2.5), gbit(1, 1, 1, 1), [][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 2.5},
		{"fast and slow crosswise", gbit(10, 1), gbit(1, 10), [][2]int{{0, 0}, {1, 1}}, 2},
		{"an unknown interface beside a known one", gbit(1, 0), gbit(0, 1), [][2]int{{0, 0}, {1, 1}}, 2},
		{"nothing known of one path", gbit(1, 0), gbit(1, 0), [][2]int{{0, 0}, {1, 1}}, 0},
	} {
		trial, used := severalInterfaces(test.client, test.server, test.flows...)
		over := between(trial.Flows, used)
		if over == nil {
			t.Fatalf("%s: no interface is known: %+v", test.name, used)
		}
		got := limit(over, trial.Flows, used)
		if math.Abs(got.Bps-test.want*full*1e9) > 1e3 || got.IsZero() {
			t.Errorf("%s: %.0f bit/s (%+v), want %.0f", test.name, got.Bps, got.Limit, test.want*full*1e9)
		}
	}
	// The other direction is none of these flows'.
	trial, used := severalInterfaces(gbit(1, 1), gbit(1, 1), [2]int{0, 0}, [2]int{1, 1})
	if got := limit(between(trial.Flows, used), nil, nil); got.Bps != 0 {
		t.Errorf("no flow: %+v", got)
	}
	// An interface that is not known, as on loopback, leaves nothing known.
	used[1][record.NodeClient] = netstate.InterfaceSnapshot{}
	if over := between(trial.Flows, used); over != nil {
		t.Errorf("an interface is not known, yet there is %+v", over)
	}
	if one := between(trial.Flows[:1], used[:1]); one == nil || len(one.Links) != 1 ||
		float64(one.Links[0].Rate) != 1e9 {
		t.Errorf("from interface to interface: %+v", one)
	}
}
