// Package tuning concludes which settings of a list matter, from a run in which each was
// tried alone and removed from the whole, as a study with a factor that ablates a level
// does (internal/model/study). Effects are those of the run, with its intervals and
// its correction for many comparisons; nothing is estimated here.
//
// A setting is worth keeping if it is shown to do good, alone or as a part of the list,
// and not to do harm in the other place, nor in another response by more than is
// accepted. Which of them are enough by themselves is found by further trials (Enough).
package tuning

import (
	"cmp"
	"maps"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/stats"
)

// Judge concludes from a run what the list did, and each of its settings. Settings
// has what was not tried already; the others are completed. accept has the losses that
// a setting may have for its gains; nil: none.
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

// listIsOne: a list of one setting is that setting. Of a longer one it may be that a
// single part was tried.
func listIsOne(run *record.Run, settings []record.TuneSetting) bool {
	n := 0
	for _, s := range settings {
		if s.Verdict != record.NotTried {
			n++
		}
	}
	return n == 1 && !slices.ContainsFunc(factor(run).Levels, func(l record.Level) bool { return l.Part != "" })
}

// partial: of the list's changes there are some that no level has alone or leaves out,
// as where only some levels were asked for.
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

// Settings are those of the list that a run takes apart; none: it does no such
// thing.
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

// factor is the one with the list: the one that takes it apart, or tune's.
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

// Search concludes which is the smallest of the values that is good enough.
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
	return t
}

// None is the conclusion where nothing of a list could be tried.
func None(settings []record.TuneSetting) *record.Tune {
	t := begin(&record.Run{})
	t.Settings = append(t.Settings, settings...)
	return t
}

// Conditions splits a run by its conditions: what is left in each are its effects
// there. A run without conditions is one by itself, with none.
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

// effect is that of a level; nil: it was not part of the run.
func effect(run *record.Run, f record.Factor, level string) *record.Effect {
	for i := range run.Effects {
		if e := &run.Effects[i]; e.Factor == f.Name && e.To == level {
			return e
		}
	}
	return nil
}

// Combined is the verdict on a setting by what it does alone and what the list lacks without it.
func Combined(alone, removed *record.Effect) string {
	combined, _, _ := verdict(alone, removed)
	return combined
}

// verdict puts together what a setting does alone and what the list lacks without
// it. That the list is worse without it speaks for the setting.
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
