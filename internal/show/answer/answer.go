// Package answer puts the conclusion of a run into words: a headline, statements and caveats.
package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

const mostStatements = 4 // maximum in an answer, including caveats, besides the statement about missed events

// Run returns the answer of a run: that of its conclusion or, for a document without one, its
// stored words.
func Run(run *record.Run) Answer {
	if run.Mesh != nil {
		return Mesh(run.Mesh)
	}
	if run.Conclusion == nil && run.Answer != "" {
		return Answer{Headline: run.Answer, Statements: run.Statements}
	}
	return Conclusion(run.Conclusion)
}

// Worded returns a copy of a run for a document that contains the answer, the limits and the
// findings in words.
func Worded(run *record.Run) *record.Run {
	shown, a := wording.WithLimits(wording.Run(run)), Run(run)
	shown.Answer, shown.Statements = a.Headline, slices.Concat(a.Statements, a.Caveats)
	if run.Conclusion != nil && run.Conclusion.Lists != nil {
		conclusion := *shown.Conclusion // with limits in words
		conclusion.Lists = Tunes(conclusion.Lists)
		shown.Conclusion = &conclusion
	}
	return shown
}

// Conclusion returns the words of a conclusion. Nil: none was drawn.
func Conclusion(c *record.Conclusion) Answer {
	c = named(c)
	var a Answer
	switch {
	case c == nil:
		return Answer{Headline: "No conclusion was drawn from these figures."}
	case c.Mesh != nil:
		return Mesh(&record.Mesh{Metric: c.Response, Conclusion: c.Mesh})
	case len(c.Conditions) == 0:
		return Answer{Headline: "No trial was finished, so there is no answer."}
	case c.Pairs != nil:
		a = Mesh(&record.Mesh{Conclusion: c.Pairs})
	case c.ToolReport != nil:
		a = toolReport(c, c.ToolReport)
	case c.Outages != nil:
		a = withdrawnPaths(c.Outages)
	case c.Hashing != nil:
		a = hashing(c, c.Hashing)
	case stats.Look(c) != "":
		a = look(c)
	case c.Lists != nil:
		a = ofLists(c)
	case c.Compared:
		a = chosen(c)
	default:
		a = sideBySide(c)
	}
	a.Caveats = slices.DeleteFunc([]string{failedChecks(c), ending(c), untried(c), wording.LeftOut(c.LeftOut)},
		func(text string) bool { return text == "" })
	if c.Compared {
		a.Statements = append(notable(c), a.Statements...)
	}
	a.Statements = slices.DeleteFunc(a.Statements, func(text string) bool { return text == "" })
	a.Statements = a.Statements[:min(len(a.Statements), mostStatements-len(a.Caveats))]
	if missed := Missed(c); missed != "" && assures(c) {
		a.Statements = append(a.Statements, missed)
	}
	for _, list := range [][]string{a.Statements, a.Caveats} {
		for i, text := range list {
			list[i] = words.FullStop(text)
		}
	}
	a.Headline = words.FullStop(fit(a.Headline) + headlined(c))
	return a
}

// named returns a copy of a conclusion with labels that are formatted for sentences.
func named(c *record.Conclusion) *record.Conclusion {
	if c == nil {
		return nil
	}
	n := *c
	n.Conditions = slices.Clone(c.Conditions)
	for i := range n.Conditions {
		at := &n.Conditions[i]
		at.Candidates = slices.Clone(at.Candidates)
		for k := range at.Candidates {
			at.Candidates[k].Label = words.Name(at.Candidates[k].Label)
		}
		if at.Baseline != nil {
			baseline := *at.Baseline
			baseline.Label = words.Name(baseline.Label)
			at.Baseline = &baseline
		}
	}
	if c.Hashing != nil {
		hashing := *c.Hashing
		hashing.Levels = slices.Clone(hashing.Levels)
		for i := range hashing.Levels {
			hashing.Levels[i].Label = words.Name(hashing.Levels[i].Label)
		}
		n.Hashing = &hashing
	}
	n.Outages = slices.Clone(c.Outages)
	for i := range n.Outages {
		n.Outages[i].Label = words.Name(n.Outages[i].Label)
	}
	return &n
}

