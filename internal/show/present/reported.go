package present

import (
	"cmp"
	"fmt"

	"linerate/internal/science/toolreport"
)

// toolTable is what other programs report, or the senders count, beside what was
// received; nil: there is no such report.
func toolTable(v *view) *Table {
	t := &Table{Caption: "Other counts, beside what was received, " + v.scale.Unit, Columns: []Column{{Head: "treatment"}, {Head: "counted as", Extra: true, Wrap: true},
		{Head: "says", Align: Decimal}, {Head: "received", Align: Decimal}, {Head: "surplus", Align: Decimal}, {Head: "predicted", Align: Decimal}}}
	for r, c := range v.each() {
		cell := r.cells[c]
		s := cell.ToolReported
		if s == nil {
			continue
		}
		how, predicted := cmp.Or(s.Method, "counted at the sender"), ""
		if s.PredictedBps != 0 {
			predicted = round(s.PredictedBps*v.scale.Per, 2)
		}
		t.add(v.label(r, c), how, v.scale.value(s.SumBps), v.scale.value(cell.Goodput.MeanBps),
			round((s.SumBps-cell.Goodput.MeanBps)*v.scale.Per, 2), predicted)
	}
	if a := toolreport.Agree(v.run.Trials); a.Trials > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("The prediction is %s of the surplus in the %s with one of 2 %% or more, and within 15 %% of it in %d of them (%.2f to %.2f).",
			percent(a.Ratio), Count(a.Trials, "trial"), a.Within, a.Low, a.High))
	}
	return t.orNil()
}
