package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// pairs returns the answer of a run whose flows name pairs of hosts: which of them differ.
func pairs(c *record.MeshConclusion) (a Answer) {
	rate := func(bps float64) string { return number.BitScale(c.Typical).Spell(bps) }
	switch {
	case c.Pairs == 0:
		return Answer{Headline: "No pair of hosts was measured"}
	case c.Pairs == c.Failed:
		return Answer{Headline: fmt.Sprintf("Nothing arrived between any of %s", words.Count(c.Pairs, "pair"))}
	}
	a.Headline = fmt.Sprintf("%d of %d hosts reach %s", c.TypicalHosts, c.Hosts, rate(c.Typical))
	if c.TypicalHosts == c.Hosts {
		a.Headline = fmt.Sprintf("All %d hosts reach %s", c.Hosts, rate(c.Typical))
	}
	const named = 3
	suspects := lists.Map(c.Suspects, func(s record.MeshSuspect) string {
		return suspect(s) + " " + rate(s.Value) + ", " + number.Percent(s.Ratio) + " of what others do"
	})
	if len(suspects) > 0 {
		a.Headline += "; " + strings.Join(suspects[:min(named, len(suspects))], "; ")
	}
	if more := suspects[min(named, len(suspects)):]; len(more) > 0 {
		a.Statements = append(a.Statements, "Also: "+words.FirstFew(more, "and"))
	}
	if open := lists.Map(c.Candidates, suspect); len(open) > 0 {
		a.Statements = append(a.Statements, "Too few pairs tell whether "+words.FirstFew(open,
			"and")+" less than others")
	}
	if c.Failed > 0 {
		failed := lists.Map(slices.DeleteFunc(slices.Clone(c.Worst), func(p record.MeshPairValue) bool {
			return !p.Failed
		}), func(p record.MeshPairValue) string { return p.From + " → " + p.To })
		a.Statements = append(a.Statements, fmt.Sprintf("Nothing arrived in %d of %d pairs: %s", c.Failed, c.Pairs,
			words.FirstFew(failed, "and")))
	}
	switch c.Untold {
	case record.MeshFewHostsUntold:
		a.Statements = append(a.Statements, "Of two hosts it cannot be told which is slow")
	case record.MeshFewPairsUntold:
		a.Statements = append(a.Statements, "With so few pairs a host that differs might do so by chance")
	case record.MeshUnlikeUntold:
		a.Statements = append(a.Statements, "Too many hosts differ for the others to be typical")
	}
	return a
}

// suspect names what differs, and what it does.
func suspect(s record.MeshSuspect) string {
	switch s.Kind {
	case record.MeshSends, record.MeshReceives:
		return s.Host + " " + s.Kind
	case record.MeshHost:
		return s.Host + " sends and receives"
	}
	return s.From + " sends to " + s.To
}
