//go:build linux

package measure_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/expect"
	"linerate/internal/science/trust"
	"linerate/internal/show/export"
)

// TestMeasureProtocols: every protocol is measured from end to end, and its
// figures agree among themselves.
func TestMeasureProtocols(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "client")
		server := controltest.Serve(t, controltest.Server{})
		run := func(t *testing.T, flows flow.Spec, wanted string, modes ...string) export.Measurement {
			made := controltest.Measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Modes: modes,
				Flows:    flows,
				Duration: 600 * time.Millisecond, Warmup: 500 * time.Millisecond})
			expected, err := expect.Parse(wanted, metric.Setup{Protocol: cmp.Or(flows.Protocol, flow.TCP)})
			if err != nil {
				t.Fatal(err)
			}
			if e := expected.Check(made.Trials...); e != nil && !e.Met {
				t.Errorf("not as expected: %+v", e)
			}
			return *export.Measure(made, "")
		}
		t.Run("udp within the rate", func(t *testing.T) {
			m := run(t, flow.Spec{Protocol: flow.UDP, RateCap: 20e6, Datagram: 512, Direction: flow.Both},
				"lost <= 50%, <= 24mbit, >= 1mbit")
			for _, d := range m.Directions {
				g := d.Datagrams
				if g == nil || g.Sent <= 0 || g.Received > g.Sent+g.Sent/10+100 ||
					d.ReceivedBytes != 512*(g.Received+g.Duplicates) || m.Lost == nil || len(d.Intervals) < 1 {
					t.Errorf("%s: %d bytes, %+v", d.Direction, d.ReceivedBytes, g)
				}
			}
			if m.Protocol != "udp" || len(m.Directions) != 2 || m.Datagrams.Delay == nil {
				t.Errorf("document %+v", m)
			}
		})
		t.Run("udp beyond the link", func(t *testing.T) {
			m := run(t, flow.Spec{Protocol: flow.UDP, RateCap: 200e6}, "lost >= 10%, <= 100mbit")
			if g := m.Datagrams; g == nil || *m.Lost <= 0 || m.LostShare <= 0 || m.LostShare >= 1 {
				t.Errorf("twice what the link carries: %+v", m.Counts)
			}
		})
		for _, protocol := range flow.Names(flow.Protocol.Transactional) {
			t.Run(protocol, func(t *testing.T) {
				m := run(t, flow.Spec{Protocol: protocol, Connections: 4, Request: 32, Response: 200},
					"transactions >= 10/s, latency_p50 > 1us, latency_max < 60s")
				l, x := m.LatencyUs, m.Transactions
				if l == nil || x == nil || x.Done < 5 || m.RatePerS <= 0 || m.CPUUsPerTransaction <= 0 {
					t.Fatalf("document %+v", m)
				}
				// Latencies are of the scheduled window, counts from reading to reading,
				// which a busy machine takes late, as the check clock says; with the
				// warm-up's there would be nearly twice as many.
				late := x.Done/20 + 8
				if slices.ContainsFunc(m.Trust, func(c record.Check) bool {
					return c.Check == trust.Clock && !c.Pass
				}) {
					late = max(x.Done, l.Count)
				}
				if l.Count > x.Done+late || l.Count < x.Done-late ||
					!slices.IsSorted([]float64{l.MinUs, l.P50Us, l.P90Us, l.P99Us, l.P999Us, l.P9999Us, l.MaxUs}) {
					l.Histogram = nil
					t.Errorf("%d done, latency %+v", x.Done, l)
				}
				if asksUDP := protocol == flow.UDPRR; asksUDP != (m.Lost != nil) || asksUDP &&
					(*m.Lost != x.Unanswered || m.LostShare > 0.1) {
					t.Errorf("lost %v, %g of them: %+v", m.Lost, m.LostShare, x)
				}
				if m.LimitBps != 0 || len(m.Directions) != 1 || len(m.Ends) != 2 || m.Ends[0].CPUUsPerTransaction <= 0 {
					t.Errorf("directions %+v, ends %+v", m.Directions, m.Ends)
				}
				// Little's law: four at a time, each for the mean.
				if atOnce := m.RatePerS * l.MeanUs / 1e6; atOnce > 4.4 {
					t.Errorf("%.2f requests in flight at a time, on 4 connections", atOnce)
				}
			})
		}
		t.Run("follow", func(t *testing.T) {
			for _, protocol := range flow.Find("follow").Protocols {
				m := run(t, flow.Spec{Protocol: protocol, Follow: new(true)}, "")
				at := regexp.MustCompile(`^asks on (CPU \d+); responds on (CPU \d+)$`).FindStringSubmatch(
					m.Flows[0].ModeNote)
				if at == nil || at[1] != at[2] {
					t.Errorf("%s: %q", protocol, m.Flows[0].ModeNote)
				}
			}
			// Those of the server, which goes on, are let go again.
			var bound []string
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if bound = boundThreads(t, server.Pid); len(bound) == 0 {
					return
				}
			}
			t.Errorf("threads that are still bound to a CPU: %q", bound)
		})
		t.Run("rr at a pace", func(t *testing.T) {
			m := run(t, flow.Spec{Protocol: flow.RR, Pace: 200}, "<= 300/s, >= 20/s")
			if len(m.Flows) != 1 {
				t.Errorf("flows %+v", m.Flows)
			}
		})
		t.Run("tcp in every mode", func(t *testing.T) {
			m := run(t, flow.Spec{Direction: flow.Read}, ">= 1mbit", flow.ModeAuto, flow.ModeCopy)
			if len(m.Modes) != 2 || m.Modes[0].Mode != flow.ModeAuto || m.Modes[1].Mode != flow.ModeCopy ||
				m.GoodputBps != m.Modes[0].GoodputBps {
				t.Fatalf("modes %+v", m.Modes)
			}
			for _, one := range m.Modes {
				if one.GoodputBps <= 0 || len(one.Flows) != 1 || one.Flows[0].SendMode == "" || len(one.Trust) == 0 {
					t.Errorf("mode %s: %+v", one.Mode, one)
				}
			}
			if copied := m.Modes[1].Flows[0]; copied.SendMode != flow.ModeCopy || copied.ReceiveMode != flow.ModeCopy {
				t.Errorf("copying: sent by %s, received by %s", copied.SendMode, copied.ReceiveMode)
			}
		})
	})
}

