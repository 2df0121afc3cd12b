package tuning

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/stats"
)

// Answer says again what a run showed of a list, with what was proven and kept since.
func Answer(t *record.Tune, run *record.Run) string { return answer(t, run) }

// answer says it in sentences: what the list does, which of its settings do it,
// which harm, and which make no difference. What else must be known follows.
func answer(t *record.Tune, run *record.Run) string {
	var parts, said []string
	of, tried := metric.Of(run)[0], tried{some: partial(factor(run))}
	for _, s := range t.Settings {
		if s.Verdict != record.NotTried {
			tried.n++
		}
	}
	switch {
	case t.List == nil:
		return "The list has not been tried."
	case stats.Unjudged(run) != "":
		unjudged := stats.Unjudged(run)
		said = append(said, upperFirst(unjudged)+".")
		name, many := subject(t)
		parts = append(parts, name+does(t, settingfile.TheList, t.List, of, many))
	case listIsOne(run, t.Settings):
		parts = append(parts, only(t.Settings)+does(t, settingfile.TheList, t.List, of, false))
	default:
		name, many := subject(t)
		if t.List.Verdict == record.Worsens { // what to do about it
			parts = harming(t, of)
		}
		if t.Written != nil { // which is the user's own
			parts = append(parts, "The list as written"+does(t, settingfile.Written, t.Written, of, false))
		}
		parts = append(parts, name+does(t, settingfile.TheList, t.List, of, many))
		did := settings(t, tried, of)
		// more than the list
		if t.Proof != nil && t.List.Verdict != record.Improves && t.Proof.Effect.Verdict != record.Worsens &&
			gains(t.Proof.Effect, t.Margin) {
			parts = append(did, parts...)
		} else {
			parts = append(parts, did...)
		}
	}
	full := ""
	if t.List.Verdict != record.Improves {
		full = FullPath(t)
	}
	if stats.Unjudged(run) == "" && !tried.some && nothingToKeep(t) { // first what follows from the rest
		text := "Nothing of this list is shown to be worth keeping here"
		if tried.n < len(t.Settings) {
			text = "Nothing of this list that was tried is shown to be worth keeping here"
		}
		if full != "" {
			text += ": " + lowerFirst(full)
		}
		said, full = append(said, text+"."), ""
	}
	for _, part := range parts {
		if first, _, _ := strings.Cut(part, " "); !strings.Contains(first, ".") { // a key is spelled as it is
			part = upperFirst(part)
		}
		said = append(said, part+".")
	}
	if full != "" {
		said = append(said, full+".")
	}
	if off := t.Off; off != nil && (off.Verdict == record.Improves || off.Verdict == record.Worsens) {
		said = append(said, fmt.Sprintf(
			"With the settings off again the result differs from the baseline (%s): something else changed, or an effect of the settings remained.", ratioText(off)))
	}
	return strings.Join(append(said, untried(t.Settings)...), " ")
}

// nothingToKeep reports whether a list of several settings was tried in full and neither it nor a
// setting of it is shown to improve anything.
func nothingToKeep(t *record.Tune) bool {
	if t.Offer != nil || len(t.Settings) < 2 {
		return false
	}
	effects := []*record.Effect{t.List, t.Written}
	if t.Proof != nil {
		effects = append(effects, t.Proof.Effect)
	}
	for _, e := range effects {
		if e == nil {
			continue
		}
		if gains(e, t.Margin) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Settings, func(s record.TuneSetting) bool {
		return s.Keep || s.Verdict != record.NotTried && s.Verdict != record.NoDifference &&
			s.Verdict != record.Inconclusive && s.Verdict != record.Harms
	})
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }

