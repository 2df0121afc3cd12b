// Package metric is the registry of what a measurement can be judged by: for
// each metric its name, unit, direction (is more or less better), protocols,
// and how it is read from a trial. The study key response,
// measure --expect, plots, exports, the JSON Schema and docs/metrics.md are
// served from it. It estimates and compares nothing; package stats does.
package metric

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Metric is one quantity of a measurement.
type Metric struct {
	Name   string // in study files, records and --expect: snake_case
	Label  string // in sentences: "latency p99"
	Plural bool   // of Label: “errors”
	Unit   string // of values in records: a key of units
	About  string // for docs/metrics.md: one line of Markdown
	Lower  bool   // less is better
	// Floor is a difference that does not matter in practice, whatever the ratio.
	// Unit: the metric's own.
	Floor float64
	// Signed values may be below zero, or near zero at some level. Levels are compared by their
	// difference, since the ratio of two values near zero means nothing.
	Signed bool
	// Quantile, above 0, says that the metric is that percentile of how long
	// transactions took (Trial.Latency); 0: it is none.
	Quantile float64
	// Absent says why a trial may have no value.
	Absent string

	Protocols []string // whose flows have it; nil: those of the latency probe only
	Probed    bool     // the latency probe beside other flows has it, too
	Searched  bool     // only a search for the loss-free rate has it

	// value reads it from a trial, or a part of one (record.Trial.Of). whole: of a trial of several
	// parts there is one value. studied: only studies are judged by it, and --expect does not know it.
	value          func(*record.Trial) (float64, bool)
	whole, studied bool
}

// Reading is a value of a metric in one part of a trial; the part is empty where
// the value is the whole trial's.
type Reading struct {
	Part  string
	Value float64
	// Transactions is how many a value is of that is read from the distribution of how
	// long they took; 0: it is not.
	Transactions int64
}

// Setup is what a measurement consists of, as far as it decides which metrics
// there are: flows of a protocol, a latency probe beside them, a search for the
// loss-free rate.
type Setup struct {
	Protocol        string
	Probe, LossFree bool
}

