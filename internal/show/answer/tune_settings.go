package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/tuning"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// mostNamed is how many settings of one verdict a sentence names: more are in the table.
const mostNamed = 4

// settings says which of the settings did it.
func (t tuned) settings() (said []string) {
	tried := len(t.tried())
	by := map[string][]record.TuneSetting{}
	kept := 0 // of those that show no good by themselves: they stand with what they do together
	for _, s := range t.Settings {
		if s.Keep && (tuning.Unshown(s) || s.Verdict == record.Mixed) {
			kept++
			continue
		}
		by[s.Verdict] = append(by[s.Verdict], s)
	}
	among := "" // which settings these are
	if t.Partial {
		among = " that were tried"
	}
	known := kept + len(by[record.Helps]) + len(by[record.Harms]) + len(by[record.Mixed]) + len(by[record.Trades])
	switch helps, spare := tuning.Missed(by[record.Helps]); {
	case t.Proof != nil:
		kept := tuning.Keyed(t.Settings, t.Proof.Settings)
		said = append(said, t.proved()...)
		said = append(said, t.lever(kept, t.Proof.Effect)...)
		said = append(said, t.keptBeside(kept)...)
	case len(helps) > 0:
		said = append(said, t.screened(helps))
		said = append(said, t.lever(helps, t.List)...)
		for _, s := range spare {
			said = append(said, fmt.Sprintf("%s helps alone, %s, but the list does as well without it", s.Key,
				wording.Ratio(s.Alone)))
		}
	case len(by[record.Together])+len(by[record.Trades]) == 0 && t.List.Verdict == record.Improves:
		said = append(said, "no single one of its settings"+among+" clearly does it")
	}
	if t.List.Verdict != record.Worsens {
		said = append(said, t.harming()...)
	}
	for _, s := range by[record.Trades] {
		if s.Keep && t.Proof != nil || t.Offer != nil && slices.Contains(t.Offer.Settings, s.Key) || t.harmsFirst(s) {
			continue // the proof or the offer says it
		}
		gains, costs := tuning.Traded(s, t.Responses)
		said = append(said, s.Key+" improves "+trades(gains)+" at the cost of "+trades(costs))
	}
	if mixed := by[record.Mixed]; len(mixed) > 0 {
		names := lists.Map(mixed, func(s record.TuneSetting) string { return fmt.Sprintf("%s (%s)", s.Key, s.Why) })
		said = append(said, words.Join(names, "and")+" "+words.Verb(len(mixed), "depends", "depend")+" on the others")
	}
	others := func(some []record.TuneSetting, all string) string {
		switch n := len(some); {
		case n <= mostNamed:
			return list(some)
		case n < tried-known && known == 0:
			return fmt.Sprintf("%d of its settings", n)
		case n < tried-known:
			return fmt.Sprintf("%d of the others", n)
		case known == 0:
			return all + " settings" + among
		}
		return "the other settings" + among
	}
	switch same := by[record.NoDifference]; {
	case len(same) == 0:
	case len(same) == tried && !t.Partial && t.List.Verdict == record.NoDifference:
		said = append(said, "none of its settings makes a difference, alone or left out")
	default:
		said = append(said, others(same, "all")+" "+words.Verb(len(same), "makes", "make")+" no difference")
	}
	if open := by[record.Inconclusive]; len(open) > 0 {
		said = append(said, t.undecided(others(open, "the"), open, len(open) < tried ||
			t.List.Verdict != record.Inconclusive)...)
	}
	return said
}

// undecided says of settings without a verdict what is known of them: those that alone make
// no difference are uncertain only as parts of the list. news: that the others are uncertain
// has not been said of the list.
func (t tuned) undecided(name string, open []record.TuneSetting, news bool) []string {
	same, most, part := 0, 0.0, ""
	if news {
		part = "; as a part of the list " + words.Verb(len(open), "it is", "all are") + " unclear"
	}
	for _, s := range open {
		if tuning.SameAlone(s) {
			same, most = same+1, max(most, 1-s.Alone.Ratio.Low, s.Alone.Ratio.High-1)
		}
	}
	switch n := len(open); {
	case same == 0 && news:
		return []string{name + words.Verb(n, " is", " are") + " unclear"}
	case same == 0:
		return nil
	case same == n:
		return []string{fmt.Sprintf("alone, %s %s no difference of %s beyond ±%.3g %% (at most %.1f %%)%s", name,
			words.Verb(n, "makes", "make"), t.of.Label, 100*t.Margin, math.Ceil(1000*most)/10, part)}
	default:
		alone, unclear := name+": alone "+strconv.Itoa(same), strconv.Itoa(n-same)
		if n <= mostNamed {
			unsure := slices.DeleteFunc(slices.Clone(open), tuning.SameAlone)
			alone = "alone, " + list(slices.DeleteFunc(slices.Clone(open), func(s record.TuneSetting) bool {
				return !tuning.SameAlone(s)
			}))
			unclear = list(unsure)
		}
		return []string{fmt.Sprintf("%s %s no difference of %s beyond ±%.3g %% (at most %.1f %%), and %s %s unclear%s",
			alone, words.Verb(same, "makes", "make"), t.of.Label, 100*t.Margin, math.Ceil(1000*most)/10, unclear,
			words.Verb(n-same, "is", "are"), part)}
	}
}

