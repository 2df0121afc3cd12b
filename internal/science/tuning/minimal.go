package tuning

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// This file finds which settings of a list are enough: the fewest that lose none of what
// the list gains. Each alone, and the list without each, does not tell: of two that need
// each other, beside a third that does the same, none is missed and none helps.
//
// See docs/decisions/0023-search-for-what-is-enough.md.

// SmallLoss is the share of a list's gain that what is kept may lose.
const SmallLoss = 0.05

// Levels of the runs that try sets of settings.
const (
	KeptLevel    = "kept"
	HarmlessList = "the list without what harms"
	FreeList     = "the list without trades"
	withoutRival = "without "
)

// maxRivals is how many settings that exclude each other are distinguished.
const maxRivals = 4

// Conduct makes trials of sets in the same blocks, the first one as the baseline, and
// concludes. Why is what they are to show.
type Conduct func(why string, sets ...settingfile.Set) (*record.Run, error)

// Screened are a list's settings by what each did alone and the list lacked without it.
type Screened struct {
	All []string
	// Trades are left out of all else where they are not wanted.
	Trades []string
	// Harmful are worse alone, or the list is better without them; Rivals are better
	// alone, and the list is better without them.
	Harmful, Rivals []string
	// Core are those that the list is worse without, or that help alone and may be
	// missed.
	Core []string
	// Spare may be enough or needed in combinations: first those that show no effect,
	// then those that help alone and that the list does not miss. Each is ordered from
	// what is likeliest not missed.
	Spare [2][]string
}

// Screen sorts settings by what a run showed of them. What trades is in the core, unless
// trades are not wanted: it is then left out.
func Screen(settings []record.TuneSetting, first metric.Metric, trades bool) Screened {
	var s Screened
	is := func(e *record.Effect, verdict string) bool { return e != nil && e.Verdict == verdict }
	missing := map[string]float64{} // what the list gains without it, relative
	for _, one := range settings {
		if one.Verdict == record.NotTried {
			continue
		}
		if one.Verdict == record.Trades && !one.Keep && !trades {
			s.Trades = append(s.Trades, one.Key)
			continue
		}
		s.All = append(s.All, one.Key)
		missing[one.Key], _, _, _ = relative(first, one.Removed, 0)
		alone, removed := one.Alone, one.Removed
		good, missed := is(alone, record.Improves), is(removed, record.Worsens)
		switch {
		case good && is(removed, record.Improves):
			s.Rivals = append(s.Rivals, one.Key)
		case missed:
			s.Core = append(s.Core, one.Key)
		case one.Verdict == record.Harms, one.Verdict == record.Trades && !one.Keep:
			s.Harmful = append(s.Harmful, one.Key)
		case good && is(removed, record.NoDifference):
			s.Spare[1] = append(s.Spare[1], one.Key)
		case good, one.Keep:
			s.Core = append(s.Core, one.Key)
		default:
			s.Spare[0] = append(s.Spare[0], one.Key)
		}
	}
	for _, spare := range s.Spare {
		slices.SortStableFunc(spare, func(a, b string) int { return cmp.Compare(missing[b], missing[a]) })
	}
	return s
}

// Enough is the search for the settings that are enough.
type Enough struct {
	Screened
	Screening *record.Run
	Conduct   Conduct

	first metric.Metric
	// reference is the best set, and base and best are what the baseline and it give in
	// the first response.
	reference  settingfile.Set
	base, best float64
}

// Found is a set with its proof, and the run that has it at a level.
type Found struct {
	Proof record.TuneProof
	Run   *record.Run
	Level string
}

// Into makes a proof that of a result, with its figures and the settings that it has.
func (f *Found) Into(t *record.Tune) {
	t.Proof = &f.Proof
	t.Figures = figures(f.Run, settingfile.AsItIs, settingfile.TheList)
	if f.Proof.AgainstList != nil {
		for _, kept := range figures(f.Run, f.Level) {
			kept.Name = KeptLevel
			t.Figures = append(t.Figures, kept)
		}
	}
	for i := range t.Settings {
		s := &t.Settings[i]
		if s.Verdict == record.NotTried {
			continue
		}
		s.Keep = slices.Contains(f.Proof.Settings, s.Key)
		switch {
		case s.Keep && (s.Verdict == record.NoDifference || s.Verdict == record.Inconclusive || s.Verdict == record.Mixed):
			s.Verdict, s.Why = record.Helps, s.Why+"; only with others: without it the gain is lost"
		case !s.Keep && s.Verdict == record.Helps:
			s.Why += "; not needed with the settings kept"
		}
		s.Why = strings.TrimPrefix(s.Why, "; ")
	}
}

