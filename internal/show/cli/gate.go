package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"

	"linerate/internal/science/bufferbloat"
	"linerate/internal/science/limits"
	"linerate/internal/show/report"
)

// gate is what a measurement is expected to show: conditions that all have to be
// met, in every direction and mode. Without any, nothing is expected.
type gate []condition

// condition is one of them: ">= 900mbit", "p99 <= 500us", "lost <= 0.1%".
type condition struct {
	text       string
	quantity   *quality
	comparison string
	wanted     float64
}

// quality is something that can be expected of a measurement.
type quality struct {
	name string
	// protocols that it is known of; with --latency also of the others, if probed,
	// and only with --loss-free, if searched.
	protocols        []string
	probed, searched bool
	// example is a condition, and parse reads its value.
	example string
	parse   func(string) (float64, error)
	// values are what a measurement shows of it, spelled by spell; none: nothing
	// is known.
	values func(*record.Measure) []shown
	spell  func(float64) string
}

// extent is what is measured: flows of a protocol, with a probe beside them, or in a
// search for the highest rate without loss.
type extent struct {
	protocol         string
	probed, searched bool
}

// of says whether it is known of what is measured.
func (q *quality) of(e extent) bool {
	return slices.Contains(q.protocols, e.protocol) && (e.searched || !q.searched) || e.probed && q.probed
}

// shown is a value, and of what: a direction, or nothing in particular.
type shown struct {
	of    string
	value float64
}

// qualities are all that can be expected. Those that are named by nothing but
// their unit come first.
var qualities = append([]quality{
	{"goodput", bulk, false, false, ">= 900mbit", parseAs(unit.ParseBitRate), ofDirections(func(d record.MeasureDirection) (float64, bool) { return d.GoodputBps, true }), limits.Rate},
	{"rate", transactions, false, false, ">= 10000/s", parsePerSecond, ofDirections(func(d record.MeasureDirection) (float64, bool) { return d.RatePerS, d.Transactions != nil }), report.PerSecond},
	{"lost", lossy, false, false, "<= 0.1%", parseShare, ofDirections(func(d record.MeasureDirection) (float64, bool) { return d.LostShare, d.Lost != nil }), report.Percent},
	{"jitter", onlyUDP, false, false, "<= 1ms", parseTime, ofDatagrams(func(g *record.Datagrams) float64 { return g.JitterUs }), report.Microseconds},
	{"loss-free", onlyUDP, false, true, ">= 900mbit", parseAs(unit.ParseBitRate), ofSearch, limits.Rate},
	{"buffer-delay", nil, true, false, "<= 30ms", parseTime, ofLatency(func(l *record.Latency) float64 { return l.BufferDelayUs }), report.Microseconds},
	{"grade", nil, true, false, ">= B", parseGrade, ofLatency(func(l *record.Latency) float64 { return float64(slices.Index(bufferbloat.Grades(), l.Grade)) }), spellGrade},
}, latencies()...)

// latencies are the parts of a distribution.
func latencies() (list []quality) {
	for _, part := range []struct {
		name string
		of   func(*record.Distribution) float64
	}{
		{"mean", func(l *record.Distribution) float64 { return l.MeanUs }},
		{"p50", func(l *record.Distribution) float64 { return l.P50Us }},
		{"p90", func(l *record.Distribution) float64 { return l.P90Us }},
		{"p99", func(l *record.Distribution) float64 { return l.P99Us }},
		{"p99.9", func(l *record.Distribution) float64 { return l.P999Us }},
		{"p99.99", func(l *record.Distribution) float64 { return l.P9999Us }},
		{"max", func(l *record.Distribution) float64 { return l.MaxUs }},
	} {
		list = append(list, quality{part.name, transactions, true, false, "<= 500us", parseTime, func(m *record.Measure) []shown {
			l := m.LatencyUs
			if m.Latency != nil {
				l = m.Latency.Loaded
			}
			if l == nil {
				return nil
			}
			return []shown{{"", part.of(l)}}
		}, report.Microseconds})
	}
	return list
}

