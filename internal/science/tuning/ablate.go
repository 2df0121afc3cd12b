// Package tuning concludes which settings of a list matter, from a run that tried each
// setting alone and the list without it. Such a run comes from a study with a factor that
// ablates a level (internal/model/study). The package uses the effects of the run, with
// their intervals and their correction for multiple comparisons, and estimates nothing.
//
// A setting is worth keeping if it is shown to help, alone or in the list, and is not
// shown to harm in the other of these two places, nor to worsen another response by more
// than is accepted. Further trials find which of these settings are enough (Enough).
package tuning

import (
	"cmp"
	"maps"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/stats"
)

// Judge concludes from a run what the list and each of its settings did. It keeps the
// verdicts of settings that were not tried and fills in those of the others. Accept has
// the losses that are accepted for a gain; nil: none.
func Judge(run *record.Run, settings []record.TuneSetting, accept Accepted) *record.Tune {
	t := begin(run)
	f := factor(run)
	t.List, t.Off = effect(run, f, cmp.Or(f.Ablate, settingfile.TheList)), effect(run, f, settingfile.OffAgain)
	t.Written = effect(run, f, settingfile.Written)
	t.Figures = figures(run, f.Baseline, settingfile.Written, cmp.Or(f.Ablate, settingfile.TheList))
	t.Full, t.Partial, t.Unjudged = full(run, f), partial(f), stats.Unjudged(run)
	_, t.Sender = CongestionControl(run, f.Baseline)
	t.Settings = append(t.Settings, settings...)
	alone := listIsOne(run, settings)
	for i := range t.Settings {
		s := &t.Settings[i]
		if s.Verdict == record.NotTried {
			continue
		}
		for _, l := range f.Levels {
			switch {
			case l.Part != s.Key:
			case l.Against == "":
				s.Alone = effect(run, f, l.Name)
			default:
				s.Removed = effect(run, f, l.Name)
			}
		}
		if alone {
			s.Alone = t.List
		}
		controls(run, s)
		combined, why, keep := verdict(s.Alone, s.Removed)
		if why.Code == record.WhyHarmsOrHelps {
			combined, why, keep = record.Helps, statement(record.WhyMissedAlthough), true
		}
		s.Verdict, s.Keep = combined, keep
		if why.Code != "" {
			s.Reasons = []record.Statement{why}
		}
		weigh(s, t.Responses, accept)
	}
	return t
}

// listIsOne reports whether the list has a single setting that was tried, so that the
// effect of the list is the effect of the setting. It returns false if the run has levels
// for parts of a longer list, even if it tried only one.
func listIsOne(run *record.Run, settings []record.TuneSetting) bool {
	n := lists.Count(settings, func(s record.TuneSetting) bool { return s.Verdict != record.NotTried })
	return n == 1 && !slices.ContainsFunc(factor(run).Levels, func(l record.Level) bool { return l.Part != "" })
}

// partial reports whether the levels of a factor try only some of the list's changes alone
// or leave only some out, for example because the user requested only some levels.
func partial(f record.Factor) bool {
	var list, tried int
	parts := map[string]int{} // changes of each
	for _, l := range f.Levels {
		if l.Name == f.Ablate {
			list = l.Settings
		}
	}
	for _, l := range f.Levels {
		switch {
		case l.Part == "":
		case l.Against == "":
			parts[l.Part] = l.Settings
		default:
			parts[l.Part] = list - l.Settings
		}
	}
	for _, n := range parts {
		tried += n
	}
	return len(parts) > 0 && tried < list
}

// Settings returns the settings of the list that a run tries one by one, with only Key set.
// Empty: it tries none.
func Settings(run *record.Run) (list []record.TuneSetting) {
	f := factor(run)
	for _, l := range f.Levels {
		if l.Part != "" {
			list = add(list, record.TuneSetting{Key: l.Part})
		}
	}
	amend(list, f)
	return list
}

// factor returns the factor with the list: the one that ablates it or, without one, the
// factor that tune made.
func factor(run *record.Run) record.Factor {
	i := slices.IndexFunc(run.Factors, func(f record.Factor) bool { return f.Ablate != "" })
	if i < 0 {
		i = slices.IndexFunc(run.Factors, func(f record.Factor) bool { return f.Name == settingfile.Factor })
	}
	if i < 0 {
		return record.Factor{Name: settingfile.Factor}
	}
	return run.Factors[i]
}

