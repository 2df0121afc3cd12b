package trust

import (
	"fmt"
	"net/netip"
	"testing"

	"linerate/internal/model/device"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/sciencetest"
)

// limitedTrial is a sound trial that has each flow's limit and what it sent.
func limitedTrial() (record.Trial, *topology.Topology) {
	t := trial(4, "writes")
	for i := range t.Flows {
		f := &t.Flows[i]
		f.LimitBps, f.SentBytes = sciencetest.Limit/4, f.ReceivedBytes
	}
	over := sciencetest.Study.Topology()
	return t, &over
}

func checkOf(t *testing.T, tr record.Trial, over *topology.Topology, name string) record.Check {
	t.Helper()
	for _, c := range Trial(tr, over) {
		if c.Check == name {
			return c
		}
	}
	t.Fatalf("no check %q", name)
	return record.Check{}
}

// early has all flows read more than their limit allows, and a part of it arrived
// before the window; only the limit of all together is known.
func early(tr *record.Trial, read, before float64) {
	for i := range tr.Flows {
		f := &tr.Flows[i]
		arrives := float64(f.ReceivedBytes)
		f.LimitBps = 0
		f.ReceivedBytes = int64(arrives * (1 + read))
		f.ArrivedBytes = int64(arrives * (1 + read - before))
	}
	tr.GoodputBps *= 1 + read
}

// gapped has a part of what flows received have arrived before the window, behind gaps.
func gapped(tr *record.Trial, share float64) {
	for i := range tr.Flows {
		tr.Flows[i].OutOfOrderBytes = int64(share * float64(tr.Flows[i].ReceivedBytes))
	}
}

// fill gives each of the server's interfaces a bucket of that part of the window.
func fill(tr *record.Trial, over *topology.Topology, share float64) {
	for i := range tr.Flows {
		port := fmt.Sprintf("eth%d", i%4)
		l, _ := over.LinkAt(topology.End{Node: "server", Interface: port})
		l.Burst = unit.Bytes(share * tr.GoodputBps / 4 / 8 * tr.WindowS)
		tr.Flows[i].Path = []string{"server." + port}
	}
}

// capped has the first flow receive a number of bytes more than its cap of 1 Mbit/s gives.
func capped(tr *record.Trial, more float64) {
	f := &tr.Flows[0]
	f.RateCapBps, f.LimitBps, f.SenderInfo = 1e6, 1e6, &netstate.TCPInfo{SndMSS: 1448}
	f.GoodputBps = 1e6 + more*8/tr.WindowS
	f.ReceivedBytes = int64(f.GoodputBps / 8 * tr.WindowS)
	f.ArrivedBytes = f.ReceivedBytes
	tr.LimitBps = 0
}

func bucketOf(over *topology.Topology, f record.Flow) float64 {
	return view{topology: over}.bucket(f).bytes
}

// TestBucketOfShaper: where no topology is known, as with a peer that is no agent, the bucket is
// that of the shaper which was read on the sending host.
func TestBucketOfShaper(t *testing.T) {
	reading := func(host string, s *netstate.Shaper) netstate.HostReading {
		h := netstate.HostReading{Host: host, Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{
			{Interface: "eth0", Shaper: s}}}}
		h.Begin.Interfaces, h.End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0"}},
			[]netstate.InterfaceCounters{{Interface: "eth0", AtNs: 1e9}}
		return h
	}
	v := view{Trial: record.Trial{Hosts: []netstate.HostReading{
		reading("client", &netstate.Shaper{Kind: "tbf", RateBps: 50e6, BurstBytes: 32_000}),
		reading("other", &netstate.Shaper{Kind: "tbf", RateBps: 50e6, BurstBytes: 64_000}),
	}}}
	if b := v.bucket(record.Flow{From: "client", To: "server"}); b.bytes != 32_000 || b.at.Interface != "eth0" {
		t.Errorf("%+v", b)
	}
	v.Hosts[0].End.Qdiscs = []netstate.QdiscCounters{{Interface: "eth0", Backlog: 9000},
		{Interface: "eth0", Backlog: 100_000}}
	if a, b := v.absorbed(record.Flow{From: "client", CountedAt: record.CountedLessLoss}),
		v.absorbed(record.Flow{From: "client"}); a != 100_000 || b != 0 {
		t.Errorf("absorbed %v and %v", a, b)
	}
	if b := v.bucket(record.Flow{From: "server", To: "client"}); b.bytes != 0 {
		t.Errorf("of a host without a shaper: %+v", b)
	}
}

