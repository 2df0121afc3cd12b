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

// unfinished is the trial of a window that has not ended, from the readings of its intervals, which are less exact
// than those at the window's edges.
type unfinished struct {
	trial    record.Trial
	session  *session
	planned  []*trial.Flow
	first    map[string]message.FlowProgress
	latest   map[string]message.FlowProgress
	measured bool
}

// begin returns an unfinished trial whose window starts at the reading first.
func (s *session) begin(flows []*trial.Flow, first map[string]message.FlowProgress) *unfinished {
	u := &unfinished{session: s, planned: flows, first: first, latest: first}
	u.trial = record.Trial{Block: 1, Order: 1, Treatment: asMeasured, Started: s.began,
		WarmupS: s.options.Warmup.Seconds(), PlannedS: s.options.Duration.Seconds(), Mode: s.options.Flows.Mode,
		Ended: "linerate was killed"}
	return u
}

// add updates the trial with the interval from the previous reading to now.
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
		sum := intervals[[2]string{from, to}]
		sum.FromS, sum.ToS = seconds-latest, seconds
		sum.GoodputBps += float64(last.bytes) * 8 / latest
		sum.RatePerS += float64(last.done) / latest
		intervals[[2]string{from, to}] = sum
	}
	var parts []record.Part
	for _, way := range ways(t.Flows) {
		p, err := stats.Part(t.Flows, way[0], way[1], t.WindowS)
		if err != nil {
			continue // latencies are known only at the window's end
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

// unfinished returns the run with its open window so far. Windows of a search and those without load are not part
// of the result.
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

// Recover makes the saved window of a killed measurement its only trial and concludes from it. There are no trust
// checks and latencies, which need the readings at the window's end.
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
