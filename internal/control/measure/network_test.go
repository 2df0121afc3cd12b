package measure

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// TestShaped: a shaper counts in its own direction, if it is slower than the hardware and
// can be one.
func TestShaped(t *testing.T) {
	flow := record.Flow{ID: "w1", From: record.NodeClient, To: record.NodeServer, Source: "10.0.0.2:1",
		Destination: "10.0.0.1:2", SenderInfo: &netstate.TCPInfo{PMTU: 1500, Options: 1}}
	back := record.Flow{ID: "r1", From: record.NodeServer, To: record.NodeClient, Source: "10.0.0.1:2",
		Destination: "10.0.0.2:3", SenderInfo: flow.SenderInfo}
	for _, test := range []struct {
		name   string
		speed  float64
		shaper *netstate.Shaper
		want   string // of the first flow; the other one has none of it
	}{
		{"none", 0, nil, record.NoLimitSpeed},
		{"slower than the hardware", 1e9, &netstate.Shaper{Kind: "tbf", RateBps: 300e6},
			"tbf on client.eth0: 300 Mbit/s × 1448/1514"},
		{"faster than the hardware", 100e6, &netstate.Shaper{Kind: "tbf", RateBps: 300e6}, "100 Mbit/s × 1448/1538"},
		{"with overhead", 0, &netstate.Shaper{Kind: "cake", RateBps: 300e6, OverheadBytes: 4},
			"cake on client.eth0: 300 Mbit/s × 1448/1518"},
		{"with a size table", 0, &netstate.Shaper{Kind: "tbf", RateBps: 300e6, SizeTable: true},
			record.NoLimitSizeTable + " tbf on client.eth0"},
		{"with a size table, faster than the hardware", 100e6, &netstate.Shaper{Kind: "tbf", RateBps: 300e6,
			SizeTable: true}, "100 Mbit/s × 1448/1538"},
		{"no such kind, with a size table", 0, &netstate.Shaper{Kind: "\x1b[2J", RateBps: 1, SizeTable: true},
			record.NoLimitSpeed},
		{"no such bucket", 0, &netstate.Shaper{Kind: "tbf", RateBps: 1e6, BurstBytes: -1}, record.NoLimitSpeed},
		{"no rate", 0, &netstate.Shaper{Kind: "tbf", RateBps: -1}, record.NoLimitSpeed},
		{"no such kind", 0, &netstate.Shaper{Kind: "\x1b[2J", RateBps: 1}, record.NoLimitSpeed},
		{"no such overhead", 0, &netstate.Shaper{Kind: "tbf", RateBps: 1e6, OverheadBytes: -1500}, record.NoLimitSpeed},
	} {
		hosts := []netstate.HostReading{
			{Host: record.NodeClient, Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
				{Interface: "eth0", Addresses: []string{"10.0.0.2/24"}, SpeedBps: test.speed, Shaper: test.shaper}}}},
			{Host: record.NodeServer, Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
				{Interface: "eth0", Addresses: []string{"10.0.0.1/24"}}}}},
		}
		flows := []record.Flow{flow, back}
		paths := direct{}.Paths(nil, flows, hosts)
		if got := (direct{}).direction(flows[:1], hosts, paths.Topology); spelled(got) != test.want {
			t.Errorf("%s: %q, want %q", test.name, spelled(got), test.want)
		}
		if got := (direct{}).direction(flows[1:], hosts, paths.Topology); got.Of != "" ||
			len(got.Terms) > 0 && got.Terms[0].Of != "" {
			t.Errorf("%s: the other direction: %+v", test.name, got)
		}
		if out := paths.Topology.Links[0].Towards(paths.Topology.Links[0].From); strings.Contains(test.want, " × ") &&
			strings.Contains(test.want, " on ") != (out.Shaper != "") {
			t.Errorf("%s: %+v", test.name, out)
		}
	}
}

// TestLimitOfSeveral: where flows leave by several interfaces and the server's are not known,
// one interface's speed is no limit of all.
func TestLimitOfSeveral(t *testing.T) {
	hosts := []netstate.HostReading{
		{Host: record.NodeClient, Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
			{Interface: "eth0", Addresses: []string{"10.0.0.2/24"}, SpeedBps: 1e9},
			{Interface: "eth1", Addresses: []string{"10.0.1.2/24"}, SpeedBps: 1e9},
		}}}}
	info := &netstate.TCPInfo{PMTU: 1500, Options: 1}
	flows := []record.Flow{
		{ID: "w1", From: record.NodeClient, To: record.NodeServer, Source: "10.0.0.2:1", Destination: "192.0.2.1:2",
			SenderInfo: info},
		{ID: "w2", From: record.NodeClient, To: record.NodeServer, Source: "10.0.1.2:1", Destination: "192.0.2.1:2",
			SenderInfo: info},
	}
	for n, want := range map[int]string{1: "1 Gbit/s × 1448/1538", 2: record.NoLimitInterfaces} {
		paths := direct{}.Paths(nil, flows[:n], hosts)
		if got := (direct{}).direction(flows[:n], hosts, paths.Topology); spelled(got) != want ||
			(got.Bps > 0) != (n == 1) {
			t.Errorf("%d flows: %+v, want %q", n, got, want)
		}
	}
}

// spelled is the one term of a limit, or why there is none.
func spelled(l limits.Limit) string {
	if l.None != "" || len(l.Terms) != 1 {
		return strings.TrimSpace(l.None + " " + l.Of)
	}
	one := l.Terms[0]
	text := fmt.Sprintf("%s × %d/%d", unit.FormatRate(one.Bps), one.PayloadBytes, one.WireBytes)
	if one.Of != "" {
		text = one.Of + ": " + text
	}
	return text
}
