package conclude

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// outcome is what came of trying, in one condition. Conditions of which the same
// is to be said share a clause, with their figures side by side.
type outcome struct {
	before, after string    // of the figures
	options       []*option // none: there are no figures in it
}

// remedy says what reaches the limit, or what does most.
func remedy(run *record.Run, conditions []*condition) string {
	type clause struct {
		labels []string
		outcome
	}
	var clauses []clause
	for _, c := range conditions {
		if len(c.options) == 0 {
			continue
		}
		came := c.remedy(run)
		i := slices.IndexFunc(clauses, func(o clause) bool { return o.before == came.before && o.after == came.after })
		if i < 0 {
			clauses = append(clauses, clause{[]string{orFlows(c.label)}, came})
			continue
		}
		clauses[i].labels = append(clauses[i].labels, orFlows(c.label))
		clauses[i].options = append(clauses[i].options, came.options...)
	}
	var parts []string
	for _, c := range clauses {
		says := c.before
		if len(c.options) > 0 {
			says += figures(run.Unit, c.options) + ratios(c.options)
		}
		parts = append(parts, join(c.labels, "and")+" "+says+c.after)
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	return upper(text)
}

// remedy is the predicate of one condition. What takes the rate from a link
// breaks the network that the study is about: it is named, and no fix.
func (c *condition) remedy(run *record.Run) outcome {
	judged := &condition{label: c.label, baseline: c.baseline}
	var lifted []*option
	for _, o := range c.options {
		if o.lifted {
			lifted = append(lifted, o)
		} else {
			judged.options = append(judged.options, o)
		}
	}
	if len(lifted) == 0 {
		return c.judge(run)
	}
	came := outcome{before: "are not surely at the limit as they are"}
	switch {
	case len(judged.options) > 0:
		came = judged.judge(run)
	case c.baseline.reaches():
		came.before = "are at the limit as they are"
	case c.baseline.treatment.Efficiency < enough:
		came.before = "stay short of the limit as they are"
	}
	var names []string
	for _, o := range lifted {
		names = append(names, o.label)
	}
	verb := "takes"
	if len(names) > 1 {
		verb = "take"
	}
	came.after += fmt.Sprintf(", and %s %s the rate from their link, so that %s is no gain", some(names, "and"), verb, figures(run.Unit, lifted))
	return came
}

func (c *condition) judge(run *record.Run) outcome {
	best := c.best(run.Margin)
	name, at := best.label, []*option{best}
	if c.baseline != nil && c.baseline.reaches() {
		if best.verdict() == record.Improves && best.treatment.LimitBps > c.baseline.treatment.LimitBps {
			return outcome{"are at the limit as they are, which " + name + " raises: ", "", at}
		}
		text := "are at the limit as they are"
		if worse := c.having(record.Worsens); len(worse) > 0 {
			text += ", and fall behind with " + some(worse, "and")
		}
		return outcome{before: text}
	}
	if fixes := c.fixes(best, run.Margin); len(fixes) == 1 && len(c.options) > 1 && !slices.ContainsFunc(c.options, (*option).undecided) {
		return outcome{before: "reach the limit only with " + fixes[0]}
	} else if len(fixes) > 0 {
		return outcome{before: "reach the limit with " + some(fixes, "or")}
	}
	if none := c.nothing(run, best); none != "" {
		return outcome{before: none}
	}
	switch {
	case best.verdict() == record.Inconclusive,
		!c.gains(best, run.Margin):
		why := ""
		if best.effect != nil && best.effect.Why != "" && !strings.HasPrefix(best.effect.Why, stats.Spans) {
			why = ", inconclusive: " + strings.ReplaceAll(best.effect.Why, ": ", ", ")
		}
		return outcome{"are not surely improved by anything that was tried: " + name + " comes to ", why, at}
	case best.treatment.LimitBps > 0 && best.treatment.Efficiency >= enough:
		return outcome{"are not surely at the limit with anything that was tried: " + name + " comes nearest, ", "", at}
	}
	gain := "gain most from " + name
	if len(c.options) == 1 {
		gain = "gain from " + name
	}
	if best.treatment.LimitBps > 0 {
		return outcome{gain + ", ", ", still short of the limit", at}
	}
	return outcome{gain + ": ", "", at}
}

// nothing words the outcomes in which no level did anything good; empty: some
// may have.
func (c *condition) nothing(run *record.Run, best *option) string {
	same, worse := c.having(record.NoDifference), c.having(record.Worsens)
	switch {
	case best.treatment.Goodput.MeanBps == 0 && (c.baseline == nil || c.baseline.treatment.Goodput.MeanBps == 0):
		return "carry nothing with anything that was tried"
	case c.baseline == nil || len(same)+len(worse) < len(c.options):
		return ""
	case len(worse) == 0:
		return fmt.Sprintf("gain nothing from %s: no difference beyond ±%.3g %%", some(same, "or"), 100*run.Margin)
	case len(same) == 0:
		return "do best as they are, and fall behind with " + some(worse, "and")
	}
	return fmt.Sprintf("gain nothing from %s, and fall behind with %s", some(same, "or"), some(worse, "and"))
}

// fixes lists what reaches the limit, less what only adds to something else that
// does; the recommended one is named first, in case there are too many to name.
func (c *condition) fixes(best *option, margin float64) []string {
	var list []string
	fixes := func(o *option) bool { return o.reaches() && c.gains(o, margin) }
	for _, o := range c.options {
		if !fixes(o) || slices.ContainsFunc(c.options, func(p *option) bool { return p != o && fixes(p) && p.within(o) }) {
			continue
		}
		text := o.label + o.ratio()
		if o == best {
			list = slices.Insert(list, 0, text)
			continue
		}
		list = append(list, text)
	}
	return list
}

// gains: an option carries more than the baseline. One that lowers the limit may
// reach that and be no fix.
func (c *condition) gains(o *option, margin float64) bool {
	return c.baseline == nil || o.treatment.Goodput.MeanBps > c.baseline.treatment.Goodput.MeanBps*(1+margin)
}

// having lists the options with a verdict.
func (c *condition) having(verdict string) []string {
	var list []string
	for _, o := range c.options {
		if o.verdict() == verdict {
			list = append(list, o.label)
		}
	}
	return list
}

func (o *option) verdict() string {
	if o.effect == nil {
		return ""
	}
	return o.effect.Verdict
}

// within: o makes fewer changes, all of which p makes too. Then p is no fix of
// its own.
func (o *option) within(p *option) bool {
	if len(o.lines) == 0 || len(o.lines) >= len(p.lines) {
		return false
	}
	return !slices.ContainsFunc(o.lines, func(l string) bool { return !slices.Contains(p.lines, l) })
}

// ratio spells the effect: " (4.00×, 3.98–4.01)".
func (o *option) ratio() string {
	if o.effect == nil || o.effect.Ratio.Mean == 0 {
		return ""
	}
	r := o.effect.Ratio
	for decimals := 2; r.High > 0 && decimals <= 3; decimals++ {
		low, high := fmt.Sprintf("%.*f", decimals, r.Low), fmt.Sprintf("%.*f", decimals, r.High)
		if low != high {
			return fmt.Sprintf(" (%.2f×, %s–%s)", r.Mean, low, high)
		}
	}
	return fmt.Sprintf(" (%.2f×)", r.Mean)
}

// ratios spells the options' effects; those of several side by side without
// their intervals, which the table of effects has.
func ratios(options []*option) string {
	if len(options) == 1 {
		return options[0].ratio()
	}
	var list []string
	for _, o := range options {
		if o.effect == nil || o.effect.Ratio.Mean == 0 {
			return ""
		}
		if text := fmt.Sprintf("%.2f×", o.effect.Ratio.Mean); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return " (" + join(list, "and") + ")"
}

// some joins a list, or its first three with the number of the others.
func some(list []string, word string) string {
	if more := len(list) - 3; more > 1 {
		return strings.Join(list[:3], ", ") + fmt.Sprintf(" %s %s others", word, number(more))
	}
	return join(list, word)
}
