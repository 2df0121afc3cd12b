package evidence

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Attacks returns a table of what hosts did to others in the trial shown for each treatment, beside
// what the study requests. Nil: the study has no attacks.
func Attacks(v *view.View) *document.Table {
	if !slices.ContainsFunc(v.Run.Trials, func(t record.Trial) bool { return len(t.Attacks) > 0 }) {
		return nil
	}
	t := &document.Table{Name: "attacks", Data: export.Rows(v.Run, "attacks"),
		Caption: "Attacks, and how much of what the study asks for was sent",
		Columns: []document.Column{{Head: "attack"},
			{Head: "from → to", Shorter: []string{"to"}}, {Head: "sent/s", Align: document.Right},
			{Head: "asked/s", Align: document.Right}}}
	var open, of []document.Cell
	for i := range v.Rows {
		r := &v.Rows[i]
		for c, treatment := range r.Treatments {
			trial := v.Typical(treatment)
			if trial == nil {
				continue
			}
			if name := v.Label(r, c); len(trial.Attacks) > 0 && name != "" {
				t.AddSection(name)
				open, of = append(open, document.Cell{}), append(of, document.Cell{})
			}
			for _, a := range trial.Attacks {
				number := func(n int64) document.Cell {
					if a.Connections == 0 {
						return document.Cell{}
					}
					return document.Cell{Text: fmt.Sprint(n)}
				}
				open, of = append(open, number(a.Open)), append(of, number(int64(a.Connections)))
				if remark := attackRemark(a); remark != "" {
					t.Notes = words.Distinct(t.Notes, fmt.Sprintf("%s, %s: %s.", v.Label(r, c), a.Kind, remark))
				}
				row := document.Row{Cells: document.Cells(a.Kind, a.From+" → "+a.To, perSecond(a.SentPerS),
					perSecond(a.AskedPerS))}
				if a.Error != "" || a.FallsShort() {
					row.Tone = document.Wrong
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	said := func(c document.Cell) bool { return c.Text != "" }
	if slices.ContainsFunc(of, said) {
		t.AddColumn(document.Column{Head: "open", Align: document.Right}, open)
		t.AddColumn(document.Column{Head: "of", Align: document.Right}, of)
	}
	return t.OrNil()
}

// perSecond formats a rate with four significant digits.
func perSecond(rate float64) string { return number.Significant(rate, 4) }

// attackRemark says what happened to the rest if less was sent than requested.
func attackRemark(a record.Attack) string {
	var parts []string
	say := func(n int64, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	if a.Error != "" {
		parts = append(parts, a.Error)
	}
	if a.Connections > 0 {
		say(a.Refused, "%d not opened")
		say(a.Closed, "%d closed by the other end")
		return strings.Join(parts, "; ")
	}
	if a.FallsShort() && a.AskedPerS > 0 {
		parts = append(parts, number.Round(100*a.SentPerS/a.AskedPerS, 0)+" % of what was asked for")
		say(a.Skipped, "%d given up, since the sender was held up")
		say(a.Refused, "%d not taken by the interface's queue")
	}
	return strings.Join(parts, "; ")
}
