// Package metric knows what treatments can be judged by: what each response is
// called, in which unit it is kept and shown, whether more or less of it is
// better, and where a record has it. It estimates and compares nothing; package
// stats does.
package metric

import (
	"slices"

	"linerate/internal/model/record"
)

// Metric is something measured in each trial.
type Metric struct {
	Name  string // in study files and records
	Label string // in sentences: "latency p99"
	Unit  string // of values in records: bps, per_s, us, share, s_per_gb, count
	Lower bool   // less is better
	// Floor is a difference that does not matter in practice, whatever the ratio.
	Floor float64
	// Signed: it may be below zero. Levels are then compared by their difference: a
	// ratio of two that are next to nothing says nothing.
	Signed bool
	// Absent says why a trial may have no value.
	Absent string

	protocols []string
	value     func(t *record.Trial) (float64, bool)
}

// Those there are.
var (
	Goodput = Metric{
		Name: "goodput", Label: "goodput", Unit: "bps", protocols: bulk,
		value: func(t *record.Trial) (float64, bool) { return t.GoodputBps, true },
	}
	Transactions = Metric{
		Name: "transactions", Label: "transaction rate", Unit: "per_s", Absent: "no flow makes transactions", protocols: transactional,
		value: func(t *record.Trial) (float64, bool) {
			return t.TransactionsPerS, slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return !record.Bulk(f.Protocol) })
		},
	}
	LatencyP50  = latency("latency_p50", "latency p50", func(d *record.Distribution) float64 { return d.P50Us })
	LatencyP99  = latency("latency_p99", "latency p99", func(d *record.Distribution) float64 { return d.P99Us })
	LatencyP999 = latency("latency_p999", "latency p99.9", func(d *record.Distribution) float64 { return d.P999Us })
	// A shaper's full bucket, and what a window can be off by, are less than this.
	Surplus = Metric{
		Name: "surplus", Label: "surplus", Unit: "share", Lower: true, Floor: 0.02, Signed: true, Absent: "no other program has said anything of its flows",
		protocols: []string{record.ProtocolTCP, record.ProtocolUDP},
		value: func(t *record.Trial) (float64, bool) {
			s := t.ToolReported
			if s == nil || s.GoodputBps == 0 {
				return 0, false
			}
			return s.SurplusBps / s.GoodputBps, true
		},
	}
	// CPUPerGigabyte and CPUPerTransaction are the processor time of linerate's own
	// processes at all hosts, kernel included: other load on the machine is not in it.
	CPUPerGigabyte = Metric{
		Name: "cpu_per_gigabyte", Label: "CPU time per GB", Unit: "s_per_gb", Lower: true, Absent: "nothing was received", protocols: bulk,
		value: func(t *record.Trial) (float64, bool) {
			var bytes int64
			for _, f := range t.Flows {
				if record.Bulk(f.Protocol) {
					bytes += f.ReceivedBytes
				}
			}
			return processors(t, float64(bytes)/1e9)
		},
	}
	CPUPerTransaction = Metric{
		Name: "cpu_per_transaction", Label: "CPU time per transaction", Unit: "us", Lower: true, Absent: "no transaction was done", protocols: transactional,
		value: func(t *record.Trial) (float64, bool) {
			var done int64
			for _, f := range t.Flows {
				if f.Transactions != nil {
					done += f.Transactions.Done
				}
			}
			return processors(t, float64(done)/1e6)
		},
	}
	// Connections are those that were open at the window's end, also of flows that
	// have got no more for want of ports.
	Connections = Metric{
		Name: "connections", Label: "connection count", Unit: "count", Absent: "no flow has connections that stay", protocols: []string{record.ProtocolRR},
		value: func(t *record.Trial) (open float64, any bool) {
			for _, f := range t.Flows {
				switch {
				case f.Protocol != record.ProtocolRR:
					continue
				case f.Exhausted != nil:
					open += float64(f.Exhausted.Open)
				case f.Transactions != nil:
					open += float64(f.Transactions.Connections)
				}
				any = true
			}
			return open, any
		},
	}
	// LossFree is 0 where every rate lost.
	LossFree = Metric{
		Name: "loss_free", Label: "loss-free rate", Unit: "bps", Absent: "no rate without loss was searched", protocols: []string{record.ProtocolUDP},
		value: func(t *record.Trial) (float64, bool) {
			if t.LossFree == nil {
				return 0, false
			}
			return t.LossFree.RateBps, true
		},
	}
	// Of a thousand datagrams one more or less is nothing that an application
	// would notice.
	Lost = Metric{
		Name: "lost", Label: "loss", Unit: "share", Lower: true, Floor: 0.001, Absent: "no datagram was sent", protocols: []string{record.ProtocolUDP, record.ProtocolUDPRR},
		value: func(t *record.Trial) (float64, bool) {
			if t.Datagrams != nil {
				return t.Datagrams.LostShare()
			}
			return unanswered(t)
		},
	}
)

