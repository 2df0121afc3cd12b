package sciencetest

import "linerate/internal/model/record"

// Levels is a run of treatments over conditions and levels, the first of which is the
// baseline, with given goodputs in each block; one condition "" is none.
func Levels(unit string, limit float64, conditions []string, levels []string, goodput func(c, l string, block int) float64, blocks int) *record.Run {
	run := &record.Run{Unit: unit, Status: "complete", Margin: 0.02, Confidence: 0.95}
	if len(conditions) > 1 {
		f := record.Factor{Name: "c", Role: "condition"}
		for _, c := range conditions {
			f.Levels = append(f.Levels, record.Level{Name: c})
		}
		run.Factors = append(run.Factors, f)
	}
	if len(levels) > 0 {
		f := record.Factor{Name: "l", Role: "compare", Baseline: levels[0]}
		for i, l := range levels {
			f.Levels = append(f.Levels, record.Level{Name: l, Settings: i, SettingLines: []string{"x: " + l}})
		}
		run.Factors = append(run.Factors, f)
	}
	one := levels
	if len(one) == 0 {
		one = []string{""}
	}
	for b := 1; b <= blocks; b++ {
		for _, c := range conditions {
			for _, l := range one {
				lv := map[string]string{}
				if len(conditions) > 1 {
					lv["c"] = c
				}
				if l != "" {
					lv["l"] = l
				}
				run.Trials = append(run.Trials, record.Trial{Treatment: c + "," + l, Levels: lv, Block: b, Order: len(run.Trials) + 1, WindowS: 1,
					GoodputBps: goodput(c, l, b), LimitBps: limit, Flows: []record.Flow{{Connected: true, Alive: true}}})
			}
		}
	}
	return run
}
