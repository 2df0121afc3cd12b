package machine

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/toolreport"
)

// ToolRules are about what other programs report.
var ToolRules = []rule.Rule{{ID: "tool-surplus",
	About: "Another program reports more than 5 % above the bytes that its receivers read. Needs a run.",
	Find:  toolSurplus, SameCause: sameTool}}

// sameTool reports whether two findings are about one program.
func sameTool(a, b record.Finding) bool {
	first, _, _ := strings.Cut(a.Summary, " ")
	second, _, _ := strings.Cut(b.Summary, " ")
	return first == second
}

// toolApart is the share of surplus from which on there is a finding: less may be a
// shaper's full bucket at its start.
const toolApart = 0.05

// toolSurplus finds programs that report more than their receivers got. It is certain
// where the figure exceeds the path's limit, or where the bytes left in send buffers
// account for the surplus.
func toolSurplus(f facts.Trial) []record.Finding {
	s := f.Trial.ToolReported
	if s == nil || len(f.Trial.Tools) == 0 || s.Processes == 0 || s.GoodputBps == 0 ||
		s.SurplusBps <= toolApart*s.GoodputBps {
		return nil
	}
	finding := record.Finding{
		Host: f.Trial.Tools[0].Client, Confidence: record.Likely,
		Summary: fmt.Sprintf("%s reports %s, its receivers read %s", s.Tool, unit.FormatRate(s.SumBps),
			unit.FormatRate(s.GoodputBps)),
		Evidence: []string{
			fmt.Sprintf("%s: %s", s.Method, unit.FormatRate(s.SumBps)),
			fmt.Sprintf("read by the receivers of the same connections, in one window for all: %s",
				unit.FormatRate(s.GoodputBps)),
		},
		Reference: "tcp(7), write(2)",
	}
	add := func(format string, args ...any) {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf(format, args...))
	}
	if limit := f.Trial.LimitBps; limit > 0 && s.SumBps > limit*(1+toolApart) {
		finding.Confidence = record.Certain
		add("the most that its path can carry: %s", unit.FormatRate(limit))
	}
	if s.UnsentBytes > 0 && s.CountedBy == record.CountedBySender {
		add("%d bytes were still in the send buffers at the window's end: over the time of writing they are %s",
			s.UnsentBytes, unit.FormatRate(s.UnsentBps))
	}
	if s.PredictedBps > 0 {
		add(
			"by the kernel's count of each connection's bytes and the tool's own time, its report should be %s too high; it is %s too high",
			unit.FormatRate(s.PredictedBps), unit.FormatRate(s.SurplusBps))
		if toolreport.Explained(*s) {
			finding.Confidence = record.Certain
		}
	}
	if first, last, known := ends(f.Trial.Tools); known && len(f.Trial.Tools) > 1 {
		add(
			"its %d clients ended between %s and %s after the trial's start: averages over different times do not add up to a rate",
			len(f.Trial.Tools), unit.FormatSeconds(first), unit.FormatSeconds(last))
	}
	finding.Fix = []string{
		"use what the receivers count in a common window: linerate's goodput, or the figure of the tool's server",
		"measure longer: the bytes left in the buffers are then a smaller part of the result",
	}
	return []record.Finding{finding}
}

// ends are when the first and the last client ended, from the trial's start.
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
