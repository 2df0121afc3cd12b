package measure

import (
	"slices"

	"linerate/internal/control/notebook"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/stats"
)

// unfinished is an open window by the readings of its intervals, which are cheaper and less exact than
// those of its edges.
type unfinished struct {
	trial    record.Trial
	session  *session
	planned  []*trial.Flow
	first    map[string]message.FlowProgress
	latest   map[string]message.FlowProgress
	measured bool
}

// begin begins a window with a reading.
func (s *session) begin(flows []*trial.Flow, first map[string]message.FlowProgress) *unfinished {
	u := &unfinished{session: s, planned: flows, first: first, latest: first}
	u.trial = record.Trial{Block: 1, Order: 1, Treatment: asMeasured, Started: s.began,
		WarmupS: s.options.Warmup.Seconds(), PlannedS: s.options.Duration.Seconds(), Mode: s.options.Flows.Mode,
		Ended: "linerate was killed"}
	return u
}

// add adds an interval, which ends with a reading.
func (u *unfinished) add(now map[string]message.FlowProgress) {
	s, t := u.session, &u.trial
	t.Flows, t.GoodputBps, t.TransactionsPerS = nil, 0, 0
	intervals := map[[2]string]record.Interval{}
	for _, f := range u.planned {
		from, to := f.Sender(), f.Receiver()
		node := s.counter(from, to)
		seconds, d := since(u.first[node], now[node], ids{f.ID: true})
		if d.flows == 0 || seconds <= 0 {
			continue
		}
		one := record.Flow{ID: f.ID, From: from, To: to, Protocol: f.Protocol, Probe: f.Probe, OpenedBy: f.Opener,
			Connected: true, Alive: d.bytes+d.done > 0, CongestionControl: f.CongestionControl}
		if flow.Of(f.Protocol).Transactional() {
			one.Transactions, one.TransactionsPerS = &record.Transactions{Done: d.done}, float64(d.done)/seconds
			t.TransactionsPerS += one.TransactionsPerS
		} else {
			one.ReceivedBytes, one.GoodputBps = d.bytes, float64(d.bytes)*8/seconds
			t.GoodputBps += one.GoodputBps
		}
		t.Flows, t.WindowS = append(t.Flows, one), max(t.WindowS, seconds)
		if f.Probe {
			continue
		}
		latest, last := since(u.latest[node], now[node], ids{f.ID: true})
		if latest <= 0 {
			continue
		}
		way := intervals[[2]string{from, to}]
		way.FromS, way.ToS = seconds-latest, seconds
		way.GoodputBps += float64(last.bytes) * 8 / latest
		way.RatePerS += float64(last.done) / latest
		intervals[[2]string{from, to}] = way
	}
	var parts []record.Part
	for _, way := range ways(t.Flows) {
		p, err := stats.Part(t.Flows, way[0], way[1], t.WindowS)
		if err != nil {
			continue // of a latency, which no flow has yet
		}
		for _, before := range t.Parts {
			if before.From == p.From && before.To == p.To {
				p.Intervals = before.Intervals
			}
		}
		if latest, is := intervals[way]; is {
			p.Intervals = append(p.Intervals, latest)
		}
		parts = append(parts, p)
	}
	t.Parts, u.latest, u.measured = parts, now, len(parts) > 0
}

// unfinished is the measurement with what its open window has until now. Windows of a search, and those
// without load, are not those of the result.
func (s *session) unfinished(u *unfinished) *record.Run {
	var trials []record.Trial
	switch {
	case s.phase != "" || s.idle:
	case u.measured:
		trials = []record.Trial{u.trial}
	case len(s.trials) > 0: // the window before, of another mode
		trials = s.trials[len(s.trials)-1:]
	}
	r := s.describe(trials)
	if r.Trials, r.Snapshots = nil, nil; len(trials) > 0 { // snapshots are large, and this is saved often
		r.Unfinished = &trials[0]
	}
	return r
}

// Recover makes what was saved of a measurement that was killed its only trial, and concludes from it.
// Trust checks and latencies need the readings at the end of the window, which was not made.
func Recover(run *record.Run) {
	if run.Unfinished == nil || len(run.Trials) > 0 || run.Status != notebook.Interrupted {
		return
	}
	run.Trials, run.Unfinished = []record.Trial{*run.Unfinished}, nil
	run.Responses = slices.DeleteFunc(run.Responses, func(name string) bool {
		m, known := metric.Find(name)
		if !known {
			return true
		}
		_, measured := m.Value(&run.Trials[0])
		return !measured
	})
	conclude.Conclude(run)
	run.Trust, run.Conclusion.Doubts, run.Conclusion.DoubtedTrials = nil, nil, 0
}