// Brief returns a headline for a list of runs, which may be truncated. For a run that compares
// nothing it begins with the figure, and for a measurement with its flows: "TCP read, 4 flows: 17.2
// Gbit/s".
func Brief(c *record.Conclusion) string {
	headline := brief(c)
	if c == nil || c.Measured == nil || len(c.Measured.Protocols) == 0 {
		return headline
	}
	return Flows(c.Measured) + ": " + headline
}

// Flows describes the flows of a measurement that has some: "TCP read, 4 flows".
func Flows(m *record.Measured) string {
	direction, flows := " "+m.Direction, words.Count(m.Streams, "flow")
	switch {
	case !flow.Of(m.Protocols[0]).Bulk(): // requests and responses go both ways
		direction = ""
	case m.Direction == flow.Both:
		direction, flows = " "+flow.Write+" and "+flow.Read, flows+" each"
	}
	return fmt.Sprintf("%s%s, %s", generator(m), direction, flows)
}

// generator names what makes the flows of a measurement: "TCP"; with an iperf3 server, which counts
// differently, "iperf3" or "iperf3 UDP".
func generator(m *record.Measured) string {
	protocols := strings.ToUpper(strings.Join(m.Protocols, ", "))
	switch {
	case m.Peer == "":
		return protocols
	case slices.Equal(m.Protocols, []string{flow.TCP}): // like an iperf3 client without -u
		return m.Peer
	}
	return m.Peer + " " + protocols
}

func brief(c *record.Conclusion) string {
	headline := Conclusion(c).Headline
	if c == nil || len(c.Conditions) == 0 || c.Conditions[0].Baseline == nil {
		return headline
	}
	r, b := lead(c), c.Conditions[0].Baseline
	figure := value(c, b, r)
	rest, is := strings.CutPrefix(headline, words.Sentence(r.Is()+" "+figure))
	if !is {
		return headline
	}
	if len(c.Conditions) == 1 { // as short as possible, because a list truncates it
		rest = within(c, b, r) + lost(c)
		if r.Name == metric.Goodput.Name && b.LimitBps > 0 {
			rest += ofLimit(c, b)
		}
		rest += headlined(c)
	} else {
		rest += lost(c)
	}
	switch e := estimate(b, r); {
	case e.Trials == 0:
		return headline
	case r.Name == metric.Transactions.Name && e.Confidence == 0:
		figure = unit.FormatCount(int64(math.Round(e.Mean))) + " transactions/s"
	case r.Name != metric.Goodput.Name:
		figure += " " + r.Label
	}
	return figure + rest
}

// lost returns the loss of datagrams, or the failed requests, in each condition of a run that
// compares nothing, as an addition to its figure: ", 98.84 % lost". Empty: there was none.
func lost(c *record.Conclusion) string {
	return beside(c, metric.Lost, " lost", 0) + failed(c)
}

// failed is like lost for requests.
func failed(c *record.Conclusion) string {
	return beside(c, metric.Errors, " errors", math.SmallestNonzeroFloat64)
}

