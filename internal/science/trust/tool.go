package trust

import (
	"math"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"

	"linerate/internal/science/toolreport"
)

// toolTolerance is the share by which another program's rate may differ. Its time is not that of
// the window, but the rate of a steady flow is the same in both.
const toolTolerance = 0.02

// toolAgrees compares what another program reports with what the receivers read, and with the
// limit. If a process gave no report, the load of the trial is in doubt and the check fails.
func toolAgrees(v view) (judged, bool) {
	s := v.ToolReported
	c := record.Check{Check: ToolAgrees, Subject: record.SubjectReported, Pass: true}
	if s != nil && s.Processes == 0 {
		return judged{}, false // linerate's own account, which sender-side is about
	}
	if i := slices.IndexFunc(v.Tools, func(run record.ToolRun) bool { return run.Error != "" }); i >= 0 {
		failed := fact.ToolFailed{Of: len(v.Tools), Error: v.Tools[i].Error}
		if s != nil {
			failed.Gave = s.Processes
		}
		c.Subject, c.Pass, c.Facts = "", false, facts("", failed)
		return judged{c, 1}, true
	}
	if s == nil {
		return judged{}, false
	}
	if s.TransactionsPerS > 0 {
		return v.transactionsAgree(s), true
	}
	most, used := toolTolerance*s.GoodputBps, 0.0
	above := most + v.early(s) // what comes at once at the start, before the window
	if used = s.SurplusBps / above; s.SurplusBps < 0 {
		used = -s.SurplusBps / most
	}
	if s.GoodputBps == 0 {
		used = math.Inf(1)
	}
	c.Pass = used <= 1
	rate := fact.ToolRate{Method: s.Method, Bps: s.SumBps, ReceivedBps: s.GoodputBps}
	if s.GoodputBps > 0 {
		rate.Change, rate.Least, rate.Most = s.SurplusBps/s.GoodputBps, -toolTolerance, above/s.GoodputBps
	}
	if allowed := v.LimitBps*(1+v.overLimit()) + v.early(s); v.LimitBps > 0 && s.SumBps > allowed && v.allOfTools() {
		c.Pass, used = false, max(used, s.SumBps/allowed)
		rate.LimitShare, rate.LimitBps = s.SumBps/v.LimitBps, v.LimitBps
	}
	if !c.Pass {
		rate.Why = excess(s)
	}
	c.Facts = facts("", rate)
	return judged{c, used}, true
}

// excess returns why a reported rate is off, as far as that is known.
func excess(s *record.ToolReported) *fact.ToolExcess {
	explains := toolreport.Explained(*s)
	if s.PredictedBps > 0 && (explains || s.SurplusBps > 0) {
		return &fact.ToolExcess{PredictedBps: s.PredictedBps, SurplusBps: s.SurplusBps, Explains: explains,
			UnsentBytes: float64(s.UnsentBytes)}
	}
	return &fact.ToolExcess{Seconds: s.Seconds}
}

// early returns the rate by which a full token bucket can raise a tool's figure: the tool counts
// from its first byte, linerate from the begin of the window.
func (v view) early(s *record.ToolReported) float64 {
	if s.Seconds <= 0 {
		return 0
	}
	most := 0.0
	for _, f := range v.Flows {
		if f.Process != "" {
			most = max(most, v.bucket(f).bytes)
		}
	}
	return most * 8 / s.Seconds
}

// allOfTools reports whether no flow is linerate's own, so that the limit is that of the tools'
// flows.
func (v view) allOfTools() bool {
	return !slices.ContainsFunc(v.Flows, func(f record.Flow) bool { return f.Process == "" })
}

func (v view) transactionsAgree(s *record.ToolReported) judged {
	const tolerance = 0.05 // a machine's transactions are not as even as a link's bytes
	off := math.Inf(1)
	if s.CountedTransactionsPerS > 0 {
		off = s.TransactionsPerS/s.CountedTransactionsPerS - 1
	}
	c := record.Check{Check: ToolAgrees, Subject: record.SubjectReported, Pass: math.Abs(off) <= tolerance}
	is := fact.ToolTransactions{Method: s.Method, PerS: s.TransactionsPerS, Counted: s.CountedTransactionsPerS,
		Allowed: tolerance, ByServer: slices.ContainsFunc(v.Flows, func(f record.Flow) bool {
			return flow.Of(f.Protocol).Application
		})}
	if s.CountedTransactionsPerS > 0 {
		is.Change = off
	}
	c.Facts = facts("", is)
	return judged{c, math.Abs(off) / tolerance}
}
