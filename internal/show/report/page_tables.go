package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/stats"
	"linerate/internal/science/toolreport"
)

// Spaces as wide as a digit and as a point, to align decimals in proportional
// text with tabular figures.
const figureSpace, pointSpace = "\u2007", "\u2008"

// pageTable is the table of treatments: a row each, a group of columns per
// condition.
type pageTable struct {
	Groups  []pageGroup
	Heads   []pageHead
	Rows    []pageRow
	Remarks []string
	Told    []pageTold
	Unit    string // of what is told
	// Agreement is how well what is told was predicted.
	Agreement string
}

type pageGroup struct {
	Name string
	Span int // columns
}

type pageHead struct{ Text, Class string }

type pageRow struct {
	Name  string
	About []string
	Best  bool
	Cells []pageCell
}

type pageCell struct {
	Text, Class, Remark string
	Verdict             *pageHead
}

// verdictClasses tell verdicts apart beside their words.
var verdictClasses = map[string]string{
	record.Improves: "good", record.Worsens: "bad", record.Inconclusive: "open",
}

func (v *view) pageTable() pageTable {
	var t pageTable
	anyLimit, anyEffect := false, len(v.rows) > 1 && v.baseline != nil
	for _, r := range v.rows {
		for _, c := range r.cells {
			anyLimit = anyLimit || c.Treatment != nil && c.LimitBps > 0
		}
		t.Rows = append(t.Rows, pageRow{Name: r.name, About: r.about, Best: v.best != nil && r.name == v.best.name})
	}
	panes := v.panes()
	for _, p := range panes {
		before := len(t.Heads)
		t.Heads = append(t.Heads, pageHead{p.scale.unit, "n"})
		v.figureCells(&t, p)
		if anyLimit && p.goodput() {
			t.Heads = append(t.Heads, pageHead{"of limit", "n"})
			v.limitCells(&t, p.c)
		}
		if anyEffect {
			t.Heads = append(t.Heads, pageHead{"against " + v.baseline.name, ""})
			v.effectCells(&t, p)
		}
		if len(panes) > 1 || p.name != "" {
			t.Groups = append(t.Groups, pageGroup{p.name, len(t.Heads) - before})
		}
	}
	if v.best != nil {
		shaded := "carries the most"
		if !v.lead().goodput() {
			shaded = "does best by " + v.lead().Label
		}
		t.Remarks = append(t.Remarks, "Shaded: "+shaded+", with the fewest settings among equals.")
	}
	if v.shared != "" {
		t.Remarks = append(t.Remarks, "Everywhere: "+v.shared+".")
	}
	if limits := v.limits(); limits != "" {
		t.Remarks = append(t.Remarks, "Limit "+limits+".")
	}
	if t.Told = v.pageTold(); len(t.Told) > 0 {
		t.Unit = v.scale.unit
		if a := toolreport.Agree(v.run.Trials); a.Trials > 0 {
			t.Agreement = agreement(a)
		}
	}
	return t
}

func (v *view) limitCells(t *pageTable, c int) {
	var parts []string
	for _, r := range v.rows {
		part := ""
		if r.cells[c].Treatment != nil {
			part = ofLimit(r.cells[c].Treatment)
		}
		parts = append(parts, part)
	}
	for i, part := range alignDecimals(parts, figureSpace, pointSpace) {
		if part != "" {
			part += " %"
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, pageCell{Text: part, Class: "n"})
	}
}

