package sciencetest

import (
	"cmp"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// Slight is a verdict for Beside: latency gets worse by 5 %, which is little beside a gain of 4×.
const Slight = "slight"

// LevelEffect returns the effect of a level of a list's factor: its ratio, with an interval of
// ±0.01, and its verdict.
func LevelEffect(level, verdict string, ratio float64) record.Effect {
	return record.Effect{Factor: settingfile.Factor, To: level, Verdict: verdict, Ratio: record.EffectSize{Mean: ratio,
		Low: ratio - 0.01, High: ratio + 0.01}}
}

// List returns a run that tries the settings of a list one by one, and these settings: net.a, net.b
// and so on. The run has effects but no trials. list and off are the verdicts on the list and on
// switching it off again. verdicts has two for each setting: on the setting alone, and on the list
// without it.
func List(list, off string, verdicts ...string) (*record.Run, []record.TuneSetting) {
	ratios := map[string]float64{record.Improves: 4, record.Worsens: 0.25, record.NoDifference: 1,
		record.Inconclusive: 1.1}
	f := record.Factor{Name: settingfile.Factor, Ablate: settingfile.TheList}
	run := &record.Run{ID: "tune-1", Margin: 0.02, Effects: []record.Effect{
		LevelEffect(settingfile.TheList, list, ratios[list]), LevelEffect(settingfile.OffAgain, off, ratios[off]),
	}}
	var settings []record.TuneSetting
	for i := 0; i < len(verdicts); i += 2 {
		key := "net." + string(rune('a'+i/2))
		settings = append(settings, record.TuneSetting{Key: key, Value: "1"})
		only, without := "only "+key, "without "+key
		f.Levels = append(f.Levels, record.Level{Name: only, Part: key}, record.Level{Name: without, Part: key,
			Against: settingfile.TheList})
		run.Effects = append(run.Effects, LevelEffect(only, verdicts[i], ratios[verdicts[i]]),
			LevelEffect(without, verdicts[i+1], ratios[verdicts[i+1]]))
	}
	run.Factors = []record.Factor{f}
	return run, settings
}

// Beside adds to each effect of a run one on the 99th percentile of latency. latency has its
// verdict by level; other levels get no difference.
func Beside(run *record.Run, latency map[string]string) {
	run.Responses = []string{"goodput", "latency_p99"}
	ratios := map[string]float64{record.Improves: 0.3, record.Worsens: 4, record.NoDifference: 1,
		record.Inconclusive: 1.2}
	for i := range run.Effects {
		e := &run.Effects[i]
		verdict := cmp.Or(latency[e.To], record.NoDifference)
		b := LevelEffect(e.To, verdict, ratios[verdict])
		if verdict == Slight {
			b = LevelEffect(e.To, record.Worsens, 1.05)
		}
		b.Response = "latency_p99"
		e.Beside = []record.Effect{b}
	}
}
