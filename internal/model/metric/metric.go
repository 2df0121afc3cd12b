// Package metric is the registry of the metrics that a measurement can be judged by: the name, unit
// and direction (is more or less better) of each, its protocols, and how it is read from a trial.
// The study key response, measure --expect, plots, exports, the JSON Schema and docs/metrics.md are
// derived from it. It computes no estimates and comparisons; package stats does.
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
	Plural bool   // whether Label is a plural: "errors"
	Unit   string // of values in records: a key of units
	About  string // for docs/metrics.md: one line of Markdown
	Lower  bool   // less is better
	// Floor is a difference that does not matter in practice, regardless of the ratio. Its unit is
	// that of the metric.
	Floor float64
	// Signed reports whether values can be negative or close to zero. Levels are then compared by
	// their difference, since the ratio of two values near zero means nothing.
	Signed bool
	// Quantile is the quantile of the transaction times (Trial.Latency) that the metric reports,
	// such as 0.99. 0: the metric is no percentile.
	Quantile float64
	// Absent is why a trial may have no value.
	Absent string

	Protocols []string // whose flows have the metric; nil: only the latency probe has it
	Probed    bool     // whether the latency probe beside other flows has it too
	Searched  bool     // whether only a search for the loss-free rate has it

	// value reads the metric from a trial, or from a part of one (record.Trial.Of). whole reports
	// that a trial of several parts has only one value. studied reports that only studies can be
	// judged by the metric: --expect does not accept it.
	value          func(*record.Trial) (float64, bool)
	whole, studied bool
}

// Reading is the value of a metric in one part of a trial. Part is empty if the value is that of
// the whole trial.
type Reading struct {
	Part  string
	Value float64
	// Transactions is the number of transactions in the distribution that the value is read from.
	// 0: it is not read from one.
	Transactions int64
}

// Setup has the properties of a measurement that determine its metrics: the protocol of its flows,
// whether a latency probe runs beside them, and whether it searches for the loss-free rate.
type Setup struct {
	Protocol        string
	Probe, LossFree bool
}

// find returns the metric with the given name.
func find(name string) (Metric, bool) {
	i := slices.IndexFunc(All, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return All[i], true
}

// Find returns the response with the given name; the empty name is goodput. It returns false if
// there is none, or if a study cannot be judged by it.
func Find(name string) (Metric, bool) {
	if name == "" {
		return Goodput, true
	}
	m, ok := find(name)
	return m, ok && m.response()
}

// Responses returns the metrics that a study can be judged by, in the order of the registry.
func Responses() []Metric {
	return slices.DeleteFunc(slices.Clone(All), func(m Metric) bool { return !m.response() })
}

// response reports whether a study can be judged by the metric. Metrics of a probe alone are no
// responses.
func (m Metric) response() bool { return len(m.Protocols) > 0 }

// ResponseNames returns the names of Responses: the values of the study key response.
func ResponseNames() []string { return names(Metric.response) }

// Expectable returns the metric with the given name for --expect. The empty name is the transaction
// rate for protocols that have one, and otherwise goodput. It returns false if there is none, or if
// a measurement does not have it.
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

// ExpectableNames returns the names of the metrics that --expect accepts.
func ExpectableNames() []string { return names(func(m Metric) bool { return !m.studied }) }

func names(fit func(Metric) bool) (list []string) {
	for _, m := range All {
		if fit(m) {
			list = append(list, m.Name)
		}
	}
	return list
}

// Of returns the responses of a run, the primary one first. Names from a later version that are
// unknown here are left out.
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

// Of returns the metric with the label that fits the estimates: a percentile is "latency by rank"
// if no estimate has enough transactions for it.
func (m Metric) Of(estimates []record.ResponseEstimate) Metric {
	measured := func(e record.ResponseEstimate) bool { return e.Trials > 0 }
	known := func(e record.ResponseEstimate) bool { return measured(e) && e.Rank == "" }
	if m.Quantile > 0 && slices.ContainsFunc(estimates, measured) && !slices.ContainsFunc(estimates, known) {
		return m.ByRank()
	}
	return m
}

// ByRank returns the metric with the label of a percentile for which there are too few requests.
func (m Metric) ByRank() Metric {
	m.Label = "latency by rank"
	return m
}

// From reports whether flows of a protocol have the metric. The empty protocol is tcp.
func (m Metric) From(protocol string) bool {
	return slices.Contains(m.Protocols, flow.Of(protocol).Name)
}

// In reports whether a measurement with this setup has the metric.
func (m Metric) In(s Setup) bool {
	return m.From(s.Protocol) && (s.LossFree || !m.Searched) || s.Probe && m.Probed
}

// Is returns the beginning of a sentence about the metric: "goodput is", "errors are".
func (m Metric) Is() string {
	if m.Plural {
		return m.Label + " are"
	}
	return m.Label + " is"
}

// Value returns the metric of a trial. It returns false if there is none (see Absent).
func (m Metric) Value(t *record.Trial) (float64, bool) { return m.value(t) }

// Rank returns what a percentile of too few transactions is instead, such as "3rd slowest of 200".
// Empty: this number of transactions is enough, or the metric is no percentile.
func (m Metric) Rank(transactions int64) string {
	if m.Quantile == 0 {
		return ""
	}
	return record.Rank(m.Quantile, transactions)
}

// TooFew explains why this number of transactions is too small for the metric: "latency p99 of 200
// requests is the 3rd slowest: p99 needs 1,000". Empty: it is large enough.
func (m Metric) TooFew(transactions int64) string {
	if m.Rank(transactions) == "" {
		return ""
	}
	of, _ := find(m.Name) // with its own label
	return fmt.Sprintf("%s of %s requests is the %s: %s needs %s", of.Label, unit.FormatCount(transactions),
		record.Slowest(m.Quantile, transactions), strings.TrimPrefix(of.Label, "latency "),
		unit.FormatCount(record.PercentileNeeds(m.Quantile)))
}

// Readings returns the values of the metric in the parts of a trial. Parts without a value are left
// out.
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

// Estimate returns the estimate of the metric for a treatment. Its Trials is 0 if there is none.
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

// Effect returns the comparison of an effect in this metric. Nil: there is none.
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
