package showtest

import (
	"math"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
)

// Ablated is a run that takes a list of three apart on two paths: two buffers that
// help a long path together, and a setting that does nothing.
func Ablated() *record.Run {
	run := &record.Run{
		Schema: record.RunSchema, ID: "lists-3", Study: "lists", Seed: 3, Status: "complete", Margin: 0.03,
		Factors: []record.Factor{
			{Name: "path", Role: "condition", Levels: []record.Level{{Name: "short"}, {Name: "long"}}},
			{Name: "settings", Role: "compare", Baseline: "as it is", Ablate: "the list", Levels: []record.Level{
				{Name: "as it is"}, {Name: "the list", Settings: 3}, {Name: "off again"},
			}},
		},
	}
	f := &run.Factors[1]
	keys := []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_slow_start_after_idle"}
	for _, against := range []string{"", "the list"} {
		for _, key := range keys {
			name := map[string]string{"": "only ", "the list": "without "}[against] + key
			f.Levels = append(f.Levels, record.Level{Name: name, Part: key, Against: against, Settings: 1})
		}
	}
	long := map[string]float64{"the list": 950, "only " + keys[1]: 600, "without " + keys[0]: 600, "without " + keys[2]: 950}
	for block := 1; block <= 4; block++ {
		for i, l := range f.Levels {
			for _, path := range []string{"short", "long"} {
				mbps := 400.0
				if path == "short" {
					mbps = 940
				} else if v := long[l.Name]; v > 0 {
					mbps = v
				}
				mbps *= 1 + 0.001*math.Sin(float64(7*block+3*i)) // of no order
				run.Trials = append(run.Trials, record.Trial{
					Treatment: l.Name + ", " + path, Levels: map[string]string{"settings": l.Name, "path": path},
					Block: block, Order: len(run.Trials) + 1, GoodputBps: mbps * 1e6, LimitBps: 956.4e6, WindowS: 3.5,
				})
			}
		}
	}
	conclude.Conclude(run)
	// Its trials have no flows that could be checked.
	run.Trust = []record.Check{{Check: "limit", Pass: true}}
	run.Conclusion.Doubts = nil
	return run
}

// Foretold is a run whose flows have something predicted and were held back.
func Foretold(measured func(f *record.Flow)) *record.Run {
	run := ArpFlux()
	for i := range run.Trials {
		for j := range run.Trials[i].Flows {
			f := &run.Trials[i].Flows[j]
			f.Connected = true
			f.LimitedBy, f.LimitedWhy = "receiver window", "it waited all the time"
			f.Expected = &record.Prediction{LowBps: 0.99 * f.GoodputBps, HighBps: f.GoodputBps, LimitedBy: "receiver window", Why: "a window in 50 ms"}
			measured(f)
		}
	}
	return run
}
