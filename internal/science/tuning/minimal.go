package tuning

import (
	"errors"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// This file finds which settings of a list are enough: the fewest that lose none of what
// the list gains. Trials of each setting alone, and of the list without each, do not show
// it: if A and B work only together, and C does the same, then A or B alone gains nothing,
// and leaving out any one of the three costs nothing.
//
// See docs/decisions/0023-search-for-what-is-enough.md.

// SmallLoss is the share of a list's gain that what is kept may lose.
const SmallLoss = 0.05

// Levels of the runs that try sets of settings, beside those of package settingfile.
const (
	KeptLevel    = "kept"
	FewerLevel   = "fewer"
	withoutRival = "without "
)

// ErrSpent: there is no time left for further trials.
var ErrSpent = errors.New("the budget is spent")

// tries is how often a set is tried whose loss may be chance.
const tries = 2

// maxRivals is how many settings that exclude each other are distinguished.
const maxRivals = 4

// Conduct makes trials of sets in the same blocks, the first one as the baseline, and
// concludes. Out are the settings of which they are to show whether they can be left out; empty: they
// are to prove what was found. ErrSpent: none are made.
type Conduct func(out []string, sets ...settingfile.Set) (*record.Run, error)

// Enough is the search for the settings that are enough.
type Enough struct {
	Screened
	Screening *record.Run
	Conduct   Conduct
	// Accept is how much worse a response may get: fewer settings are not enough if they cost
	// more, and the best set does not.
	Accept Accepted

	// reference is the best set, and refers the run that shows it; gains are what it gains
	// over the baseline in each response that it is shown to improve, as a share of what it
	// gives, and in the first one in any case. Where it gives no more than the response's Floor,
	// as where it ends all loss, that and all losses are shares of what the baseline gives: scales.
	reference settingfile.Set
	refers    *record.Run
	gains     map[string]float64
	scales    map[string]float64
	needed    []string                  // the reference was worse without each by the first response, beyond chance
	beside    map[string]*record.Effect // or by another one: that effect
	core      loss                      // of all of the reference but the core
	ended     bool                      // by ErrSpent
	fewer     *Found                    // gains as much by the first response, at a cost that is not accepted
}

// Found is a set with its proof, and the run that has it at a level.
type Found struct {
	Proof record.TuneProof
	Run   *record.Run
	Level string
	// Ended: the budget ended the search, and fewer may be enough.
	Ended bool
	// Needed are settings without which the best set was worse by the first response, beyond
	// chance. Beside has others by the effect in another response that leaving them out has.
	Needed []string
	Beside map[string]*record.Effect
	// Fewer gains as much by the first response, and costs more by another one than is
	// accepted; nil: no such set was tried.
	Fewer *Found
}

// Into makes a proof that of a result, with its figures and the settings that it has.
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

// figures adds those of the set, and of the baseline and the list beside it, to a result's.
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

// Unshown reports whether a setting is kept that is not shown to be needed.
func Unshown(s record.TuneSetting) bool {
	return s.Keep && (s.Verdict == record.NoDifference || s.Verdict == record.Inconclusive)
}

// Open are the keys of the settings that are kept and not shown to be needed.
func Open(settings []record.TuneSetting) (keys []string) {
	for _, s := range settings {
		if Unshown(s) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Offer is a set as a trade: what it gains in one response and costs in another; nil: it
// does not do both.
func (f *Found) Offer() *record.TuneOffer { return offer(f.Run, f.Level, f.Proof) }

// Find returns the fewest settings that were found to keep the gain, proven by themselves;
// nil: nothing of the list is shown to gain anything. An error is Conduct's; ErrSpent:
// nothing could be proven.
//
// What is only tried together is proven once by a run of its own beside the baseline and
// the whole list. Where even that loses more than a small part of the gain, the best set
// that was tried is returned.
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

// withoutDoubtful leaves out of a core that a run has proven what the list may not miss.
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

// proveFewer proves what elimination has left beside the baseline, the whole list and the
// best set. If it loses, the smallest of these that does not is what is found.
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

// prove tries sets beside the baseline.
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
	// One trial that something else slowed down is enough to leave a proof open.
	again, err := s.Conduct(nil, all...)
	if errors.Is(err, ErrSpent) {
		return run, nil
	}
	return again, err
}

// leftOpen reports whether a set promises a gain in a run without being shown to have it, or
// to cost nothing in the first response.
func leftOpen(run *record.Run, set settingfile.Set) bool {
	e := between(run, settingfile.AsItIs, set.Name)
	return promises(run, e) && (!Gains(e, run.Margin) || e.Verdict == record.Inconclusive)
}

// best makes the best of sets in a run the reference: the list without what harms already if it
// keeps the list's gain, as chance decides which of the two is ahead.
func (s *Enough) best(run *record.Run, sets []settingfile.Set) {
	s.refer(run, sets[0])
	for _, set := range sets[1:] {
		more, ok := s.typical(run, set, metric.Of(run)[0])
		if ok && more > 0 || set.Name == settingfile.HarmlessList && s.keeps(run, set) {
			s.refer(run, set)
		}
	}
}

// refer makes a set that a run tried beside the baseline the reference.
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

// Gains reports whether an effect improves the first response, or another one by more than the
// margin of what matters.
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

// promises reports whether an effect improves a response, or nearly all blocks say so.
func promises(run *record.Run, e *record.Effect) bool {
	return e != nil && slices.ContainsFunc(responsesOf(e), func(r metric.Metric) bool {
		return leans(run, e, r) == record.Improves
	})
}

// keeps reports whether a set has the reference's gain in a run that tried both, but for a
// small part: of the gain or, where that is more, of the margin. Of the gains in other
// responses, which scatter more, it has the larger part, and none of them is worse by more than
// is accepted: than the reference's, nor than the baseline's where the reference's is accepted.
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

// typical is how much better a set typically is than the reference in a run that tried both.
func (s *Enough) typical(run *record.Run, set settingfile.Set, r metric.Metric) (better float64, ok bool) {
	return typical(run, s.reference.Name, set.Name, r, s.scales[r.Name])
}

// keepsFirst reports whether a set has the reference's gain by the first response.
func (s *Enough) keepsFirst(run *record.Run, set settingfile.Set) bool {
	r := metric.Of(run)[0]
	more, ok := s.typical(run, set, r)
	of := r.Effect(between(run, s.reference.Name, set.Name))
	lost := more < -max(SmallLoss*s.gains[r.Name], run.Margin/3) && of != nil && (s.gains[r.Name] >= run.Margin ||
		of.Verdict == record.Worsens)
	return ok && of != nil && !lost
}

// refused reports whether a set costs more than is accepted, and the reference does not.
func (s *Enough) refused(run *record.Run, set settingfile.Set) bool {
	whole, own := between(run, settingfile.AsItIs, s.reference.Name), between(run, settingfile.AsItIs, set.Name)
	return whole != nil && own != nil && !s.Accept.refuses(whole) && s.Accept.refuses(own)
}

// found is a set with its proof in a run.
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
