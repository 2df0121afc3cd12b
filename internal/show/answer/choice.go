package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// chosen returns the answer of a run that compares treatments with a baseline: the baseline, the
// recommendation, and its effect in every response.
func chosen(c *record.Conclusion) (a Answer) {
	start := baseline(c)
	if start == "" {
		return Answer{Headline: "The baseline has not been measured"}
	}
	long, short := outcome(c, "")
	_, alone := outcome(c, lead(c).Label)
	a.Headline = fit(start+"; "+long, start+"; "+short, alone)
	beside := besideBest(c)
	if len(cost(c)) > 0 { // of the recommendation
		a.Statements, beside = append(a.Statements, beside), ""
	}
	a.Statements = append(a.Statements, improving(c)...)
	a.Statements = append(a.Statements, beside, byChance(c), lifting(c))
	a.Statements = append(a.Statements, others(c)...)
	return a
}

// cost returns the responses that the recommended treatment is shown to worsen.
func cost(c *record.Conclusion) (labels []string) {
	for _, name := range c.Others {
		r, known := responseOf(c, name)
		worsens := func(o *record.Candidate) bool {
			e := r.Effect(o.Effect)
			return o.Best && e != nil && e.Verdict == record.Worsens
		}
		if known && len(labelled(c, worsens)) > 0 {
			labels = append(labels, r.Label)
		}
	}
	return labels
}

// baseline describes the state before anything is changed. Empty: it was not measured.
func baseline(c *record.Conclusion) string {
	var names []string
	var list []*record.Candidate
	for _, at := range c.Conditions {
		if at.Baseline != nil {
			names, list = append(names, at.Name), append(list, at.Baseline)
		}
	}
	if len(list) == 0 {
		return ""
	}
	text := ""
	if list[0].Label != "" {
		text = "with " + list[0].Label + " "
	}
	if r := lead(c); r.Name != metric.Goodput.Name {
		var parts []string
		for i, b := range list {
			parts = append(parts, figureOf(c, b, r)+words.ForName(names[i]))
		}
		return text + r.Is() + " " + words.FirstFew(parts, "and")
	}
	who := "the flows"
	if c.BothWays {
		who += " of both directions together"
	}
	figures := goodputs(c, list)
	if strings.Contains(figures, " and ") {
		figures += " (" + strings.Join(names, ", ") + ")"
	}
	if !slices.ContainsFunc(list, func(b *record.Candidate) bool { return b.Goodput.MeanBps > 0 }) {
		return text + who + " carry nothing"
	}
	use := uses(list[0].Interfaces)
	for _, b := range list {
		if uses(b.Interfaces) != use {
			use = ""
		}
	}
	if use == "" {
		return text + who + " reach " + figures
	}
	return text + who + " use " + use + ": " + figures
}

// uses says how many of a host's interfaces carry data: "one of server's four interfaces". Empty:
// that does not matter here, or none does.
func uses(u *record.InterfaceUse) string {
	switch {
	case u == nil || u.Most == 0:
		return ""
	case u.Least == u.Of:
		return fmt.Sprintf("%s interfaces of %s", words.Every(u.Of), u.Host)
	}
	n := words.Numeral(u.Least)
	if u.Least != u.Most {
		n += " to " + words.Numeral(u.Most)
	}
	way := map[string]string{record.Rx: " to receive", record.Tx: " to send"}[u.Direction]
	return fmt.Sprintf("%s of %s's %s interfaces%s", n, u.Host, words.Numeral(u.Of), way)
}

