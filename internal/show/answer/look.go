package answer

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/words"
)

// isLook: treatments were compared in fewer blocks than any verdict takes, because so few
// were asked for, or because the run was interrupted.
func isLook(c *record.Conclusion) bool {
	return c.Compared && c.Ending.Blocks > 0 && c.Ending.Blocks < stats.LeastBlocks
}

// look answers a run of so few blocks: with figures, and neither verdict nor recommendation.
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
	text := fmt.Sprintf("A look at %s: no verdict and no recommendation, which take at least %d blocks", words.Count(c.Ending.Blocks, "block"), stats.LeastBlocks)
	a.Statements = slices.Concat([]string{text}, tables(figures))
	return a
}

// tables says where figures are that the headline has no room for: the table has these, and
// those of the baseline.
func tables(figures []string) []string {
	const few = 3
	if len(figures) <= few {
		return nil
	}
	return []string{"The table has every treatment's figures"}
}
