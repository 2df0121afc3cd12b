// Package evidence has what supports the answer of a run: tables and statements about its
// treatments, flows, hosts, paths, trials and trust checks.
package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// Treatments returns the table of treatments: a row for each, and a group of columns for each
// response and condition.
func Treatments(v *view.View) *document.Table {
	if v.Single() {
		return single(v)
	}
	t := &document.Table{Columns: []document.Column{{Head: "treatment"}}}
	for i := range v.Rows {
		r := &v.Rows[i]
		row := document.Row{Cells: []document.Cell{{Text: r.Name, Detail: strings.Join(r.About, "; ")}}}
		if v.Best != nil && r.Name == v.Best.Name {
			row.Tone = document.Best
		}
		t.Rows = append(t.Rows, row)
	}
	ranges := false
	for _, m := range v.Measures {
		if len(v.Once(m).Rows) < len(v.Rows) && v.Run.Trials[0].Bufferbloat != nil {
			continue // the probe of both directions has a separate table
		}
		for _, p := range v.Panes(m) {
			ranges = figureColumn(v, t, p) || ranges
			if m.Goodput() {
				limitColumn(v, t, p)
			}
			if v.Run.Blocks() >= stats.LeastBlocks { // with fewer blocks no comparison is meaningful
				effectColumn(v, t, p)
			}
		}
	}
	if v.Best != nil {
		does := "carry more"
		if !v.Lead().Goodput() {
			does = "do better by " + v.Lead().Label
		}
		t.Shaded = "recommended, as no other is shown to " + does + "; among several such it has the fewest settings"
	}
	if v.Baseline != nil && len(v.Rows) > 1 && v.Run.Blocks() >= stats.LeastBlocks {
		t.Key = "ratio to " + v.Baseline.Name
	}
	if v.Shared != "" {
		t.Notes = append(t.Notes, "Everywhere: "+v.Shared+".")
	}
	if n := v.Run.Blocks(); len(v.Rows) > 1 && n < stats.LeastBlocks && comparing(v.Run) {
		t.Notes = append(t.Notes,
			fmt.Sprintf("No ratios: a verdict takes %d blocks, and there %s %d; %s makes the others.",
				stats.LeastBlocks, words.Verb(n, "is", "are"), n, stats.Continue(v.Run)))
	}
	if c := v.Run.Conclusion; c != nil && c.BothWays && v.Lead().Goodput() {
		t.Notes = append(t.Notes, "Goodput is the sum of both directions.")
	}
	if limits := limitsOf(v); limits != "" {
		t.Notes = append(t.Notes, "Limit "+limits+".")
	}
	if ranges {
		t.Notes = append(t.Notes, view.RangesNote)
	}
	if ofTwo(v, overlap) {
		t.Notes = append(t.Notes, pairedNote)
	}
	if ofTwo(v, widerPercentile) {
		t.Notes = append(t.Notes, percentileNote)
	}
	return t
}

// pairedNote explains intervals of values that seem to contradict that of their ratio.
const pairedNote = "Intervals of values may overlap where that of their ratio excludes 1: a ratio is of the two " +
	"trials of a block, in which what varies from block to block cancels; the interval of a value contains it."

// percentileNote explains the interval of a percentile that is wider than that of its ratio.
const percentileNote = "The interval of a percentile can be wider than that of its ratio: what varies in both " +
	"treatments of a block cancels in the ratio."

// ofTwo reports whether something holds for a treatment and the baseline that it is compared with: for
// their ratio, in a response that is shown, and the estimates of both.
func ofTwo(v *view.View,
	holds func(m *view.Measure, ratio record.EffectSize, of, than record.ResponseEstimate) bool) bool {
	for _, m := range v.Measures {
		for i := range v.Run.Treatments {
			t := &v.Run.Treatments[i]
			e := m.Effect(t.Effect)
			base := slices.IndexFunc(v.Run.Treatments, func(b record.Treatment) bool {
				return e != nil && b.Baseline && sameConditions(v.Run, b, *t)
			})
			if base < 0 || e.Difference != nil || e.Ratio.None {
				continue
			}
			of, than := m.Estimate(t), m.Estimate(&v.Run.Treatments[base])
			if of.Confidence > 0 && than.Confidence > 0 && holds(m, e.Ratio, of, than) {
				return true
			}
		}
	}
	return false
}

// overlap reports whether the intervals of two values overlap, although that of their ratio excludes 1.
func overlap(_ *view.Measure, ratio record.EffectSize, of, than record.ResponseEstimate) bool {
	return (ratio.Low > 1 || ratio.High < 1) && of.Low <= than.High && than.Low <= of.High
}

// widerPercentile reports whether the interval of a percentile spans a larger ratio than that of its
// comparison.
func widerPercentile(m *view.Measure, ratio record.EffectSize, of, than record.ResponseEstimate) bool {
	return m.Quantile > 0 && ratio.Low > 0 && (wider(of, ratio) || wider(than, ratio))
}

