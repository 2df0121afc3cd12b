// Package showtest creates runs for tests of what is displayed: concluded runs of the lab that
// package sciencetest models, and unusual runs.
package showtest

import (
	"cmp"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// concluded computes the conclusions of a run, and returns it.
func concluded(run *record.Run) *record.Run {
	conclude.Conclude(run)
	return run
}

// ArpFlux returns a run of the built-in study.
func ArpFlux() *record.Run {
	run := concluded(sciencetest.Run(7, 4))
	run.Notes = []record.Note{{Time: run.Started.Add(time.Hour), Text: "Before the switch was replaced."}}
	return run
}

// Ablated returns a run that takes a list of three settings apart on two paths: two buffers that
// together help a long path, and a setting without effect.
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

// Predicted returns a run with predictions for each flow. Measured changes the result of a flow; if
// it changes nothing, the prediction is correct.
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