func (v *view) figureCells(t *pageTable, p pane) {
	var means, halves []string
	widest := 0
	for _, r := range v.rows {
		mean, half := "", ""
		if r.cells[p.c].Treatment != nil {
			mean, half = p.interval(r.cells[p.c].Treatment)
		}
		means, halves, widest = append(means, mean), append(halves, half), max(widest, len(half))
	}
	for i, text := range alignDecimals(means, figureSpace, pointSpace) {
		if halves[i] != "" {
			pads := widest - len(halves[i])
			text += " ±" + halves[i]
			if !strings.Contains(halves[i], ".") && pads > 0 {
				text += pointSpace
				pads--
			}
			text += strings.Repeat(figureSpace, pads)
		}
		cell := pageCell{Text: text, Class: "n"}
		if tr := v.rows[i].cells[p.c].Treatment; tr != nil && tr.Unconnected > 0 {
			cell.Remark = v.unconnected(tr)
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
	}
}

func (v *view) effectCells(t *pageTable, p pane) {
	var ratios []string
	for i := range v.rows {
		text, _, _ := v.against(i, p)
		ratios = append(ratios, text)
	}
	for i, text := range alignDecimals(ratios, figureSpace, pointSpace) {
		cell := pageCell{Text: text, Class: "nowrap"}
		_, interval, effect := v.against(i, p)
		switch {
		case v.rows[i].baseline:
			cell.Text = "baseline"
		case effect != nil:
			cell.Verdict = &pageHead{effect.Verdict, verdictClasses[effect.Verdict]}
			cell.Remark = interval
			if why := explains(effect); why != "" {
				cell.Remark = strings.TrimPrefix(cell.Remark+"; "+why, "; ")
			}
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
	}
}

// pageTold is what counting at the sender gave, or what programs say, next to the
// truth.
type pageTold struct{ Name, How, Says, Received, Surplus, Predicted string }

func (v *view) pageTold() []pageTold {
	var out []pageTold
	var figures [4][]string
	for i := range v.rows {
		r := &v.rows[i]
		for c, cell := range r.cells {
			if cell.Treatment == nil || cell.ToolReported == nil {
				continue
			}
			s := cell.ToolReported
			told := pageTold{Name: v.label(r, c), How: s.Method}
			if told.How == "" {
				told.How = "counting at the sender"
			}
			predicted := ""
			if s.PredictedBps != 0 {
				predicted = round(s.PredictedBps*v.scale.per, 2)
			}
			for k, text := range []string{v.scale.value(s.SumBps), v.scale.value(cell.Goodput.MeanBps), round((s.SumBps-cell.Goodput.MeanBps)*v.scale.per, 2), predicted} {
				figures[k] = append(figures[k], text)
			}
			out = append(out, told)
		}
	}
	for k := range figures {
		for i, text := range alignDecimals(figures[k], figureSpace, pointSpace) {
			*[]*string{&out[i].Says, &out[i].Received, &out[i].Surplus, &out[i].Predicted}[k] = text
		}
	}
	return out
}

// explains is why an effect has its verdict, unless that only repeats the
// interval that stands beside it.
func explains(e *record.Effect) string {
	if strings.HasPrefix(e.Why, stats.Spans) {
		return ""
	}
	return e.Why
}

type pageSettings struct {
	Name, About string
	Lines       []string
}

func (v *view) pageSettings() []pageSettings {
	var out []pageSettings
	any := false
	for _, r := range v.rows {
		any = any || len(r.settings) > 0
		out = append(out, pageSettings{r.name, strings.Join(r.about, "; "), r.settings})
	}
	if !any {
		return nil
	}
	return out
}

type pageFinding struct {
	record.Finding
	Where, Link string
}

func (v *view) pageFindings() []pageFinding {
	var out []pageFinding
	for _, f := range v.run.Findings {
		shown := pageFinding{Finding: f, Where: v.treatmentsOf(f)}
		if strings.HasPrefix(f.Reference, "https://") {
			shown.Link = f.Reference
		}
		out = append(out, shown)
	}
	return out
}

type pageEffect struct {
	Response, Factor, From, To, At, Ratio, Interval, P, Verdict, Class, Why string
	Blocks                                                                  int
}

func (v *view) pageEffects() []pageEffect {
	var out []pageEffect
	var ratios []string
	for _, e := range v.effects() {
		m := v.of(&e)
		mean, interval := m.against(&e)
		ratios = append(ratios, mean)
		var at []string
		for _, name := range slices.Sorted(maps.Keys(e.At)) {
			at = append(at, e.At[name])
		}
		out = append(out, pageEffect{m.Label, e.Factor, e.From, e.To, strings.Join(at, ", "), mean, interval, probability(e.P), e.Verdict, verdictClasses[e.Verdict], e.Why, e.Blocks})
	}
	for i, text := range alignDecimals(ratios, figureSpace, pointSpace) {
		out[i].Ratio = text
	}
	return out
}

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return significant(p, 2)
}

type pageTrial struct {
	Order, Block                           int
	Treatment, OfLimit, Flows, CPU, Failed string
	Values                                 []string // of the run's responses
}

func (v *view) pageTrials() []pageTrial {
	bad := map[int][]string{}
	for _, c := range failed(v.run) {
		if !contains(bad[c.Trial], c.Check) {
			bad[c.Trial] = append(bad[c.Trial], c.Check)
		}
	}
	var out []pageTrial
	for _, t := range v.run.Trials {
		shown := pageTrial{Order: t.Order, Block: t.Block, Treatment: t.Treatment, Failed: strings.Join(bad[t.Order], ", ")}
		for _, m := range v.measures {
			text := "–"
			if value, ok := m.Value(&t); ok {
				text = round(value*m.scale.per, v.trialPlaces(m))
			}
			shown.Values = append(shown.Values, text)
		}
		if t.LimitBps > 0 {
			shown.OfLimit = round(t.GoodputBps/t.LimitBps*100, 1) + " %"
		}
		lost, cpu := 0, 0.0
		for _, f := range t.Flows {
			if !f.Connected {
				lost++
			}
		}
		for _, h := range t.Hosts {
			cpu = max(cpu, h.GeneratorCPU)
		}
		shown.Flows = strconv.Itoa(len(t.Flows))
		if lost > 0 {
			shown.Flows = fmt.Sprintf("%d of %d", len(t.Flows)-lost, len(t.Flows))
		}
		if cpu > 0 {
			shown.CPU = percent(cpu)
		}
		out = append(out, shown)
	}
	return out
}

// trialPlaces gives all trials the same decimals: four digits for the largest.
func (v *view) trialPlaces(m *measure) int {
	largest := 0.0
	for i := range v.run.Trials {
		value, _ := m.Value(&v.run.Trials[i])
		largest = max(largest, value*m.scale.per)
	}
	places := 0
	for ; places < 3 && largest < 1000 && largest > 0; largest *= 10 {
		places++
	}
	return places
}
