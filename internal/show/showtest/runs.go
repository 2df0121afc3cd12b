// Package showtest makes runs for tests of what people see: concluded runs of the lab
// that package sciencetest models, and runs at the edges of what a run can be.
package showtest

import (
	"cmp"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// concluded draws a run's conclusions, and returns the run.
func concluded(run *record.Run) *record.Run {
	conclude.Conclude(run)
	return run
}

// ArpFlux is a run of the built-in study.
func ArpFlux() *record.Run {
	run := concluded(sciencetest.Run(7, 4))
	run.Notes = []record.Note{{Time: run.Started.Add(time.Hour), Text: "Before the switch was replaced."}}
	return run
}

// Ablated is a run that takes a list of three apart on two paths: two buffers that
// help a long path together, and a setting that does nothing.
func Ablated() *record.Run {
	const rmem, wmem, idle = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_slow_start_after_idle"
	levels := []string{"the list", "off again"}
	for _, word := range []string{"only ", "without "} {
		for _, key := range []string{rmem, wmem, idle} {
			levels = append(levels, word+key)
		}
	}
	long := map[string]float64{"the list": 950, "only " + wmem: 600, "without " + rmem: 600, "without " + idle: 950}
	return concluded(sciencetest.Listed([]string{"short", "long"}, levels, func(path, level string) float64 {
		if path == "short" {
			return 940
		}
		return cmp.Or(long[level], 400)
	}))
}

// Predicted is a run in which something was predicted of each flow, and measured changes
// what it got: as predicted, where that changes nothing.
func Predicted(measured func(f *record.Flow)) *record.Run {
	run := ArpFlux()
	for i := range run.Trials {
		for j := range run.Trials[i].Flows {
			f := &run.Trials[i].Flows[j]
			f.Connected = true
			f.LimitedBy, f.LimitedWhy = "receiver window", "it waited all the time"
			f.Expected = &record.Prediction{LowBps: 0.99 * f.GoodputBps, HighBps: f.GoodputBps,
				LimitedBy: "receiver window", Why: "a window in 50 ms"}
			measured(f)
		}
	}
	return run
}
