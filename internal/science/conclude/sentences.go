package conclude

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	estimate  record.ResponseEstimate // of what the run is judged by
	lines     []string                // its changes
	settings  int
	effect    *record.Effect // against the baseline
	busy      span
	lifted    bool // it takes the links' rates away, which the baseline has
}

// sentences words the answer.
func sentences(run *record.Run) string {
	if len(run.Treatments) == 0 {
		return "No trial was finished, so there is no answer."
	}
	conditions := gather(run)
	said := accounted(run)
	if len(said) == 0 {
		said = withdrawn(run)
	}
	if len(said) == 0 && onGoodput(run) {
		if said = overLinks(run); len(said) == 0 {
			said = alongCurve(run)
		}
	}
	if len(said) == 0 {
		said = ablated(run)
	}
	whole := len(said) > 0
	switch compares := slices.ContainsFunc(run.Factors, compared); {
	case whole:
	case compares && !onGoodput(run):
		said = append(said, judged(run, conditions)...)
	case compares:
		said = append(said, start(run, conditions))
		if outcome := remedy(run, conditions); outcome != "" {
			said = append(said, outcome)
		}
	case onGoodput(run):
		said = append(said, plain(run, conditions))
	default:
		said = append(said, figuresOf(lead(run), conditions))
	}
	if !whole {
		said = append(said, beside(run, conditions)...)
	}
	switch doubt, end, chance := doubts(run), ending(run), chances(conditions); {
	case doubt != "" && end != "":
		said = append(said, strings.TrimSuffix(doubt, ".")+"; "+strings.ToLower(end[:1])+end[1:])
	case doubt != "" || end != "":
		said = append(said, doubt+end)
	case chance != "" && onGoodput(run) && !whole:
		said = append(said, chance)
	}
	return strings.Join(said, " ")
}

// gather leaves out levels that are compared with something else than the
// baseline: they take a part away from another one to see what it does there, and
// are nothing that anybody would choose.
func gather(run *record.Run) []*condition {
	var list []*condition
	for _, t := range run.Treatments {
		if dissects(run, t) {
			continue
		}
		var at, levels, baseline []string
		o := &option{treatment: t, estimate: lead(run).Estimate(&t)}
		for _, f := range run.Factors {
			name := t.Levels[f.Name]
			if !compared(f) {
				at = append(at, name)
				continue
			}
			if name != f.Baseline {
				levels = append(levels, name)
			}
			baseline = append(baseline, f.Baseline)
			for _, l := range f.Levels {
				if l.Name == name {
					o.settings += l.Settings
					o.lines = append(o.lines, l.SettingLines...)
				}
			}
		}
		o.label = strings.Join(levels, " with ")
		if len(levels) == 0 {
			o.label = join(baseline, "and")
		}
		o.effect = t.Effect
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
	for _, c := range list {
		for _, o := range c.options {
			o.lifted = c.baseline != nil && lifts(&o.treatment, &c.baseline.treatment)
		}
	}
	return list
}

func (o *option) reaches() bool {
	g, limit := o.treatment.Goodput, o.treatment.LimitBps
	return limit > 0 && g.MeanBps >= enough*limit && (g.Confidence == 0 || g.LowBps >= enough*limit)
}

// undecided: it does not surely reach the limit, nor surely fall short of it.
func (o *option) undecided() bool {
	return !o.reaches() && o.treatment.LimitBps > 0 && o.treatment.Goodput.HighBps >= enough*o.treatment.LimitBps
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
		if c.baseline.treatment.Goodput.MeanBps == 0 {
			does = "carry nothing"
		} else if s := c.baseline.busy; s.of > 0 && s.high > 0 {
			does = fmt.Sprintf("use %s of %s's %s interfaces", s, s.host, number(s.of)) + s.way
			if s.low == s.of {
				does = fmt.Sprintf("use %s interfaces of %s", every(s.of), s.host)
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
		figure := " " + figures(run.Unit, c.at)
		switch c.does {
		case "reach":
		case "carry nothing":
			figure = ""
		default:
			figure = " (" + figure[1:] + ")"
		}
		parts = append(parts, join(c.labels, "and")+" "+c.does+figure)
	}
	return fmt.Sprintf("With %s %s.", name, join(parts, "and"))
}

func orFlows(label string) string {
	if label == "" {
		return "the flows"
	}
	return label
}

// plain answers a study that compares nothing.
func plain(run *record.Run, conditions []*condition) string {
	var parts []string
	for i, c := range conditions {
		o := c.baseline // without a compared factor every treatment is the baseline
		g := o.treatment.Goodput
		value, suffix := quantity(run.Unit, g.MeanBps, g.MeanBps)
		text := "is " + value + " " + suffix
		if c.label != "" {
			text = "of " + c.label + " " + text
		}
		if i > 0 {
			text = "that " + text
		}
		if g.Confidence > 0 {
			low, _ := quantity(run.Unit, g.LowBps, g.MeanBps)
			high, _ := quantity(run.Unit, g.HighBps, g.MeanBps)
			if low != high {
				text += fmt.Sprintf(" (%s–%s)", low, high)
			}
		}
		if o.treatment.LimitBps > 0 {
			text += fmt.Sprintf(", %.4g %%", 100*o.treatment.Efficiency)
			if i == 0 {
				text += " of the limit of the path"
			}
		} else if why := o.treatment.LimitWhy; why != "" {
			text += "; its limit is " + why
		} else {
			text += "; no link of the path has a rate, so its limit is unknown"
		}
		parts = append(parts, text)
	}
	return "Goodput " + strings.Join(parts, "; ") + "."
}

// doubts names the failed checks of linerate's own figures.
func doubts(run *record.Run) string {
	var names []string
	trials := map[int]bool{}
	for _, c := range record.Doubts(run.Trust) {
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
	return fmt.Sprintf("%s %s it to chance: %d to %d interfaces.", join(labels, "and"), verb, over.low, over.high)
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

// every is "all four", or "both".
func every(n int) string {
	if n == 2 {
		return "both"
	}
	return "all " + number(n)
}

// dissects: a level of the treatment is against another one than the baseline.
func dissects(run *record.Run, t record.Treatment) bool {
	for _, f := range run.Factors {
		for _, l := range f.Levels {
			if l.Name == t.Levels[f.Name] && l.Against != "" && l.Against != f.Baseline {
				return true
			}
		}
	}
	return false
}

// upper begins a sentence.
func upper(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