func wider(e record.ResponseEstimate, ratio record.EffectSize) bool {
	return e.High*ratio.Low > ratio.High*e.Low
}

// sameConditions reports whether two treatments have the same levels of all condition factors.
func sameConditions(run *record.Run, a, b record.Treatment) bool {
	return !slices.ContainsFunc(run.Factors, func(f record.Factor) bool {
		return f.Role == "condition" && a.Levels[f.Name] != b.Levels[f.Name]
	})
}

// single returns a row for each response of the only trial.
func single(v *view.View) *document.Table {
	var rows [][]string
	for _, m := range v.Measures {
		tr := v.Rows[0].Treatments[0]
		var remarks []string
		if part := view.OfLimit(tr); m.Goodput() && part != "" {
			remarks = append(remarks, part+" of "+view.LimitName(v.Run, tr)+", "+limitOf(v, 0))
		}
		if m.Goodput() && tr.Unconnected > 0 {
			remarks = append(remarks, Unconnected(v, tr))
		} else if came := byChance(tr); m.Goodput() && came != "" {
			remarks = append(remarks, came)
		}
		if rank := m.Estimate(tr).Rank; rank != "" {
			remarks = append(remarks, rank)
		}
		rows = append(rows, []string{m.Label, m.Spell(tr), strings.Join(remarks, "; ")})
	}
	return document.FigureList(rows)
}

// cellsOf returns a cell for each row that has a treatment in the pane.
func cellsOf(v *view.View, p view.Pane, of func(t *record.Treatment) document.Cell) []document.Cell {
	cells := make([]document.Cell, len(v.Rows))
	for i := range v.Rows {
		if t := v.Rows[i].Treatments[p.At]; t != nil {
			cells[i] = of(t)
		}
	}
	return cells
}

// figureColumn adds a pane's estimates. It reports whether some have a range instead of a
// half-width.
func figureColumn(v *view.View, t *document.Table, p view.Pane) (ranges bool) {
	t.AddColumn(document.Column{Head: p.Shown.Unit, Group: p.Title, Align: document.Decimal},
		cellsOf(v, p, func(tr *record.Treatment) (cell document.Cell) {
			cell.Text, cell.Spread = p.Interval(tr)
			ranges = ranges || strings.Contains(cell.Spread, "–")
			cell.Remark = p.Estimate(tr).Rank
			if tr.Unconnected > 0 {
				if cell.Remark = words.List(slices.DeleteFunc([]string{cell.Remark, Unconnected(v, tr)},
					func(text string) bool { return text == "" })); !strings.Contains(cell.Remark, partly) {
					cell.Remark += ", counted as zero"
				}
			} else if p.Goodput() {
				cell.Remark = byChance(tr)
			}
			return cell
		}))
	return ranges
}

// byChance describes the effect of chance on a treatment, unless its effect does.
func byChance(t *record.Treatment) string {
	if t.Chance == nil || t.Effect != nil && t.Effect.Response == "" &&
		t.Effect.Reasoned().Code == record.ReasonChance {
		return ""
	}
	return cmp.Or(t.Chance.Came, t.Chance.By+" by chance")
}

// limitColumn adds goodput as a share of the limit, if that is known.
func limitColumn(v *view.View, t *document.Table, p view.Pane) {
	parts := cellsOf(v, p, func(tr *record.Treatment) (cell document.Cell) {
		cell.Text = view.OfLimit(tr)
		return cell
	})
	if slices.ContainsFunc(parts, func(c document.Cell) bool { return c.Text != "" }) {
		t.AddColumn(document.Column{Head: "of limit", Group: p.Title, Align: document.Decimal}, parts)
	}
}

// effectColumn adds the effects of treatments relative to the baseline.
func effectColumn(v *view.View, t *document.Table, p view.Pane) {
	var cells []document.Cell
	known := false
	for i := range v.Rows {
		text, interval, effect := against(v, i, p)
		cell := document.Cell{Text: text, Interval: interval}
		known = known || text != ""
		switch {
		case v.Rows[i].Baseline:
			cell.Text = "baseline"
		case effect != nil:
			cell.Verdict, cell.Remark = effect.Verdict, explains(effect)
		}
		cells = append(cells, cell)
	}
	if known {
		name := "baseline" // an interrupted run may lack trials of the baseline
		if v.Baseline != nil {
			name = v.Baseline.Name
		}
		t.AddColumn(document.Column{Head: "against " + name, Shorter: []string{"against baseline", "ratio"},
			Group: p.Title, Align: document.Ratio}, cells)
	}
}