// beside returns the value of a metric as an addition to the figure of a run that compares nothing,
// in each condition where it is at least least.
func beside(c *record.Conclusion, m metric.Metric, name string, least float64) string {
	r, known := responseOf(c, m.Name)
	var parts []string
	for _, at := range c.Conditions {
		if !known || at.Baseline == nil {
			continue
		}
		if e := estimate(at.Baseline, r); e.Trials > 0 && e.Mean >= least {
			parts = append(parts, value(c, at.Baseline, r)+name+words.ForName(at.Name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + words.FirstFew(parts, "and")
}

// failedChecks names the failed checks of linerate's own figures. Empty: there are none.
func failedChecks(c *record.Conclusion) string {
	if len(c.Doubts) == 0 {
		return ""
	}
	which := fmt.Sprintf("%d of %d trials", c.DoubtedTrials, c.Trials)
	if c.Trials == 1 {
		which = "the trial"
	}
	return fmt.Sprintf("In doubt: %s failed the trust %s %s", which, words.Verb(len(c.Doubts), "check", "checks"),
		words.Join(c.Doubts, "and"))
}

// ending says how a run ended that did not complete its design.
func ending(c *record.Conclusion) string {
	e := c.Ending
	switch e.Status {
	case record.StatusRunning:
		return "The run is still being made: after " + words.Count(c.Trials, "trial") + ", its answer may change"
	case "interrupted":
		return "The run ended early (interrupted), after " + words.Count(c.Trials, "trial")
	case record.StatusBlocks:
		return fmt.Sprintf("Stopped after %d blocks: intervals are wider than requested (±%.3g %%)", e.Blocks,
			100*e.Until)
	case record.StatusBudget:
		if e.Wide > 0 {
			return fmt.Sprintf("Stopped by the budget: intervals are wider than requested (±%.3g %%)", 100*e.Until)
		}
		return fmt.Sprintf("Stopped by the budget after %d of %d blocks", e.Blocks, e.Planned)
	}
	return ""
}

// untried names the settings of the list that the run could not try. Empty: there are none.
func untried(c *record.Conclusion) string {
	if len(c.Untried) == 0 {
		return ""
	}
	return "Not tried of the list: " + whyUntried(c.Untried)
}

// sideBySide returns the answer of a run that compares nothing: a figure for each condition.
func sideBySide(c *record.Conclusion) (a Answer) {
	r := lead(c)
	list := c.Conditions
	figure := func(at record.ConditionResult, r metric.Metric) string {
		return value(c, at.Baseline, r) + within(c, at.Baseline, r) + words.ForName(at.Name)
	}
	byValue := func(a, b record.ConditionResult) int {
		return cmp.Compare(estimate(a.Baseline, r).Mean, estimate(b.Baseline, r).Mean)
	}
	first, last := slices.MinFunc(list, byValue), slices.MaxFunc(list, byValue)
	switch b := list[0].Baseline; {
	case len(list) == 1:
		a.Headline = r.Is() + " " + figure(list[0], r)
		if r.Name == metric.Goodput.Name && b.LimitBps > 0 {
			a.Headline += ofLimit(c, b) + ofPath(c)
		}
		a.Headline += failed(c)
		if c.Trials == 1 {
			a.Headline += ", in a single trial"
		}
	case len(list) == 2:
		a.Headline = r.Is() + " " + figure(list[0], r) + " and " + figure(list[1], r)
	case estimate(first.Baseline, r).High < estimate(last.Baseline, r).Low:
		a.Headline = r.Is() + " from " + figure(first, r) + " to " + figure(last, r)
	default: // no condition is shown to have less than another one
		a.Headline = fmt.Sprintf("%s from %s to %s over %d conditions", r.Is(), value(c, first.Baseline, r),
			value(c, last.Baseline, r), len(list))
		if estimate(first.Baseline, r).Confidence > 0 {
			a.Headline += "; even these two intervals overlap"
		}
	}
	if r.Name == metric.Goodput.Name {
		a.Statements = append(a.Statements, limitShares(c))
	}
	others := c.Others
	if m := c.Measured; len(list) == 1 || m != nil && m.Latency && len(list) == 2 { // both directions share one probe
		load := "load"
		if len(list) == 2 {
			load = "the load of both"
		}
		var text string
		if text, others = latencies(c, list[0], load); text != "" {
			a.Statements = append(a.Statements, text)
		}
	}
	for _, name := range others {
		if r, known := responseOf(c, name); known && (name != metric.Errors.Name || failed(c) == "") {
			parts := lists.Map(list, func(at record.ConditionResult) string { return figure(at, r) })
			a.Statements = append(a.Statements, r.Is()+" "+words.FirstFew(parts, "and"))
		}
	}
	return a
}

// latencies combines the percentiles of a single condition into one statement with the given load,
// and returns the remaining responses.
func latencies(c *record.Conclusion, at record.ConditionResult, load string) (text string, left []string) {
	var parts []string
	for _, name := range c.Others {
		r, known := responseOf(c, name)
		if short, is := strings.CutPrefix(r.Label, "latency "); known && is && estimate(at.Baseline, r).Trials > 0 {
			parts = append(parts, short+" "+value(c, at.Baseline, r)+within(c, at.Baseline, r))
			continue
		}
		left = append(left, name)
	}
	if len(parts) == 0 {
		return "", left
	}
	what := "Latency: "
	if lead(c).Name == metric.Goodput.Name {
		what = "Latency under " + load + ": "
	}
	return what + strings.Join(parts, ", "), left
}

// ofLimit returns the share of its limit that a goodput reaches, as an addition to its figure.
func ofLimit(c *record.Conclusion, b *record.Candidate) string {
	return ", " + limitShare(b, b.Goodput.MeanBps) + " % of " + theLimit(c, b)
}

// theLimit names the limit of a treatment.
func theLimit(c *record.Conclusion, b *record.Candidate) string {
	if c.Measured != nil {
		return wording.MeasuredLimit(b.Limit, b.LimitWhy, c.Measured.Peer)
	}
	return "the limit"
}

// ofPath returns " of the path" for a study, whose links are known, and "" for a measurement.
func ofPath(c *record.Conclusion) string {
	if c.Measured != nil {
		return ""
	}
	return " of the path"
}

// limitShare returns a goodput in percent of its limit, with the precision of the tables.
func limitShare(of *record.Candidate, bps float64) string {
	places := 1
	if half := 100 * estimate(of, metric.Goodput).HalfWidth() / of.LimitBps; half > 0 {
		places = max(0, min(places, number.Earned(half)))
	}
	return number.Round(100*bps/of.LimitBps, places)
}

// limitShares says which share of their limits conditions reach, or why there is no limit.
func limitShares(c *record.Conclusion) string {
	var parts []string
	unknown, without, limit := "", "", ""
	for _, at := range c.Conditions {
		b := at.Baseline
		if b.LimitBps == 0 {
			why := wording.Limit(b.Limit, b.LimitWhy)
			if unknown = "No link of the path has a rate, so the limit is unknown"; why != "" {
				unknown = "The limit is " + why
			}
			without = cmp.Or(without, words.ForName(at.Name)+" it is "+cmp.Or(why, "unknown"))
			continue
		}
		limit = cmp.Or(limit, theLimit(c, b))
		part := limitShare(b, b.Goodput.MeanBps) + " %"
		if low, high := limitShare(b, b.Goodput.LowBps), limitShare(b, b.Goodput.HighBps); b.Goodput.Confidence > 0 &&
			low != high {
			part += " (" + low + "–" + high + ")"
		}
		parts = append(parts, part+words.ForName(at.Name))
	}
	switch {
	case len(parts) == 0:
		return unknown
	case len(c.Conditions) == 1:
		return "" // it is in the headline
	case without != "":
		without = ";" + without
	}
	return "Of " + limit + ofPath(c) + ": " + words.FirstFew(parts, "and") + without
}

// Missed says how rare an event must be for all trials of a treatment to miss it. Empty: there was
// no trial.
func Missed(c *record.Conclusion) string {
	if c == nil || c.Missed == 0 || c.FewestTrials == 1 { // this is obvious for a single trial
		return ""
	}
	return words.FullStop(fmt.Sprintf("%s of a treatment can miss what happens in fewer than %.0f %% of trials",
		words.Count(c.FewestTrials, "trial"), 100*c.Missed))
}

// assures reports whether the answer claims that a limit is reached, or that something makes no
// difference. A rare event that the trials missed could refute that.
func assures(c *record.Conclusion) bool {
	for _, at := range c.Conditions {
		if at.Baseline != nil && at.Baseline.Reaches && c.Compared {
			return true
		}
		if slices.ContainsFunc(at.Candidates, func(o record.Candidate) bool {
			return o.Fix || o.Best && o.Reaches || o.Effect != nil && o.Effect.Verdict == record.NoDifference
		}) {
			return true
		}
	}
	return false
}
