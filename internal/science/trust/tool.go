package trust

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/toolreport"
)

// toolTolerance is what another program's figure may differ by: its time is not
// the common window, but a steady flow's rate is the same in both.
const toolTolerance = 0.02

// toolAgrees checks what another program reports against what the receivers read and
// against the limit. A process without a report puts the trial's own load in doubt.
func toolAgrees(v view) (judged, bool) {
	s := v.ToolReported
	c := record.Check{Check: ToolAgrees, Subject: record.SubjectReported, Pass: true}
	if s != nil && s.Processes == 0 {
		return judged{}, false // linerate's own account, which sender-side is about
	}
	if i := slices.IndexFunc(v.Tools, func(run record.ToolRun) bool { return run.Error != "" }); i >= 0 {
		c.Subject, c.Pass, c.Detail = "", false, "no figure: "+v.Tools[i].Error
		if s != nil {
			c.Detail = fmt.Sprintf("%d of %d processes gave a figure: %s", s.Processes, len(v.Tools), v.Tools[i].Error)
		}
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
	c.Detail = fmt.Sprintf("%s, is %s; the receivers read %s in the window", s.Method, unit.FormatRate(s.SumBps),
		unit.FormatRate(s.GoodputBps))
	if s.GoodputBps > 0 {
		c.Detail += ": " + between(s.SurplusBps/s.GoodputBps, -toolTolerance, above/s.GoodputBps)
	}
	if allowed := v.LimitBps*(1+v.overLimit()) + v.early(s); v.LimitBps > 0 && s.SumBps > allowed && v.allOfTools() {
		c.Pass, used = false, max(used, s.SumBps/allowed)
		c.Detail += fmt.Sprintf("; it is %s of the limit, %s, and cannot be", unit.FormatPercent(s.SumBps/v.LimitBps),
			unit.FormatRate(v.LimitBps))
	}
	if !c.Pass {
		c.Detail += surplusReason(s)
	}
	return judged{c, used}, true
}

// surplusReason explains a figure that is off, where the reason is known.
func surplusReason(s *record.ToolReported) string {
	unsent := ""
	if s.UnsentBytes > 0 {
		unsent = fmt.Sprintf("; %s were still in send buffers", unit.FormatBytes(float64(s.UnsentBytes)))
	}
	switch {
	case s.PredictedBps > 0 && toolreport.Explained(*s):
		return fmt.Sprintf(
			"; each connection's bytes over its own time, as the kernel counts them, make %s of the %s%s",
			unit.FormatRate(s.PredictedBps), unit.FormatRate(s.SurplusBps), unsent)
	case s.PredictedBps > 0 && s.SurplusBps > 0:
		return fmt.Sprintf("; each connection's bytes over its own time would make %s of the %s%s",
			unit.FormatRate(s.PredictedBps), unit.FormatRate(s.SurplusBps), unsent)
	}
	return "; its own time, " + unit.FormatSeconds(s.Seconds) + ", is not the window"
}

// early is the rate by which a full token bucket can raise a tool's figure: it
// counts from its first byte, linerate from the window's begin.
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

// allOfTools: no flow is linerate's own, so that the limit is that of the tools'.
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
	counted := "by their bytes on the sockets there were"
	if slices.ContainsFunc(v.Flows, func(f record.Flow) bool { return flow.Of(f.Protocol).Application }) {
		counted = "linerate's server answered"
	}
	c.Detail = fmt.Sprintf("%s, is %.4g transactions/s; %s %.4g/s in the window", s.Method, s.TransactionsPerS, counted,
		s.CountedTransactionsPerS)
	if s.CountedTransactionsPerS > 0 {
		by, most := percents(off, tolerance)
		c.Detail += fmt.Sprintf(": %s (allowed ±%s)", signed(off, by), most)
	}
	return judged{c, math.Abs(off) / tolerance}
}