// outcome describes the result of the trials for the recommended treatment; short says the same in
// fewer words. It names the response of, unless the previous sentence already does, in which case
// of is empty.
func outcome(c *record.Conclusion, of string) (long, short string) {
	var base []*record.Candidate
	verdicts := map[string]int{}
	tried, reach, exceeds, recommends := 0, true, false, false
	for i := range c.Conditions {
		at := &c.Conditions[i]
		if at.Baseline != nil {
			base = append(base, at.Baseline)
			reach, exceeds = reach && at.Baseline.Reaches, exceeds || at.Baseline.Exceeds
		}
		for k := range at.Candidates {
			o := &at.Candidates[k]
			if tried++; o.Effect != nil && !o.Lifts {
				verdicts[o.Effect.Verdict]++
			}
			recommends = recommends || o.Best && improves(o)
		}
	}
	if recommends {
		return recommended(c, base, of)
	}
	carries := func(o record.Candidate) bool { return o.Goodput.MeanBps > 0 }
	switch r := lead(c); {
	case tried == 0:
		return "nothing else was tried", "nothing else was tried"
	case r.Name == metric.Goodput.Name && !slices.ContainsFunc(c.Conditions, func(at record.ConditionResult) bool {
		return at.Baseline != nil && carries(*at.Baseline) || slices.ContainsFunc(at.Candidates, carries)
	}):
		long = "nothing that was tried carries anything"
	case verdicts[record.Improves] > 0:
		long = "what improves " + r.Label + " in one condition worsens it in another"
	case exceeds && r.Name == metric.Goodput.Name:
		return "that is above the limit: a link is faster than its rate in the study, or bytes were counted that " +
				"did not arrive",
			"that is above the limit: the study's rate or the count is wrong"
	case reach && r.Name == metric.Goodput.Name:
		long = "that is the limit"
	case verdicts[record.Inconclusive] == 0 && verdicts[record.Worsens] == 0 && verdicts[record.NoDifference] > 0:
		names := labelled(c, func(o *record.Candidate) bool { return !o.Lifts })
		long = "no difference beyond " + margin(c, r) + " with "
		return long + words.FirstFew(names, "or"), long + "anything that was tried"
	case verdicts[record.Inconclusive] == 0 && len(verdicts) > 0:
		long = "nothing that was tried improves " + cmp.Or(of, "it")
	case r.Lower && verdicts[record.Worsens] == 0 &&
		atMost(c) != "": // such as a cost: the question is whether it exists
		if long = "nothing that was tried is shown to change " + cmp.Or(of, "it") + atMost(c); mostOpen(c) > little {
			long = "whether anything that was tried changes " + cmp.Or(of, "it") + " is not known: up to " +
				number.Significant(mostOpen(c), 2) + "× is possible"
		}
	default:
		long = "nothing that was tried is shown to improve " + cmp.Or(of, "it")
	}
	return long, long
}

// little is the largest ratio that still counts as hardly a change. If an effect half as large
// again is possible, a run says nothing about its question.
const little = 1.5

// atMost returns the largest ratio that intervals do not exclude: " (at most 1.05×)". Empty: there
// is none.
func atMost(c *record.Conclusion) string {
	most := mostOpen(c)
	if most == 0 {
		return ""
	}
	return " (at most " + number.Significant(most, 4) + "×)"
}

// mostOpen returns the largest ratio that the interval of any candidate does not exclude. 0: a
// candidate has no such bound, or is inconclusive for a reason other than its interval.
func mostOpen(c *record.Conclusion) (most float64) {
	for _, at := range c.Conditions {
		for _, o := range at.Candidates {
			if o.Lifts {
				continue
			}
			if o.Effect == nil || o.Effect.Ratio.None || o.Effect.Ratio.High == 0 ||
				o.Effect.Ratio.High >= 1000*o.Effect.Ratio.Mean ||
				!o.Effect.ByInterval() {
				return 0
			}
			most = max(most, o.Effect.Ratio.High)
		}
	}
	return most
}

// improves reports whether the candidate is shown to improve on the baseline.
func improves(o *record.Candidate) bool {
	return o.Effect != nil && o.Effect.Verdict == record.Improves
}

// recommended describes the effect of the recommended treatment: in the conditions in which it is
// shown to improve and, with respect to the limit, in all of them.
func recommended(c *record.Conclusion, base []*record.Candidate, of string) (long, short string) {
	var best []*record.Candidate // where it improves
	var ratios, names []string
	r, reaches, all, everywhere := lead(c), true, true, true
	for i := range c.Conditions {
		at := &c.Conditions[i]
		for k := range at.Candidates {
			o := &at.Candidates[k]
			if !o.Best {
				continue
			}
			reaches = reaches && o.Reaches
			all = all && o.Interfaces != nil && o.Interfaces.Least == o.Interfaces.Of
			if !improves(o) {
				everywhere = false
				continue
			}
			best, names = append(best, o), append(names, at.Name)
		}
	}
	for _, o := range best {
		text := Size(c.Unit, r, o.Effect)
		if len(best) > 1 {
			text, _, _ = strings.Cut(text, " (")
		}
		if text != "" {
			ratios = words.Distinct(ratios, text)
		}
	}
	ratio, where := "", ""
	if len(ratios) > 0 {
		ratio = " (" + strings.NewReplacer(" (", ", ", ")", "").Replace(words.FirstFew(ratios, "and")) + ")"
	}
	if !everywhere {
		where = words.ForName(words.FirstFew(names, "and"))
	}
	rises := slices.ContainsFunc(best, func(o *record.Candidate) bool {
		return len(base) > 0 && base[0].Reaches && o.LimitBps > base[0].LimitBps
	})
	short = best[0].Label
	switch {
	case r.Name != metric.Goodput.Name:
		var values []string
		for _, o := range best {
			values = words.Distinct(values, figureOf(c, o, r))
		}
		short += " improves " + cmp.Or(of, "it") + where + " to " + words.FirstFew(values, "and")
	case rises:
		short += " raises the limit" + where
		long = short + ": " + goodputs(c, best)
	case reaches && all:
		short += " uses " + words.Every(best[0].Interfaces.Of)
	case reaches:
		short += " reaches the limit"
	default:
		short += " improves " + cmp.Or(of, "that") + where + " to " + goodputs(c, best)
	}
	but := ""
	if costs := cost(c); len(costs) > 0 {
		but = ", but worsens " + words.FirstFew(costs, "and")
	}
	return cmp.Or(long, short) + ratio + but, short + but
}

