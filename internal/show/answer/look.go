package answer

import (
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/words"
)

// look returns the answer of a run with very few blocks: figures without verdicts and
// recommendation.
func look(c *record.Conclusion) (a Answer) {
	a.Headline = baseline(c)
	if a.Headline == "" {
		a.Headline = "the baseline has not been measured"
	}
	r := lead(c)
	var figures []string
	for _, at := range c.Conditions {
		for i := range at.Candidates {
			if o := &at.Candidates[i]; estimate(o, r).Trials > 0 {
				figures = append(figures, value(c, o, r)+" with "+o.Label+words.ForName(at.Name))
			}
		}
	}
	a.Headline = fit(a.Headline+"; "+words.FirstFew(figures, "and"), a.Headline)
	if len(figures) == 0 {
		a.Headline = fit(baseline(c))
	}
	a.Statements = slices.Concat([]string{words.Sentence(stats.Look(c))}, tables(figures))
	return a
}

// tables refers to the tables for figures that do not fit into the headline.
func tables(figures []string) []string {
	const few = 3
	if len(figures) <= few {
		return nil
	}
	return []string{"The table has every treatment's figures"}
}