// boundThreads are a process's threads that may run on fewer CPUs than this one.
func boundThreads(t *testing.T, pid int) (bound []string) {
	t.Helper()
	allowed := func(file string) string {
		text, _ := os.ReadFile(file) // a thread that has ended has no list
		_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
		list, _, _ := strings.Cut(rest, "\n")
		return strings.TrimSpace(list)
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	own := allowed("/proc/self/status")
	for _, file := range files {
		if list := allowed(file); list != "" && list != own {
			bound = append(bound, file+": "+list)
		}
	}
	return bound
}

// TestMeasureTogetherProtocols: clients with different protocols are served at the
// same time, and none takes another's traffic for its own or for a stranger's.
func TestMeasureTogetherProtocols(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		protocols := map[string]flow.Spec{
			"a": {Protocol: flow.TCP, RateCap: 20e6}, "b": {Protocol: flow.UDP, RateCap: 20e6},
			"c": {Protocol: flow.RR, Connections: 4, Pace: 500},
			"d": {Protocol: flow.CRR, Pace: 100},
			"f": {Protocol: flow.UDPRR, Connections: 4, Pace: 500},
			"e": {Protocol: flow.UDP, RateCap: 10e6, Direction: flow.Read},
		}
		controltest.Wired(t, "200mbit", "a", "b", "c", "d", "e", "f")
		controltest.Serve(t, controltest.Server{})
		results := map[string]export.Measurement{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for client, flows := range protocols {
			all.Go(func() {
				run, err := controltest.Measure(t, client, measure.Options{Addresses: []string{"10.0.0.1"},
					Duration: 2 * time.Second, Flows: flows})
				if err != nil {
					t.Errorf("%s: %v", client, err)
					return
				}
				mu.Lock()
				results[client] = *export.Measure(run, "")
				mu.Unlock()
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		for client, m := range results {
			flows := protocols[client]
			if others := m.Ends[1].Others; others == nil || others.Clients < 1 {
				t.Errorf("%+v does not know of the others: %+v", flows, others)
			}
			for _, c := range m.Trust {
				if !c.Pass && (c.Check == trust.Foreign || c.Check == trust.Wire || c.Check == trust.Conservation ||
					c.Check == trust.Alive) {
					t.Errorf("%+v: %s: %s", flows, c.Check, c.Detail)
				}
			}
		}
		for client, want := range map[string][2]float64{"a": {1e6, 24e6}, "b": {1e6, 24e6}, "e": {1e6, 12e6}} {
			if got := results[client].GoodputBps; got < want[0] || got > want[1] {
				t.Errorf("%s: %.0f bit/s", client, got)
			}
		}
		for client, want := range map[string][2]float64{"c": {50, 600}, "d": {10, 120}, "f": {50, 600}} {
			if got := results[client].RatePerS; got < want[0] || got > want[1] {
				t.Errorf("%s: %.0f/s", client, got)
			}
		}
	})
}