// Offer is a set as a trade: what it gains in one response and costs in another; nil: it
// does not do both.
func (f *Found) Offer() *record.TuneOffer { return offer(f.Run, f.Level, f.Proof) }

// Find returns the fewest settings that were found to keep the gain, proven by themselves;
// nil: nothing of the list is shown to gain anything. An error is Conduct's.
//
// What is only tried together is proven once by a run of its own beside the baseline and
// the whole list. Where even that loses more than a small part of the gain, the best set
// that was tried is returned.
func (s *Enough) Find() (*Found, error) {
	s.first = metric.Of(s.Screening)[0]
	list := settingfile.Set{Name: settingfile.TheList, About: "every setting of the list", Keys: s.All}
	if len(s.Trades) > 0 {
		list = settingfile.Set{Name: FreeList, About: "every setting of the list that does not trade one response for another", Keys: s.All}
	}
	s.measured(s.Screening, list)
	core := s.named(KeptLevel, "the settings that earlier trials have shown to help", s.Core)
	harmless := s.named(HarmlessList, "", subtract(s.All, s.Harmful))
	contenders := []settingfile.Set{list}
	if len(s.Harmful) > 0 && len(harmless.Keys) > 1 {
		contenders = append(contenders, harmless)
	}
	if len(s.Rivals) > 0 {
		for _, rival := range s.Rivals[:min(len(s.Rivals), maxRivals)] {
			contenders = append(contenders, s.named(withoutRival+rival, "", subtract(harmless.Keys, []string{rival})))
		}
	}
	whole := effect(s.Screening, factor(s.Screening), list.Name)
	switch {
	case len(s.Trades) > 0:
	case len(core.Keys) == 0 && len(contenders) == 1 && !gains(whole):
		return nil, nil
	case equal(core.Keys, s.All):
		return s.found(s.Screening, list), nil
	}
	if len(core.Keys) > 0 || len(contenders) > 1 || len(s.Trades) > 0 {
		run, err := s.prove(append(contenders, core)...)
		if err != nil {
			return nil, err
		}
		s.refer(run, contenders)
		if len(core.Keys) > 0 && s.keeps(run, core) {
			return s.found(run, core), nil
		}
		if s.best == s.base || !s.gains(run, s.reference) {
			if len(core.Keys) == 0 || !gains(between(run, settingfile.AsItIs, core.Name)) {
				return nil, nil
			}
			return s.found(run, core), nil
		}
	}
	keys, err := s.eliminate(core.Keys)
	if err != nil {
		return nil, err
	}
	return s.proveFewer(list, keys)
}

// proveFewer proves what elimination has left beside the baseline, the whole list and the
// best set.
func (s *Enough) proveFewer(list settingfile.Set, keys []string) (*Found, error) {
	fewer := s.named(KeptLevel, "the settings that remain when all that are not needed are left out", keys)
	sets := []settingfile.Set{list}
	if !equal(s.reference.Keys, list.Keys) {
		sets = append(sets, s.reference)
	}
	if equal(keys, s.reference.Keys) {
		fewer = s.reference
	}
	run, err := s.prove(append(sets, fewer)...)
	if err != nil {
		return nil, err
	}
	s.refer(run, sets)
	if s.keeps(run, fewer) {
		return s.found(run, fewer), nil
	}
	return s.found(run, s.reference), nil
}

// prove tries sets beside the baseline.
func (s *Enough) prove(sets ...settingfile.Set) (*record.Run, error) {
	all := []settingfile.Set{{Name: settingfile.AsItIs, About: "no setting of the list"}}
	if len(s.Trades) > 0 {
		all = append(all, settingfile.Set{Name: settingfile.TheList, About: "every setting of the list", Keys: slices.Concat(s.All, s.Trades)})
	}
	for _, set := range sets {
		if len(set.Keys) > 0 && !slices.ContainsFunc(all, func(other settingfile.Set) bool { return other.Name == set.Name }) {
			all = append(all, set)
		}
	}
	return s.Conduct("Do the settings found keep the list's gain by themselves?", all...)
}

// eliminate leaves out of the best set what can be left out without loss, but for what
// is fixed.
func (s *Enough) eliminate(fixed []string) ([]string, error) {
	keys := s.reference.Keys
	rest := subtract(keys, fixed) // without all of it is known to lose
	// What was a rival is the last to go: it helps by itself.
	classes := [][]string{intersect(s.Spare[0], rest), intersect(s.Spare[1], rest)}
	classes[1] = append(classes[1], subtract(subtract(rest, classes[0]), classes[1])...)
	keys, needed, err := s.leaveOut(keys, classes[0], len(classes[1]) == 0)
	if err != nil {
		return nil, err
	}
	keys, _, err = s.leaveOut(keys, classes[1], !needed)
	return keys, err
}