// Heading returns the heading under which a table lists a setting: its verdict, except for
// inconclusive settings that alone make no difference in the main response, which have a heading
// of their own (HeadingSameAlone).
func Heading(t *record.Tune, s record.TuneSetting) string {
	if s.Verdict == record.Inconclusive && tuning.SameAlone(s) {
		return HeadingSameAlone(t)
	}
	return s.Verdict
}

// HeadingSameAlone returns the heading of settings that alone make no difference, but are
// inconclusive as part of the list.
func HeadingSameAlone(t *record.Tune) string {
	return "alone no difference of " + metric.Of(&record.Run{Responses: t.Responses})[0].Label +
		", otherwise inconclusive"
}

// screened says what is shown of settings that help, which were not tried by themselves.
func (t tuned) screened(helps []record.TuneSetting) string {
	n, names := len(helps), list(helps)
	if t.List.Verdict != record.Improves && !tuning.Proven(t.List, nil, t.Margin) {
		return names + " " + words.Verb(n, "helps", "help")
	}
	if n == 1 && t.List.Verdict == record.Improves {
		alone, _, _, known := tuning.Relative(t.of, helps[0].Alone, 0)
		whole, _, _, _ := tuning.Relative(t.of, t.List, 0)
		if known && alone >= (1-tuning.SmallLoss)*whole {
			return names + " does it"
		}
	}
	if slices.ContainsFunc(helps, func(s record.TuneSetting) bool {
		return s.Removed == nil || s.Removed.Verdict != record.Worsens
	}) {
		return names + " " + words.Verb(n, "helps", "help") + t.together(t.List, helps)
	}
	return "it needs " + names + t.together(t.List, helps)
}

// lever names the setting that does most, if alone it surely does more than any of the
// others alone, and at least half of what they do together.
func (t tuned) lever(settings []record.TuneSetting, together *record.Effect) []string {
	if len(settings) < 2 || together == nil || together.Verdict != record.Improves {
		return nil
	}
	whole, _, _, _ := tuning.Relative(t.of, together, 0)
	for i, s := range settings {
		alone, bad, _, known := tuning.Relative(t.of, s.Alone, 0)
		if !known || s.Alone.Verdict != record.Improves || alone < whole/2 {
			continue
		}
		most := !slices.ContainsFunc(settings, func(other record.TuneSetting) bool {
			_, _, good, known := tuning.Relative(t.of, other.Alone, 0)
			return other.Key != settings[i].Key && (!known || good >= bad)
		})
		if most {
			return []string{"the largest lever is " + withValue(s) + ", alone " + wording.Ratio(s.Alone)}
		}
	}
	return nil
}

// harming names the settings that harm, and those that cost the response that counts for a gain
// in another one.
func (t tuned) harming() (said []string) {
	harms := lists.Where(t.Settings, func(s record.TuneSetting) bool { return s.Verdict == record.Harms })
	if len(harms) > 0 {
		said = append(said, list(harms)+" "+words.Verb(len(harms), "harms", "harm")+": leave "+
			words.Verb(len(harms), "it", "them")+" out")
	}
	for _, s := range t.Settings {
		if gains, costs := tuning.Traded(s, t.Responses); t.harmsFirst(s) {
			said = append(said, fmt.Sprintf("%s harms %s: leave it out, unless you need %s more", s.Key, trades(costs),
				trades(gains)))
		}
	}
	return said
}

// harmsFirst reports whether a setting that is not kept costs the response that counts for a gain
// in another one.
func (t tuned) harmsFirst(s record.TuneSetting) bool {
	return !s.Keep && s.Verdict == record.Trades &&
		tuning.Combined(t.of.Effect(s.Alone), t.of.Effect(s.Removed)) == record.Harms
}