// improving says for each condition what reaches the limit or, if nothing does, what improves, with
// sizes. Conditions with the same text share a statement.
func improving(c *record.Conclusion) (said []string) {
	var clauses words.ByText
	for _, at := range c.Conditions {
		if text := improvesIn(c, at); text != "" {
			clauses.Add(text, at.Name)
		}
	}
	for _, text := range clauses.Texts {
		if name := words.FirstFew(clauses.Names[text], "and"); name != "" {
			text = name + ": " + text
		}
		said = append(said, text)
	}
	if len(said) > 2 { // the table has the rest
		said = append(said[:2:2], "")
	}
	return said
}

// improvesIn returns the text of improving for one condition. Empty: the headline has said it.
func improvesIn(c *record.Conclusion, at record.ConditionResult) string {
	r := lead(c)
	list := slices.Clone(at.Candidates)
	slices.SortStableFunc(list, func(a, b record.Candidate) int { return words.FalseFirst(b.Best, a.Best) })
	var fixes, larger, better []string // larger: fixes that make all changes of a smaller fix
	var effect *record.Effect
	only, best := !at.PartMayReach && (at.Baseline == nil || !at.Baseline.Reaches), ""
	for i := range list {
		o := &list[i]
		if o.Best {
			best, effect = o.Label, o.Effect
		}
		only = only && !o.MayReach
		switch {
		case o.Fix:
			fixes = append(fixes, sized(c.Unit, o.Label, r, o.Effect))
		case !o.Lifts && improves(o) && o.Reaches && r.Name == metric.Goodput.Name:
			larger = append(larger, o.Label)
		case !o.Lifts && improves(o):
			better = append(better, sized(c.Unit, o.Label, r, o.Effect))
		}
	}
	// In a single condition the headline describes the recommended treatment.
	said := func(list []string) bool {
		return len(c.Conditions) == 1 && len(list) == 1 && len(at.Candidates) > 0 &&
			list[0] == sized(c.Unit, best, r, effect)
	}
	switch {
	case len(fixes) == 1 && len(larger) > 0:
		return fixes[0] + " is enough to reach the limit; " + words.FirstFew(larger, "and") +
			words.Verb(len(larger), " reaches", " reach") + " it, too"
	case len(fixes) == 1 && only && len(at.Candidates) > 1 && c.Ending.Status != "interrupted" &&
		c.Ending.Status != record.StatusRunning:
		return "only " + fixes[0] + " reaches the limit"
	case len(fixes) > 0 && !said(fixes):
		return "the limit is reached with " + words.FirstFew(fixes, "or")
	case len(fixes) == 0 && len(better) > 0 && !said(better):
		return "it improves with " + words.FirstFew(better, "and")
	}
	return ""
}

// besideBest describes the effect of the recommended treatment on the run's other responses or,
// without a recommendation, which candidates change them.
func besideBest(c *record.Conclusion) string {
	best := labelled(c, func(o *record.Candidate) bool { return o.Best })
	var parts, same, open []string
	for _, response := range c.Others {
		r, known := responseOf(c, response)
		if !known {
			continue
		}
		verdicts := map[string][]string{}
		for _, at := range c.Conditions {
			for i := range at.Candidates {
				o := &at.Candidates[i]
				e := r.Effect(o.Effect)
				switch {
				case e == nil || o.Lifts || len(best) > 0 && !o.Best:
				case len(best) > 0:
					verdicts[e.Verdict] = append(verdicts[e.Verdict], " "+Size(c.Unit, r, e)+words.ForName(at.Name))
				default:
					verdicts[e.Verdict] = append(verdicts[e.Verdict], " with "+sized(c.Unit, o.Label, r, e)+
						words.ForName(at.Name))
				}
			}
		}
		var changes []string
		for _, v := range []string{record.Worsens, record.Improves} {
			if list := verdicts[v]; len(list) > 0 {
				changes = append(changes, v+words.FirstFew(list, "and"))
			}
		}
		switch {
		case len(changes) > 0:
			parts = append(parts, r.Label+" "+words.Join(changes, "and"))
		case len(verdicts[record.Inconclusive]) > 0:
			open = append(open, r.Label)
		case len(verdicts[record.NoDifference]) > 0:
			same = append(same, r.Label)
		}
	}
	if len(same) > 0 {
		parts = append(parts, words.Join(same, "and")+words.Verb(len(same), " shows", " show")+" no difference")
	}
	if len(open) > 0 {
		parts = append(parts, words.Join(open, "and")+words.Verb(len(open), " is", " are")+" inconclusive")
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(best) > 0:
		return "With " + best[0] + ", " + strings.Join(parts, "; ")
	}
	return strings.Join(parts, "; ")
}

