package bottleneck

import (
	"math"
	"net/netip"
	"reflect"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

const testRate = 1e9 * 1448 / 1514 // of the link's 1 Gbit/s

// long is a trial of a flow from a to b over 25 ms in each direction, with the buffers of
// Linux.
func long() (*record.Trial, *topology.Topology, []flow.Spec) {
	host := func(name, address string) topology.Host {
		a := netip.MustParseAddr(address)
		return topology.Host{Name: name, Interfaces: []topology.Interface{
			{Name: "eth0", Addresses: []topology.Address{{First: a, Last: a, Bits: 24}}}}}
	}
	l := topology.Link{From: topology.End{Node: "a", Interface: "eth0"}, To: topology.End{Node: "b", Interface: "eth0"}}
	l.Rate, l.Delay = 1e9, unit.Duration(25e6)
	over := &topology.Topology{Hosts: []topology.Host{host("a", "10.0.0.1"), host("b", "10.0.0.2")},
		Links: []topology.Link{l}}
	t := &record.Trial{
		Flows: []record.Flow{{
			From: "a", To: "b", Connected: true, CongestionControl: "cubic", LimitBps: testRate,
			Path:       []string{"a.eth0", "b.eth0"},
			SenderInfo: &netstate.TCPInfo{SndMSS: 1448, Options: 7}, SndbufBytes: 3_000_000, RcvbufBytes: 200_000,
		}},
		Hosts: []netstate.HostReading{
			{Host: "a", Snapshot: netstate.Snapshot{
				Sysctls: map[string]string{"net.ipv4.tcp_wmem": "4096\t16384\t41943040"}}},
			{Host: "b", Snapshot: netstate.Snapshot{
				Sysctls: map[string]string{"net.ipv4.tcp_rmem": "4096\t131072\t33554432"}}},
		},
	}
	return t, over, make([]flow.Spec, 1)
}

func window(bytes float64) float64 { return bytes * 8 / 0.05 }

func TestPredict(t *testing.T) {
	set := func(t *record.Trial, host int, key, value string) { t.Hosts[host].Snapshot.Sysctls[key] = value }
	for _, test := range []struct {
		name      string
		change    func(f *record.Flow, t *record.Trial, over *topology.Topology, o *flow.Spec)
		by        string
		low, high float64
		why       string
	}{
		{"a path that is filled", func(*record.Flow, *record.Trial, *topology.Topology, *flow.Spec) {},
			FullLink, 0.846 * testRate, testRate, `"link_filled":{"flying_bytes":5977542.`},
		{"a long queue", func(_ *record.Flow, _ *record.Trial, over *topology.Topology, _ *flow.Spec) {
			over.Links[0].Queue = unit.Depth{Time: 50e6}
		}, FullLink, testRate, testRate, ""},
		{"no scaling", func(f *record.Flow, _ *record.Trial, _ *topology.Topology, _ *flow.Spec) {
			f.SenderInfo.Options = 3
		},
			ReceiverWindow, 0.98 * window(65535), window(65535), `"unscaled_window":{"bytes":65535,`},
		{"no scaling and less buffer", func(f *record.Flow, _ *record.Trial, _ *topology.Topology, o *flow.Spec) {
			f.SenderInfo.Options, o.ReceiveBuffer, f.RcvbufBytes = 3, 20000, 40000
		}, ReceiverWindow, 0.98 * window(20000), window(40000), ""},
		{"autotuning of the receive buffer", func(_ *record.Flow, t *record.Trial, _ *topology.Topology, _ *flow.Spec) {
			set(t, 1, "net.ipv4.tcp_rmem", "4096 131072 500000")
		}, ReceiverWindow, 0.98 * window(250_000), window(500_000),
			`{"parameter":"tcp_rmem","bytes":500000,"rtt_s":0.05}`},
		{"a receive buffer of its own", func(_ *record.Flow, _ *record.Trial, _ *topology.Topology, o *flow.Spec) {
			o.ReceiveBuffer = 100_000
		},
			ReceiverWindow, 0.98 * window(100_000), window(200_000), `"window_of_buffer":{"bytes":200000,`},
		{"autotuning of the send buffer", func(_ *record.Flow, t *record.Trial, _ *topology.Topology, _ *flow.Spec) {
			set(t, 0, "net.ipv4.tcp_wmem", "4096 16384 4194304")
		}, SendBuffer, 0.985 * window(0.6*4194304), window(4194304 + 2*superFrame),
			`"parameter":"tcp_wmem","least":0.6,"bytes":4194304`},
		{"a send buffer of its own", func(_ *record.Flow, _ *record.Trial, _ *topology.Topology, o *flow.Spec) {
			o.Window = 1_500_000
		},
			ReceiverWindow, 0.98 * window(100_000), window(200_000), ""},
		{"losses, cubic", func(_ *record.Flow, _ *record.Trial, over *topology.Topology, _ *flow.Spec) {
			over.Links[0].Loss = 1e-3
		},
			CongestionWindow, 6.2e6 / 2, 8.97e6 * 2, `"congestion_control":"cubic"`},
		{"losses, bbr", func(f *record.Flow, _ *record.Trial, over *topology.Topology, _ *flow.Spec) {
			over.Links[0].Loss, f.CongestionControl = 1e-3, "bbr"
		}, FullLink, 0.9 * testRate, testRate, ""},
		{"losses of acknowledgements alone", func(_ *record.Flow, _ *record.Trial, over *topology.Topology,
			_ *flow.Spec) {
			over.Links[0].Reverse = &topology.Direction{Impairment: topology.Impairment{Loss: 0.01}}
		}, FullLink, 0.846 * testRate, testRate, ""},
		{"a cap", func(f *record.Flow, _ *record.Trial, _ *topology.Topology, _ *flow.Spec) { f.ReadCapBps = 5e6 },
			SlowReader, 4.75e6, 5e6, `"capped":{"bps":5000000}`},
	} {
		trial, over, options := long()
		test.change(&trial.Flows[0], trial, over, &options[0])
		p := Predict(trial.Flows, trial.Hosts, over, options)[0]
		if p == nil {
			t.Errorf("%s: nothing is predicted", test.name)
			continue
		}
		near := func(got, want float64) bool { return math.Abs(got/want-1) < 0.03 }
		if p.LimitedBy != test.by || !near(p.HighBps, test.high) || !near(p.LowBps, test.low) ||
			!shows(p.Facts, test.why) {
			t.Errorf("%s: %g to %g by %q (%s); want %g to %g by %q (%s)", test.name, p.LowBps, p.HighBps, p.LimitedBy,
				said(p.Facts), test.low, test.high, test.by, test.why)
		}
		if p.RTTS != 0.05 || !p.Contains(p.HighBps) || !p.Contains(0.96*p.LowBps) || p.Contains(0.94*p.LowBps) ||
			p.Contains(1.06*p.HighBps) {
			t.Errorf("%s: %+v holds for what it should not, or not for what it should", test.name, *p)
		}
	}
}

// TestShared: of a link that two flows share each has an even part, more or less,
// and all of it at the most.
func TestShared(t *testing.T) {
	trial, over, _ := long()
	trial.Flows = append(trial.Flows, trial.Flows[0])
	for _, p := range Predict(trial.Flows, trial.Hosts, over, make([]flow.Spec, 2)) {
		if p == nil || !p.Contains(testRate/2) || !p.Contains(testRate) || p.Contains(testRate/10) ||
			!shows(p.Facts, `"flows":2`) {
			t.Errorf("predicted %+v", p)
		}
	}
}

// TestBesideRequests: a flow of requests takes no part of the link.
func TestBesideRequests(t *testing.T) {
	trial, over, options := long()
	alone := Predict(trial.Flows, trial.Hosts, over, options)[0]
	trial.Flows = append(trial.Flows, trial.Flows[0])
	trial.Flows[1].Protocol = flow.RR
	p := Predict(trial.Flows, trial.Hosts, over, make([]flow.Spec, 2))
	if !reflect.DeepEqual(p[0], alone) || p[1] != nil {
		t.Errorf("beside requests %+v, %+v; alone %+v", p[0], p[1], alone)
	}
}

// TestNothing: what cannot be predicted is not.
func TestNothing(t *testing.T) {
	for name, change := range map[string]func(f *record.Flow, over *topology.Topology){
		"no delay":             func(_ *record.Flow, over *topology.Topology) { over.Links[0].Delay = 0 },
		"no limit":             func(f *record.Flow, _ *topology.Topology) { f.LimitBps = 0 },
		"no connection":        func(f *record.Flow, _ *topology.Topology) { f.Connected = false },
		"datagrams":            func(f *record.Flow, _ *topology.Topology) { f.Protocol = flow.UDP },
		"another program":      func(f *record.Flow, _ *topology.Topology) { f.Process = "p1w" },
		"no path":              func(f *record.Flow, _ *topology.Topology) { f.Path = nil },
		"an interface unknown": func(f *record.Flow, _ *topology.Topology) { f.Path = []string{"a.eth7", "b.eth0"} },
		"nothing known":        func(f *record.Flow, _ *topology.Topology) { f.SenderInfo = nil },
	} {
		trial, over, options := long()
		change(&trial.Flows[0], over)
		if p := Predict(trial.Flows, trial.Hosts, over, options)[0]; p != nil {
			t.Errorf("%s: predicted %+v", name, *p)
		}
	}
}
