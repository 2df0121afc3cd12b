package answer

import (
	"fmt"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// MeshComparison says what changed from one mesh to another, which have these names.
func MeshComparison(c *record.MeshComparison, from, to string) Answer {
	var a Answer
	changes := append(meshChanges(c.Worse, "worse"), meshChanges(c.Better, "better")...)
	typical := ""
	if c.Ratio > 0 {
		interval := number.Span(number.Percent(c.Low), number.Percent(c.High))
		typical = fmt.Sprintf("the median of the %s that both have is %s (%s) of that in %s",
			words.Count(c.Pairs, "pair"), number.Percent(c.Ratio), interval, from)
	}
	switch {
	case c.Untold == record.MeshMetricUntold:
		a.Headline = from + " and " + to + " cannot be compared: they have different metrics"
	case c.Hosts < 2:
		a.Headline = fmt.Sprintf("%s and %s cannot be compared: they have %s in common", from, to,
			words.Count(c.Hosts, "host"))
	case len(changes) > 0:
		a.Headline = "From " + from + " to " + to + ", " + changes[0]
		if more := len(changes) - 1; more > 0 {
			a.Headline += fmt.Sprintf(", and %d more changed", more)
		}
		a.Statements = changes[1:min(len(changes), 1+mostMeshStatements)]
	case c.Untold == record.MeshUnlikeUntold:
		a.Headline = "From " + from + " to " + to + " hosts changed too differently to say which ones did"
	default:
		a.Headline = "From " + from + " to " + to + " no host, rack or pair changed by more than chance explains"
	}
	if typical != "" {
		a.Statements = append(a.Statements, typical)
	}
	for i, names := range [][]string{c.OnlyFrom, c.OnlyTo} {
		if len(names) > 0 {
			a.Statements = append(a.Statements, "only in "+[]string{from, to}[i]+": "+words.List(names))
		}
	}
	a.Headline = words.FullStop(a.Headline)
	a.Statements = lists.Map(a.Statements, words.FullStop)
	return a
}

// meshChanges says how each suspect changed.
func meshChanges(suspects []record.MeshSuspect, how string) []string {
	return lists.Map(suspects, func(s record.MeshSuspect) string {
		subject, peers := subjectOf(s)
		by := ""
		switch {
		case s.Ratio > 0:
			by = ": " + number.Percent(s.Ratio) + " (" + number.Span(number.Percent(s.Low),
				number.Percent(s.High)) + ") of before"
		case how == "worse":
			by = ": nothing arrives"
		default:
			by = ": nothing arrived before"
		}
		return subject + " " + how + peers + by
	})
}
