package present

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// held is what held back the flows between two hosts in a treatment, over its
// trials, beside what was predicted for them.
type held struct {
	row       *row
	col       int // of the view
	from, to  string
	several   bool // the treatment has flows between other hosts, too
	low, high float64
	predicted []string // words, the most frequent first
	why       string   // of the prediction
	bps       float64  // mean of the flows
	least     float64  // of them
	most      float64
	flows     int
	within    int // flows that got what was predicted
	judged    int // flows for which something was
	by        []string
	because   string // of the last flow held back by the first of these
}

// heldBack lists what held flows back, in the order of the table of treatments.
func (v *view) heldBack() (list []held) {
	for r, c := range v.each() {
		pairs := v.heldIn(r.cells[c])
		for _, h := range pairs {
			h.row, h.col, h.several = r, c, len(pairs) > 1
			list = append(list, h)
		}
	}
	return list
}

// heldIn lists a treatment's, one for each pair of hosts.
func (v *view) heldIn(t *record.Treatment) (list []held) {
	type tally struct {
		by, predicted map[string]int
		because       map[string]string
	}
	var tallies []tally // one per entry of the list
	for _, trial := range v.run.TrialsOf(t.Name) {
		for _, f := range trial.Flows {
			if !f.Connected || flow.Of(f.Protocol).Transactional() {
				continue
			}
			i := slices.IndexFunc(list, func(h held) bool { return h.from == f.From && h.to == f.To })
			if i < 0 {
				i, list = len(list), append(list, held{from: f.From, to: f.To, least: f.GoodputBps})
				tallies = append(tallies, tally{map[string]int{}, map[string]int{}, map[string]string{}})
			}
			h, n := &list[i], &tallies[i]
			h.least, h.most = min(h.least, f.GoodputBps), max(h.most, f.GoodputBps)
			h.bps = (h.bps*float64(h.flows) + f.GoodputBps) / float64(h.flows+1)
			h.flows++
			n.by[f.LimitedBy]++
			n.because[f.LimitedBy] = f.LimitedWhy
			if p := f.Expected; p != nil {
				if h.judged == 0 || p.LowBps < h.low {
					h.low = p.LowBps
				}
				h.high, h.why = max(h.high, p.HighBps), p.Why
				h.judged++
				n.predicted[p.LimitedBy]++
				if p.Contains(f.GoodputBps) {
					h.within++
				}
			}
		}
	}
	for i, n := range tallies {
		list[i].by, list[i].predicted = frequent(n.by), frequent(n.predicted)
		list[i].because = n.because[list[i].by[0]]
	}
	return list
}

// frequent are the words, the most frequent first.
func frequent(said map[string]int) []string {
	return slices.SortedFunc(maps.Keys(said), func(a, b string) int { return cmp.Or(said[b]-said[a], strings.Compare(a, b)) })
}

// causes spells what flows were held back by.
func causes(words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, cmp.Or(w, "not attributed"))
	}
	return strings.Join(list, ", ")
}

// span spells what was predicted.
func (h held) span(unit scale) string {
	if h.judged == 0 {
		return "–"
	}
	return span(significant(h.low*unit.Per, 3), significant(h.high*unit.Per, 3))
}

// got spells what the flows got in the mean.
func (h held) got(unit scale) string { return significant(h.bps*unit.Per, 3) }

// heldScale is that of the largest figure.
func heldScale(list []held) scale {
	most := 0.0
	for _, h := range list {
		most = max(most, h.bps, h.high)
	}
	return bitScale(most)
}

// as says how many of the flows got what was predicted; empty: all did.
func (h held) as() string {
	switch {
	case h.within == h.judged:
		return ""
	case h.judged == 1:
		return "not as predicted"
	}
	return fmt.Sprintf("%d of %d as predicted", h.within, h.judged)
}

// attributed reports whether a cause or a prediction is known of any.
func attributed(list []held) bool {
	return slices.ContainsFunc(list, func(h held) bool {
		return h.judged > 0 || slices.ContainsFunc(h.by, func(w string) bool { return w != "" })
	})
}

func predictions(list []held) bool {
	return slices.ContainsFunc(list, func(h held) bool { return h.judged > 0 })
}