// find returns the metric of that name.
func find(name string) (Metric, bool) {
	i := slices.IndexFunc(All, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return All[i], true
}

// Find returns the response of that name; the empty name is goodput's. False:
// there is none, or a study cannot be judged by it.
func Find(name string) (Metric, bool) {
	if name == "" {
		return Goodput, true
	}
	m, ok := find(name)
	return m, ok && m.response()
}

// Responses are the metrics that a study can be judged by, in the order of the
// registry.
func Responses() []Metric {
	return slices.DeleteFunc(slices.Clone(All), func(m Metric) bool { return !m.response() })
}

// response reports whether a study can be judged by the metric: not by one of a probe alone.
func (m Metric) response() bool { return len(m.Protocols) > 0 }

// ResponseNames are the names of Responses: the values of the study key response.
func ResponseNames() []string { return names(Metric.response) }

// Expectable returns the metric of that name for --expect; an empty name is the
// transaction rate of protocols that have one, and otherwise goodput. False: there
// is none, or a measurement does not have it.
func Expectable(name, protocol string) (Metric, bool) {
	switch {
	case name == "" && Transactions.From(protocol):
		return Transactions, true
	case name == "":
		return Goodput, true
	}
	m, ok := find(name)
	return m, ok && !m.studied
}

// ExpectableNames are the names of the metrics that --expect knows.
func ExpectableNames() []string { return names(func(m Metric) bool { return !m.studied }) }

func names(fit func(Metric) bool) (list []string) {
	for _, m := range All {
		if fit(m) {
			list = append(list, m.Name)
		}
	}
	return list
}

// Of lists the responses of a run, the one that counts first. A name that is not
// known here, from a later linerate, is left out.
func Of(run *record.Run) []Metric {
	var list []Metric
	for _, name := range run.Responses {
		if r, ok := Find(name); ok {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return []Metric{Goodput}
	}
	for i, r := range list {
		var estimates []record.ResponseEstimate
		for k := range run.Treatments {
			estimates = append(estimates, r.Estimate(&run.Treatments[k]))
		}
		list[i] = r.Of(estimates)
	}
	return list
}

// Of is the metric labelled for what these estimates are of it: a percentile is "latency by
// rank" where not one of them has enough transactions for it.
func (m Metric) Of(estimates []record.ResponseEstimate) Metric {
	measured := func(e record.ResponseEstimate) bool { return e.Trials > 0 }
	known := func(e record.ResponseEstimate) bool { return measured(e) && e.Rank == "" }
	if m.Quantile > 0 && slices.ContainsFunc(estimates, measured) && !slices.ContainsFunc(estimates, known) {
		m.Label = "latency by rank"
	}
	return m
}

// From reports whether flows of a protocol have the metric; an empty protocol is tcp.
func (m Metric) From(protocol string) bool {
	return slices.Contains(m.Protocols, flow.Of(protocol).Name)
}

// In reports whether a measurement of this setup has the metric.
func (m Metric) In(s Setup) bool {
	return m.From(s.Protocol) && (s.LossFree || !m.Searched) || s.Probe && m.Probed
}

// Is begins a sentence about the metric: "goodput is", "errors are".
func (m Metric) Is() string {
	if m.Plural {
		return m.Label + " are"
	}
	return m.Label + " is"
}

// Value is the metric of one trial; false: it has none (Absent).
func (m Metric) Value(t *record.Trial) (float64, bool) { return m.value(t) }

// Rank says what the metric is of so many transactions where it is a percentile that
// needs more: "3rd slowest of 200"; empty: it is itself.
func (m Metric) Rank(transactions int64) string {
	if m.Quantile == 0 {
		return ""
	}
	return record.Rank(m.Quantile, transactions)
}

// TooFew says why so many transactions do not show the metric: "latency p99 of 200 requests
// is the 3rd slowest: p99 needs 1,000"; empty: they do.
func (m Metric) TooFew(transactions int64) string {
	if m.Rank(transactions) == "" {
		return ""
	}
	of, _ := find(m.Name) // with its own label
	return fmt.Sprintf("%s of %s requests is the %s: %s needs %s", of.Label, unit.FormatCount(transactions),
		record.Slowest(m.Quantile, transactions), strings.TrimPrefix(of.Label, "latency "),
		unit.FormatCount(record.PercentileNeeds(m.Quantile)))
}

// Readings are the metric's values in the parts of a trial; none: it has none.
func (m Metric) Readings(t *record.Trial) (list []Reading) {
	add := func(part string, t *record.Trial) {
		value, known := m.value(t)
		if !known {
			return
		}
		r := Reading{Part: part, Value: value}
		if m.Quantile > 0 {
			r.Transactions = t.Latency.Count
		}
		list = append(list, r)
	}
	if m.whole || len(t.Parts) == 0 {
		add("", t)
		return list
	}
	for _, p := range t.Parts {
		add(p.Name(), t.Of(p))
	}
	return list
}

// Estimate is the metric of a treatment, with no Trials where it has none.
func (m Metric) Estimate(t *record.Treatment) record.ResponseEstimate {
	for _, e := range t.Responses {
		if e.Response == m.Name {
			return e
		}
	}
	e := record.ResponseEstimate{Response: m.Name, Unit: m.Unit}
	if m.Name == Goodput.Name {
		g := t.Goodput
		e.Mean, e.Low, e.High, e.Half, e.Confidence, e.Trials = g.MeanBps, g.LowBps, g.HighBps, g.HalfBps,
			g.Confidence, t.Trials
	}
	return e
}

// Effect is an effect's comparison in this metric; nil: it was not made.
func (m Metric) Effect(e *record.Effect) *record.Effect {
	if e == nil {
		return nil
	}
	if of, ok := Find(e.Response); ok && of.Name == m.Name {
		return e
	}
	for i := range e.Beside {
		if found := m.Effect(&e.Beside[i]); found != nil {
			return found
		}
	}
	return nil
}
