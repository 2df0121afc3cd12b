package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/tuning"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// ofLists returns the answer of a run that takes a list of settings apart: the effect of the list and
// which of its settings cause it, in each condition.
func ofLists(c *record.Conclusion) (a Answer) {
	r := lead(c)
	conditions := slices.Clone(c.Lists)
	changes := func(t *record.Tune) bool {
		return t.List != nil && (t.List.Verdict == record.Improves || t.List.Verdict == record.Worsens)
	}
	slices.SortStableFunc(conditions, func(a, b *record.Tune) int { return words.FalseFirst(changes(b), changes(a)) })
	for i, t := range conditions {
		if t.List == nil {
			continue
		}
		count := tuning.Count(t.Settings)
		name, tried := "the list ", count.Tried
		if len(c.Untried) > 0 { // the statement is about the rest
			name = words.Verb(tried, "the one setting that could be tried ",
				fmt.Sprintf("the %d settings that could be tried ", tried))
		} else {
			tried = 1 // the list
		}
		if n := len(count.Added); n > 0 {
			name += "and " + words.Join(count.Added, "and") + ", which linerate added, "
			tried += n
		}
		text := name
		switch t.List.Verdict {
		case record.NoDifference:
			text += words.Verb(tried, "makes", "make") + " no difference to " + r.Label + " beyond " + margin(c, r)
		case record.Inconclusive:
			text += words.Verb(tried, "has", "have") + " no certain effect on " + r.Label
		default:
			text += words.Verb(tried, t.List.Verdict, strings.TrimSuffix(t.List.Verdict, "s")) + " " + r.Label
		}
		if figure := Size(c.Unit, r, t.List); figure != "" {
			text = sized(c.Unit, text, r, t.List)
		}
		if label := Condition(t); label != "" {
			text = label + ": " + text
		}
		same := HeadingSameAlone(t)
		by, helps := map[string][]string{}, []record.TuneSetting{}
		for _, s := range t.Settings {
			verdict := Heading(t, s)
			if by[verdict] = append(by[verdict], s.Key); verdict == record.Helps {
				helps = append(helps, s)
			}
		}
		if n := len(c.Untried); n > 0 {
			text += fmt.Sprintf("; %d of the list %s not tried", n, words.Verb(n, "was", "were"))
		}
		long := text
		if names := by[record.Helps]; len(names) > 0 {
			long += "; " + words.FirstFew(names, "and") + words.Verb(len(names), " helps", " help")
		}
		if a.Headline == "" {
			a.Headline = fit(long, text)
		} else if i < 3 {
			a.Statements = append(a.Statements, long)
		}
		if full := fullPath(t.Full); full != "" && t.List.Verdict != record.Improves {
			if label := Condition(t); label != "" {
				full = label + ": " + strings.ToLower(full[:1]) + full[1:]
			}
			a.Statements = append(a.Statements, full)
		}
		if also := besideList(c, t); also != "" {
			a.Statements = append(a.Statements, also)
		}
		if most := tuning.MostAlone(helps); len(helps) > 1 && most > 0 && !r.Lower && most < t.List.Ratio.Low {
			a.Statements = append(a.Statements, "Alone none of them gives more than "+number.Significant(most, 4)+"×")
		}
		for _, say := range []struct{ verdict, words string }{
			{record.Harms, "Harmful: "}, {record.Trades, "Trades one response for another: "},
			{record.Mixed, "Depends on the others: "},
			{record.NoDifference, "No difference: "}, {same, strings.ToUpper(same[:1]) + same[1:] + ": "},
			{record.Inconclusive, "Inconclusive: "},
		} {
			if names := by[say.verdict]; len(names) > 0 && len(c.Lists) == 1 {
				a.Statements = append(a.Statements, say.words+words.FirstFew(names, "and"))
			}
		}
	}
	return a
}

// besideList says what a list improves and worsens in the run's other responses. Empty: it is not
// shown to do either.
func besideList(c *record.Conclusion, t *record.Tune) string {
	var changes []string
	for _, name := range c.Others {
		r, known := metric.Find(name)
		if e := r.Effect(t.List); known && e != nil && (e.Verdict == record.Worsens || e.Verdict == record.Improves) {
			changes = append(changes, e.Verdict+" "+sized(c.Unit, r.Label, r, e))
		}
	}
	if len(changes) == 0 {
		return ""
	}
	text := "The list " + words.Join(changes, "and")
	if label := Condition(t); label != "" {
		text = label + ": " + text
	}
	return text
}
