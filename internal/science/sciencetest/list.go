package sciencetest

import (
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// Slight, as a verdict of Beside, is a loss that is small beside a gain of 4×.
const Slight = "slight"

// LevelEffect returns an effect of a level of a list's factor, with an interval of ±0.01.
func LevelEffect(level, verdict string, ratio float64) record.Effect {
	return record.Effect{Factor: settingfile.Factor, To: level, Verdict: verdict, Ratio: record.EffectSize{Mean: ratio,
		Low: ratio - 0.01, High: ratio + 0.01}}
}

// List returns a run that takes a list apart, with its effects only, and the settings of the list,
// net.a, net.b, …: verdicts has those of each alone, and of the list without it, in pairs.
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

// Beside adds an effect on the 99th percentile of latency to each effect of a run: by level, and no
// difference for others.
func Beside(run *record.Run, latency map[string]string) {
	run.Responses = []string{"goodput", "latency_p99"}
	ratios := map[string]float64{record.Improves: 0.3, record.Worsens: 4, record.NoDifference: 1,
		record.Inconclusive: 1.2}
	for i := range run.Effects {
		e := &run.Effects[i]
		verdict := latency[e.To]
		if verdict == "" {
			verdict = record.NoDifference
		}
		b := LevelEffect(e.To, verdict, ratios[verdict])
		if verdict == Slight {
			b = LevelEffect(e.To, record.Worsens, 1.05)
		}
		b.Response = "latency_p99"
		e.Beside = []record.Effect{b}
	}
}
