package export

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/limits"
)

// TestEndsOfUnknownShare: without linerate's own time, all of a busy machine is not that of
// other programs: their share is unknown.
func TestEndsOfUnknownShare(t *testing.T) {
	run := &record.Run{}
	run.Environment.Hosts = []netstate.HostEnvironment{{Host: "client", CPUs: 2}}
	for own, known := range map[float64]bool{0: false, 1.5: true} {
		made := &record.Trial{WindowS: 1, Hosts: []netstate.HostReading{{Host: "client", CPUBusy: 1, ProcessCPUS: own}}}
		if e := Window(run, made).Ends[0]; e.BusyCPUS > 0 != known {
			t.Errorf("of %v s by linerate: %v s of CPU time were used by all", own, e.BusyCPUS)
		}
	}
}

// TestLostAfter: times of minutes and hours have no exponent.
func TestLostAfter(t *testing.T) {
	for seconds, want := range map[float64]string{130: " 130 s after", 12_000: " 12,000 s after",
		0.5: " 500 ms after"} {
		if got := unknown(&record.Run{}, &record.Trial{Ended: "lost", WindowS: seconds}); !strings.Contains(
			got[0], want) {
			t.Errorf("%g s: %q, want %q", seconds, got[0], want)
		}
	}
}

// TestUnknownLoss: an iperf3 server does not say whether its own receive buffer lost the
// datagrams that it misses; of those that this host misses, nothing is unknown.
func TestUnknownLoss(t *testing.T) {
	run := &record.Run{Design: record.Design{Options: map[string]string{"peer": "iperf3"}}}
	for to, want := range map[string]bool{record.NodeServer: true, record.NodeClient: false} {
		for lost, want := range map[int64]bool{3: want, 0: false} {
			trial := &record.Trial{Peer: &record.Peer{}, Parts: []record.Part{
				{To: to, Peer: &record.PeerCount{Datagrams: &record.Datagrams{Lost: lost}}}}}
			list := strings.Join(unknown(run, trial), "\n")
			if strings.Contains(list, "UdpRcvbufErrors") != want {
				t.Errorf("to the %s, %d lost: %s", to, lost, list)
			}
		}
	}
}

// TestByAddress: an end that has several addresses has their totals.
func TestByAddress(t *testing.T) {
	at := func(address string) netstate.InterfaceSnapshot {
		return netstate.InterfaceSnapshot{Interface: "eth" + address[5:6], SpeedBps: 1e9,
			Addresses: []string{address + "/24"}}
	}
	trial := record.Trial{Hosts: []netstate.HostReading{
		{Host: record.NodeClient,
			Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{at("10.0.0.2")}}},
		{Host: record.NodeServer, Snapshot: netstate.Snapshot{Interfaces: []netstate.InterfaceSnapshot{at("10.0.0.1"),
			at("10.0.1.1")}}}}}
	for _, to := range []string{"10.0.0.1:2", "10.0.1.1:2", "10.0.1.1:2"} {
		trial.Flows = append(trial.Flows, record.Flow{From: record.NodeClient, To: record.NodeServer,
			Source: "10.0.0.2:1", Destination: to, GoodputBps: 1e8})
	}
	got := byAddress(trial.Flows, limits.EndsOf(trial.Flows, trial.Hosts))
	want := []EndAddress{
		{Host: record.NodeServer, Address: "10.0.0.1", Interface: "eth0", SpeedBps: 1e9, Flows: 1, WriteBps: 1e8},
		{Host: record.NodeServer, Address: "10.0.1.1", Interface: "eth1", SpeedBps: 1e9, Flows: 2, WriteBps: 2e8},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	// What the server sends comes from its addresses.
	f := &trial.Flows[2]
	f.From, f.To, f.Source, f.Destination = f.To, f.From, f.Destination, f.Source
	if got := byAddress(trial.Flows, limits.EndsOf(trial.Flows, trial.Hosts)); len(got) != 2 ||
		got[1].WriteBps != 1e8 ||
		got[1].ReadBps != 1e8 {
		t.Errorf("a read: %+v", got)
	}
}

// TestMeasureView: the documents of measurements are those that were printed when their runs were made: of both
// directions, in two modes, with a probe of latency, over several addresses, of requests, with an
// iperf3 server, and with a
// server that was lost. Readings that the view does not need are left out of these runs.
func TestMeasureView(t *testing.T) {
	paths, err := filepath.Glob("testdata/measure/*.run.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var run record.Run
		if err := json.Unmarshal(text, &run); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, ".run.json") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.MarshalIndent(Measure(&run, ""), "", "  ")
		if got = append(got, '\n'); err != nil || !bytes.Equal(got, want) {
			a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
			i := 0
			for i < min(len(a), len(b)) && a[i] == b[i] {
				i++
			}
			t.Errorf("%s, line %d: %v\n%s\nwant\n%s", path, i+1, err, strings.Join(a[i:min(i+5, len(a))], "\n"),
				strings.Join(b[i:min(i+5, len(b))], "\n"))
		}
	}
}
