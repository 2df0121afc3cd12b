package report

import (
	"io"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
	"linerate/internal/science/tuning"
)

// whole is the view without the treatments that take another one apart: those are
// worth comparing, which other tables do, and nobody would choose one of them.
func (v *view) whole() *view {
	w := *v
	w.rows = slices.DeleteFunc(slices.Clone(v.rows), func(r row) bool { return r.part })
	w.baseline, w.best = w.findBaseline(), w.findBest()
	return &w
}

// ablated writes what each setting of a list did that the run takes apart, in each
// condition.
func (t *terminal) ablated(v *view) {
	settings := tuning.Settings(v.run)
	if len(settings) == 0 {
		return
	}
	parts, at := tuning.Conditions(v.run)
	for i, part := range parts {
		result := tuning.Judge(part, settings)
		result.At = at[i]
		t.blank()
		t.settings(result)
	}
}

// verdictsOnSettings is the order in which settings are listed, the useful first.
var verdictsOnSettings = []string{record.Helps, record.Trades, record.Mixed, record.Harms, record.Inconclusive, record.NoDifference, record.Together}

// settings writes the table of one condition: a line for each setting, under its
// verdict, and what the list did as a whole. Each other response has a line under
// that where it improves or worsens, and always under the list.
func (t *terminal) settings(c *record.Tune) {
	rows := [][]string{{strings.Join(slices.Sorted(maps.Values(c.At)), ", "), "alone", "list without it"}}
	responses := metric.Of(&record.Run{Responses: c.Responses})
	size := func(r metric.Metric, e *record.Effect) string {
		if e = r.Effect(e); e == nil {
			return ""
		}
		return tuning.Size(r, e)
	}
	differs := func(r metric.Metric, e *record.Effect) bool {
		e = r.Effect(e)
		return e != nil && (e.Verdict == record.Improves || e.Verdict == record.Worsens)
	}
	lead, others := responses[0], responses[1:]
	for _, verdict := range verdictsOnSettings {
		said := false
		for _, s := range c.Settings {
			if s.Verdict != verdict {
				continue
			}
			if !said {
				rows, said = append(rows, []string{verdict}), true
			}
			rows = append(rows, []string{"  " + plain(s.Key), size(lead, s.Alone), size(lead, s.Removed)})
			for _, r := range others {
				if differs(r, s.Alone) || differs(r, s.Removed) {
					rows = append(rows, []string{"    " + r.Label, size(r, s.Alone), size(r, s.Removed)})
				}
			}
		}
	}
	for _, row := range []struct {
		name string
		*record.Effect
	}{{"the list as a whole", c.List}, {"off again", c.Off}} {
		if row.Effect != nil {
			rows = append(rows, []string{row.name, size(lead, row.Effect), row.Verdict})
			for _, r := range others {
				if e := r.Effect(row.Effect); e != nil && (row.Effect == c.List || differs(r, e)) {
					rows = append(rows, []string{"  " + r.Label, tuning.Size(r, e), e.Verdict})
				}
			}
		}
	}
	var widths [3]int
	for _, row := range rows[1:] {
		for i, text := range row {
			widths[i] = max(widths[i], cells(text))
		}
	}
	// Keys differ at their ends.
	widths[0] = min(max(widths[0], cells(rows[0][0])), max(20, t.width-widths[1]-widths[2]-6))
	for i, row := range rows {
		if len(row) == 1 {
			t.line(bold, "  "+row[0])
			continue
		}
		name := row[0]
		if over := cells(name) - widths[0]; over > 0 {
			name = "  …" + string([]rune(strings.TrimSpace(name))[over+1:])
		}
		attribute := ""
		if i == 0 {
			attribute = dim
		}
		t.line(attribute, "  "+pad(name, widths[0])+"  "+pad(row[1], widths[1])+"  "+row[2])
	}
}

// tunedSettings writes what came of each setting of a list, in lines of 80 columns.
func tunedSettings(w io.Writer, c *record.Tune) error {
	t := &terminal{width: 80}
	t.settings(c)
	_, err := io.WriteString(w, t.out.String())
	return err
}
