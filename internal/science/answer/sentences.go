package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/limits"
)

// enough: this share of the limit counts as reaching it.
const enough = 0.98

// condition is what is shown side by side: the treatments at one combination of
// the condition factors' levels, such as all writes.
type condition struct {
	label    string // "writes"; empty when there is no condition factor
	baseline *option
	options  []*option // all others
}

// option is one treatment as somebody choosing a fix sees it.
type option struct {
	label     string
	treatment record.Treatment
	lines     []string // its changes
	settings  int
	effect    *record.Effect
	busy      span
}

// sentences words the answer.
func sentences(run *record.Run) string {
	if len(run.Treatments) == 0 {
		return "No trial was finished, so there is no answer."
	}
	conditions := gather(run)
	var said []string
	if slices.ContainsFunc(run.Factors, compared) {
		said = append(said, start(run, conditions))
		if outcome := remedy(run, conditions); outcome != "" {
			said = append(said, outcome)
		}
	} else {
		said = append(said, plain(run, conditions))
	}
	switch doubt, end, chance := doubts(run), ending(run), chances(conditions); {
	case doubt != "" && end != "":
		said = append(said, strings.TrimSuffix(doubt, ".")+"; "+strings.ToLower(end[:1])+end[1:])
	case doubt != "" || end != "":
		said = append(said, doubt+end)
	case chance != "":
		said = append(said, chance)
	}
	return strings.Join(said, " ")
}

func gather(run *record.Run) []*condition {
	var list []*condition
	for _, t := range run.Treatments {
		var at, levels []string
		o := &option{treatment: t}
		for _, f := range run.Factors {
			name := t.Levels[f.Name]
			if !compared(f) {
				at = append(at, name)
				continue
			}
			if name != f.Baseline || len(levels) == 0 {
				levels = append(levels, name)
			}
			for _, l := range f.Levels {
				if l.Name == name {
					o.settings += l.Settings
					o.lines = append(o.lines, l.SettingLines...)
				}
			}
		}
		o.label = strings.Join(levels, " with ")
		for i := range run.Effects {
			e := &run.Effects[i]
			if t.Levels[e.Factor] == e.To && others(t, e) {
				o.effect = e
			}
		}
		var trials []record.Trial
		for _, trial := range run.Trials {
			if trial.Treatment == t.Name {
				trials = append(trials, trial)
			}
		}
		o.busy = busyPorts(run, trials)
		label := strings.Join(at, ", ")
		i := slices.IndexFunc(list, func(c *condition) bool { return c.label == label })
		if i < 0 {
			list = append(list, &condition{label: label})
			i = len(list) - 1
		}
		if t.Baseline {
			list[i].baseline = o
		} else {
			list[i].options = append(list[i].options, o)
		}
	}
	return list
}

// others: all other factors of the effect are as in the treatment.
func others(t record.Treatment, e *record.Effect) bool {
	for f, l := range e.At {
		if t.Levels[f] != l {
			return false
		}
	}
	return true
}

func (o *option) reaches() bool {
	g, limit := o.treatment.Goodput, o.treatment.LimitBps
	return limit > 0 && g.MeanBps >= enough*limit && (g.Confidence == 0 || g.LowBps >= enough*limit)
}

