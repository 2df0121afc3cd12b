package evidence

import (
	"cmp"
	"fmt"

	"linerate/internal/science/toolreport"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// ToolReports is what other programs report, or the senders count, beside what was
// received; nil: there is no such report.
func ToolReports(v *view.View) *document.Table {
	t := &document.Table{Caption: "Other counts, beside what was received, " + v.Scale.Unit, Columns: []document.Column{{Head: "treatment"}, {Head: "counted as", Extra: true, Wrap: true},
		{Head: "says", Align: document.Decimal}, {Head: "received", Align: document.Decimal}, {Head: "surplus", Align: document.Decimal}, {Head: "predicted", Align: document.Decimal}}}
	for r, c := range v.Each() {
		cell := r.Treatments[c]
		s := cell.ToolReported
		if s == nil {
			continue
		}
		how, predicted := cmp.Or(s.Method, "counted at the sender"), ""
		if s.PredictedBps != 0 {
			predicted = number.Round(s.PredictedBps*v.Scale.Per, 2)
		}
		t.Add(v.Label(r, c), how, v.Scale.Value(s.SumBps), v.Scale.Value(cell.Goodput.MeanBps),
			number.Round((s.SumBps-cell.Goodput.MeanBps)*v.Scale.Per, 2), predicted)
	}
	if a := toolreport.Agree(v.Run.Trials); a.Trials > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("The prediction is %s of the surplus in the %s with one of 2 %% or more, and within 15 %% of it in %d of them (%.2f to %.2f).",
			number.Percent(a.Ratio), words.Count(a.Trials, "trial"), a.Within, a.Low, a.High))
	}
	return t.OrNil()
}