func ofSearch(m *record.Measure) []shown {
	if m.LossFree == nil {
		return nil
	}
	return []shown{{"", m.LossFree.RateBps}}
}

func ofLatency(of func(*record.Latency) float64) func(*record.Measure) []shown {
	return func(m *record.Measure) []shown {
		if m.Latency == nil || m.Latency.Loaded == nil {
			return nil
		}
		return []shown{{"", of(m.Latency)}}
	}
}

// parseGrade reads a grade as its place among them, the worst being 0.
func parseGrade(text string) (float64, error) {
	if i := slices.Index(bufferbloat.Grades(), strings.TrimSpace(text)); i >= 0 {
		return float64(i), nil
	}
	return 0, errors.New("no grade")
}

func spellGrade(place float64) string { return bufferbloat.Grades()[int(place)] }

func ofDirections(of func(record.MeasureDirection) (float64, bool)) func(*record.Measure) []shown {
	return func(m *record.Measure) (list []shown) {
		for _, d := range m.Directions {
			if value, known := of(d); known {
				list = append(list, shown{d.Direction, value})
			}
		}
		return list
	}
}

func ofDatagrams(of func(*record.Datagrams) float64) func(*record.Measure) []shown {
	return ofDirections(func(d record.MeasureDirection) (float64, bool) {
		if d.Datagrams == nil {
			return 0, false
		}
		return of(d.Datagrams), true
	})
}

func parseAs[T ~float64](parse func(string) (T, error)) func(string) (float64, error) {
	return func(text string) (float64, error) {
		value, err := parse(text)
		return float64(value), err
	}
}

// parsePerSecond reads "10000/s" or "10k/s".
func parsePerSecond(text string) (float64, error) {
	digits, found := strings.CutSuffix(strings.TrimSpace(text), "/s")
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "M": 1e6} {
		if short, has := strings.CutSuffix(digits, suffix); has {
			digits, factor = short, f
		}
	}
	value, err := strconv.ParseFloat(digits, 64)
	if !found || err != nil || !(value >= 0) || strings.Trim(digits, "0123456789.") != "" {
		return 0, fmt.Errorf("%q: expected a number per second, such as 10000/s", text)
	}
	return value * factor, nil
}

// parseShare reads "0.1%"; a bare number might be meant as either.
func parseShare(text string) (float64, error) {
	value, err := unit.ParseRatio(text)
	if err == nil && value > 0 && !strings.HasSuffix(strings.TrimSpace(text), "%") {
		err = errors.New("no percentage")
	}
	return float64(value), err
}

// parseTime reads "500us" as microseconds.
func parseTime(text string) (float64, error) {
	value, err := unit.ParseDuration(text)
	return float64(value) / 1e3, err
}

// comparisons, the longer ones first.
var comparisons = []string{">=", "<=", ">", "<"}

// parseGate reads what is expected of a measurement: ">= 900mbit",
// "p99 <= 500us, rate >= 10000/s".
func parseGate(text string, of extent) (gate, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var g gate
	var problems []error
	for part := range strings.SplitSeq(text, ",") {
		c, err := parseCondition(strings.TrimSpace(part), of)
		g, problems = append(g, c), append(problems, err)
	}
	return g, errors.Join(problems...)
}

