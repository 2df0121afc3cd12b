package present

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
	"linerate/internal/science/tuning"
)

// takenApart has, for each condition, what each setting of a list did that the
// run takes apart.
func takenApart(run *record.Run) (tables []*Table) {
	settings := tuning.Settings(run)
	if len(settings) == 0 {
		return nil
	}
	parts, at := tuning.Conditions(run)
	for i, part := range parts {
		result := tuning.Judge(part, settings)
		result.At = at[i]
		tables = append(tables, Settings(result))
	}
	return tables
}

// verdictsOnSettings is the order in which settings are listed, the useful first.
var verdictsOnSettings = []string{record.Helps, record.Trades, record.Mixed, record.Harms, record.Inconclusive, record.NoDifference, record.Together}

// Settings is the table of one condition: a row for each setting, under its
// verdict, and what the list did as a whole. Each other response has a row under
// that where it improves or worsens, and always under the list.
func Settings(c *record.Tune) *Table {
	t := &Table{Columns: []Column{{Head: strings.Join(slices.Sorted(maps.Values(c.At)), ", ")}, {Head: "alone"}, {Head: "list without it"}}}
	add := func(texts ...string) { t.Rows = append(t.Rows, Row{Cells: Cells(texts...)}) }
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
				said = true
				t.Rows = append(t.Rows, Row{Cells: Cells(verdict), Tone: Head})
			}
			add("  "+s.Key, size(lead, s.Alone), size(lead, s.Removed))
			for _, r := range others {
				if differs(r, s.Alone) || differs(r, s.Removed) {
					add("    "+r.Label, size(r, s.Alone), size(r, s.Removed))
				}
			}
		}
	}
	for _, row := range []struct {
		name string
		*record.Effect
	}{{"the list as a whole", c.List}, {"off again", c.Off}} {
		if row.Effect != nil {
			add(row.name, size(lead, row.Effect), row.Verdict)
			for _, r := range others {
				if e := r.Effect(row.Effect); e != nil && (row.Effect == c.List || differs(r, e)) {
					add("  "+r.Label, tuning.Size(r, e), e.Verdict)
				}
			}
		}
	}
	return t
}