// TestBucketOfDevice: a flow has the bucket of the device that it leaves by, and where it may
// have left by either of two, all flows together have both.
func TestBucketOfDevice(t *testing.T) {
	vlan := func(tag device.VLAN, host byte) topology.Interface {
		a := netip.AddrFrom4([4]byte{10, 0, byte(tag), host})
		return topology.Interface{Name: fmt.Sprintf("eth0.%d", tag), Addresses: []topology.Address{
			{First: a, Last: a, Bits: 24}}, Device: device.Device{VLAN: &tag}}
	}
	both := netip.MustParseAddr("10.9.0.2")
	over := &topology.Topology{
		Hosts: []topology.Host{
			{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}, vlan(10, 1), vlan(20, 1)},
				Routes: []setting.Route{
					{To: "10.9.0.0/24", Nexthops: []setting.Nexthop{{Via: "10.0.10.2"}, {Via: "10.0.20.2"}}}}},
			{Name: "b", Interfaces: []topology.Interface{
				{Name: "eth0", Addresses: []topology.Address{{First: both, Last: both, Bits: 24}}}, vlan(10, 2),
				vlan(20, 2)}},
		},
		Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
			To: topology.End{Node: "b", Interface: "eth0"}, Impairment: topology.Impairment{Rate: 1e9, Burst: 50_000}}},
	}
	over = over.With([]setting.Setting{{Host: "a", Qdisc: &setting.Qdisc{Interface: "eth0.10", Kind: "tbf", Rate: 1e8,
		Burst: 100_000}}})
	over = over.WithShaper(topology.End{Node: "a", Interface: "eth0.20"}, topology.Shaper{Kind: "tbf", Rate: 1e8,
		Burst: 100_000})
	flow := func(from, to, destination string, path ...string) record.Flow {
		return record.Flow{From: from, To: to, Destination: destination + ":5201", Path: path, ArrivedBytes: 1}
	}
	for name, c := range map[string]struct {
		flow       record.Flow
		own, saved float64
	}{
		"by a device":            {flow("a", "b", "10.0.10.2", "a.eth0", "b.eth0"), 100_000, 100_000},
		"by the other":           {flow("a", "b", "10.0.20.2", "a.eth0", "b.eth0"), 100_000, 100_000},
		"by either":              {flow("a", "b", "10.9.0.2"), 100_000, 200_000},
		"by another path":        {flow("a", "b", "10.0.10.2", "a.eth1", "b.eth0"), 50_000, 50_000},
		"in the other direction": {flow("b", "a", "10.0.10.1", "b.eth0", "a.eth0"), 50_000, 50_000},
	} {
		v := view{Trial: record.Trial{Flows: []record.Flow{c.flow, c.flow}}, topology: over}
		if own, saved := v.bucket(c.flow).bytes, v.saved(); own != c.own || saved != c.saved {
			t.Errorf("%s: %.0f of the flow, %.0f of all; want %.0f, %.0f", name, own, saved, c.own, c.saved)
		}
	}
}