// limitedTable says of each treatment what its flows should get, what they got
// and what held them back; nil: nothing is known of any.
func limitedTable(v *view) *Table {
	list := v.heldBack()
	if !attributed(list) {
		return nil
	}
	unit, predicted := heldScale(list), predictions(list)
	t := &Table{Name: "held", Data: v.heldCSV(), Columns: []Column{{Head: "treatment"}}, Left: "and %d more, all as predicted"}
	if predicted {
		within, judged := 0, 0
		for _, h := range list {
			within, judged = within+h.within, judged+h.judged
		}
		t.Caption = fmt.Sprintf("Predicted and measured: %d of %s as predicted", within, Count(judged, "flow"))
		t.Columns = append(t.Columns, Column{Head: "predicted, " + unit.Unit, Shorter: []string{"predicted"}})
	}
	t.Columns = append(t.Columns, Column{Head: "measured, " + unit.Unit, Shorter: []string{"measured"}}, Column{Head: "held back by", Wrap: true})
	slices.SortStableFunc(list, func(a, b held) int { return a.col - b.col })
	for i, h := range list {
		if i == 0 || list[i-1].col != h.col {
			t.section(v.columns[h.col].name)
		}
		by, cells := causes(h.by), Cells(h.between(h.row.name))
		if predicted {
			cells = append(cells, Cell{Text: h.span(unit), Detail: h.why})
		}
		row := Row{Extra: predicted && h.as() == "" && (h.several && !h.row.baseline || h.row.part && !tells(v, h, list))}
		if as := h.as(); as != "" {
			by, row.Tone = by+"; "+as, Wrong
		}
		row.Cells = append(cells, Cell{Text: h.got(unit)}, Cell{Text: by, Detail: h.because})
		t.Rows = append(t.Rows, row)
	}
	return t
}

// limitedSummary is the table where something was predicted, else a line for
// each cause.
func limitedSummary(v *view, t *Table) []Block {
	list := v.heldBack()
	if t == nil || predictions(list) {
		return tableBlocks(t)
	}
	return limitedStatements(v, slices.DeleteFunc(slices.Clone(list), func(h held) bool { return h.row.part && !tells(v, h, list) }))
}

// tells: a part of a list has its flows held back by something else than what it is
// compared with.
func tells(v *view, h held, list []held) bool {
	for _, e := range v.run.Effects {
		if h.row.levels[e.Factor] != e.To || !holds(e.At, v.columns[h.col].levels) {
			continue
		}
		for _, other := range list {
			if other.col == h.col && other.row.levels[e.Factor] == e.From && other.from == h.from && other.to == h.to {
				return !slices.Equal(other.by, h.by)
			}
		}
	}
	return true
}

// limitedStatements name each cause with the treatments whose flows it held back.
func limitedStatements(v *view, list []held) []Block {
	var where byText
	for _, h := range list {
		where.add(causes(h.by), v.label(h.row, h.col))
	}
	var texts []string
	for _, text := range where.texts {
		if len(where.texts) > 1 {
			text += ": " + strings.Join(where.names[text], "; ")
		}
		if len(list) == 1 && list[0].because != "" {
			text += ": " + list[0].because
		}
		texts = append(texts, text)
	}
	return statements("Held by", texts...)
}

func (v *view) heldCSV() [][]string {
	out := [][]string{{"treatment", "condition", "from", "to", "expected_low_bps", "expected_high_bps", "expected_limited_by", "expected_why",
		"measured_bps", "flows", "as_expected", "limited_by", "limited_why"}}
	for _, h := range v.heldBack() {
		line := []string{h.row.name, v.columns[h.col].name, h.from, h.to, "", "", "", ""}
		if h.judged > 0 {
			copy(line[4:], []string{exact(h.low), exact(h.high), causes(h.predicted), h.why})
		}
		out = append(out, append(line, exact(h.bps), fmt.Sprint(h.flows), fmt.Sprint(h.within), causes(h.by), h.because))
	}
	return out
}

// label names the treatment, and the pair of hosts where there are several.
func (h held) label(v *view) string {
	return h.between(v.label(h.row, h.col))
}

// between adds the pair of hosts to a treatment's name where it has several.
func (h held) between(name string) string {
	if h.several {
		name += ", " + h.from + " → " + h.to
	}
	return name
}
