package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Spaces as wide as a digit and as a point, to align decimals in proportional
// text with tabular figures.
const figureSpace, pointSpace = "\u2007", "\u2008"

// pageTable is the table of treatments: a row each, a group of columns per
// condition.
type pageTable struct {
	Groups  []string
	Span    int
	Heads   []pageHead
	Rows    []pageRow
	Remarks []string
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
	t := pageTable{Span: 1}
	anyLimit, anyEffect := false, len(v.rows) > 1 && v.baseline != nil
	for _, r := range v.rows {
		for _, c := range r.cells {
			anyLimit = anyLimit || c.Treatment != nil && c.LimitBps > 0
		}
		t.Rows = append(t.Rows, pageRow{Name: r.name, About: r.about, Best: v.best != nil && r.name == v.best.name})
	}
	for c, col := range v.columns {
		if len(v.columns) > 1 || col.name != "" {
			t.Groups = append(t.Groups, col.name)
		}
		t.Heads = append(t.Heads, pageHead{v.scale.unit, "n"})
		v.goodputCells(&t, c)
		if anyLimit {
			t.Heads = append(t.Heads, pageHead{"of limit", "n"})
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
		if anyEffect {
			t.Heads = append(t.Heads, pageHead{"against " + v.baseline.name, ""})
			v.effectCells(&t, c)
		}
	}
	if len(v.columns) > 0 {
		t.Span = len(t.Heads) / len(v.columns)
	}
	if v.best != nil {
		t.Remarks = append(t.Remarks, "Shaded: carries the most, with the fewest settings among equals.")
	}
	if limits := v.perColumn(v.limitOf); limits != "" {
		t.Remarks = append(t.Remarks, "Limit "+limits+".")
	}
	for i := range v.rows {
		if v.rows[i].reported() {
			t.Remarks = append(t.Remarks, v.toolRemark()...)
			break
		}
	}
	return t
}

func (v *view) goodputCells(t *pageTable, c int) {
	var means, halves []string
	widest := 0
	for _, r := range v.rows {
		mean, half := "", ""
		if r.cells[c].Treatment != nil {
			mean, half = v.scale.interval(r.cells[c].Goodput)
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
		if tr := v.rows[i].cells[c].Treatment; tr != nil && tr.Unconnected > 0 {
			cell.Remark = v.unconnected(tr)
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
	}
}

func (v *view) effectCells(t *pageTable, c int) {
	var ratios []string
	for i := range v.rows {
		text, _ := v.against(i, c)
		ratios = append(ratios, text)
	}
	for i, text := range alignDecimals(ratios, figureSpace, pointSpace) {
		cell := pageCell{Text: text, Class: "nowrap"}
		_, effect := v.against(i, c)
		switch {
		case v.rows[i].baseline:
			cell.Text = "baseline"
		case effect != nil:
			cell.Verdict = &pageHead{effect.Verdict, verdictClasses[effect.Verdict]}
			if _, interval := ratio(effect.Ratio); interval != "" {
				cell.Remark = interval
			}
			if why := explains(effect); why != "" {
				cell.Remark = strings.TrimPrefix(cell.Remark+"; "+why, "; ")
			}
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
	}
}

func (r *row) reported() bool {
	return slices.ContainsFunc(r.cells, func(c cell) bool { return c.Treatment != nil && c.ToolReported != nil })
}

// toolRemark states what counting at the sender gave, next to the truth.
func (v *view) toolRemark() []string {
	var out []string
	for i := range v.rows {
		r := &v.rows[i]
		for c, cell := range r.cells {
			if cell.Treatment == nil || cell.ToolReported == nil {
				continue
			}
			how := cell.ToolReported.Method
			if how == "" {
				how = "counting at the sender"
			}
			out = append(out, fmt.Sprintf("%s: %s gives %s, the receivers read %s.", v.label(r, c), how,
				v.scale.with(cell.ToolReported.SumBps), v.scale.with(cell.Goodput.MeanBps)))
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
	Factor, From, To, At, Ratio, Interval, P, Verdict, Class, Why string
	Blocks                                                        int
}

func (v *view) pageEffects() []pageEffect {
	var out []pageEffect
	var ratios []string
	for _, e := range v.run.Effects {
		mean, interval := ratio(e.Ratio)
		ratios = append(ratios, mean)
		var at []string
		for _, name := range slices.Sorted(maps.Keys(e.At)) {
			at = append(at, e.At[name])
		}
		out = append(out, pageEffect{e.Factor, e.From, e.To, strings.Join(at, ", "), mean, interval, probability(e.P), e.Verdict, verdictClasses[e.Verdict], e.Why, e.Blocks})
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

func (v *view) effectsCSV() [][]string {
	out := [][]string{{"factor", "from", "to", "at", "ratio", "low", "high", "p", "verdict", "why", "blocks"}}
	for i, e := range v.pageEffects() {
		r := v.run.Effects[i]
		line := append([]string{e.Factor, e.From, e.To, e.At}, exactRatio(r.Ratio)...)
		out = append(out, append(line, exact(r.P), e.Verdict, e.Why, strconv.Itoa(e.Blocks)))
	}
	return out
}

type pageTrial struct {
	Order, Block                                    int
	Treatment, Goodput, OfLimit, Flows, CPU, Failed string
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
		shown.Goodput = round(t.GoodputBps*v.scale.perBit, v.trialPlaces())
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
func (v *view) trialPlaces() int {
	largest := 0.0
	for _, t := range v.run.Trials {
		largest = max(largest, t.GoodputBps*v.scale.perBit)
	}
	places := 0
	for ; places < 3 && largest < 1000 && largest > 0; largest *= 10 {
		places++
	}
	return places
}
