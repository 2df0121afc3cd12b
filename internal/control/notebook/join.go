package notebook

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Join converts the trials of a measurement that an earlier version recorded to the form that they have today,
// with Parts. Every store calls it for a run that it has read (see Store.Run). Earlier versions saved the
// directions of one window as a trial each, with the readings of the hosts in the first: Join merges them,
// renumbers the trials, and adapts run.Trust.
//
// It changes nothing in a run of a study or in one that this version recorded. The error says which latencies
// cannot be read.
func Join(run *record.Run) error {
	if run.Study != record.MeasureStudy {
		return nil
	}
	var trials []record.Trial
	orders := map[int]int{} // by the order that it was stored with
	for _, t := range run.Trials {
		n := len(trials)
		if len(t.Parts) == 0 {
			if err := divide(&t); err != nil {
				return err
			}
			if n > 0 && trials[n-1].Started.Equal(t.Started) {
				orders[t.Order] = n
				merge(&trials[n-1], t)
				continue
			}
		}
		orders[t.Order] = n + 1
		t.Order = n + 1
		trials = append(trials, t)
	}
	for i := range trials {
		whole(&trials[i])
	}
	if len(trials) == len(run.Trials) {
		run.Trials = trials
		return nil
	}
	run.Trials = trials
	var checks []record.Check
	for _, c := range run.Trust { // a failure is stored with each direction
		c.Trial = orders[c.Trial]
		if !slices.ContainsFunc(checks, func(other record.Check) bool { return reflect.DeepEqual(c, other) }) {
			checks = append(checks, c)
		}
	}
	run.Trust = checks
	return nil
}

// divide gives a trial of one direction its part.
func divide(t *record.Trial) error {
	for i := range t.Flows {
		f := &t.Flows[i]
		f.Probe = t.Bufferbloat != nil && !flow.Of(f.Protocol).Bulk()
	}
	for _, f := range t.Flows {
		if f.Probe {
			continue
		}
		p, err := stats.Part(t.Flows, f.From, f.To, t.WindowS)
		p.LimitBps, p.Limit, p.LimitWhy, p.Treatment, p.Levels = t.LimitBps, t.Limit, t.LimitWhy, t.Treatment, t.Levels
		t.Parts = []record.Part{p}
		return err
	}
	return nil
}

// merge adds the other direction of a trial's window to it.
func merge(t *record.Trial, other record.Trial) {
	var probes []record.Flow
	flows := t.Flows
	t.Flows = nil
	for _, f := range flows {
		if f.Probe {
			probes = append(probes, f)
		} else {
			t.Flows = append(t.Flows, f)
		}
	}
	for _, f := range other.Flows {
		if !f.Probe {
			t.Flows = append(t.Flows, f)
		}
	}
	t.Flows, t.Parts = append(t.Flows, probes...), append(t.Parts, other.Parts...)
	t.GoodputBps += other.GoodputBps
	t.SenderReportedBps += other.SenderReportedBps
	if t.Datagrams != nil && other.Datagrams != nil {
		both := *t.Datagrams
		both.Add(other.Datagrams)
		t.Datagrams = &both
	}
	if len(t.Limit.Directions) == 0 {
		t.Limit = record.Limit{Directions: []record.Limit{t.Limit}}
	}
	t.Limit.Directions = append(t.Limit.Directions, other.Limit)
	if t.Limit.Directions[0].IsZero() { // in words alone
		t.Limit = record.Limit{}
	}
	t.LimitWhy = "both directions: " + strings.TrimPrefix(t.LimitWhy, "both directions: ") + " + " + other.LimitWhy
	if t.LimitBps += other.LimitBps; t.LimitBps == other.LimitBps || other.LimitBps == 0 {
		t.LimitBps = 0
	}
}

// whole makes the treatment of a trial of several parts that of its window, which has no direction.
func whole(t *record.Trial) {
	if len(t.Parts) < 2 {
		for i := range t.Parts {
			t.Parts[i].Treatment, t.Parts[i].Levels = "", nil
		}
		return
	}
	t.Levels = maps.Clone(t.Levels)
	delete(t.Levels, "direction")
	if t.Treatment = t.Levels["mode"]; t.Treatment == "" {
		t.Treatment = "measurement"
	}
}
