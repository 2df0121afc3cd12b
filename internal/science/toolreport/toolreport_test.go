package toolreport

import (
	"cmp"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// TestSum: a sender-side figure is predicted from what lay in the send buffers.
func TestSum(t *testing.T) {
	flow := func(process string, goodput float64, unsent int64) record.Flow {
		return record.Flow{Process: process, From: "a", To: "b", Connected: true, Alive: true, GoodputBps: goodput,
			UnsentBytes: unsent}
	}
	run := func(id string, bps float64, by string) record.ToolRun {
		r := record.ToolRun{ID: id, Tool: "iperf", ReportedBps: bps, CountedBy: by, GoodputBps: 24e6, WritingS: 2,
			PredictedBps: 29e6}
		r.Seconds = 2.5
		return r
	}
	trial := record.Trial{
		Flows: []record.Flow{flow("p1w", 20e6, 1e6), flow("p1w", 4e6, 5e5), flow("p2w", 24e6, 1e6), flow("", 1e6, 7e6)},
		Tools: []record.ToolRun{run("p1w", 30e6, record.CountedBySender), run("p2w", 28e6, record.CountedBySender),
			{ID: "p3w", Tool: "iperf", Error: "ended"}},
	}
	sum := func() { trial.ToolReported = Sum(trial.Flows, trial.Tools, trial.AccountSender) }
	sum()
	got := trial.ToolReported
	if got == nil || got.Processes != 2 || got.SumBps != 58e6 || got.GoodputBps != 48e6 || got.SurplusBps != 10e6 ||
		got.UnsentBytes != 25e5 || got.UnsentBps != 10e6 || got.PredictedBps != 10e6 ||
		got.Method != "the sum of what 2 iperf clients print, counted by the sender" {
		t.Fatalf("%+v", got)
	}
	if !Explained(*got) {
		t.Error("a surplus that was predicted is not explained")
	}
	got.PredictedBps = 5e6
	if Explained(*got) {
		t.Error("half of a surplus explains it")
	}
	for i := range trial.Tools {
		trial.Tools[i].CountedBy = record.CountedByReceiver
	}
	sum()
	if trial.ToolReported.PredictedBps != 0 {
		t.Errorf("a receiver has %g of surplus from the sender's buffers", trial.ToolReported.PredictedBps)
	}
	trial.Tools = trial.Tools[2:]
	sum()
	if trial.ToolReported != nil {
		t.Errorf("nothing was said: %+v", trial.ToolReported)
	}
}

// TestAtInterfaces: datagrams are counted where they arrive, without their headers and
// without those of other flows.
func TestAtInterfaces(t *testing.T) {
	udp := record.Flow{Process: "p1w", Protocol: flow.UDP, From: "a", To: "b", Destination: "10.0.0.2:7001",
		Connected: true}
	own := record.Flow{From: "a", To: "b", Connected: true, ReceivedBytes: 1000}
	trial := record.Trial{
		WindowS: 2, Flows: []record.Flow{udp, own, udp},
		Hosts: []netstate.HostReading{{
			Host: "b",
			Begin: netstate.Reading{Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", AtNs: 0},
				{Interface: "lo"}}},
			End: netstate.Reading{Interfaces: []netstate.InterfaceCounters{
				{Interface: "eth0", AtNs: 2e9, RxBytes: 5000 + 42*10, RxPackets: 10},
				{Interface: "lo", AtNs: 2e9, RxBytes: 99999}}},
		}},
	}
	trial.Flows = AtInterfaces(trial.Flows, trial.Hosts, trial.WindowS, nil)
	for _, i := range []int{0, 2} {
		if f := trial.Flows[i]; f.ReceivedBytes != 2000 || f.GoodputBps != 8000 ||
			f.CountedAt != record.CountedAtInterfaces {
			t.Errorf("%+v", f)
		}
	}
	if f := trial.Flows[1]; f.ReceivedBytes != 1000 || f.CountedAt != "" {
		t.Errorf("linerate's own flow: %+v", f)
	}
}