// against formats the effect of a row relative to the baseline in a pane, with its interval, and
// returns the effect if the run made that comparison.
func against(v *view.View, rowIndex int, p view.Pane) (size, interval string, effect *record.Effect) {
	r := &v.Rows[rowIndex]
	effect = p.EffectOn(r.Treatments[p.At])
	switch {
	case effect != nil:
		size, interval = p.Against(effect)
		return size, interval, effect
	case r.Baseline || r.Treatments[p.At] == nil || v.Baseline == nil || p.Signed || p.Mean(v.Baseline) <= 0 ||
		p.Mean(r) <= 0 && !p.Goodput():
		return "", "", nil
	}
	return number.Significant(p.Mean(r)/p.Mean(v.Baseline), 3) + "×", "", nil
}

// limitsOf lists the limits of a run that shows goodput.
func limitsOf(v *view.View) string {
	if !slices.ContainsFunc(v.Measures, (*view.Measure).Goodput) {
		return ""
	}
	return v.PerColumn(func(c int) string { return limitOf(v, c) })
}

// mostLimits is the maximum number of limits that are listed individually.
const mostLimits = 4

// limitOf formats the limit of a condition, or those of its treatments if they differ. It includes
// how the limit is computed if that is the same for all.
func limitOf(v *view.View, c int) string {
	var limits words.ByText
	var rates []float64
	var whys []string
	for i := range v.Rows {
		if t := v.Rows[i].Treatments[c]; t != nil && t.LimitBps > 0 {
			limits.Add(v.Scale.Value(t.LimitBps), v.Rows[i].Name)
			rates, whys = append(rates, t.LimitBps), words.Distinct(whys, wording.Limit(t.Limit, t.LimitWhy))
		}
	}
	switch n := len(limits.Texts); {
	case n == 0:
		return ""
	case n == 1 && len(whys) == 1 && whys[0] != "":
		return v.Scale.Spell(rates[0]) + " = " + whys[0]
	case n == 1:
		return v.Scale.Spell(rates[0])
	case n > mostLimits:
		return fmt.Sprintf("%s to %s, by treatment", v.Scale.Value(slices.Min(rates)), v.Scale.Spell(slices.Max(rates)))
	}
	var texts []string
	for i, text := range limits.Texts {
		if i == 0 {
			text = v.Scale.With(text)
		}
		texts = append(texts, text+" for "+words.Join(limits.Names[limits.Texts[i]], "and"))
	}
	return strings.Join(texts, ", ")
}

// explains returns why an effect has its verdict, unless that only repeats the interval shown
// beside it.
func explains(e *record.Effect) string {
	if e.ByInterval() {
		return ""
	}
	return e.Why
}

// Settings lists what each treatment sets. Nil: none sets anything.
func Settings(v *view.View) (blocks []document.Block) {
	any := len(v.Context) > 0
	if len(v.Context) > 0 {
		blocks = append(blocks, document.Statement{Label: "In all treatments", Text: strings.Join(v.Context, "; ")})
	}
	for _, r := range v.Rows {
		any = any || len(r.Settings) > 0
		blocks = append(blocks, document.Heading{Text: r.Name})
		if about := strings.Join(r.About, "; "); about != "" {
			blocks = append(blocks, document.Statement{Text: about})
		}
		blocks = append(blocks, document.Listing{Lines: r.Settings, Empty: "sets nothing"})
	}
	if !any {
		return nil
	}
	return blocks
}

// partly describes flows whose opener ran out of ports or descriptors, or whose server reached its
// limit.
const partly = "opened fewer connections than requested"

// Unconnected says how many flows of a treatment could not connect, and in how many of its trials.
func Unconnected(v *view.View, t *record.Treatment) string {
	most, flows, trials, all := 0, 0, 0, 0
	what := "could not connect"
	for _, trial := range v.Run.TrialsOf(t.Name) {
		n := trial.Unconnected()
		if slices.ContainsFunc(trial.Flows, func(f record.Flow) bool { return f.OpenedFewer() }) {
			what = partly
		}
		all, most, flows = all+1, max(most, n), max(flows, len(trial.Flows))
		if n > 0 {
			trials++
		}
	}
	if trials == 0 { // the document contains no flows
		return words.Count(t.Unconnected, "flow") + " could not connect, over all trials"
	}
	return fmt.Sprintf("%d of %s %s in %d of %s", most, words.Count(flows, "flow"), what, trials,
		words.Count(all, "trial"))
}

// AllowsUnconnected reports whether flows that cannot connect are a valid result.
func AllowsUnconnected(v *view.View, treatment string) bool {
	return slices.ContainsFunc(v.Run.TrialsOf(treatment), func(t *record.Trial) bool { return t.Unreachable })
}

// comparing reports whether the levels of some factor are compared with a baseline.
func comparing(run *record.Run) bool {
	return slices.ContainsFunc(run.Factors, func(f record.Factor) bool { return f.Role != "condition" })
}
