package tuning

import (
	"errors"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// This file finds which settings of a list are enough: the smallest set that keeps the gain of
// the list. Trials of each setting alone, and of the list without each, do not show that. For
// example, if A and B have an effect only together, and C has the same effect by itself, then A
// or B alone gains nothing, and leaving out any one of the three loses nothing.
//
// See docs/decisions/0023-search-for-what-is-enough.md.

// SmallLoss is the share of the best set's gain that a smaller set may lose.
const SmallLoss = 0.05

// Names of levels in runs that try sets of settings, in addition to those of package settingfile.
const (
	KeptLevel    = "kept"
	FewerLevel   = "fewer"
	withoutRival = "without "
)

// ErrSpent is returned if the budget has no time left for further trials.
var ErrSpent = errors.New("the budget is spent")

// tries is the number of runs that try a set whose loss may be chance.
const tries = 2

// maxRivals limits the rivals (Screened.Rivals) that are left out one at a time.
const maxRivals = 4

// Conduct makes trials of the sets in the same blocks, with the first set as the baseline, and
// returns the concluded run. Out lists the settings that the trials are to show can be left out;
// empty: the trials are to prove a set. If there is no time for trials, it returns ErrSpent.
type Conduct func(out []string, sets ...settingfile.Set) (*record.Run, error)

// Enough searches the smallest set of settings that gains about as much as the best set.
type Enough struct {
	Screened
	Screening *record.Run
	Conduct   Conduct
	// Accept has the accepted losses. A smaller set is not enough if its loss in a response is not
	// accepted while that of the best set is.
	Accept Accepted

	// reference is the best set, and refers the run that shows that. gains has its gain over the
	// baseline in the first response and in each other response that it is shown to improve, as a
	// share of its own value. If its value is at most the response's Floor, for example because it
	// ends all loss, the gain and all losses are shares of the value in scales, the baseline's.
	reference settingfile.Set
	refers    *record.Run
	gains     map[string]float64
	scales    map[string]float64
	needed    []string                  // the reference is shown to be worse without each, in the first response
	beside    map[string]*record.Effect // settings without which it is worse in another response: that effect
	core      loss                      // the loss if only the core is kept
	ended     bool                      // ErrSpent ended the search
	fewer     *Found                    // gains as much in the first response, with a loss that is not accepted
}

// Found is a set of settings with its proof: Run tried the set as the level named Level.
type Found struct {
	Proof record.TuneProof
	Run   *record.Run
	Level string
	// Ended reports whether the budget ended the search; fewer settings may be enough.
	Ended bool
	// Needed lists settings without which the best set is shown to be worse in the first response.
	// Beside has settings without which it is worse in another response, with that effect.
	Needed []string
	Beside map[string]*record.Effect
	// Fewer is a smaller set that gains as much in the first response and loses more in another
	// one than is accepted. Nil: no such set was tried.
	Fewer *Found
}

// Into makes f the proof of a result: it sets Proof, Fewer, Ended and Figures of t, and adjusts
// the verdicts on the settings.
func (f *Found) Into(t *record.Tune) {
	t.Proof, t.Ended = &f.Proof, f.Ended
	f.figures(t, KeptLevel)
	if f.Fewer != nil {
		t.Fewer = &f.Fewer.Proof
		f.Fewer.figures(t, FewerLevel)
	}
	for i := range t.Settings {
		s := &t.Settings[i]
		if s.Verdict == record.NotTried {
			continue
		}
		s.Keep = slices.Contains(f.Proof.Settings, s.Key)
		add := func(code string) { s.Reasons = append(slices.Clone(s.Reasons), statement(code)) }
		asPart := func() {
			s.Judged = &record.TuneJudged{Verdict: s.Verdict, Reasons: s.Reasons}
			add(record.WhyPart)
		}
		switch {
		case (Unshown(*s) || s.Keep && s.Verdict == record.Mixed) && slices.Contains(f.Needed, s.Key):
			s.Needed, s.Verdict = true, record.Helps
			add(record.WhyNeeded)
		case Unshown(*s) && f.Beside[s.Key] != nil:
			s.Beside, s.Verdict = f.Beside[s.Key], record.Helps
			add(record.WhyBeside)
		case Unshown(*s):
			add(record.WhyKeptOpen)
		case s.Keep && s.Verdict == record.Harms: // what it costs is in what the set costs
			asPart()
			s.Verdict = record.Trades
		case s.Keep && s.Verdict == record.Mixed:
			asPart()
		case !s.Keep && s.Verdict == record.Helps:
			add(record.WhySpare)
		}
	}
}

// figures adds the estimates of the set, and of the baseline and the list in the same run, to
// t.Figures. The set is named name.
func (f *Found) figures(t *record.Tune, name string) {
	if !slices.ContainsFunc(t.Figures, func(of record.TuneFigure) bool { return of.Run == f.Run.ID }) {
		t.Figures = append(t.Figures, figures(f.Run, settingfile.AsItIs, settingfile.TheList)...)
	}
	if f.Proof.AgainstList == nil { // it is the list
		return
	}
	for _, of := range figures(f.Run, f.Level) {
		of.Name = name
		t.Figures = append(t.Figures, of)
	}
}

// Unshown reports whether a setting is kept although it is not shown to be needed.
func Unshown(s record.TuneSetting) bool {
	return s.Keep && (s.Verdict == record.NoDifference || s.Verdict == record.Inconclusive)
}

// Open returns the keys of the settings that are kept although they are not shown to be needed.
func Open(settings []record.TuneSetting) (keys []string) {
	for _, s := range settings {
		if Unshown(s) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Offer returns the set with its gains in some responses and its costs in others. Nil: it does
// not have both.
func (f *Found) Offer() *record.TuneOffer { return offer(f.Run, f.Level, f.Proof) }

// Find returns the smallest set that was found to keep the gain, with its proof. Nil: no
// setting of the list is shown to gain anything. It returns errors of Conduct; ErrSpent means
// that nothing could be proven.
//
// The set that remains is tried once more in a run of its own, together with the baseline and
// the whole list. If it loses more than a small part of the gain there, Find returns the best
// set that was tried.
func (s *Enough) Find() (*Found, error) {
	list := settingfile.Set{Name: settingfile.TheList, About: settingfile.AboutAll, Keys: s.All}
	if len(s.Trades) > 0 {
		list = settingfile.Set{Name: settingfile.FreeList,
			About: settingfile.AboutFree, Keys: s.All}
	}
	s.refer(s.Screening, list)
	s.core = sure // with no settings the gain is lost
	core := s.named(KeptLevel, settingfile.AboutCore, s.Core)
	harmless := s.named(settingfile.HarmlessList, "", subtract(s.All, s.Harmful))
	contenders := []settingfile.Set{list}
	if len(s.Harmful) > 0 && len(harmless.Keys) > 1 {
		contenders = append(contenders, harmless)
	}
	if len(s.Rivals) > 0 {
		for _, rival := range s.Rivals[:min(len(s.Rivals), maxRivals)] {
			contenders = append(contenders, s.named(withoutRival+rival, "", subtract(harmless.Keys, []string{rival})))
		}
	}
	switch whole := effect(s.Screening, factor(s.Screening), list.Name); {
	case len(s.Trades) > 0:
	case len(core.Keys) == 0 && len(contenders) == 1 && !promises(s.Screening, whole):
		return nil, nil
	case equal(core.Keys, s.All) && len(s.Doubtful) == 0 && Gains(whole, s.Screening.Margin):
		return s.found(s.Screening, list), nil
	}
	if len(core.Keys) > 0 || len(contenders) > 1 || len(s.Trades) > 0 {
		run, err := s.prove(append(contenders, core)...)
		if err != nil {
			return nil, err
		}
		s.best(run, contenders)
		if len(core.Keys) > 0 && s.keeps(run, core) {
			return s.withoutDoubtful(run, list, core)
		}
		if len(core.Keys) > 0 {
			s.core = s.lost(run, core)
		}
		if len(core.Keys) > 0 && s.refused(run, core) && s.keepsFirst(run, core) {
			s.fewer = s.found(run, core)
		}
		if !promises(run, between(run, settingfile.AsItIs, s.reference.Name)) {
			if len(core.Keys) == 0 || !Gains(between(run, settingfile.AsItIs, core.Name), run.Margin) {
				return nil, nil
			}
			return s.found(run, core), nil
		}
	}
	keys, err := s.eliminate(core.Keys)
	if err != nil {
		return nil, err
	}
	found, err := s.proveFewer(list, keys)
	if errors.Is(err, ErrSpent) {
		s.ended = true
		return s.found(s.refers, s.reference), nil
	}
	return found, err
}

// withoutDoubtful tries to leave the doubtful settings out of a core that run has proven.
func (s *Enough) withoutDoubtful(run *record.Run, list, core settingfile.Set) (*Found, error) {
	proven := s.found(run, core)
	if len(s.Doubtful) == 0 || len(core.Keys) == 1 {
		return proven, nil
	}
	s.refer(run, core)
	s.reference.Name = settingfile.ProvenList // what is tried beside it is to be kept
	keys, _, err := s.leaveOut(core.Keys, s.Doubtful, unknown)
	if err != nil {
		return nil, err
	}
	var found *Found
	if !equal(keys, core.Keys) {
		found, err = s.proveFewer(list, keys)
		if s.ended = s.ended || errors.Is(err, ErrSpent); !errors.Is(err, ErrSpent) {
			return found, err
		}
	}
	proven.Needed, proven.Beside, proven.Ended = s.needed, s.beside, s.ended
	return proven, nil
}

// proveFewer proves the keys that elimination has left, in a run together with the baseline, the
// whole list and the best set. If they lose, it returns the smallest of these sets that does not.
func (s *Enough) proveFewer(list settingfile.Set, keys []string) (*Found, error) {
	fewer := s.named(KeptLevel, settingfile.AboutLeft, keys)
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
	if s.best(run, sets); !s.keeps(run, fewer) && s.lost(run, fewer) == possible {
		again, err := s.prove(append(sets, fewer)...)
		switch {
		case errors.Is(err, ErrSpent):
			s.ended = true
		case err != nil:
			return nil, err
		default:
			run = again
			s.best(run, sets)
		}
	}
	for _, set := range []settingfile.Set{fewer, sets[len(sets)-1]} {
		if s.keeps(run, set) {
			return s.found(run, set), nil
		}
	}
	return s.found(run, s.reference), nil
}

// prove tries sets together with the baseline.
func (s *Enough) prove(sets ...settingfile.Set) (*record.Run, error) {
	all := []settingfile.Set{{Name: settingfile.AsItIs, About: settingfile.AboutNone}}
	if len(s.Trades) > 0 {
		all = append(all, settingfile.Set{Name: settingfile.TheList, About: settingfile.AboutAll,
			Keys: slices.Concat(s.All, s.Trades)})
	}
	for _, set := range sets {
		if len(set.Keys) > 0 && !slices.ContainsFunc(all, func(other settingfile.Set) bool {
			return other.Name == set.Name
		}) {
			all = append(all, set)
		}
	}
	run, err := s.Conduct(nil, all...)
	if err != nil || !slices.ContainsFunc(all[1:], func(set settingfile.Set) bool { return leftOpen(run, set) }) {
		return run, err
	}
	// A single disturbed trial can make a proof inconclusive.
	again, err := s.Conduct(nil, all...)
	if errors.Is(err, ErrSpent) {
		return run, nil
	}
	return again, err
}

// leftOpen reports whether a set promises a gain in a run, but either the gain or its effect on
// the first response is inconclusive.
func leftOpen(run *record.Run, set settingfile.Set) bool {
	e := between(run, settingfile.AsItIs, set.Name)
	return promises(run, e) && (!Gains(e, run.Margin) || e.Verdict == record.Inconclusive)
}

// best makes the best of the sets in a run the reference. It prefers the list without harmful
// settings if that keeps the list's gain, because then only chance decides which is ahead.
func (s *Enough) best(run *record.Run, sets []settingfile.Set) {
	s.refer(run, sets[0])
	for _, set := range sets[1:] {
		more, ok := s.typical(run, set, metric.Of(run)[0])
		if ok && more > 0 || set.Name == settingfile.HarmlessList && s.keeps(run, set) {
			s.refer(run, set)
		}
	}
}

// refer makes a set the reference. The run has tried it together with the baseline.
func (s *Enough) refer(run *record.Run, set settingfile.Set) {
	s.reference, s.refers, s.gains, s.scales = set, run, map[string]float64{}, map[string]float64{}
	e := between(run, settingfile.AsItIs, set.Name)
	for i, r := range metric.Of(run) {
		if figure(run, set.Name, r).Mean <= r.Floor {
			s.scales[r.Name] = max(figure(run, settingfile.AsItIs, r).Mean, r.Floor)
		}
		// From the set to the baseline all of the gain is lost.
		lost, ok := typical(run, set.Name, settingfile.AsItIs, r, s.scales[r.Name])
		if of := r.Effect(e); ok && lost < 0 && (i == 0 || lost < -run.Margin && of != nil &&
			of.Verdict == record.Improves) {
			s.gains[r.Name] = -lost
		}
	}
}

// Gains reports whether an effect improves the first response, or improves another one by more
// than the margin.
func Gains(e *record.Effect, margin float64) bool {
	return e != nil && slices.ContainsFunc(responsesOf(e), func(r metric.Metric) bool {
		of := r.Effect(e)
		return of == e && of.Verdict == record.Improves || of != e && matters(r, of, margin)
	})
}

// matters reports whether an effect in a response improves it by more than the margin.
func matters(r metric.Metric, e *record.Effect, margin float64) bool {
	mean, _, _, ok := Relative(r, e, 0)
	return e.Verdict == record.Improves && (!ok || mean > margin)
}

// promises reports whether an effect improves a response, or does so in nearly all blocks (leans).
func promises(run *record.Run, e *record.Effect) bool {
	return e != nil && slices.ContainsFunc(responsesOf(e), func(r metric.Metric) bool {
		return leans(run, e, r) == record.Improves
	})
}

// keeps reports whether a set keeps the reference's gain in a run that tried both. In the first
// response it may lose a small part of the gain or of the margin, whichever is larger
// (keepsFirst). In other responses, which scatter more, it must keep half of a gain, and must not
// be worse than the reference by more than the margin and than is accepted. It must not be worse
// than the baseline by more than is accepted, unless the reference is as well.
func (s *Enough) keeps(run *record.Run, set settingfile.Set) bool {
	if equal(set.Keys, s.reference.Keys) {
		return true
	}
	if s.refused(run, set) || !s.keepsFirst(run, set) {
		return false
	}
	e := between(run, s.reference.Name, set.Name)
	return !slices.ContainsFunc(metric.Of(run)[1:], func(r metric.Metric) bool {
		more, ok := s.typical(run, set, r)
		of := r.Effect(e)
		return ok && of != nil && (s.Accept.harmed(r, of) && more < -run.Margin || s.gains[r.Name] > 0 &&
			more < -s.gains[r.Name]/2)
	})
}

// typical returns by how much a set is typically better than the reference in a run that tried
// both, as the function typical does.
func (s *Enough) typical(run *record.Run, set settingfile.Set, r metric.Metric) (better float64, ok bool) {
	return typical(run, s.reference.Name, set.Name, r, s.scales[r.Name])
}

// keepsFirst reports whether a set keeps the reference's gain in the first response.
func (s *Enough) keepsFirst(run *record.Run, set settingfile.Set) bool {
	r := metric.Of(run)[0]
	more, ok := s.typical(run, set, r)
	of := r.Effect(between(run, s.reference.Name, set.Name))
	lost := more < -max(SmallLoss*s.gains[r.Name], run.Margin/3) && of != nil && (s.gains[r.Name] >= run.Margin ||
		of.Verdict == record.Worsens)
	return ok && of != nil && !lost
}

// refused reports whether a set has a loss that is not accepted, and the reference has none.
func (s *Enough) refused(run *record.Run, set settingfile.Set) bool {
	whole, own := between(run, settingfile.AsItIs, s.reference.Name), between(run, settingfile.AsItIs, set.Name)
	return whole != nil && own != nil && !s.Accept.refuses(whole) && s.Accept.refuses(own)
}

// found returns a set with its proof in a run.
func (s *Enough) found(run *record.Run, set settingfile.Set) *Found {
	f := &Found{Run: run, Level: set.Name, Ended: s.ended, Needed: s.needed, Beside: s.beside,
		Proof: record.TuneProof{Run: run.ID, Settings: set.Keys, Effect: effect(run, factor(run), set.Name)}}
	if set.Name != settingfile.TheList {
		f.Proof.AgainstList = between(run, settingfile.TheList, set.Name)
	}
	first := metric.Of(run)[0]
	if gain := s.gains[first.Name]; gain > 0 {
		share := 1.0
		if !equal(set.Keys, s.reference.Keys) {
			more, _ := s.typical(run, set, first)
			share = 1 + more/gain
		}
		f.Proof.Gain = &share
	}
	if s.fewer != nil && len(set.Keys) > len(s.fewer.Proof.Settings) {
		f.Fewer = s.fewer
	}
	return f
}

// named returns a set of the given keys, in the order of the list.
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