// leaveOut leaves settings out of keys, in halves: all at once if that loses nothing.
// loses: to leave all of them out is known to lose. needed says whether one of them has
// to stay.
func (s *Enough) leaveOut(keys, out []string, loses bool) (left []string, needed bool, err error) {
	if len(out) == 0 {
		return keys, false, nil
	}
	without := subtract(keys, out)
	if !loses && len(without) > 0 {
		if loses, err = s.loses(without); err != nil || !loses {
			return without, false, err
		}
	}
	if len(out) == 1 {
		return keys, true, nil
	}
	half := (len(out) + 1) / 2
	keys, first, err := s.leaveOut(keys, out[:half], false)
	if err != nil {
		return keys, true, err
	}
	keys, _, err = s.leaveOut(keys, out[half:], !first)
	return keys, true, err
}

// loses tries some of the best set's settings beside all of them.
func (s *Enough) loses(keys []string) (bool, error) {
	fewer := s.named(KeptLevel, "", keys)
	run, err := s.Conduct("Can "+join(subtract(s.reference.Keys, keys))+" be left out without loss?", s.reference, fewer)
	if err != nil {
		return false, err
	}
	return !s.keeps(run, fewer), nil
}

// refer makes the best of sets in a run the reference.
func (s *Enough) refer(run *record.Run, sets []settingfile.Set) {
	s.measured(run, sets[0])
	for _, set := range sets[1:] {
		e := between(run, s.reference.Name, set.Name)
		if more, _, _, ok := relative(s.first, e, s.best); ok && more > 0 {
			s.measured(run, set)
		}
	}
}

func (s *Enough) measured(run *record.Run, set settingfile.Set) {
	s.reference = set
	s.base, s.best = figure(run, settingfile.AsItIs, s.first).Mean, figure(run, set.Name, s.first).Mean
}

// gains reports whether a set is shown to gain something in a run.
func (s *Enough) gains(run *record.Run, set settingfile.Set) bool {
	return gains(between(run, settingfile.AsItIs, set.Name))
}

// gains reports whether an effect improves any response.
func gains(e *record.Effect) bool {
	return e != nil && slices.ContainsFunc(responsesOf(e), func(r metric.Metric) bool { return r.Effect(e).Verdict == record.Improves })
}

// keeps reports whether a set has the reference's gain but for a small part, in a run
// that tried both. Where the first response gains nothing, it is not to get worse.
func (s *Enough) keeps(run *record.Run, set settingfile.Set) bool {
	if equal(set.Keys, s.reference.Keys) {
		return true
	}
	e := between(run, s.reference.Name, set.Name)
	mean, _, good, ok := relative(s.first, e, s.best)
	if !ok {
		return false
	}
	gain := gainOf(s.first, s.base, s.best)
	if gain <= 0 || gain < run.Margin {
		return good >= 0 || mean >= -run.Margin
	}
	return mean >= -SmallLoss*gain
}

// gainOf is how much better best is than base, as a share of best.
func gainOf(r metric.Metric, base, best float64) float64 {
	if best == 0 {
		return 0
	}
	if r.Lower {
		return base/best - 1
	}
	return 1 - base/best
}

// found is a set with its proof in a run.
func (s *Enough) found(run *record.Run, set settingfile.Set) *Found {
	f := &Found{Run: run, Level: set.Name, Proof: record.TuneProof{Run: run.ID, Settings: set.Keys, Effect: effect(run, factor(run), set.Name)}}
	if set.Name != settingfile.TheList {
		f.Proof.AgainstList = between(run, settingfile.TheList, set.Name)
	}
	if gain := gainOf(s.first, s.base, s.best); gain > 0 {
		share := 1.0
		if !equal(set.Keys, s.reference.Keys) {
			mean, _, _, _ := relative(s.first, between(run, s.reference.Name, set.Name), s.best)
			share = 1 + mean/gain
		}
		f.Proof.Gain = &share
	}
	return f
}

// named is a set in the order of the list.
func (s *Enough) named(name, about string, keys []string) settingfile.Set {
	return settingfile.Set{Name: name, About: about, Keys: intersect(s.All, keys)}
}

func subtract(keys, others []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(others, key) })
}

func intersect(keys, others []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !slices.Contains(others, key) })
}

func equal(a, b []string) bool { return len(a) == len(b) && len(subtract(a, b)) == 0 }