// TestStackedInterfaces: what arrives by several interfaces of a host, one upon another, is
// counted once, without a tunnel's headers.
func TestStackedInterfaces(t *testing.T) {
	const datagrams, bytes, headers = 1000, 1200, 42
	lab := &topology.Topology{Hosts: []topology.Host{{Name: "b"}}}
	for name, c := range map[string]struct {
		beneath, upper netstate.InterfaceSnapshot
		more           uint64 // bytes of each frame, beneath
		over           *topology.Topology
	}{
		"VLAN": {upper: netstate.InterfaceSnapshot{Kind: "vlan"}},
		"bond": {beneath: netstate.InterfaceSnapshot{Master: "upper"},
			upper: netstate.InterfaceSnapshot{Kind: "bond"}},
		"VXLAN": {upper: netstate.InterfaceSnapshot{Kind: "vxlan"}, more: 50},
		"link emulator's tun": {beneath: netstate.InterfaceSnapshot{Kind: "tun"},
			upper: netstate.InterfaceSnapshot{Kind: "vlan"}, over: lab},
		"a container's VLAN": {beneath: netstate.InterfaceSnapshot{Interface: "lo"},
			upper: netstate.InterfaceSnapshot{Kind: "vlan"}},
		"a container's macvlan": {beneath: netstate.InterfaceSnapshot{Interface: "lo"},
			upper: netstate.InterfaceSnapshot{Kind: "macvlan"}},
		"a container's ipvlan": {beneath: netstate.InterfaceSnapshot{Interface: "lo"},
			upper: netstate.InterfaceSnapshot{Kind: "ipvlan"}},
		"a VPN on a container's ipvlan": {beneath: netstate.InterfaceSnapshot{Kind: "ipvlan"},
			upper: netstate.InterfaceSnapshot{Kind: "wireguard"}},
	} {
		c.beneath.Interface = cmp.Or(c.beneath.Interface, "eth0")
		c.upper.Interface, c.upper.Addresses = "upper", []string{"10.0.0.2/24"}
		c.beneath.Up, c.upper.Up = true, true
		counted := func(name string, more uint64) netstate.InterfaceCounters {
			return netstate.InterfaceCounters{Interface: name, AtNs: 2e9, RxBytes: datagrams * (bytes + headers + more),
				RxPackets: datagrams}
		}
		flow := record.Flow{Process: "p1w", Protocol: flow.UDP, From: "a", To: "b", Destination: "10.0.0.2:7001",
			Connected: true}
		got := AtInterfaces([]record.Flow{flow}, []netstate.HostReading{{
			Host: "b",
			Begin: netstate.Reading{Interfaces: []netstate.InterfaceCounters{{Interface: c.beneath.Interface},
				{Interface: "upper"}}},
			End: netstate.Reading{Interfaces: []netstate.InterfaceCounters{counted(c.beneath.Interface, c.more),
				counted("upper", 0)}},
			Snapshot: netstate.Snapshot{Host: "b", Interfaces: []netstate.InterfaceSnapshot{c.beneath, c.upper}},
		}}, 2, c.over)[0]
		if got.ReceivedBytes != datagrams*bytes {
			t.Errorf("%s: %d bytes, want %d", name, got.ReceivedBytes, datagrams*bytes)
		}
	}
}

// TestStandIn: linerate's own flows are counted at the sender where that is asked for;
// what lay in the buffers over the time of writing is too much.
func TestStandIn(t *testing.T) {
	flow := record.Flow{GoodputBps: 10e6, SenderAverageBps: 12e6, UnsentBytes: 1e6,
		SenderInfo: &netstate.TCPInfo{BusyUs: 4e6}}
	flows := []record.Flow{flow, flow}
	got := Sum(flows, nil, true)
	if got == nil || got.SumBps != 24e6 || got.SurplusBps != 4e6 || got.PredictedBps != 4e6 || got.UnsentBytes != 2e6 ||
		got.Tool != "linerate" || got.Processes != 0 {
		t.Fatalf("%+v", got)
	}
	if got := Sum(flows, nil, false); got != nil {
		t.Errorf("it was not asked for: %+v", got)
	}
}

// TestAgree: trials with next to no surplus say nothing of a prediction.
func TestAgree(t *testing.T) {
	trial := func(seen, predicted float64) record.Trial {
		return record.Trial{ToolReported: &record.ToolReported{GoodputBps: 100, SurplusBps: seen,
			PredictedBps: predicted}}
	}
	a := Agree([]record.Trial{trial(10, 11), trial(30, 24), trial(1, 9), {}, trial(20, 20),
		{ToolReported: &record.ToolReported{PredictedBps: 7}}})
	if a.Trials != 3 || a.Within != 2 || a.Ratio != 55.0/60 || a.Low != 0.8 || a.High != 1.1 {
		t.Errorf("%+v", a)
	}
	if a := Agree(nil); a != (Agreement{}) {
		t.Errorf("%+v", a)
	}
}

// TestPredictedParts: their mean is the ratio of the sums, whatever the trials' own ratios;
// trials in one ratio do not scatter.
func TestPredictedParts(t *testing.T) {
	trial := func(seen, predicted float64) record.Trial {
		return record.Trial{ToolReported: &record.ToolReported{GoodputBps: 100, SurplusBps: seen,
			PredictedBps: predicted}}
	}
	mixed := []record.Trial{trial(10, 11), trial(30, 24), trial(1, 9), {}, trial(20, 20)}
	if parts := PredictedParts(mixed); len(parts) != 3 || math.Abs(stat.Mean(parts, nil)-Agree(mixed).Ratio) > 1e-12 ||
		stat.StdDev(parts, nil) < 0.05 {
		t.Errorf("%v", parts)
	}
	if parts := PredictedParts([]record.Trial{trial(10, 9), trial(40, 36)}); len(parts) != 2 ||
		math.Abs(parts[0]-0.9) > 1e-12 || math.Abs(parts[1]-0.9) > 1e-12 {
		t.Errorf("%v", parts)
	}
	if parts := PredictedParts(nil); len(parts) != 0 {
		t.Errorf("%v", parts)
	}
}
