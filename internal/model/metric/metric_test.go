package metric

import (
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestValues: a trial has the responses of its flows and no others; no loss is a
// value, and no datagram is none.
func TestValues(t *testing.T) {
	cpu := []netstate.HostReading{{ProcessCPUS: 0.5}, {ProcessCPUS: 0.1}}
	probe := []record.Flow{{Protocol: flow.CRR}}
	open := func(alive bool) []record.Flow {
		return []record.Flow{{Protocol: flow.HTTP, Connected: true, Alive: alive, Transactions: &record.Transactions{
			Connections: 2000}}}
	}
	grown := func(slab, sockets int64) *record.Opening {
		m := func(slab, sockets int64) []record.HostMemory {
			return []record.HostMemory{
				{Host: "a", KernelMemory: record.KernelMemory{SlabBytes: slab, SocketBytes: sockets}}}
		}
		return &record.Opening{TookS: 2, Before: m(10e6, min(sockets, 1e6)), After: m(slab, sockets)}
	}
	for name, test := range map[string]struct {
		of    Metric
		trial record.Trial
		want  float64
		ok    bool
	}{
		"goodput":         {Goodput, record.Trial{GoodputBps: 5}, 5, true},
		"no transactions": {Transactions, record.Trial{Flows: []record.Flow{{}}}, 0, false},
		"none done":       {Transactions, record.Trial{Flows: probe}, 0, true},
		"some":            {Transactions, record.Trial{Flows: probe, TransactionsPerS: 7}, 7, true},
		"no latency":      {LatencyP99, record.Trial{Flows: probe}, 0, false},
		"nothing timed":   {LatencyP99, record.Trial{Latency: &record.Distribution{}}, 0, false},
		"p50": {LatencyP50, record.Trial{Latency: &record.Distribution{Count: 1, P50Us: 1, P99Us: 2,
			P999Us: 3}}, 1, true},
		"p99": {LatencyP99, record.Trial{Latency: &record.Distribution{Count: 1, P50Us: 1, P99Us: 2,
			P999Us: 3}}, 2, true},
		"p99.9": {latencyP999, record.Trial{Latency: &record.Distribution{Count: 1, P50Us: 1, P99Us: 2,
			P999Us: 3}}, 3, true},
		"no datagrams": {Lost, record.Trial{}, 0, false},
		"none sent":    {Lost, record.Trial{Datagrams: &record.Datagrams{}}, 0, false},
		"none lost":    {Lost, record.Trial{Datagrams: &record.Datagrams{Sent: 4, Received: 4}}, 0, true},
		"one lost": {Lost, record.Trial{Datagrams: &record.Datagrams{Sent: 4, Received: 3, Lost: 1}},
			0.25, true},
		"no flow of datagrams": {Datagrams, record.Trial{Flows: probe}, 0, false},
		"none arrived": {Datagrams,
			record.Trial{Flows: []record.Flow{{Protocol: flow.UDP, Datagrams: &record.Datagrams{Sent: 4}}}}, 0, true},
		"datagrams of two flows": {Datagrams, record.Trial{Flows: []record.Flow{
			{Protocol: flow.UDP, ReceivedBytes: 1800, GoodputBps: 7200, Datagrams: &record.Datagrams{Received: 100}},
			{Protocol: flow.UDP, ReceivedBytes: 1000, GoodputBps: 8000, Datagrams: &record.Datagrams{Received: 1}},
		}}, 51, true},
		"one without response": {Lost, record.Trial{Flows: []record.Flow{
			{Protocol: "udp-rr", Transactions: &record.Transactions{Done: 2}},
			{Protocol: "udp-rr", Transactions: &record.Transactions{Done: 1, Unanswered: 1}},
			{Protocol: "rr", Transactions: &record.Transactions{Done: 9}},
		}}, 0.25, true},
		"no request over UDP": {Lost,
			record.Trial{Flows: []record.Flow{{Protocol: "rr", Transactions: &record.Transactions{Done: 9}}}}, 0,
			false},
		"none came, none missed": {Lost, record.Trial{Datagrams: &record.Datagrams{Sent: 4}}, 1, true},
		"resent": {retransmissions, record.Trial{Flows: []record.Flow{
			{ReceivedBytes: 15e8, RetransSegments: 6, SenderInfo: &netstate.TCPInfo{}},
			{Protocol: "tcp", ReceivedBytes: 5e8, SenderInfo: &netstate.TCPInfo{}},
			{Protocol: "udp", ReceivedBytes: 1e9},
		}}, 3, true},
		"resent by whom": {retransmissions, record.Trial{Flows: []record.Flow{{ReceivedBytes: 1e9}}}, 0, false},
		"no CPU":         {cpuPerGigabyte, record.Trial{Flows: []record.Flow{{ReceivedBytes: 1e9}}}, 0, false},
		"CPU per GB": {cpuPerGigabyte, record.Trial{Hosts: cpu, Flows: []record.Flow{{ReceivedBytes: 15e8},
			{ReceivedBytes: 5e8}, {Protocol: flow.RR, ReceivedBytes: 1e9}}}, 0.3, true},
		"CPU for nothing": {cpuPerTransaction, record.Trial{Hosts: cpu, Flows: probe}, 0, false},
		"CPU per transaction": {cpuPerTransaction,
			record.Trial{Hosts: cpu, Flows: []record.Flow{{Transactions: &record.Transactions{Done: 6000}}}},
			100, true},
		"no connections": {Connections, record.Trial{Flows: probe}, 0, false},
		"connections": {Connections, record.Trial{Flows: []record.Flow{
			{Protocol: flow.RR, Transactions: &record.Transactions{Connections: 40}},
			{Protocol: flow.RR, Exhausted: &record.PortsExhausted{Open: 7}}, {Protocol: flow.RR},
		}}, 47, true},
		"opened in a time": {connectionRate, record.Trial{Flows: open(true), Opening: grown(0, 0)}, 1000, true},
		"not opened":       {connectionRate, record.Trial{Flows: probe, Opening: grown(0, 0)}, 0, false},
		"kernel's memory": {kernelPerConnection, record.Trial{Flows: open(true), Opening: grown(30e6, 0)},
			10000, true},
		"kernel's of sockets": {kernelPerConnection, record.Trial{Flows: open(true), Opening: grown(30e6, 15e6)},
			7000, true},
		"kernel's, less": {kernelPerConnection, record.Trial{Flows: open(true), Opening: grown(9e6, 0)}, 0, true},
		"kernel's, some lost": {kernelPerConnection, record.Trial{Flows: open(false), Opening: grown(30e6, 0)}, 0,
			false},
		"kernel's, not read": {kernelPerConnection,
			record.Trial{Flows: open(true), Opening: &record.Opening{TookS: 2}}, 0, false},
	} {
		if got, ok := test.of.Value(&test.trial); got != test.want || ok != test.ok {
			t.Errorf("%s: %g, %t; want %g, %t", name, got, ok, test.want, test.ok)
		}
	}
}

// TestScale: a figure of at least one, in the unit that people expect.
func TestScale(t *testing.T) {
	for _, test := range []struct {
		of      Metric
		unit    string
		largest float64
		want    string
		per     float64
	}{
		{Goodput, "bit/s", 956.4e6, "Mbit/s", 1e-6},
		{Goodput, "MB/s", 956.4e6, "MB/s", 1 / 8e6},
		{Goodput, "", 0, "bit/s", 1},
		{Transactions, "MB/s", 180e3, "k/s", 1e-3},
		{Transactions, "", 20, "/s", 1},
		{LatencyP99, "MB/s", 12, "µs", 1},
		{LatencyP99, "", 12_000, "ms", 1e-3},
		{LatencyP99, "", 3e6, "s", 1e-6},
		{Lost, "", 0.0001, "%", 100},
		{cpuPerGigabyte, "", 0.02, "ms/GB", 1e3},
		{cpuPerTransaction, "", 12, "µs", 1},
		{Connections, "", 28232, "open", 1},
		{retransmissions, "", 3, "/GB", 1},
	} {
		if got := test.of.Scale(test.unit, test.largest); got.Unit != test.want || got.Per != test.per {
			t.Errorf("%s up to %g in %q: %+v, want %s", test.of.Name, test.largest, test.unit, got, test.want)
		}
	}
	if got := (Scale{Unit: "/s"}).With("20") + ", " + (Scale{Unit: "ms"}).With("3"); got != "20/s, 3 ms" {
		t.Error(got)
	}
}

// TestOf: a run from before there were responses is about goodput, and a name
// from after this linerate is left out.
func TestOf(t *testing.T) {
	if got := Of(&record.Run{}); len(got) != 1 || got[0].Name != "goodput" {
		t.Errorf("without responses: %+v", got)
	}
	if got := Of(&record.Run{Responses: []string{"energy", "lost"}}); len(got) != 1 || got[0].Name != "lost" {
		t.Errorf("with one that is not known: %+v", got)
	}
	lead := record.Effect{Response: "lost", Beside: []record.Effect{{Verdict: record.Improves}}}
	if Goodput.Effect(&lead) != &lead.Beside[0] || Lost.Effect(&lead) != &lead || LatencyP50.Effect(&lead) != nil ||
		Lost.Effect(nil) != nil {
		t.Error("an effect is not found in its response")
	}
}

// TestTooFew: a percentile of fewer values than it needs is named as what it is, and other
// metrics are of however many.
func TestTooFew(t *testing.T) {
	for _, test := range []struct {
		of           Metric
		transactions int64
		rank, why    string
	}{
		{LatencyP99, 200, "3rd slowest of 200", "latency p99 of 200 requests is the 3rd slowest: p99 needs 1,000"},
		{LatencyP99, 999, "11th slowest of 999", "latency p99 of 999 requests is the 11th slowest: p99 needs 1,000"},
		{LatencyP99, 1000, "", ""}, {LatencyP99, 0, "", ""},
		{LatencyP50, 19, "10th slowest of 19", "latency p50 of 19 requests is the 10th slowest: p50 needs 20"},
		{LatencyP50, 20, "", ""},
		{LatencyP50, 1, "slowest of 1", "latency p50 of 1 requests is the slowest: p50 needs 20"},
		{latencyP90, 99, "11th slowest of 99", "latency p90 of 99 requests is the 11th slowest: p90 needs 100"},
		{latencyP90, 100, "", ""},
		{latencyP999, 1200, "2nd slowest of 1,200",
			"latency p99.9 of 1,200 requests is the 2nd slowest: p99.9 needs 10,000"},
		{latencyP9999, 99_999, "11th slowest of 99,999",
			"latency p99.99 of 99,999 requests is the 11th slowest: p99.99 needs 100,000"},
		{latencyMean, 1, "", ""}, {latencyMax, 1, "", ""}, {Goodput, 1, "", ""},
	} {
		if rank, why := test.of.Rank(test.transactions), test.of.TooFew(test.transactions); rank != test.rank ||
			why != test.why {
			t.Errorf("%s: %q, %q; want %q, %q", test.of.Name, rank, why, test.rank, test.why)
		}
	}
}
