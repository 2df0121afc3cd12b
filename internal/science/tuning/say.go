package tuning

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
	"linerate/internal/science/stats"
)

// answer says it in a sentence: what the list does, which of its settings do it,
// which harm, and how many make no difference. What else must be known follows.
func answer(t *record.Tune, n tried, alone bool, of metric.Metric) string {
	var parts, said []string
	switch {
	case t.List == nil:
		return "The list has not been tried."
	case alone:
		parts = append(parts, only(t.Settings)+does(t, of))
	default:
		parts = append(parts, "The list as a whole"+does(t, of))
		parts = append(parts, settings(t, n, of)...)
	}
	said = append(said, strings.Join(parts, "; ")+".")
	if off := t.Off; off != nil && (off.Verdict == record.Improves || off.Verdict == record.Worsens) {
		said = append(said, fmt.Sprintf("Turned off again it is not as it was (%s): something else changed meanwhile, or was left behind.", ratioText(off)))
	}
	return strings.Join(append(said, untried(t.Settings)...), " ")
}

// tried is how many settings of a list were, and whether that is but some of them.
type tried struct {
	n    int
	some bool
}

// settings says which of them did it.
func settings(t *record.Tune, tried tried, of metric.Metric) (said []string) {
	by := map[string][]record.TuneSetting{}
	for _, s := range t.Settings {
		by[s.Verdict] = append(by[s.Verdict], s)
	}
	among := "" // which settings these are
	if tried.some {
		among = " that were tried"
	}
	named := len(by[record.Helps]) + len(by[record.Harms]) + len(by[record.Mixed]) + len(by[record.Trades])
	if helps, spare := missed(by[record.Helps]); len(helps) > 0 {
		if t.List.Verdict != record.Improves && !Proven(t.List) {
			said = append(said, list(helps)+" "+plural(len(helps), "helps", "help"))
		} else {
			said = append(said, list(helps)+" "+plural(len(helps), "does", "do")+" it"+together(t.List, helps, of))
		}
		for _, s := range spare {
			said = append(said, fmt.Sprintf("%s helps alone, %s, and the list does not miss it", s.Key, ratioText(s.Alone)))
		}
	} else if len(by[record.Together])+len(by[record.Trades]) == 0 && t.List.Verdict == record.Improves {
		said = append(said, "none of its settings"+among+" is surely what does it")
	}
	if harms := by[record.Harms]; len(harms) > 0 {
		said = append(said, list(harms)+" "+plural(len(harms), "harms", "harm"))
	}
	if trades := by[record.Trades]; len(trades) > 0 {
		said = append(said, reasoned(trades)+" "+plural(len(trades), "is", "are")+" good for one thing and bad for another")
	}
	if mixed := by[record.Mixed]; len(mixed) > 0 {
		said = append(said, reasoned(mixed)+" "+plural(len(mixed), "depends", "depend")+" on the others")
	}
	others := func(n int) string {
		switch rest := tried.n - named; {
		case n < rest && named == 0:
			return fmt.Sprintf("%d of its settings", n)
		case n < rest:
			return fmt.Sprintf("%d of the others", n)
		case named == 0 && n == 1: // of several: a list of one is not told apart
			return "the one setting that was tried"
		case named == 0:
			return fmt.Sprintf("all %d settings%s", n, among)
		case n == 1:
			return "the other one" + strings.Replace(among, "were", "was", 1)
		}
		return fmt.Sprintf("all %d others%s", n, among)
	}
	switch n := len(by[record.NoDifference]); {
	case n == 0:
	case n == tried.n && !tried.some && t.List.Verdict == record.NoDifference:
		said = append(said, fmt.Sprintf("nor does any of its %d settings", n))
	default:
		said = append(said, others(n)+" "+plural(n, "makes", "make")+" no difference")
	}
	if n := len(by[record.Inconclusive]); n > 0 {
		said = append(said, "nothing is sure of "+strings.Replace(others(n), "all ", "the ", 1))
	}
	return said
}

// missed parts the settings that help: those that the list is worse without did it,
// and others that help a little when they are alone did not. Where the list misses
// none of them, each that helps did it.
func missed(helps []record.TuneSetting) (did, spare []record.TuneSetting) {
	for _, s := range helps {
		if s.Alone != nil && s.Removed != nil && s.Removed.Verdict == record.NoDifference {
			spare = append(spare, s)
		} else {
			did = append(did, s)
		}
	}
	if !slices.ContainsFunc(did, func(s record.TuneSetting) bool { return s.Removed != nil && s.Removed.Verdict == record.Worsens }) {
		return helps, nil
	}
	return did, spare
}