// subject is the name of what was tried: of a list that could only partly be tried, what is
// said is about the rest. many: it takes a plural.
func subject(t *record.Tune) (name string, many bool) {
	c := Count(t.Settings)
	corrected, replaced := false, ""
	for _, s := range t.Settings {
		switch {
		case s.Verdict == record.NotTried || s.Corrected == "":
		case s.Added == "":
			corrected = true
		default:
			replaced = ", with " + s.Key + " = " + s.Value + " in place of the list's"
		}
	}
	how, whole, with := replaced, " as a whole", ""
	switch {
	case corrected:
		how, whole = ", as corrected"+replaced, " as corrected"
	case t.Written != nil && len(c.Added) == 0 && replaced == "": // of an older run it is not known what was amended
		how, whole = ", as tried", " as tried"
	}
	if len(c.Added) > 0 {
		with = join(c.Added) + ", which linerate added"
	}
	switch {
	case c.Tried == 0 && with != "":
		return with + ",", len(c.Added) > 1
	case c.Tried == c.Of && with != "":
		return "The list" + whole + replaced + " and " + with + ",", true
	case c.Tried == c.Of && replaced != "":
		return "The list" + whole + replaced + ",", false
	case c.Tried == c.Of:
		return "The list" + whole, false
	}
	name = plural(c.Tried, "The one setting", fmt.Sprintf("The %d settings", c.Tried)) + " that could be tried" + how
	if with != "" {
		name += " and " + with
	}
	if how != "" || with != "" {
		name += ","
	}
	return name, c.Tried > 1 || with != ""
}

// tried is how many settings of a list were, and whether that is but some of them.
type tried struct {
	n    int
	some bool
}

// settings says which of them did it.
func settings(t *record.Tune, tried tried, of metric.Metric) (said []string) {
	by := map[string][]record.TuneSetting{}
	kept := 0 // of those that show no good by themselves: they stand with what they do together
	for _, s := range t.Settings {
		if s.Keep && (unshown(s) || s.Verdict == record.Mixed) {
			kept++
			continue
		}
		by[s.Verdict] = append(by[s.Verdict], s)
	}
	among := "" // which settings these are
	if tried.some {
		among = " that were tried"
	}
	known := kept + len(by[record.Helps]) + len(by[record.Harms]) + len(by[record.Mixed]) + len(by[record.Trades])
	switch helps, spare := missed(by[record.Helps]); {
	case t.Proof != nil:
		kept := keyed(t.Settings, t.Proof.Settings)
		said = append(said, proved(t, of)...)
		said = append(said, lever(kept, t.Proof.Effect, of)...)
		said = append(said, keptBeside(kept, t.Responses, of)...)
	case len(helps) > 0:
		said = append(said, screened(t, helps, of))
		said = append(said, lever(helps, t.List, of)...)
		for _, s := range spare {
			said = append(said, fmt.Sprintf("%s helps alone, %s, but the list does as well without it", s.Key,
				ratioText(s.Alone)))
		}
	case len(by[record.Together])+len(by[record.Trades]) == 0 && t.List.Verdict == record.Improves:
		said = append(said, "no single one of its settings"+among+" clearly does it")
	}
	if t.List.Verdict != record.Worsens {
		said = append(said, harming(t, of)...)
	}
	for _, s := range by[record.Trades] {
		if s.Keep && t.Proof != nil || t.Offer != nil && slices.Contains(t.Offer.Settings, s.Key) || harmsFirst(s, of) {
			continue // the proof or the offer says it
		}
		gains, costs := traded(s, t.Responses)
		said = append(said, s.Key+" improves "+join(gains)+" at the cost of "+join(costs))
	}
	if mixed := by[record.Mixed]; len(mixed) > 0 {
		said = append(said, reasoned(mixed)+" "+plural(len(mixed), "depends", "depend")+" on the others")
	}
	others := func(some []record.TuneSetting) string {
		switch n := len(some); {
		case n <= mostNamed:
			return list(some)
		case n < tried.n-known && known == 0:
			return fmt.Sprintf("%d of its settings", n)
		case n < tried.n-known:
			return fmt.Sprintf("%d of the others", n)
		case known == 0:
			return "all settings" + among
		}
		return "the other settings" + among
	}
	switch same := by[record.NoDifference]; {
	case len(same) == 0:
	case len(same) == tried.n && !tried.some && t.List.Verdict == record.NoDifference:
		said = append(said, "none of its settings makes a difference, alone or left out")
	default:
		said = append(said, others(same)+" "+plural(len(same), "makes", "make")+" no difference")
	}
	if open := by[record.Inconclusive]; len(open) > 0 {
		name := strings.Replace(others(open), "all ", "the ", 1)
		said = append(said, undecided(t, name, open, len(open) < tried.n ||
			t.List.Verdict != record.Inconclusive, of)...)
	}
	return said
}

