// Package answer words the conclusion of a run: a headline, statements and caveats.
package answer

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

const mostStatements = 4 // of an answer, caveats included

// Run is the answer of a run: of its conclusion or, of a document without one,
// the words that it has.
func Run(run *record.Run) Answer {
	if run.Conclusion == nil && run.Answer != "" {
		return Answer{Headline: run.Answer, Statements: run.Statements}
	}
	return Conclusion(run.Conclusion)
}

// Worded is a copy of a run whose document has the answer.
func Worded(run *record.Run) *record.Run {
	shown, a := *run, Run(run)
	shown.Answer, shown.Statements = a.Headline, slices.Concat(a.Statements, a.Caveats)
	return &shown
}

// Conclusion words a conclusion; nil: none was drawn.
func Conclusion(c *record.Conclusion) Answer {
	var a Answer
	switch {
	case c == nil:
		return Answer{Headline: "No conclusion was drawn from these figures."}
	case len(c.Conditions) == 0:
		return Answer{Headline: "No trial was finished, so there is no answer."}
	case c.ToolReport != nil:
		a = toolReport(c, c.ToolReport)
	case c.Outages != nil:
		a = withdrawnPaths(c.Outages)
	case c.Hashing != nil:
		a = hashing(c, c.Hashing)
	case c.Lists != nil:
		a = lists(c)
	case c.Compared:
		a = chosen(c)
	default:
		a = sideBySide(c)
	}
	a.Caveats = slices.DeleteFunc([]string{failedChecks(c), ending(c)}, func(text string) bool { return text == "" })
	a.Statements = slices.DeleteFunc(a.Statements, func(text string) bool { return text == "" })
	a.Statements = a.Statements[:min(len(a.Statements), mostStatements-len(a.Caveats))]
	for _, list := range [][]string{a.Statements, a.Caveats} {
		for i, text := range list {
			list[i] = words.FullStop(text)
		}
	}
	a.Headline = words.FullStop(fit(a.Headline))
	return a
}

// failedChecks names the failed checks of linerate's own figures; empty: there are none.
func failedChecks(c *record.Conclusion) string {
	if len(c.Doubts) == 0 {
		return ""
	}
	which := fmt.Sprintf("%d of %d trials", c.DoubtedTrials, c.Trials)
	if c.Trials == 1 {
		which = "the trial"
	}
	return fmt.Sprintf("In doubt: %s failed the trust %s %s", which, words.Verb(len(c.Doubts), "check", "checks"), words.Join(c.Doubts, "and"))
}

// ending says of a run that did not fulfil its design how it ended.
func ending(c *record.Conclusion) string {
	e := c.Ending
	switch e.Status {
	case "interrupted":
		return "The run ended early (interrupted), after " + words.Count(c.Trials, "trial")
	case record.StatusBlocks:
		return fmt.Sprintf("Stopped after %d blocks: intervals are wider than requested (±%.3g %%)", e.Blocks, 100*e.Until)
	case record.StatusBudget:
		if e.Wide > 0 {
			return fmt.Sprintf("Stopped by the budget: intervals are wider than requested (±%.3g %%)", 100*e.Until)
		}
		return fmt.Sprintf("Stopped by the budget after %d of %d blocks", e.Blocks, e.Planned)
	}
	return ""
}

// sideBySide answers a run that compares nothing: a figure for each condition.
func sideBySide(c *record.Conclusion) (a Answer) {
	r := lead(c)
	list := c.Conditions
	byValue := func(a, b record.ConditionResult) int {
		return cmp.Compare(estimate(a.Baseline, r).Mean, estimate(b.Baseline, r).Mean)
	}
	first, last := slices.MinFunc(list, byValue), slices.MaxFunc(list, byValue)
	switch b := list[0].Baseline; len(list) {
	case 1:
		a.Headline = r.Label + " is " + figureOf(c, b, r) + within(c, b, r)
		if r.Name == metric.Goodput.Name && b.LimitBps > 0 {
			a.Headline += fmt.Sprintf(", %.4g %% of the limit of the path", 100*b.Goodput.MeanBps/b.LimitBps)
		}
	case 2:
		a.Headline = fmt.Sprintf("%s is %s for %s and %s for %s", r.Label, figureOf(c, b, r), list[0].Name, figureOf(c, list[1].Baseline, r), list[1].Name)
	default:
		a.Headline = fmt.Sprintf("%s is from %s for %s to %s for %s", r.Label, figureOf(c, first.Baseline, r), first.Name, figureOf(c, last.Baseline, r), last.Name)
	}
	if r.Name == metric.Goodput.Name {
		a.Statements = append(a.Statements, limitShares(list))
	}
	for _, name := range c.Others {
		if r, known := metric.Find(name); known {
			var parts []string
			for _, at := range list {
				parts = append(parts, figureOf(c, at.Baseline, r)+words.ForName(at.Name))
			}
			a.Statements = append(a.Statements, r.Label+" is "+words.FirstFew(parts, "and"))
		}
	}
	return a
}

// limitShares says what part of their limits conditions reach, or why there is none.
func limitShares(list []record.ConditionResult) string {
	var parts []string
	for _, at := range list {
		b := at.Baseline
		switch {
		case b.LimitBps == 0 && b.LimitWhy != "":
			return "The limit is " + b.LimitWhy
		case b.LimitBps == 0:
			return "No link of the path has a rate, so the limit is unknown"
		}
		parts = append(parts, fmt.Sprintf("%.4g %%%s", 100*b.Goodput.MeanBps/b.LimitBps, words.ForName(at.Name)))
	}
	if len(list) == 1 {
		return "" // in the headline
	}
	return "Of the limit of the path: " + words.FirstFew(parts, "and")
}

// within spells the interval behind a figure: " (939.9–941.1)".
func within(c *record.Conclusion, of *record.Candidate, r metric.Metric) string {
	e := estimate(of, r)
	if e.Confidence == 0 {
		return ""
	}
	low, high := decimals(c, r, e.Low, e.Mean), decimals(c, r, e.High, e.Mean)
	if low == high {
		return ""
	}
	return " (" + low + "–" + high + ")"
}