// Each flow and each interface is held to its own limit, where the total would pass.
func TestLimitOfEach(t *testing.T) {
	// faster gives a flow more, and takes it from another that it shares no interface
	// with; the interfaces counted the same.
	faster := func(tr *record.Trial, by float64) {
		a, b := &tr.Flows[0], &tr.Flows[3]
		more := a.GoodputBps * (by - 1)
		a.GoodputBps += more
		b.GoodputBps = max(0, b.GoodputBps-more)
		a.ReceivedBytes = int64(a.GoodputBps / 8 * tr.WindowS)
	}
	for _, test := range []struct {
		name   string
		doctor func(*record.Trial, *topology.Topology)
		fact   string
	}{
		{"sound", func(*record.Trial, *topology.Topology) {}, ""},
		{"no total limit", func(tr *record.Trial, _ *topology.Topology) { tr.LimitBps = 0 }, ""},
		{"a flow above its own path's", func(tr *record.Trial, _ *topology.Topology) {
			tr.Flows[0].LimitBps = tr.Flows[0].GoodputBps * 0.95
		}, `"flow_limit_share":{"flow":"f1","from":"client1","to":"server"`},
		{"hardly above", func(tr *record.Trial, _ *topology.Topology) {
			tr.Flows[0].LimitBps = tr.Flows[0].GoodputBps * 0.999
		}, ""},
		{"a flow that took another path", func(tr *record.Trial, _ *topology.Topology) {
			// More than all that server.eth0 took in, where it was meant to go.
			faster(tr, 3)
			tr.Flows[0].LimitBps = tr.Flows[0].GoodputBps / 3
		}, ""},
		{"a flow on a slow trunk", func(tr *record.Trial, _ *topology.Topology) {
			tr.Flows[0].LimitBps, tr.LimitBps = 1e8, 0
		}, `"flow_limit_share":{"flow":"f1","from":"client1"`},
		{"an interface faster than its link", func(tr *record.Trial, over *topology.Topology) {
			l, _ := over.LinkAt(topology.End{Node: "server", Interface: "eth1"})
			l.Rate = 9e8
		}, `{"interface":"server.eth1","bps"`},
		{"by what its bucket holds", func(tr *record.Trial, over *topology.Topology) {
			l, _ := over.LinkAt(topology.End{Node: "server", Interface: "eth1"})
			l.Rate, l.Burst = 9e8, 10e6
		}, ""},
		{"all flows by what had arrived before", func(tr *record.Trial, _ *topology.Topology) {
			early(tr, 0.02, 0.02)
		}, ""},
		{"all flows by more than had arrived before", func(tr *record.Trial, _ *topology.Topology) {
			early(tr, 0.03, 0.02)
		}, `"limit_share"`},
		{"all flows by what had arrived behind gaps", func(tr *record.Trial, _ *topology.Topology) {
			gapped(tr, 0.02)
			early(tr, 0.02, 0)
		}, ""},
		{"all flows by more than had arrived behind gaps", func(tr *record.Trial, _ *topology.Topology) {
			gapped(tr, 0.02)
			early(tr, 0.03, 0)
		}, `"limit_share"`},
		{"all flows by what the buckets held", func(tr *record.Trial, over *topology.Topology) {
			fill(tr, over, 0.02)
			early(tr, 0.02, 0)
		}, ""},
		{"all flows by more than the buckets held", func(tr *record.Trial, over *topology.Topology) {
			fill(tr, over, 0.02)
			early(tr, 0.03, 0)
		}, `"limit_share"`},
		{"a paced flow by two segments", func(tr *record.Trial, over *topology.Topology) {
			capped(tr, bucketOf(over, tr.Flows[0])+2*1448)
		}, ""},
		{"a paced flow by more than two segments", func(tr *record.Trial, over *topology.Topology) {
			capped(tr, bucketOf(over, tr.Flows[0])+4*1448)
		}, `"limit_bps":1000000,`},
		{"the treatment's own topology counts", func(tr *record.Trial, over *topology.Topology) {
			slow := sciencetest.Study.Topology()
			l, _ := slow.LinkAt(topology.End{Node: "server", Interface: "eth2"})
			l.Rate = 5e8
			tr.Topology = &slow
		}, `"interface":"server.eth2"`},
	} {
		tr, over := limitedTrial()
		test.doctor(&tr, over)
		c := checkOf(t, tr, over, Limit)
		if c.Pass != (test.fact == "") || !rests(c, test.fact) {
			t.Errorf("%s: %+v, want %q", test.name, c, test.fact)
		}
	}
	tr, _ := limitedTrial()
	tr.LimitBps = 0
	for i := range tr.Flows {
		tr.Flows[i].LimitBps = 0
	}
	for _, c := range Trial(tr, nil) {
		if c.Check == Limit {
			t.Errorf("no limit is known, but %+v", c)
		}
	}
}