// undecided says of settings without a verdict what is known of them: those that alone make
// no difference are uncertain only as parts of the list. news: that the others are uncertain
// has not been said of the list.
func undecided(t *record.Tune, name string, open []record.TuneSetting, news bool, of metric.Metric) []string {
	same, most, part := 0, 0.0, ""
	if news {
		part = "; as a part of the list " + plural(len(open), "it is", "all are") + " unclear"
	}
	for _, s := range open {
		if sameAlone(s) {
			same, most = same+1, max(most, 1-s.Alone.Ratio.Low, s.Alone.Ratio.High-1)
		}
	}
	switch n := len(open); {
	case same == 0 && news:
		return []string{name + plural(n, " is", " are") + " unclear"}
	case same == 0:
		return nil
	case same == n:
		return []string{fmt.Sprintf("alone, %s %s no difference of %s beyond ±%.3g %% (at most %.1f %%)%s", name,
			plural(n, "makes", "make"), of.Label, 100*t.Margin, math.Ceil(1000*most)/10, part)}
	default:
		alone, unclear := name+": alone "+strconv.Itoa(same), strconv.Itoa(n-same)
		if n <= mostNamed {
			unsure := slices.DeleteFunc(slices.Clone(open), sameAlone)
			alone = "alone, " + list(slices.DeleteFunc(slices.Clone(open), func(s record.TuneSetting) bool {
				return !sameAlone(s)
			}))
			unclear = list(unsure)
		}
		return []string{fmt.Sprintf("%s %s no difference of %s beyond ±%.3g %% (at most %.1f %%), and %s %s unclear%s",
			alone, plural(same, "makes", "make"), of.Label, 100*t.Margin, math.Ceil(1000*most)/10, unclear,
			plural(n-same, "is", "are"), part)}
	}
}

// sameAlone reports whether a setting alone makes no difference of the response that counts.
func sameAlone(s record.TuneSetting) bool {
	e := s.Alone
	return e != nil && e.Verdict == record.NoDifference && e.Ratio.High > 0
}

// Verdict is a setting's verdict as a heading of those that have it: without one, those that
// alone make no difference of the response that counts stand apart.
func Verdict(t *record.Tune, s record.TuneSetting) string {
	if s.Verdict == record.Inconclusive && sameAlone(s) {
		return SameAlone(t)
	}
	return s.Verdict
}

// SameAlone is the heading of settings that are inconclusive, but not alone.
func SameAlone(t *record.Tune) string {
	return "alone no difference of " + metric.Of(&record.Run{Responses: t.Responses})[0].Label +
		", otherwise inconclusive"
}

// named is a setting in a sentence: which congestion control it is belongs to its name.
func named(s record.TuneSetting) string {
	if s.Key == setting.CongestionControl && s.Value != "" {
		return "congestion control (" + s.Key + " = " + s.Value + ")"
	}
	return s.Key
}

// keyed are the settings of these keys.
func keyed(settings []record.TuneSetting, keys []string) []record.TuneSetting {
	return slices.DeleteFunc(slices.Clone(settings), func(s record.TuneSetting) bool {
		return !slices.Contains(keys, s.Key)
	})
}

