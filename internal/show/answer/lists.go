package answer

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// lists answers a run that takes a list of settings apart: what the list does and which
// of its settings do it, in each condition.
func lists(c *record.Conclusion) (a Answer) {
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
		text := "the list "
		switch t.List.Verdict {
		case record.NoDifference:
			text += fmt.Sprintf("makes no difference to %s beyond ±%.3g %%", r.Label, 100*c.Margin)
		case record.Inconclusive:
			text += "has no certain effect on " + r.Label
		default:
			text += t.List.Verdict + " " + r.Label
		}
		if figure := Size(r, t.List); figure != "" {
			text = sized(text, r, t.List)
		}
		if label := Condition(t); label != "" {
			text = label + ": " + text
		}
		by := map[string][]string{}
		for _, s := range t.Settings {
			by[s.Verdict] = append(by[s.Verdict], s.Key)
		}
		helps := by[record.Helps]
		long := text
		if len(helps) > 0 {
			long += "; " + words.FirstFew(helps, "and") + words.Verb(len(helps), " does it", " do it")
		}
		if a.Headline == "" {
			a.Headline = fit(long, text)
		} else if i < 3 {
			a.Statements = append(a.Statements, long)
		}
		if most := mostAlone(t); len(helps) > 1 && most != nil && !r.Lower && most.Ratio.High < t.List.Ratio.Low {
			a.Statements = append(a.Statements, "Alone none of them gives more than "+Size(r, most))
		}
		for _, say := range []struct{ verdict, words string }{
			{record.Harms, "Harmful: "}, {record.Trades, "Good for one response, bad for another: "}, {record.Mixed, "Depends on the others: "},
			{record.NoDifference, "No difference: "}, {record.Inconclusive, "Inconclusive: "},
		} {
			if names := by[say.verdict]; len(names) > 0 && len(c.Lists) == 1 {
				a.Statements = append(a.Statements, say.words+words.FirstFew(names, "and"))
			}
		}
	}
	return a
}

// mostAlone is the largest effect of a helpful setting by itself; nil: one of them is
// not known.
func mostAlone(t *record.Tune) (most *record.Effect) {
	for _, s := range t.Settings {
		if s.Verdict != record.Helps {
			continue
		}
		if s.Alone == nil || s.Alone.Ratio.None || s.Alone.Ratio.High == 0 {
			return nil
		}
		if most == nil || s.Alone.Ratio.Mean > most.Ratio.Mean {
			most = s.Alone
		}
	}
	return most
}