// Traffic that leaves by a sending host's interfaces is seen where it starts.
func TestForeignAtSenders(t *testing.T) {
	const client1 = 1
	send := func(tr *record.Trial, port string, bytes uint64) {
		h := &tr.Hosts[client1]
		for i := range h.End.Interfaces {
			if h.End.Interfaces[i].Interface == port {
				h.End.Interfaces[i].TxBytes += bytes
				return
			}
		}
		at := [2]int64{h.Begin.Interfaces[0].AtNs, h.End.Interfaces[0].AtNs}
		h.Begin.Interfaces = append(h.Begin.Interfaces, netstate.InterfaceCounters{Interface: port, AtNs: at[0]})
		h.End.Interfaces = append(h.End.Interfaces, netstate.InterfaceCounters{Interface: port, TxBytes: bytes,
			AtNs: at[1]})
	}
	for _, test := range []struct {
		name   string
		doctor func(*record.Trial)
		fact   string
	}{
		{"nothing else", func(*record.Trial) {}, ""},
		{"another program sends", func(tr *record.Trial) {
			send(tr, "eth0", 20e6)
		}, `{"host":"client1","no_flow":{"sent":true,"bytes":1955`},
		{"what had waited", func(tr *record.Trial) {
			send(tr, "eth0", 20e6)
			tr.Hosts[client1].Begin.Qdiscs = []netstate.QdiscCounters{{Interface: "eth0", Backlog: 20e6}}
		}, ""},
		{"by an interface that is not drawn", func(tr *record.Trial) { send(tr, "mgmt", 20e6) }, ""},
		{"a sender without TCP_INFO", func(tr *record.Trial) {
			send(tr, "eth0", 20e6)
			tr.Flows[0].SentBytes = 0
		}, ""},
		{"sent again", func(tr *record.Trial) {
			send(tr, "eth0", 20e6)
			tr.Flows[0].SentBytes += 20e6
		}, ""},
	} {
		tr, over := limitedTrial()
		test.doctor(&tr)
		c := checkOf(t, tr, over, Foreign)
		if c.Pass != (test.fact == "") || !rests(c, test.fact) {
			t.Errorf("%s: %+v, want %q", test.name, c, test.fact)
		}
	}
}

// TestTunnelInBucket: a token bucket of older kernels does not count all headers that a tunnel's
// packets have, so that a flow exceeds the limit of what they have.
func TestTunnelInBucket(t *testing.T) {
	const carried = 1514.0 / 1432 // what a segment through VXLAN has, over what is counted of it
	host := func(n byte) topology.Host {
		under, over := netip.AddrFrom4([4]byte{10, 0, 0, n}), netip.AddrFrom4([4]byte{10, 7, 0, n})
		return topology.Host{Name: fmt.Sprintf("h%d", n), Interfaces: []topology.Interface{
			{Name: "eth0"},
			{Name: "bond0", Addresses: []topology.Address{{First: under, Last: under, Bits: 24}},
				Device: device.Device{Bond: &device.Bond{Members: []string{"eth0"}}}},
			{Name: "vxlan0", Addresses: []topology.Address{{First: over, Last: over, Bits: 24}},
				Device: device.Device{VXLAN: &device.VXLAN{ID: 7, Local: under,
					Remote: netip.AddrFrom4([4]byte{10, 0, 0, 3 - n})}}},
		}}
	}
	for name, c := range map[string]struct {
		network string
		via     []string
		shaped  string // a device
		share   float64
		pass    bool
	}{
		"through the tunnel":                    {"10.7.0", nil, "", carried, true},
		"faster than that":                      {"10.7.0", nil, "", carried * 1.005, false},
		"beside the tunnel":                     {"10.0.0", nil, "", carried, false},
		"through the tunnel over Ethernet":      {"10.7.0", []string{"ssh"}, "", carried, false},
		"through the tunnel over a shaped bond": {"10.7.0", []string{"ssh"}, "bond0", carried, true},
		"faster than that over a shaped bond":   {"10.7.0", []string{"ssh"}, "bond0", carried * 1.005, false},
		"beside the tunnel over a shaped bond":  {"10.0.0", []string{"ssh"}, "bond0", carried, false},
		"through a shaped tunnel over Ethernet": {"10.7.0", []string{"ssh"}, "vxlan0", carried, false},
	} {
		over := topology.Topology{Hosts: []topology.Host{host(1), host(2)}, Links: []topology.Link{{
			From: topology.End{Node: "h1", Interface: "eth0"}, To: topology.End{Node: "h2", Interface: "eth0"},
			Impairment: topology.Impairment{Rate: 1e9, Burst: 1},
		}}}
		over.Hosts[0].Via, over.Hosts[1].Via = c.via, c.via
		tr := record.Trial{WindowS: 10, LimitBps: 9e8, GoodputBps: 9e8 * c.share, Flows: []record.Flow{{
			ID: "f1", From: "h1", To: "h2", Source: c.network + ".1:40001", Destination: c.network + ".2:5201",
			Connected:  true,
			SenderInfo: &netstate.TCPInfo{PMTU: 1450, SndMSS: 1398, Options: 1}, LimitBps: 9e8,
			GoodputBps: 9e8 * c.share,
		}}}
		shaped := over.WithShaper(topology.End{Node: "h1", Interface: c.shaped},
			topology.Shaper{Kind: "tbf", Rate: 1e9, Burst: 1})
		if got := checkOf(t, tr, shaped, Limit); got.Pass != c.pass {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