// screened says what is shown of settings that help, which were not tried by themselves.
func screened(t *record.Tune, helps []record.TuneSetting, of metric.Metric) string {
	n, names := len(helps), list(helps)
	if t.List.Verdict != record.Improves && !Proven(t.List, nil, t.Margin) {
		return names + " " + plural(n, "helps", "help")
	}
	if n == 1 && t.List.Verdict == record.Improves {
		alone, _, _, known := relative(of, helps[0].Alone, 0)
		whole, _, _, _ := relative(of, t.List, 0)
		if known && alone >= (1-SmallLoss)*whole {
			return names + " does it"
		}
	}
	if slices.ContainsFunc(helps, func(s record.TuneSetting) bool {
		return s.Removed == nil || s.Removed.Verdict != record.Worsens
	}) {
		return names + " " + plural(n, "helps", "help") + together(t.List, helps, of)
	}
	return "it needs " + names + together(t.List, helps, of)
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
	if !slices.ContainsFunc(did, func(s record.TuneSetting) bool {
		return s.Removed != nil && s.Removed.Verdict == record.Worsens
	}) {
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
		if same && Proven(s.Alone, nil, 0) {
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

// mostNamed is how many settings of one verdict a sentence names: more are in the table.
const mostNamed = 4

// mostReasons is how many reasons, and settings of each, a sentence names.
const mostReasons = 3

// untried says which settings of a list were not tried, and why.
func untried(settings []record.TuneSetting) []string {
	var not []record.Untried
	of := Count(settings).Of
	for _, s := range settings {
		if s.Verdict == record.NotTried {
			not = append(not, record.Untried{Key: s.Key, Value: s.Value, Why: s.Why})
		}
	}
	if len(not) == 0 {
		return nil
	}
	if len(not) > mostReasons {
		return []string{fmt.Sprintf("%d of the list's %d settings were not tried: see below.", len(not), of)}
	}
	return []string{fmt.Sprintf("Of the list's %d %s, %d %s not tried: %s.", of, plural(of, "setting", "settings"),
		len(not), plural(len(not), "was", "were"), Reasons(not))}
}

// Reasons names settings that were not tried, with the reasons: "a and b (machine-wide); c
// (no such file)". Of many it counts the last ones.
func Reasons(not []record.Untried) string {
	var whys, said []string
	by := map[string][]string{}
	for _, u := range not {
		if by[u.Why] == nil {
			whys = append(whys, u.Why)
		}
		by[u.Why] = append(by[u.Why], u.Key)
	}
	left := len(not)
	for i, why := range whys {
		if i == mostReasons {
			said = append(said, fmt.Sprintf("%d for other reasons", left))
			break
		}
		keys := by[why]
		left -= len(keys)
		if more := len(keys) - mostReasons; more > 1 {
			keys = append(slices.Clone(keys[:mostReasons]), fmt.Sprintf("%d others", more))
		}
		said = append(said, join(keys)+" ("+why+")")
	}
	return strings.Join(said, "; ")
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

// does says what the list does on a level, as a predicate, of several settings in the plural.
func does(t *record.Tune, level string, e *record.Effect, of metric.Metric, many bool) string {
	verb := func(one, more string) string {
		if many {
			return more
		}
		return one
	}
	at := runLevel{t.Run, level}
	also, size := also(t, at, e, many), change(t, at, of, e)
	switch e.Verdict {
	case record.Improves, record.Worsens:
		return " " + verb(e.Verdict, strings.TrimSuffix(e.Verdict, "s")) + " " + of.Label + ": " + size + also
	case record.NoDifference:
		what := ""
		if len(t.Responses) > 1 {
			what = " of " + of.Label
		}
		return fmt.Sprintf(" %s no difference%s beyond ±%.3g %%: %s%s", verb("makes", "make"), what, 100*t.Margin,
			size, also)
	}
	if e.ByInterval() { // which stands there already
		return fmt.Sprintf(" %s no certain effect on %s beyond ±%.3g %%: %s%s", verb("has", "have"), of.Label,
			100*t.Margin, size, also)
	}
	return fmt.Sprintf("%s inconclusive: %s %s, %s%s", verb(" is", " are"), of.Label, size, e.Why, also)
}

func searched(t *record.Tune, enough, unsure string) string {
	text := fmt.Sprintf("%s: %s is the smallest value that is good enough.", t.Search.Key, enough)
	if t.Search.Enough == "" {
		text = fmt.Sprintf("%s: no value below %s is shown to be good enough.", t.Search.Key, enough)
	}
	if unsure != "" {
		text += fmt.Sprintf(" %s is inconclusive.", unsure)
	}
	if i := slices.IndexFunc(t.Search.Values, func(v record.TuneValue) bool { return v.Name == enough }); i >= 0 {
		if other := also(t, runLevel{}, t.Search.Values[i].Effect, false); other != "" {
			text += " Against the largest it is as good" + other + "."
		}
	}
	if e := t.List; e != nil && e.Verdict == record.NoDifference {
		text += " Without the list it is as good" + also(t, runLevel{}, e, false) + "."
	}
	return text
}
