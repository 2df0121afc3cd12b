package conclude

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
	"linerate/internal/science/stats"
)

// lead is the response that the answer and the verdicts are about.
func lead(run *record.Run) metric.Metric { return metric.Of(run)[0] }

func onGoodput(run *record.Run) bool { return lead(run).Name == metric.Goodput.Name }

// others fills in what a treatment's trials measured besides goodput.
func others(run *record.Run, t *record.Treatment, trials []record.Trial) {
	mean := func(r metric.Metric) (stats.Interval, bool) {
		var values []float64
		for i := range trials {
			if v, ok := r.Value(&trials[i]); ok {
				values = append(values, v)
			}
		}
		return stats.Mean(values, run.Confidence), len(values) > 0
	}
	for _, r := range metric.Of(run) {
		e := r.Estimate(t)
		if r.Name != metric.Goodput.Name {
			in, _ := mean(r)
			e.Mean, e.Trials = in.Mean, in.N
			if in.Known {
				e.Low, e.High, e.Confidence = in.Low, in.High, run.Confidence
				if !r.Signed {
					e.Low = max(0, e.Low)
				}
			}
		}
		t.Responses = append(t.Responses, e)
	}
	if in, ok := mean(metric.Transactions); ok {
		t.TransactionsPerS = in.Mean
	}
	if in, ok := mean(metric.Lost); ok {
		t.LostShare = &in.Mean
	}
	var latencies []*record.Distribution
	for _, trial := range trials {
		latencies = append(latencies, trial.Latency)
	}
	// What cannot be added up any more is shown trial by trial all the same.
	if together, err := stats.Together(latencies...); err == nil && together != nil {
		together.Histogram = nil
		t.Latency = together
	}
}

// figure spells a value of a response: "3.12 ms".
func figure(r metric.Metric, unit string, v float64) string {
	s := r.Scale(unit, v)
	return s.With(three(v * s.Per))
}

// three spells a value with three digits, or all before the point.
func three(v float64) string {
	switch {
	case v < 0:
		return "−" + three(-v)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	case v == 0:
		return "0"
	}
	return fmt.Sprintf("%.3f", v)
}

// spell is an option's value, "3.12 ms", or why there is none.
func (o *option) spell(r metric.Metric, unit string) string {
	e := r.Estimate(&o.treatment)
	if e.Trials == 0 {
		return "unknown (" + r.Absent + ")"
	}
	return figure(r, unit, e.Mean)
}

// judged answers a study that compares treatments by something else than goodput.
func judged(run *record.Run, conditions []*condition) []string {
	r := lead(run)
	var starts []string
	name := ""
	for _, c := range conditions {
		if c.baseline != nil {
			name = c.baseline.label
			starts = append(starts, c.baseline.spell(r, run.Unit)+forLabel(c.label))
		}
	}
	if name == "" {
		return []string{"The baseline has not been measured."}
	}
	said := []string{fmt.Sprintf("With %s %s is %s.", name, r.Label, join(starts, "and"))}
	for _, c := range conditions {
		outcomes := c.outcomes(run, r)
		if outcomes == "" {
			continue
		}
		if c.label != "" {
			outcomes = "for " + c.label + " " + outcomes
		}
		said = append(said, upper(outcomes)+".")
	}
	return said
}

func forLabel(label string) string {
	if label == "" {
		return ""
	}
	return " for " + label
}

