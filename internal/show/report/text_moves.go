package report

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/toolreport"
)

// moves writes what each change of one factor does to each response, where the table
// of treatments cannot: a design of parts compares treatments that both differ from the
// baseline in several factors.
func (t *terminal) moves(v *view) {
	if !v.run.Design.Partial || len(v.run.Effects) == 0 {
		return
	}
	t.blank()
	t.line(bold, "  what moves which figure")
	for i := range v.run.Effects {
		e := &v.run.Effects[i]
		var parts []string
		for _, m := range v.measures {
			of := m.Effect(e)
			if of == nil {
				continue
			}
			size, interval := m.against(of)
			text := m.Label + " " + strings.TrimSpace(size)
			if interval != "" {
				text += " (" + strings.Trim(interval, "()") + ")"
			}
			parts = append(parts, text+" "+of.Verdict)
		}
		t.paragraph("", "  ", "    ", v.change(e)+": "+strings.Join(parts, "; "))
	}
}

// change spells what an effect changes, and at which levels of the others that are
// not their baseline.
func (v *view) change(e *record.Effect) string {
	return fmt.Sprintf("%s %s → %s", e.Factor, e.From, e.To) + beside(v.run.Factors, e)
}

// beside names the levels of factors at which something else is compared, as far as
// they are not their baseline, nor those of the whole run.
func beside(factors []record.Factor, e *record.Effect) string {
	var at []string
	for _, f := range factors {
		if level := e.At[f.Name]; level != "" && level != f.Baseline && len(f.Levels) > 1 {
			at = append(at, f.Name+" "+level)
		}
	}
	if len(at) == 0 {
		return ""
	}
	return " at " + strings.Join(at, ", ")
}

// surplus writes what was predicted of what other programs say too much, beside what
// was seen, for each treatment.
func (t *terminal) surplus(v *view) {
	a := toolreport.Agree(v.run.Trials)
	if a.Trials == 0 {
		return
	}
	t.blank()
	t.line(bold, "  surplus over what was received, predicted and seen, "+v.scale.unit)
	for i := range v.rows {
		for c, cell := range v.rows[i].cells {
			if cell.Treatment == nil || cell.ToolReported == nil || cell.ToolReported.PredictedBps == 0 {
				continue
			}
			s := cell.ToolReported
			t.line("", fmt.Sprintf("  %s  %9s %9s", pad(cut(v.label(&v.rows[i], c), t.width-26), t.width-26),
				round(s.PredictedBps*v.scale.per, 2), round(s.SurplusBps*v.scale.per, 2)))
		}
	}
	t.paragraph(dim, "  ", "  ", agreement(a))
}

// agreement says how well the prediction did.
func agreement(a toolreport.Agreement) string {
	return fmt.Sprintf("Predicted is %s of what was seen in the %s with a surplus of 2 %% or more; in %d of them to within 15 %% (%.2f to %.2f).",
		percent(a.Ratio), count(a.Trials, "trial"), a.Within, a.Low, a.High)
}