// together says of several settings that do it that one of them would not do:
// alone they make no difference, or surely less than the list.
func together(list *record.Effect, helps []record.TuneSetting, of metric.Metric) string {
	if len(helps) < 2 {
		return ""
	}
	neither := plural(len(helps)-1, "neither", "none of them")
	none, most := true, MostAlone(helps)
	if most == 0 {
		return ""
	}
	for _, s := range helps {
		same := s.Alone.Verdict == record.NoDifference
		if same && Proven(s.Alone) {
			return "" // it does good alone, by something else than what counts
		}
		none = none && same
	}
	switch {
	case none:
		return " together: alone " + neither + " makes a difference"
	case !of.Lower && most < list.Ratio.Low:
		return fmt.Sprintf(" together: alone %s gives more than %.2f×", neither, most)
	}
	return ""
}

// MostAlone is the ratio that none of several settings exceeds by itself: the highest end
// of their intervals, which hold together. 0: one of them is not known.
func MostAlone(settings []record.TuneSetting) (most float64) {
	for _, s := range settings {
		if s.Alone == nil || s.Alone.Ratio.None || s.Alone.Ratio.High == 0 {
			return 0
		}
		most = max(most, s.Alone.Ratio.High)
	}
	return most
}

func untried(settings []record.TuneSetting) []string {
	n := 0
	for _, s := range settings {
		if s.Verdict == record.NotTried {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d %s not tried.", n, plural(n, "was", "were"))}
}

// only names the one setting that was tried.
func only(settings []record.TuneSetting) string {
	for _, s := range settings {
		if s.Verdict != record.NotTried {
			return s.Key
		}
	}
	return "The setting"
}

// does says what the list does, as a predicate.
func does(t *record.Tune, of metric.Metric) string {
	e := t.List
	also := also(e, t.Responses)
	switch e.Verdict {
	case record.Improves, record.Worsens:
		return " " + e.Verdict + " " + of.Label + ": " + sizeText(of, e) + also
	case record.NoDifference:
		what := ""
		if len(t.Responses) > 1 {
			what = " of " + of.Label
		}
		return fmt.Sprintf(" makes no difference%s beyond ±%.3g %%: %s%s", what, 100*t.Margin, sizeText(of, e), also)
	}
	if e.Why == "" || strings.HasPrefix(e.Why, stats.Spans) { // which stands there already
		return " does nothing that is sure: " + sizeText(of, e) + also
	}
	return fmt.Sprintf(" does nothing that is sure: %s, %s%s", sizeText(of, e), e.Why, also)
}

func searched(t *record.Tune, enough, unsure string) string {
	text := fmt.Sprintf("%s: %s is the smallest value that is good enough.", t.Search.Key, enough)
	if t.Search.Enough == "" {
		text = fmt.Sprintf("%s: no value below %s is shown to be good enough.", t.Search.Key, enough)
	}
	if unsure != "" {
		text += fmt.Sprintf(" Of %s nothing is sure.", unsure)
	}
	if i := slices.IndexFunc(t.Search.Values, func(v record.TuneValue) bool { return v.Name == enough }); i >= 0 {
		if other := also(t.Search.Values[i].Effect, t.Responses); other != "" {
			text += " Against the largest it is as good" + other + "."
		}
	}
	if e := t.List; e != nil && e.Verdict == record.NoDifference {
		text += " Without the list it is as good" + also(e, t.Responses) + "."
	}
	return text
}

// ratioText spells an effect's ratio with its interval: "4.01× (3.98–4.04)".
func ratioText(e *record.Effect) string {
	r := e.Ratio
	switch {
	case r.None:
		return "no ratio"
	case r.High == 0:
		return fmt.Sprintf("%.3g×", r.Mean)
	case r.High >= 1000*r.Mean: // chance alone: no upper bound worth a number
		return fmt.Sprintf("%.2f× (at least %.2f)", r.Mean, r.Low)
	}
	return fmt.Sprintf("%.2f× (%.2f–%.2f)", r.Mean, r.Low, r.High)
}

// Because says what speaks for a setting that is kept.
func Because(s record.TuneSetting) string {
	var said []string
	if s.Alone != nil {
		said = append(said, "alone "+Spelled(s.Alone))
	}
	if s.Removed != nil {
		said = append(said, "the list without it "+Spelled(s.Removed))
	}
	return strings.Join(said, "; ")
}

// Spelled is an effect in all responses: "4.00× (3.99–4.01) improves, latency p99
// 1.00× (0.98–1.02) no difference".
func Spelled(e *record.Effect) string {
	text := fmt.Sprintf("%s %s", ratioText(e), e.Verdict)
	for i := range e.Beside {
		b := &e.Beside[i]
		if r, known := metric.Find(b.Response); known {
			text += fmt.Sprintf(", %s %s %s", r.Label, sizeText(r, b), b.Verdict)
		}
	}
	return text
}

// list joins settings: "a, b and c".
func list(settings []record.TuneSetting) string {
	var names []string
	for _, s := range settings {
		names = append(names, s.Key)
	}
	return join(names)
}

// reasoned joins settings, each with why: "a (this) and b (that)".
func reasoned(settings []record.TuneSetting) string {
	var names []string
	for _, s := range settings {
		names = append(names, fmt.Sprintf("%s (%s)", s.Key, s.Why))
	}
	return join(names)
}

func join(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