// byChance names candidates whose number of interfaces varies by chance.
func byChance(c *record.Conclusion) string {
	if lead(c).Name != metric.Goodput.Name {
		return ""
	}
	var labels []string
	var least, most int
	for _, at := range c.Conditions {
		for _, o := range at.Candidates {
			if o.Reaches || !varies(&o) {
				continue
			}
			if len(labels) == 0 {
				least, most = o.Interfaces.Least, o.Interfaces.Most
			}
			least, most = min(least, o.Interfaces.Least), max(most, o.Interfaces.Most)
			labels = words.Distinct(labels, o.Label)
		}
	}
	if len(labels) == 0 {
		return ""
	}
	return fmt.Sprintf("By chance %d to %d interfaces: %s", least, most, words.FirstFew(labels, "and"))
}

// varies reports whether the number of interfaces that a candidate used varies by chance.
func varies(o *record.Candidate) bool {
	return o.Chance != nil && o.Interfaces != nil && o.Interfaces.Least != o.Interfaces.Most
}

// lifting names candidates that remove the rate of a link.
func lifting(c *record.Conclusion) string {
	labels := labelled(c, func(o *record.Candidate) bool { return o.Lifts })
	if len(labels) == 0 {
		return ""
	}
	return "No fix: " + words.FirstFew(labels, "and") + words.Verb(len(labels), " takes", " take") +
		" the rate from the link"
}

// labelled returns the labels of the candidates for which holds is true.
func labelled(c *record.Conclusion, holds func(o *record.Candidate) bool) (labels []string) {
	for _, at := range c.Conditions {
		for i := range at.Candidates {
			if o := &at.Candidates[i]; holds(o) {
				labels = words.Distinct(labels, o.Label)
			}
		}
	}
	return labels
}

// others lists what worsens, what is inconclusive, and what makes no difference if something else
// does.
func others(c *record.Conclusion) (said []string) {
	r := lead(c)
	var by, open words.ByText // by verdict, and inconclusive ones by reason
	for _, at := range c.Conditions {
		for i := range at.Candidates {
			o := &at.Candidates[i]
			if o.Effect == nil || o.Lifts {
				continue
			}
			v, text := o.Effect.Verdict, o.Label
			into := &by
			switch {
			case v == record.Worsens, v == record.Inconclusive && o.Effect.ByInterval():
				text = sized(c.Unit, text, r, o.Effect)
			case v == record.Inconclusive && varies(o) && r.Name == metric.Goodput.Name:
				continue // byChance has said it
			case v == record.Inconclusive:
				v, into = o.Effect.Why, &open
				if o.Effect.Difference != nil { // the reason explains the difference, not the verdict
					text = sized(c.Unit, text, r, o.Effect)
				}
			}
			into.Add(v, text+words.ForName(at.Name))
		}
	}
	if list := by.Names[record.Worsens]; len(list) > 0 {
		said = append(said, "Worse: "+words.FirstFew(list, "and"))
	}
	if list := by.Names[record.Inconclusive]; len(list) > 0 {
		said = append(said, "Inconclusive: "+words.FirstFew(list, "and"))
	}
	for _, why := range open.Texts {
		said = append(said, "Inconclusive ("+why+"): "+words.FirstFew(open.Names[why], "and"))
	}
	same := by.Names[record.NoDifference]
	changed := labelled(c, func(o *record.Candidate) bool {
		return !o.Lifts && (o.Effect == nil || o.Effect.Verdict != record.NoDifference)
	})
	if len(same) > 0 && len(changed) > 0 {
		said = append(said, "No difference beyond "+margin(c, r)+": "+words.FirstFew(same, "and"))
	}
	return said
}
