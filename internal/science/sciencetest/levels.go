package sciencetest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Factorial adds to a run, in each block, a trial of every combination of its factors' levels, and
// names the treatments after the levels.
func Factorial(run *record.Run, blocks int, trial func(levels map[string]string, block,
	order int) record.Trial) *record.Run {
	names, treatments := []string{""}, []map[string]string{{}}
	for _, f := range run.Factors {
		var longer []string
		var next []map[string]string
		for i, levels := range treatments {
			for _, l := range f.Levels {
				one := maps.Clone(levels)
				one[f.Name] = l.Name
				next, longer = append(next, one), append(longer, strings.TrimPrefix(names[i]+", "+l.Name, ", "))
			}
		}
		names, treatments = longer, next
	}
	for block := 1; block <= blocks; block++ {
		for i, levels := range treatments {
			order := len(run.Trials) + 1
			t := trial(levels, block, order)
			t.Treatment, t.Levels, t.Block, t.Order = names[i], levels, block, order
			run.Trials = append(run.Trials, t)
		}
	}
	return run
}

// Named returns levels that have only a name.
func Named(names ...string) (levels []record.Level) {
	return lists.Map(names, func(name string) record.Level { return record.Level{Name: name} })
}

// Levels returns a run of treatments over conditions and levels, with the given goodputs in each
// block. The first level is the baseline. A single condition "" means none.
func Levels(unit string, limit float64, conditions []string, levels []string,
	goodput func(c, l string, block int) float64, blocks int) *record.Run {
	run := &record.Run{Unit: unit, Status: "complete", Margin: 0.02, Confidence: 0.95}
	if len(conditions) > 1 {
		run.Factors = append(run.Factors, record.Factor{Name: "c", Role: "condition", Levels: Named(conditions...)})
	}
	if len(levels) > 0 {
		f := record.Factor{Name: "l", Role: "compare", Baseline: levels[0], Levels: Named(levels...)}
		for i, l := range levels {
			f.Levels[i].Settings, f.Levels[i].SettingLines = i, []string{"x: " + l}
		}
		run.Factors = append(run.Factors, f)
	}
	return Factorial(run, blocks, func(at map[string]string, block, _ int) record.Trial {
		bps := goodput(at["c"], at["l"], block)
		return record.Trial{WindowS: 1, GoodputBps: bps, LimitBps: limit,
			Flows: []record.Flow{{Connected: true, Alive: true, GoodputBps: bps}}}
	})
}

// OverTwoLinks returns a run over two links of 100 Mbit/s that compares hash policies 0 and 1 under
// several numbers of flows. idle says how many of the trials leave a link idle. Its key is "policy
// 0" or "policy 1", and its list has one number for each element of flows.
func OverTwoLinks(idle map[string][]int, flows []int, trials int) *record.Run {
	run := &record.Run{Topology: Fabric(2, "0"), Factors: []record.Factor{
		{Name: "hash", Baseline: "policy 0", Levels: Named("policy 0", "policy 1")},
		{Name: "flows", Role: "condition"},
	}}
	number := map[string]int{} // number of the level
	for i, n := range flows {
		run.Factors[1].Levels = append(run.Factors[1].Levels, record.Level{Name: fmt.Sprint(n)})
		number[fmt.Sprint(n)] = i
	}
	const link = 1e8
	over := map[string]topology.Topology{"policy 0": Fabric(2, "0"), "policy 1": Fabric(2, "1")}
	return Factorial(run, trials, func(at map[string]string, block, _ int) record.Trial {
		i := number[at["flows"]]
		on := make([]int, flows[i])
		for j := range on {
			if block > idle[at["hash"]][i] {
				on[j] = j % 2
			}
		}
		t := Hashed("", 2, "drawn", on...)
		of := over[at["hash"]]
		t.Topology, t.WindowS = &of, 1
		t.LimitBps, t.PlacementLimitBps = link*float64(min(2, len(on))), link
		if slices.Contains(on, 1) {
			t.PlacementLimitBps = 2 * link
		}
		t.GoodputBps = t.PlacementLimitBps
		for j := range t.Flows {
			t.Flows[j].LimitBps, t.Flows[j].Alive, t.Flows[j].GoodputBps = link, true, t.GoodputBps/float64(len(on))
		}
		return t
	})
}

// Listed returns a run that tries the settings of a list. levels are those besides "as it is": "the
// list", "only KEY", "without KEY" or others. mbps returns what a level carries on a path, in
// Mbit/s.
func Listed(paths, levels []string, mbps func(path, level string) float64) *record.Run {
	f := record.Factor{Name: "settings", Role: "compare", Baseline: "as it is", Ablate: "the list",
		Levels: append(Named("as it is"), Named(levels...)...)}
	keys, place := map[string]bool{}, map[string]int{}
	for i := range f.Levels {
		l := &f.Levels[i]
		place[l.Name] = i
		if word, key, part := strings.Cut(l.Name, " net."); part {
			l.Part, l.Settings, keys[key] = "net."+key, 1, true
			if word == "without" {
				l.Against = "the list"
			}
		}
	}
	if i, tried := place["the list"]; tried {
		f.Levels[i].Settings = len(keys)
	}
	path := record.Factor{Name: "path", Role: "condition", Levels: Named(paths...)}
	run := &record.Run{Schema: record.RunSchema, ID: "lists-3", Study: "lists", Seed: 3, Status: "complete",
		Margin: 0.03, Factors: []record.Factor{path, f}}
	return Factorial(run, 4, func(at map[string]string, block, _ int) record.Trial {
		noise := 1 + 0.001*math.Sin(float64(7*block+3*place[at["settings"]]))
		bps := mbps(at["path"], at["settings"]) * noise * 1e6
		return record.Trial{
			GoodputBps: bps, LimitBps: 956.4e6, WindowS: 3.5,
			Flows: []record.Flow{{Connected: true, Alive: true, GoodputBps: bps}},
		}
	})
}