// outcomes says of one condition what came of trying, the best first.
func (c *condition) outcomes(run *record.Run, r metric.Metric) string {
	options := slices.Clone(c.options)
	slices.SortStableFunc(options, func(a, b *option) int {
		switch less := a.estimate.Mean < b.estimate.Mean; {
		case a.estimate.Mean == b.estimate.Mean:
			return 0
		case less == r.Lower:
			return -1
		}
		return 1
	})
	// The recommended one is named first.
	slices.SortStableFunc(options, func(a, b *option) int {
		switch {
		case a.treatment.Best && !b.treatment.Best:
			return -1
		case b.treatment.Best && !a.treatment.Best:
			return 1
		}
		return 0
	})
	by := map[string][]string{}
	for _, o := range options {
		verdict := o.verdict()
		switch {
		case o.lifted:
			verdict = "lifted"
		case verdict == record.Improves, verdict == record.Worsens:
			by[verdict] = append(by[verdict], o.label+": "+o.spell(r, run.Unit)+o.times())
			continue
		case verdict == record.Inconclusive:
			why := o.effect.Why
			if strings.HasPrefix(why, stats.Spans) {
				why = o.spell(r, run.Unit)
			}
			by[verdict] = append(by[verdict], o.label+" ("+why+")")
			continue
		}
		by[verdict] = append(by[verdict], o.label)
	}
	var parts []string
	for _, say := range []struct{ verdict, words, word string }{
		{record.Improves, "it improves with %s", "and"},
		{record.Worsens, "it worsens with %s", "and"},
		{record.NoDifference, fmt.Sprintf("there is no difference beyond ±%.3g %%%% with %%s", 100*run.Margin), "or"},
		{record.Inconclusive, "what comes of %s is inconclusive", "and"},
		{"lifted", "%s takes the rate from the link, and is no fix", "and"},
	} {
		if list := by[say.verdict]; len(list) > 0 {
			parts = append(parts, fmt.Sprintf(say.words, some(list, say.word)))
		}
	}
	return strings.Join(parts, "; ")
}

// times spells an effect's ratio behind a figure: ", 0.25× (0.24–0.26)".
func (o *option) times() string {
	if o.effect == nil || o.effect.Ratio.None || o.effect.Ratio.Mean == 0 {
		return ""
	}
	r := o.effect.Ratio
	text := ", " + three(r.Mean) + "×"
	if low, high := three(r.Low), three(r.High); r.High > 0 && low != high {
		text += " (" + low + "–" + high + ")"
	}
	return text
}

// figuresOf answers a study that compares nothing and is judged by something else
// than goodput.
func figuresOf(r metric.Metric, conditions []*condition) string {
	var parts []string
	for _, c := range conditions {
		e := c.baseline.estimate
		text := c.baseline.spell(r, "")
		if e.Confidence > 0 {
			low, high := figure(r, "", e.Low), figure(r, "", e.High)
			if low != high {
				text += " (" + low + " to " + high + ")"
			}
		}
		parts = append(parts, text+forLabel(c.label))
	}
	return upper(r.Label) + " is " + join(parts, "and") + "."
}

// beside says what the run's other responses made of it: a treatment that is good
// for one may be bad for another.
func beside(run *record.Run, conditions []*condition) []string {
	var said []string
	for _, r := range metric.Of(run)[1:] {
		if !slices.ContainsFunc(run.Factors, compared) {
			var parts []string
			for _, c := range conditions {
				parts = append(parts, c.baseline.spell(r, run.Unit)+forLabel(c.label))
			}
			said = append(said, r.Label+" is "+join(parts, "and")+".")
			continue
		}
		by := map[string][]string{}
		n := 0
		for _, c := range conditions {
			for _, o := range c.options {
				e := r.Effect(o.effect)
				if e == nil || o.lifted {
					continue
				}
				n++
				text := o.label + forLabel(c.label)
				if e.Verdict != record.NoDifference && c.baseline != nil {
					text += " (" + c.baseline.spell(r, run.Unit) + " → " + o.spell(r, run.Unit) + ")"
				}
				by[e.Verdict] = append(by[e.Verdict], text)
			}
		}
		var parts []string
		if list := by[record.Worsens]; len(list) > 0 {
			parts = append(parts, "worsens with "+some(list, "and"))
		}
		if list := by[record.Improves]; len(list) > 0 {
			parts = append(parts, "improves with "+some(list, "and"))
		}
		switch same := by[record.NoDifference]; {
		case len(parts) > 0:
			said = append(said, fmt.Sprintf("%s %s.", r.Label, join(parts, "and")))
		case n > 0 && len(same) == n:
			said = append(said, r.Label+" shows no difference.")
		case n > 0:
			said = append(said, r.Label+" is inconclusive.")
		}
	}
	for i, text := range said {
		said[i] = upper(text)
		if i == 0 {
			said[i] = "Beside it, " + text
		}
	}
	return said
}
