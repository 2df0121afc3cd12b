// Package expect implements the language of measure --expect: conditions on metrics, such as
// "goodput >= 900mbit, lost <= 0.1%". It parses them and checks whether a measurement meets them.
// The metrics are those of package metric that a measurement can have.
package expect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
)

// Expectation is a list of conditions that a measurement must all meet, in every direction and
// mode. The zero value expects nothing.
type Expectation []condition

// condition is one condition, such as ">= 900mbit" or "latency_p99 <= 500us".
type condition struct {
	text       string
	metric     metric.Metric
	comparison string
	wanted     float64
}

// comparisons lists the operators, the longer ones first.
var comparisons = []string{">=", "<=", ">", "<"}

// Parse parses conditions that are separated by commas or "and". A value without a metric is a
// lower bound of the transaction rate or the goodput, whichever the protocol has. The error joins
// the errors of all conditions, including those whose metric a measurement of this setup does not
// have.
func Parse(text string, of metric.Setup) (Expectation, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var e Expectation
	var problems []error
	for part := range strings.SplitSeq(strings.ReplaceAll(text, " and ", ","), ",") {
		c, err := parse(strings.TrimSpace(part), of)
		e, problems = append(e, c), append(problems, err)
	}
	return e, errors.Join(problems...)
}

func parse(text string, of metric.Setup) (condition, error) {
	at, comparison := len(text), ""
	for _, c := range comparisons {
		if i := strings.Index(text, c); i >= 0 && i < at {
			at, comparison = i, c
		}
	}
	c := condition{comparison: cmp.Or(comparison, ">=")}
	name, value := "", text
	if comparison != "" {
		name, value = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(comparison):])
	}
	if strings.HasPrefix(value, "=") && len(comparison) == 1 {
		return c, fmt.Errorf("%q: expected %s= without a space between", text, comparison)
	}
	var known bool
	if c.metric, known = metric.Expectable(name, of.Protocol); !known {
		return c, fmt.Errorf("%q: no metric %q%s", text, name, source.DidYouMean(name, metric.ExpectableNames()))
	}
	if !c.metric.In(of) {
		return c, fmt.Errorf("%q: %s", text, lacking(c.metric, of))
	}
	var err error
	if c.wanted, err = c.metric.Parse(value); err != nil && comparison != "" && value != "" {
		return c, fmt.Errorf("%q: %w; such as '%s'", text, err, c.metric.Example())
	}
	if err != nil {
		return c, fmt.Errorf("%q: expected %sa comparison (%s) and a value, such as '%s'", text,
			map[bool]string{true: "a metric, "}[name != ""], strings.Join(comparisons, ", "), c.metric.Example())
	}
	c.text = strings.TrimSpace(name + " " + c.comparison + " " + value)
	return c, nil
}

// lacking explains why a measurement of this setup does not have a metric.
func lacking(m metric.Metric, of metric.Setup) string {
	switch {
	case m.Searched && m.From(of.Protocol):
		return m.Name + " is measured with --loss-free"
	case m.Probed && len(m.Protocols) > 0:
		return fmt.Sprintf("%s is measured with --protocol %s, or with --latency", m.Name, source.Or(m.Protocols))
	case m.Probed:
		return m.Name + " is measured with --latency"
	}
	return fmt.Sprintf("%s is measured with --protocol %s, and --protocol is %s", m.Name, source.Or(m.Protocols),
		of.Protocol)
}

// String returns the conditions, separated by commas.
func (e Expectation) String() string {
	texts := lists.Map(e, func(c condition) string { return c.text })
	return strings.Join(texts, ", ")
}

// Metrics returns the names of the metrics in the conditions.
func (e Expectation) Metrics() (names []string) {
	return lists.Map(e, func(c condition) string { return c.metric.Name })
}

// Needs returns how many requests it takes to decide all conditions; 0 if none is on a percentile.
func (e Expectation) Needs() (requests int64) {
	for _, c := range e {
		if c.metric.Quantile > 0 {
			requests = max(requests, record.PercentileNeeds(c.metric.Quantile))
		}
	}
	return requests
}

// TooFew explains which conditions cannot be decided with this number of requests.
func (e Expectation) TooFew(requests int64) (list []string) {
	for _, c := range e {
		if why := c.metric.TooFew(requests); why != "" && !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	return list
}

// Check compares all parts of a measurement's trials, one trial for each mode, with the conditions;
// nil if e is empty.
func (e Expectation) Check(trials ...record.Trial) *record.Expectation {
	if len(e) == 0 {
		return nil
	}
	result := &record.Expectation{Gate: e.String(), Met: true}
	for _, c := range e {
		part := c.check(trials)
		result.Conditions = append(result.Conditions, part)
		result.Met = result.Met && part.Met
	}
	return result
}

// check returns the result of one condition. A metric without a value fails its condition; a
// percentile of too few requests neither meets nor fails it.
func (c condition) check(trials []record.Trial) record.Condition {
	part := record.Condition{Metric: c.metric.Name, Condition: c.text, Met: true}
	var got []string
	unknown := ""
	for i := range trials {
		t := &trials[i]
		readings := c.metric.Readings(t)
		if t.FoundNone() {
			readings = nil // a search that found no rate ends with a failed trial
		}
		part.Met = part.Met && len(readings) > 0
		for _, r := range readings {
			value := c.metric.Format(r.Value)
			switch rank := c.metric.Rank(r.Transactions); {
			case rank != "":
				value += " (" + rank + ")"
				unknown = c.metric.TooFew(r.Transactions)
			case !c.admits(r.Value):
				part.Met = false
			}
			if len(t.Parts) == 1 && t.Parts[0].Transactions != nil { // transactions go both ways
				r.Part = ""
			}
			words := strings.TrimSpace(r.Part + " " + value)
			if len(trials) > 1 {
				words += " in mode " + t.Mode
			}
			got = append(got, words)
		}
	}
	if part.Got = cmp.Or(strings.Join(got, ", "), strings.TrimSuffix("no value: "+c.metric.Absent, ": ")); part.Met &&
		unknown != "" {
		part.Met, part.Unknown = false, unknown
	}
	return part
}

func (c condition) admits(value float64) bool {
	order := cmp.Compare(value, c.wanted)
	return slices.Contains(map[string][]int{">=": {0, 1}, "<=": {-1, 0}, ">": {1}, "<": {-1}}[c.comparison], order)
}

// Unmet returns an error that names the expectations that the measurement does not show; nil if it
// shows all, or if nothing was expected.
func Unmet(e *record.Expectation) error {
	if e == nil || e.Met {
		return nil
	}
	var words []string
	for _, c := range e.Conditions {
		switch {
		case c.Unknown != "":
			words = append(words, fmt.Sprintf("%s is neither met nor missed: %s", c.Condition, c.Unknown))
		case !c.Met:
			words = append(words, fmt.Sprintf("expected %s %s, got %s", c.Metric,
				strings.TrimPrefix(c.Condition, c.Metric+" "), c.Got))
		}
	}
	return errors.New(strings.Join(words, "; "))
}