// start says how things are before anything is changed.
func start(run *record.Run, conditions []*condition) string {
	type clause struct {
		labels []string
		does   string
		at     []*option
	}
	var clauses []clause
	name := ""
	for _, c := range conditions {
		if c.baseline == nil {
			continue
		}
		name = c.baseline.label
		does := "reach"
		if s := c.baseline.busy; s.of > 0 && s.high > 0 {
			does = fmt.Sprintf("use %s of %s's %s ports", s, s.host, number(s.of))
			if s.low == s.of {
				does = fmt.Sprintf("use all %s ports of %s", number(s.of), s.host)
			}
		}
		i := slices.IndexFunc(clauses, func(o clause) bool { return o.does == does })
		if i < 0 {
			clauses = append(clauses, clause{does: does})
			i = len(clauses) - 1
		}
		clauses[i].labels = append(clauses[i].labels, orFlows(c.label))
		clauses[i].at = append(clauses[i].at, c.baseline)
	}
	if len(clauses) == 0 {
		return "The baseline has not been measured."
	}
	var parts []string
	for _, c := range clauses {
		figure := figures(run.Unit, c.at)
		if c.does != "reach" {
			figure = "(" + figure + ")"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", join(c.labels, "and"), c.does, figure))
	}
	return fmt.Sprintf("With %s %s.", name, join(parts, "and"))
}

func orFlows(label string) string {
	if label == "" {
		return "the flows"
	}
	return label
}

// remedy says what reaches the limit, or what does most.
func remedy(run *record.Run, conditions []*condition) string {
	type clause struct {
		labels []string
		says   string
	}
	var clauses []clause
	for _, c := range conditions {
		if len(c.options) == 0 {
			continue
		}
		says := c.remedy(run)
		i := slices.IndexFunc(clauses, func(o clause) bool { return o.says == says })
		if i < 0 {
			clauses = append(clauses, clause{says: says})
			i = len(clauses) - 1
		}
		clauses[i].labels = append(clauses[i].labels, orFlows(c.label))
	}
	var parts []string
	for _, c := range clauses {
		parts = append(parts, join(c.labels, "and")+" "+c.says)
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// remedy is the predicate of one condition.
func (c *condition) remedy(run *record.Run) string {
	if c.baseline != nil && c.baseline.reaches() {
		text := "are at the limit as they are"
		if worse := c.worse(); len(worse) > 0 {
			text += ", and fall behind with " + join(worse, "and")
		}
		return text
	}
	var minimal []string
	for _, o := range c.options {
		if o.reaches() && !slices.ContainsFunc(c.options, func(p *option) bool { return p != o && p.reaches() && p.within(o) }) {
			minimal = append(minimal, o.label+o.ratio())
		}
	}
	switch {
	case len(minimal) == 1 && len(c.options) > 1:
		return "reach the limit only with " + minimal[0]
	case len(minimal) > 0:
		return "reach the limit with " + join(minimal, "or")
	}
	best := slices.MaxFunc(c.options, func(a, b *option) int {
		return cmp.Compare(a.treatment.Goodput.MeanBps, b.treatment.Goodput.MeanBps)
	})
	switch {
	case best.effect != nil && best.effect.Verdict == record.Inconclusive,
		c.baseline != nil && best.treatment.Goodput.MeanBps <= c.baseline.treatment.Goodput.MeanBps*(1+run.Margin):
		return fmt.Sprintf("are not surely improved by anything tried (best: %s, %s)", best.label, figures(run.Unit, []*option{best}))
	case best.treatment.LimitBps > 0 && best.treatment.Efficiency >= enough:
		return fmt.Sprintf("are not surely at the limit with anything that was tried: %s comes nearest, %s%s", best.label, figures(run.Unit, []*option{best}), best.ratio())
	case best.treatment.LimitBps > 0:
		return fmt.Sprintf("reach the limit with nothing that was tried: %s does most, %s%s", best.label, figures(run.Unit, []*option{best}), best.ratio())
	}
	return fmt.Sprintf("gain most from %s: %s%s", best.label, figures(run.Unit, []*option{best}), best.ratio())
}

func (c *condition) worse() []string {
	var list []string
	for _, o := range c.options {
		if o.effect != nil && o.effect.Verdict == record.Worsens {
			list = append(list, o.label)
		}
	}
	return list
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

// plain answers a study that compares nothing.
func plain(run *record.Run, conditions []*condition) string {
	var parts []string
	for _, c := range conditions {
		o := c.baseline // without a compared factor every treatment is the baseline
		g := o.treatment.Goodput
		value, suffix := quantity(run.Unit, g.MeanBps, g.MeanBps)
		text := "is " + value + " " + suffix
		if c.label != "" {
			text = "of " + c.label + " " + text
		}
		if g.Confidence > 0 {
			low, _ := quantity(run.Unit, g.LowBps, g.MeanBps)
			high, _ := quantity(run.Unit, g.HighBps, g.MeanBps)
			if low != high {
				text += fmt.Sprintf(" (%s–%s)", low, high)
			}
		}
		if o.treatment.LimitBps > 0 {
			text += fmt.Sprintf(", %.4g %% of the limit of the path", 100*o.treatment.Efficiency)
		} else {
			text += "; no link of the path has a rate, so its limit is unknown"
		}
		parts = append(parts, text)
	}
	return "Goodput " + strings.Join(parts, "; ") + "."
}

// doubts names what keeps the figures from being trusted.
func doubts(run *record.Run) string {
	var names []string
	trials := map[int]bool{}
	for _, c := range run.Trust {
		if c.Pass {
			continue
		}
		trials[c.Trial] = true
		if !slices.Contains(names, c.Check) {
			names = append(names, c.Check)
		}
	}
	if len(names) == 0 {
		return ""
	}
	which := fmt.Sprintf("%d of %d trials", len(trials), len(run.Trials))
	if len(run.Trials) == 1 {
		which = "the trial"
	}
	return fmt.Sprintf("Mind the trust checks: %s failed %s.", which, join(names, "and"))
}

// chances names what works now and then.
func chances(conditions []*condition) string {
	var labels []string
	var over span
	for _, c := range conditions {
		for _, o := range c.options {
			if o.reaches() || o.busy.of == 0 || o.busy.low == o.busy.high {
				continue
			}
			if over.of == 0 {
				over = o.busy
			}
			over.low, over.high = min(over.low, o.busy.low), max(over.high, o.busy.high)
			if !slices.Contains(labels, o.label) {
				labels = append(labels, o.label)
			}
		}
	}
	if len(labels) == 0 {
		return ""
	}
	verb := "leaves"
	if len(labels) > 1 {
		verb = "leave"
	}
	return fmt.Sprintf("%s %s it to chance: %d to %d ports.", join(labels, "and"), verb, over.low, over.high)
}

// figures spells goodputs against their limit: "119.5 and 119.6 of 478.2 MB/s".
func figures(unit string, options []*option) string {
	limit := options[0].treatment.LimitBps
	scale := limit
	for _, o := range options {
		if o.treatment.LimitBps != limit {
			limit = 0
		}
		scale = max(scale, o.treatment.Goodput.MeanBps)
	}
	var values []string
	suffix := ""
	for _, o := range options {
		value, s := quantity(unit, o.treatment.Goodput.MeanBps, scale)
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
		suffix = s
	}
	text := join(values, "and")
	if limit > 0 {
		value, _ := quantity(unit, limit, scale)
		text += " of " + value
	}
	return text + " " + suffix
}

// quantity spells a goodput in the unit that suits scale.
func quantity(unit string, bps, scale float64) (value, suffix string) {
	if unit == "MB/s" {
		return digits(bps/8e6, scale/8e6), "MB/s"
	}
	_, suffix, _ = strings.Cut(limits.Rate(scale), " ")
	size := map[string]float64{"Tbit/s": 1e12, "Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1}[suffix]
	return digits(bps/size, scale/size), suffix
}

// digits prints as many decimals as give scale four digits.
func digits(v, scale float64) string {
	decimals := 3
	for x := scale; x >= 9.9995 && decimals > 0; x /= 10 {
		decimals--
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func join(list []string, word string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}