// parseCondition reads one condition. A bit rate and a number per second need no
// name, and without a comparison at least that much is meant.
func parseCondition(text string, of extent) (condition, error) {
	at, comparison := len(text), ""
	for _, c := range comparisons {
		if i := strings.Index(text, c); i >= 0 && i < at {
			at, comparison = i, c
		}
	}
	c := condition{comparison: comparison}
	name, value := "", text
	if comparison == "" {
		c.comparison = ">="
	} else {
		name, value = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(comparison):])
	}
	if name == "" {
		c.quantity = unnamed(of.protocol)
	} else if i := slices.IndexFunc(qualities, func(q quality) bool { return q.name == name }); i >= 0 {
		c.quantity = &qualities[i]
	}
	switch {
	case c.quantity == nil:
		return c, fmt.Errorf("%q: no quantity is called %q%s", text, name, source.DidYouMean(name, expectable(of)))
	case c.quantity.of(of):
	case c.quantity.searched && slices.Contains(c.quantity.protocols, of.protocol):
		return c, fmt.Errorf("%q: %s is known with --loss-free", text, c.quantity.name)
	case c.quantity.probed:
		return c, fmt.Errorf("%q: %s is known%s with --latency", text, c.quantity.name,
			map[bool]string{true: " of " + source.Or(c.quantity.protocols) + ", and of others"}[len(c.quantity.protocols) > 0])
	default:
		return c, fmt.Errorf("%q: %s is known of %s, and --protocol is %s", text, c.quantity.name, source.Or(c.quantity.protocols), of.protocol)
	}
	var err error
	if c.wanted, err = c.quantity.parse(value); err != nil {
		return c, fmt.Errorf("%q: expected %sa comparison (%s) and a value, such as '%s %s'", text,
			map[bool]string{true: "a quantity, "}[name != ""], strings.Join(comparisons, ", "), c.quantity.name, c.quantity.example)
	}
	c.text = strings.TrimSpace(name + " " + c.comparison + " " + value)
	return c, nil
}

// unnamed is what a value without a name is of.
func unnamed(protocol string) *quality {
	if slices.Contains(transactions, protocol) {
		return &qualities[1]
	}
	return &qualities[0]
}

// expectable are the names of what is known of a measurement.
func expectable(of extent) (names []string) {
	for _, q := range qualities {
		if q.of(of) {
			names = append(names, q.name)
		}
	}
	return names
}

// hold asks every direction and mode of a measurement; nil: nothing was expected.
func (g gate) hold(m *record.Measure) *record.Expectation {
	if len(g) == 0 {
		return nil
	}
	e := &record.Expectation{Met: true}
	var texts []string
	for _, c := range g {
		part := c.hold(m)
		e.Conditions = append(e.Conditions, part)
		e.Met = e.Met && part.Met
		texts = append(texts, c.text)
	}
	e.Gate = strings.Join(texts, ", ")
	return e
}

func (c condition) hold(m *record.Measure) record.Condition {
	part := record.Condition{Quantity: c.quantity.name, Condition: c.text}
	var got []string
	met := true
	for _, one := range m.EachMode() {
		values := c.quantity.values(one)
		if one.LossFree != nil && one.LossFree.RateBps == 0 {
			values = nil // a search that found nothing ends with a trial that lost
		}
		met = met && len(values) > 0
		for _, v := range values {
			words := strings.TrimSpace(v.of + " " + c.quantity.spell(v.value))
			if len(m.Modes) > 0 {
				words += " in mode " + one.Mode
			}
			got = append(got, words)
			met = met && c.admits(v.value)
		}
	}
	part.Met, part.Got = met, strings.Join(got, ", ")
	if len(got) == 0 {
		part.Got = "nothing"
	}
	return part
}

func (c condition) admits(value float64) bool {
	switch c.comparison {
	case ">=":
		return value >= c.wanted
	case "<=":
		return value <= c.wanted
	case ">":
		return value > c.wanted
	default:
		return value < c.wanted
	}
}

// unmet says what was expected and not found.
func unmet(e *record.Expectation) error {
	if e == nil || e.Met {
		return nil
	}
	var words []string
	for _, c := range e.Conditions {
		if !c.Met {
			words = append(words, fmt.Sprintf("expected %s %s, got %s", c.Quantity, strings.TrimPrefix(c.Condition, c.Quantity+" "), c.Got))
		}
	}
	return errors.New(strings.Join(words, "; "))
}
