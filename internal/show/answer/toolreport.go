package answer

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// toolReport returns the answer of a run about the effect of a factor on goodput and on another
// program's figure.
func toolReport(c *record.Conclusion, t *record.ToolReportResult) (a Answer) {
	largest := max(t.GoodputBps, t.LimitBps)
	name := t.Factor + " " + t.Level
	if _, err := strconv.Atoi(t.Level); err == nil {
		name = t.Level + " " + t.Factor
	}
	goodput := goodputs(c, []*record.Candidate{{Goodput: record.Estimate{MeanBps: t.GoodputBps}, LimitBps: t.LimitBps}})
	head := "goodput with " + name + " is " + goodput
	if e := t.Cost; e != nil {
		// A loss is positive. Its interval need not be symmetric, but nearly is.
		loss, half := 100*(1-e.Ratio.Mean), 100*e.Ratio.HalfWidth()
		switch {
		case e.Ratio.None || e.Ratio.High == 0 || half >= 100:
			a.Statements = append(a.Statements, "What "+name+" cost is not known from this run")
		case e.Verdict == record.Improves:
			head = fmt.Sprintf("with %s goodput is %s higher", name, percent(-loss, half))
		default:
			head = fmt.Sprintf("%s cost %s of goodput", name, percent(loss, half))
			if e.Verdict == record.Inconclusive {
				head += " (inconclusive)"
			}
		}
	}
	s := t.Report
	who := "the senders' sum is"
	if s.Processes > 0 {
		who = s.Tool + " reports"
	}
	sum, suffix := quantity(c.Unit, s.SumBps, largest)
	a.Headline = fmt.Sprintf("%s; %s %s %s, %s", head, who, sum, suffix, received(t))
	rise := publishedRise(c, t, largest)
	var moves []string
	for _, say := range []struct{ verdict, one, many string }{
		{record.Worsens, "%s adds to that", "%s add to that"}, {record.NoDifference, "%s makes no difference",
			"%s make no difference"},
		{record.Improves, "%s takes from it", "%s take from it"},
		{record.Inconclusive, "whether %s adds to it is inconclusive", "whether %s add to it is inconclusive"},
	} {
		for i := range t.Surplus {
			if e := &t.Surplus[i]; e.Verdict == say.verdict {
				format := say.one
				if strings.HasSuffix(strings.Fields(e.Factor)[0], "s") { // the name itself is a plural
					format = say.many
				}
				moves = append(moves, fmt.Sprintf(format, e.Factor)+apart(e))
			}
		}
	}
	a.Statements = append([]string{strings.Join(moves, "; "), elsewhere(t), rise}, a.Statements...)
	if t.LimitBps > 0 && s.SumBps > 1.005*t.LimitBps {
		limit, suffix := quantity(c.Unit, t.LimitBps, largest)
		a.Statements = append(a.Statements, fmt.Sprintf("The path can carry no more than %s %s", limit, suffix))
	}
	return a
}

// percent formats a percentage with half of its interval: "3.0 ± 0.2 %".
func percent(value, half float64) string {
	mean, spread := (number.Scale{Scale: metric.Scale{Per: 1}}).Interval(value, half)
	if spread == "" {
		return mean + " %"
	}
	return mean + " ± " + spread + " %"
}

// received says by how much another program's report exceeds what was received, as precisely as the
// interval allows.
func received(t *record.ToolReportResult) string {
	over, than := t.Over, " more than was received"
	if over.Trials < 2 { // no interval, or an old document
		over = record.ResponseEstimate{Mean: t.Report.SurplusBps / max(t.Report.GoodputBps, 1)}
	}
	value := over.Mean
	if value < 0 {
		value, than = -value, " less than was received"
	}
	share := percent(100*value, 100*over.HalfWidth()) + than
	switch floor := metric.Surplus.Floor; {
	case t.Over.Trials == 1:
		return share + " in a single trial"
	case over.Confidence > 0 && over.Low > -floor && over.High < floor:
		return fmt.Sprintf("as much as was received, within %.3g %%", 100*floor)
	case over.Confidence > 0 && over.Low <= 0 && over.High >= 0:
		return share + " (inconclusive)"
	}
	return share
}

// elsewhere describes the surplus at other levels.
func elsewhere(t *record.ToolReportResult) string {
	by := map[string][]string{}
	for i := range t.Elsewhere {
		e := &t.Elsewhere[i]
		by[e.Verdict] = append(by[e.Verdict], e.Factor+" "+e.To+apart(e))
	}
	var parts []string
	for _, say := range []struct{ verdict, words string }{
		{record.Worsens, "more with "}, {record.Improves, "less with "}, {record.NoDifference, "as much with "},
	} {
		if list := by[say.verdict]; len(list) > 0 {
			parts = append(parts, say.words+words.FirstFew(list, "and"))
		}
	}
	switch {
	case len(parts) > 0:
		return "The surplus is " + strings.Join(parts, "; ")
	case len(by[record.Inconclusive]) > 0:
		return "What else moves the surplus is inconclusive"
	}
	return ""
}

// publishedRise says how a published rise is explained, if this run can tell: goodput does not
// rise, the program's figure does, and that was predicted without the program.
func publishedRise(c *record.Conclusion, t *record.ToolReportResult, scale float64) string {
	predicted := ""
	if t.PredictedTrials > 0 {
		predicted = " of it follows from what the kernel counts"
		if t.Report.Processes == 0 {
			predicted = " of it was left in send buffers"
		}
		predicted = percent(100*t.Predicted, 50*(t.PredictedHigh-t.PredictedLow)) + predicted
	}
	if len(t.Published) == 0 {
		return strings.Replace(predicted, " of it ", " of the surplus ", 1)
	}
	var tables []string
	for _, p := range t.Published {
		low, _ := quantity(c.Unit, p[0], p[1])
		high, suffix := quantity(c.Unit, p[1], p[1])
		tables = append(tables, fmt.Sprintf("%s → %s %s", low, high, suffix))
	}
	rise, measured := "The published rise ("+words.Join(tables, "and")+")", ""
	if t.FirstSumBps > 0 {
		low, _ := quantity(c.Unit, t.FirstSumBps, scale)
		high, suffix := quantity(c.Unit, t.Report.SumBps, scale)
		measured = fmt.Sprintf("%s → %s %s", low, high, suffix)
	}
	switch {
	case measured == "":
		return strings.TrimSuffix(rise+" is not settled by this run, which has no figure at the baseline of "+t.Factor+
			": "+predicted, ": ")
	case t.PredictedTrials == 0:
		return rise + " does not show here: no trial had a surplus of 2 % or more"
	case t.Flat && t.Rises && t.PredictedLow >= 0.85 && t.PredictedHigh <= 1.15:
		return fmt.Sprintf("%s is an accounting artefact, here %s: %s", rise, measured, predicted)
	}
	return fmt.Sprintf("%s is not settled by this run, in which the sum goes %s: %s", rise, measured, predicted)
}

// apart formats a difference of shares: " (+0.1 ± 0.3 points)".
func apart(e *record.Effect) string {
	d := e.Difference
	if d == nil || d.High <= d.Low {
		return ""
	}
	return fmt.Sprintf(" (%s ± %s points)", number.Plus(number.Round(100*d.Mean, 1)),
		number.Round(100*d.HalfWidth(), 1))
}
