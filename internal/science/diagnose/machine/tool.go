package machine

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/toolreport"
)

// ToolRules are about the reports of other programs.
var ToolRules = []rule.Rule{{ID: cause.ToolSurplus.Code, Find: toolSurplus}}

// toolApart is the surplus, as a share of the goodput, above which there is a finding. Less may be
// the full bucket of a shaper at its start.
const toolApart = 0.05

// toolSurplus finds programs that report more than their receivers got. It is certain if the
// reported rate exceeds the limit of the path, or if the data left in send buffers explains the
// surplus.
func toolSurplus(f facts.Trial) []record.Finding {
	s := f.Trial.ToolReported
	if s == nil || len(f.Trial.Tools) == 0 || s.Processes == 0 || s.GoodputBps == 0 ||
		s.SurplusBps <= toolApart*s.GoodputBps {
		return nil
	}
	finding := facts.FoundAt(cause.ToolSurplus, f.Trial.Tools[0].Client, record.Likely,
		cause.Report{Tool: s.Tool, SumBps: s.SumBps, GoodputBps: s.GoodputBps})
	add := func(is any) { finding.With(finding.Host, is) }
	add(fact.Reported{Method: s.Method, Bps: s.SumBps})
	add(fact.ReadRate{Bps: s.GoodputBps})
	if limit := f.Trial.LimitBps; limit > 0 && s.SumBps > limit*(1+toolApart) {
		finding.Confidence = record.Certain
		add(fact.PathLimit{Bps: limit})
	}
	if s.UnsentBytes > 0 && s.CountedBy == record.CountedBySender {
		add(fact.Unsent{Bytes: s.UnsentBytes, Bps: s.UnsentBps})
	}
	if s.PredictedBps > 0 {
		add(fact.ExpectedSurplus{Bps: s.PredictedBps, SurplusBps: s.SurplusBps})
		if toolreport.Explained(*s) {
			finding.Confidence = record.Certain
		}
	}
	if first, last, known := ends(f.Trial.Tools); known && len(f.Trial.Tools) > 1 {
		add(fact.ClientsEnded{Clients: len(f.Trial.Tools), FirstS: first, LastS: last})
	}
	return []record.Finding{*finding}
}

// ends returns when the first and the last client ended, in seconds from the trial's start.
func ends(tools []record.ToolRun) (first, last float64, known bool) {
	for _, run := range tools {
		if run.TookS == 0 {
			continue
		}
		at := run.LateS + run.TookS
		if !known {
			first, last, known = at, at, true
		}
		first, last = min(first, at), max(last, at)
	}
	return first, last, known
}