// Search concludes which of the tried values of a setting is the smallest that is enough.
func Search(run *record.Run, s settingfile.Search, settings []record.TuneSetting) *record.Tune {
	t := begin(run)
	t.Settings = append(t.Settings, settings...)
	t.Search = &record.TuneSearch{Key: s.Key}
	f := factor(run)
	t.List = effect(run, f, settingfile.AsItIs)
	for i, name := range s.Names {
		t.Search.Values = append(t.Search.Values, record.TuneValue{Name: name, Value: s.Values[i],
			Effect: effect(run, f, name)})
	}
	values := t.Search.Values
	enough := len(values) - 1
	for i := len(values) - 2; i >= 0; i-- {
		e := values[i].Effect
		if e == nil || e.Verdict == record.Inconclusive {
			t.Search.Unsure = values[i].Name
			break
		}
		if e.Verdict == record.Worsens || slices.ContainsFunc(e.Beside, func(b record.Effect) bool {
			return b.Verdict == record.Worsens
		}) {
			break
		}
		enough = i
	}
	if enough < len(values)-1 {
		t.Search.Enough = values[enough].Name
	}
	return t
}

func begin(run *record.Run) *record.Tune {
	t := &record.Tune{
		Schema: record.TuneSchema, Run: run.ID, Hosts: []string{}, Settings: []record.TuneSetting{},
		Margin: run.Margin, Confidence: run.Confidence, Responses: run.Responses, Trust: []record.Check{},
	}
	t.Trust = append(t.Trust, record.Doubts(run.Trust)...)
	of := metric.Of(run)[0]
	t.ByRank = of.Label == of.ByRank().Label
	return t
}

// None returns the conclusion if no setting of a list could be tried.
func None(settings []record.TuneSetting) *record.Tune {
	t := begin(&record.Run{})
	t.Settings = append(t.Settings, settings...)
	return t
}

// Conditions splits a run by its conditions. Each of the returned runs has only the effects of
// the list's factor in one condition, whose levels are in at. Without conditions there is one
// run, and at has no levels.
func Conditions(run *record.Run) (runs []*record.Run, at []map[string]string) {
	f := factor(run)
	for _, e := range run.Effects {
		if e.Factor != f.Name {
			continue
		}
		i := slices.IndexFunc(at, func(m map[string]string) bool { return maps.Equal(m, e.At) })
		if i < 0 {
			one := *run
			one.Effects = nil
			runs, at, i = append(runs, &one), append(at, e.At), len(at)
		}
		runs[i].Effects = append(runs[i].Effects, e)
	}
	return runs, at
}

// effect returns the effect of a level. Nil: the run did not try it.
func effect(run *record.Run, f record.Factor, level string) *record.Effect {
	for i := range run.Effects {
		if e := &run.Effects[i]; e.Factor == f.Name && e.To == level {
			return e
		}
	}
	return nil
}

// Combined returns the verdict on a setting from the effect of the setting alone and from the
// effect of removing it from the list.
func Combined(alone, removed *record.Effect) string {
	combined, _, _ := verdict(alone, removed)
	return combined
}

// verdict is Combined with the reason, and reports whether the setting is worth keeping. If
// the list is worse without the setting, that speaks for the setting.
func verdict(alone, removed *record.Effect) (verdict string, why record.Statement, keep bool) {
	is := func(e *record.Effect, verdict string) bool { return e != nil && e.Verdict == verdict }
	good, missed := is(alone, record.Improves), is(removed, record.Worsens)
	bad, better := is(alone, record.Worsens), is(removed, record.Improves)
	switch {
	case alone == nil && removed == nil:
		return record.Together, statement(record.WhyNotAlone), false
	case good && better:
		return record.Mixed, statement(record.WhyHelpsOrHarms), false
	case bad && missed:
		return record.Mixed, statement(record.WhyHarmsOrHelps), false
	case good && missed:
		return record.Helps, statement(record.WhyAloneMissed), true
	case good && is(removed, record.NoDifference):
		return record.Helps, statement(record.WhyAloneSpare), true
	case good:
		return record.Helps, statement(record.WhyAlone), true
	case missed:
		return record.Helps, statement(record.WhyMissed), true
	case bad && better:
		return record.Harms, statement(record.WhyAloneBetter), false
	case bad:
		return record.Harms, statement(record.WhyAlone), false
	case better:
		return record.Harms, statement(record.WhyBetter), false
	case is(alone, record.NoDifference) && (removed == nil || is(removed, record.NoDifference)):
		return record.NoDifference, record.Statement{}, false
	case is(alone, record.Inconclusive) && alone.Why != "":
		return record.Inconclusive, statement(record.WhyOpen, record.PlaceAlone), false
	case is(removed, record.Inconclusive) && removed.Why != "":
		return record.Inconclusive, statement(record.WhyOpen, record.PlaceWithout), false
	}
	return record.Inconclusive, statement(record.WhyIncomplete), false
}
