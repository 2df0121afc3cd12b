//go:build linux

package measure_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
	"linerate/internal/show/export"
)

// TestMeasureLatency: behind a deep queue an answer takes longer under load than
// behind a shallow one, in whichever direction the load goes, and is graded worse;
// without load it makes no difference.
func TestMeasureLatency(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "20mbit", "client")
		controltest.Serve(t, controltest.Server{})
		queue := func(bytes string) {
			for _, end := range [][2]string{{"client", "eth0"}, {"sw", "client"}, {"sw", "server"},
				{"server", "eth0"}} {
				kerneltest.Do(t, "tc", "-n", end[0], "qdisc", "replace", "dev", end[1], "root", "tbf", "rate", "20mbit",
					"burst", "31250", "limit", bytes)
			}
		}
		grade := func(m export.Measurement) int { return slices.Index(record.LatencyGrades, m.Latency.Grade) }
		// reno fills a queue in slow start; bbr and cubic's HyStart may leave it half empty.
		probed := func(direction, bytes string) export.Measurement {
			queue(bytes)
			m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Latency: true,
				Duration: time.Second,
				Flows:    flow.Spec{Direction: direction, CongestionControl: "reno"}})
			l := m.Latency
			if l == nil || l.Idle == nil || l.Loaded == nil || l.Probe == nil || l.BaselineUs <= 0 ||
				l.Idle.MinUs > l.Idle.P50Us {
				t.Fatalf("%s: latency %+v", direction, l)
			}
			for _, c := range m.Trust {
				if !c.Pass && slices.Contains([]string{trust.Conservation, trust.Wire, trust.Foreign}, c.Check) {
					t.Errorf("%s: %s: %s", direction, c.Check, c.Detail)
				}
			}
			for _, f := range m.Flows {
				if f.Protocol == flow.RR {
					t.Errorf("%s: the probe is among the flows", direction)
				}
			}
			return m
		}
		// 12 ms at this rate at each of two hops, against 50 ms, which is what a receive
		// window of 128 KiB puts into a queue of 400 ms.
		for direction, directions := range map[string]int{"read": 1, "both": 2} {
			shallow, deep := probed(direction, "30k"), probed(direction, "1m")
			t.Logf("%s: deep %s, shallow %s", direction, spell(deep.Latency), spell(shallow.Latency))
			// The median: a shallow queue drops requests, too, and the mean counts the wait for
			// their retransmission.
			if deep.Latency.RiseUs() < 2*shallow.Latency.RiseUs() || !shallow.Latency.TimedOut() &&
				grade(deep) >= grade(shallow) {
				t.Errorf("%s: deep %s, shallow %s", direction, spell(deep.Latency), spell(shallow.Latency))
			}
			if deep.Latency.TCPRTTUs < 2*shallow.Latency.TCPRTTUs || deep.Latency.TCPBufferDelayPercent <= 0 {
				t.Errorf("%s: TCP's own round trips: deep %+v, shallow %+v", direction, deep.Latency, shallow.Latency)
			}
			if len(deep.Directions) != directions {
				t.Errorf("%s: directions %+v", direction, deep.Directions)
			}
		}
	})
}

func spell(l *export.Latency) string {
	return fmt.Sprintf("%s, +%.1f ms under load (p50 +%.1f ms, at most %.0f ms), idle %.2f ms", l.Grade,
		l.BufferDelayUs/1e3, l.RiseUs()/1e3, l.Loaded.MaxUs/1e3, l.Idle.P50Us/1e3)
}