// All are the responses in the order in which people read them.
var All = []Metric{Goodput, Transactions, LatencyP50, LatencyP99, LatencyP999, LossFree, Lost, Surplus, Connections, CPUPerGigabyte, CPUPerTransaction}

// unanswered is the part of a trial's requests over UDP that had no response.
func unanswered(t *record.Trial) (share float64, known bool) {
	var all record.Transactions
	for _, f := range t.Flows {
		if x := f.Transactions; x != nil && f.Protocol == record.ProtocolUDPRR {
			all.Unanswered, all.Done = all.Unanswered+x.Unanswered, all.Done+x.Done
		}
	}
	return all.LostShare()
}

// processors is the processor time of a trial for each of so many units of work.
func processors(t *record.Trial, work float64) (float64, bool) {
	var seconds float64
	for _, h := range t.Hosts {
		seconds += h.ProcessCPUS
	}
	if work <= 0 || seconds <= 0 {
		return 0, false
	}
	return seconds / work, true
}

var bulk = []string{record.ProtocolTCP, record.ProtocolUDP}

var transactional = record.Transactional

func latency(name, label string, of func(*record.Distribution) float64) Metric {
	return Metric{
		Name: name, Label: label, Unit: "us", Lower: true, Absent: "no transaction was done", protocols: transactional,
		value: func(t *record.Trial) (float64, bool) {
			if t.Latency == nil || t.Latency.Count == 0 {
				return 0, false
			}
			return of(t.Latency), true
		},
	}
}

// Find is the response of that name; the empty one is goodput's.
func Find(name string) (Metric, bool) {
	i := slices.IndexFunc(All, func(r Metric) bool { return r.Name == name })
	switch {
	case name == "":
		return Goodput, true
	case i < 0:
		return Metric{}, false
	}
	return All[i], true
}

// Of lists what a run is judged by, the one that counts first. A name that is not
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
	return list
}

// From says whether flows of a protocol have the response.
func (r Metric) From(protocol string) bool {
	if protocol == "" {
		protocol = record.ProtocolTCP
	}
	return slices.Contains(r.protocols, protocol)
}

// Protocols are those whose flows have the response.
func (r Metric) Protocols() []string { return r.protocols }

// Value is the response of one trial; false: it has none (Absent).
func (r Metric) Value(t *record.Trial) (float64, bool) { return r.value(t) }

// Estimate is the response of a treatment, with no Trials where it has none.
func (r Metric) Estimate(t *record.Treatment) record.ResponseEstimate {
	for _, e := range t.Responses {
		if e.Response == r.Name {
			return e
		}
	}
	e := record.ResponseEstimate{Response: r.Name, Unit: r.Unit}
	if r.Name == Goodput.Name {
		g := t.Goodput
		e.Mean, e.Low, e.High, e.Confidence, e.Trials = g.MeanBps, g.LowBps, g.HighBps, g.Confidence, t.Trials
	}
	return e
}

// Effect is an effect's comparison in this response; nil: it was not made.
func (r Metric) Effect(e *record.Effect) *record.Effect {
	if e == nil {
		return nil
	}
	if of, ok := Find(e.Response); ok && of.Name == r.Name {
		return e
	}
	for i := range e.Beside {
		if found := r.Effect(&e.Beside[i]); found != nil {
			return found
		}
	}
	return nil
}
