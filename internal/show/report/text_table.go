package report

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// verdictMarks stand for verdicts where a terminal is too narrow for words.
var verdictMarks = map[string]string{
	record.Improves: "+", record.Worsens: "−", record.NoDifference: "=", record.Inconclusive: "?",
}

var verdictColors = map[string]string{
	record.Improves: green, record.Worsens: red, record.NoDifference: dim, record.Inconclusive: yellow,
}

// effectForm is how much of an effect a table has room for.
type effectForm int

const (
	effectFull   effectForm = iota // 4.00× (3.98–4.01) improves
	effectWords                    // 4.00× improves
	effectMarked                   // 4.00× +
)

// textColumn is one column of figures, spelled and padded.
type textColumn struct {
	group, head string
	short       string   // head where there is no room for it; empty: cut it
	figures     []string // one per row
	colors      []string
	left        bool
}

func (c *textColumn) width() int {
	w := min(cells(c.head), 10) // a longer head is cut, where it has no room
	for _, f := range c.figures {
		w = max(w, cells(f))
	}
	return w
}

// treatments writes the table of treatments in the fullest layout that fits:
// conditions and responses side by side if they can be, else one below the other.
func (t *terminal) treatments(v *view) {
	if len(v.rows) == 0 {
		return
	}
	panes := v.panes()
	for _, form := range []effectForm{effectFull, effectWords, effectMarked} {
		var columns []textColumn
		for _, p := range panes {
			columns = append(columns, v.figures(p, form)...)
		}
		if len(panes) > 1 && form == effectFull {
			continue // the interval of every ratio side by side is too much to read
		}
		if t.fits(v, columns) {
			t.blank()
			t.table(v, columns, len(panes) > 1 || !v.ordinary())
			t.remarks(v, form)
			return
		}
	}
	for _, form := range []effectForm{effectFull, effectWords, effectMarked} {
		fits := true
		for _, p := range panes {
			fits = fits && t.fits(v, v.figures(p, form))
		}
		if !fits && form != effectMarked {
			continue
		}
		for _, p := range panes {
			t.blank()
			if p.name != "" {
				t.line(bold, "  "+p.name)
			}
			t.table(v, v.figures(p, form), false)
		}
		t.remarks(v, form)
		return
	}
}

// fits reports whether the columns leave room for the names on at most two
// lines each, without breaking a word.
func (t *terminal) fits(v *view, columns []textColumn) bool {
	room := t.nameRoom(columns)
	for i := range v.rows {
		name := v.rows[i].short()
		if room < 16 || len(wrap(name, room-2, room)) > 2 {
			return false
		}
		for _, word := range strings.Fields(name) {
			if cells(word) > room-2 && cells(word) < 40 {
				return false
			}
		}
	}
	return true
}

// short is a row's name in a terminal: names longer than this are cut.
func (r *row) short() string { return cut(plain(r.name), 56) }

func (t *terminal) nameRoom(columns []textColumn) int {
	room := t.width - 2
	for i := range columns {
		room -= 2 + columns[i].width()
	}
	return room
}

// figures makes a pane's columns: the figure, of goodput its part of the limit,
// and the effect.
func (v *view) figures(p pane, form effectForm) []textColumn {
	var means, halves, parts, ratios []string
	anyLimit, anyEffect := false, false
	for i := range v.rows {
		cell := v.rows[i].cells[p.c]
		mean, half, part, mul := "", "", "", ""
		if cell.Treatment != nil {
			mean, half = p.interval(cell.Treatment)
			mul, _, _ = v.against(i, p)
			if p.goodput() {
				part = ofLimit(cell.Treatment)
			}
		}
		anyLimit, anyEffect = anyLimit || part != "", anyEffect || mul != ""
		means, halves, parts, ratios = append(means, mean), append(halves, half), append(parts, part), append(ratios, mul)
	}
	goodput := textColumn{group: p.name, head: p.scale.unit}
	means, parts, ratios = alignDecimals(means, " ", " "), alignDecimals(parts, " ", " "), alignDecimals(ratios, " ", " ")
	halfWidth := 0
	for _, h := range halves {
		halfWidth = max(halfWidth, cells(h))
	}
	for i, m := range means {
		if halves[i] != "" {
			m += " ±" + halves[i]
		} else if halfWidth > 0 {
			m += "  "
		}
		goodput.figures = append(goodput.figures, m+strings.Repeat(" ", max(0, halfWidth-cells(halves[i]))))
	}
	out := []textColumn{goodput}
	if anyLimit {
		limit := textColumn{group: p.name, head: "of limit"}
		for _, p := range parts {
			if p != "" {
				p += " %"
			}
			limit.figures = append(limit.figures, p)
		}
		out = append(out, limit)
	}
	if anyEffect {
		out = append(out, v.effectColumn(p, form, ratios))
	}
	return out
}

// against spells a cell's size against the baseline in its pane, with its interval
// and the effect when the run made that comparison.
func (v *view) against(rowIndex int, p pane) (size, interval string, effect *record.Effect) {
	r := &v.rows[rowIndex]
	cell := r.cells[p.c]
	effect = p.Effect(cell.effect)
	switch {
	case effect != nil:
		size, interval = p.against(effect)
		return size, interval, effect
	case r.baseline || cell.Treatment == nil || v.baseline == nil || p.Signed || p.value(v.baseline) <= 0 || p.value(r) <= 0 && !p.goodput():
		return "", "", nil
	}
	return significant(p.value(r)/p.value(v.baseline), 3) + "×", "", nil
}

func (v *view) effectColumn(p pane, form effectForm, ratios []string) textColumn {
	col := textColumn{group: p.name, head: "ratio", left: true}
	widest := 0
	for _, r := range ratios {
		widest = max(widest, cells(r))
	}
	for i, text := range ratios {
		_, interval, effect := v.against(i, p)
		color := ""
		switch {
		case v.rows[i].baseline && form != effectMarked:
			text = "baseline"
		case effect != nil:
			color = verdictColors[effect.Verdict]
			text = pad(text, widest)
			if interval != "" && form == effectFull {
				text += " (" + interval + ")"
			}
			if form == effectMarked {
				text += " " + verdictMarks[effect.Verdict]
			} else {
				text += " " + effect.Verdict
			}
		}
		col.figures, col.colors = append(col.figures, text), append(col.colors, color)
	}
	if form != effectMarked && v.baseline != nil {
		col.head, col.short = "against "+plain(v.baseline.name), "against baseline"
	}
	return col
}

// table writes names and columns; groups are the conditions' names above them.
func (t *terminal) table(v *view, columns []textColumn, groups bool) {
	longest := cells("treatment")
	for _, r := range v.rows {
		longest = max(longest, cells(r.short()))
	}
	room := min(longest, t.nameRoom(columns))
	if groups {
		head := "  " + pad("", room)
		for i := 0; i < len(columns); {
			n, w := i, 0
			for ; n < len(columns) && columns[n].group == columns[i].group; n++ {
				w += 2 + columns[n].width()
			}
			head += "  " + pad(cut(columns[i].group, w-2), w-2)
			i = n
		}
		t.line(bold, head)
	}
	head := "  " + pad("treatment", room)
	for i := range columns {
		room := columns[i].width()
		if i == len(columns)-1 {
			room = t.width - cells(head) - 2
		}
		name := columns[i].head
		if cells(name) > room && columns[i].short != "" {
			name = columns[i].short
		}
		head += "  " + place(&columns[i], cut(name, room))
	}
	t.line(dim, head)
	for i, r := range v.rows {
		names := wrap(r.short(), room-2, room)
		line := "  " + pad(cut(names[0], room), room)
		for k := range columns {
			text := place(&columns[k], columns[k].figures[i])
			if columns[k].colors != nil {
				text = t.paint(columns[k].colors[i], text)
			}
			line += "  " + text
		}
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, more := range names[1:] {
			t.line("", "    "+more)
		}
	}
}

func place(c *textColumn, text string) string {
	if c.left {
		return pad(text, c.width())
	}
	return padLeft(text, c.width())
}

// remarks explain the marks, the limit, and the verdicts that need it.
func (t *terminal) remarks(v *view, form effectForm) {
	var remarks []string
	if form == effectMarked && v.baseline != nil && len(v.rows) > 1 {
		remarks = append(remarks, "ratio to "+v.baseline.short()+": + improves, − worsens, = no difference, ? inconclusive")
	}
	if v.shared != "" {
		remarks = append(remarks, "everywhere: "+v.shared)
	}
	if limits := v.limits(); limits != "" {
		remarks = append(remarks, "limit "+limits)
	}
	for i := range v.rows {
		r := &v.rows[i]
		for _, m := range v.measures {
			if why := v.perColumn(func(c int) string {
				if e := m.Effect(r.cells[c].effect); e != nil && explains(e) != "" {
					return e.Verdict + " (" + e.Why + ")"
				}
				return ""
			}); why != "" {
				remarks = append(remarks, r.short()+": "+v.about(m)+why)
			}
		}
		if lost := v.perColumn(func(c int) string {
			if cell := r.cells[c]; cell.Treatment != nil && cell.Unconnected > 0 {
				text := v.unconnected(cell.Treatment)
				if !strings.Contains(text, partly) {
					text += ", counted as zero"
				}
				return text
			}
			return ""
		}); lost != "" {
			remarks = append(remarks, r.short()+": "+lost)
		}
	}
	if len(remarks) > 0 {
		t.blank()
	}
	for _, remark := range remarks {
		t.paragraph(dim, "  ", "    ", remark)
	}
}

// about says what is spoken of, where it is not goodput alone.
func (v *view) about(m *measure) string {
	if len(v.measures) == 1 {
		return ""
	}
	return m.Label + " "
}

// limits spells the limits of a run that shows goodput.
func (v *view) limits() string {
	if !slices.ContainsFunc(v.measures, (*measure).goodput) {
		return ""
	}
	return v.perColumn(v.limitOf)
}

// limitOf spells a condition's limit; treatments may differ in it.
func (v *view) limitOf(c int) string {
	var texts []string
	for i := range v.rows {
		if t := v.rows[i].cells[c].Treatment; t != nil && t.LimitBps > 0 {
			text := v.scale.with(t.LimitBps)
			if t.LimitWhy != "" {
				text += " = " + t.LimitWhy
			}
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	return fmt.Sprintf("differs between treatments (%d)", len(texts))
}

// interfaces writes which interface of the host in question carried what.
func (t *terminal) ports(v *view) {
	widest := 0
	for _, r := range v.rows {
		for c := range r.cells {
			widest = max(widest, len(portsOf(r.cells[c].Treatment, v.focus)))
		}
	}
	if widest < 2 {
		return
	}
	t.blank()
	var columns []textColumn
	for c, col := range v.columns {
		names, table := v.shares(c)
		for p, name := range names {
			column := textColumn{group: col.name, head: name}
			for _, line := range table {
				column.figures = append(column.figures, line[p])
			}
			columns = append(columns, column)
		}
	}
	title := "Share of " + v.traffic() + " on each of its interfaces, %"
	if t.fits(v, columns) {
		t.line("", "  "+title)
		t.table(v, columns, len(v.columns) > 1)
		return
	}
	t.line("", "  Interfaces of "+v.focus+" that carried the data")
	for i := range v.rows {
		r := &v.rows[i]
		t.paragraph("", "  ", "      ", r.short()+": "+v.perColumn(func(c int) string { return summary(portsOf(r.cells[c].Treatment, v.focus)) }))
	}
}

// shares spells a condition's shares in per cent, a column per interface.
func (v *view) shares(c int) (names []string, table [][]string) {
	for i := range v.rows {
		for _, p := range portsOf(v.rows[i].cells[c].Treatment, v.focus) {
			if !contains(names, p.Interface) {
				names = append(names, p.Interface)
			}
		}
	}
	slices.SortStableFunc(names, natural)
	for i := range v.rows {
		line := make([]string, len(names))
		for p := range line {
			line[p] = "–" // no data, no shares
		}
		for _, p := range portsOf(v.rows[i].cells[c].Treatment, v.focus) {
			line[slices.Index(names, p.Interface)] = strings.TrimSuffix(percent(p.Share), " %")
		}
		table = append(table, line)
	}
	for p := range names {
		column := make([]string, len(table))
		for i := range table {
			column[i] = table[i][p]
		}
		for i, text := range alignDecimals(column, " ", " ") {
			table[i][p] = text
		}
	}
	return names, table
}

// summary says in a few words how a host's interfaces shared its traffic.
func summary(ports []record.TreatmentInterface) string {
	if len(ports) == 0 {
		return ""
	}
	sorted := slices.Clone(ports)
	slices.SortStableFunc(sorted, func(a, b record.TreatmentInterface) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		}
		return 0
	})
	n := carrying(ports)
	text := fmt.Sprintf("%d of %d", n, len(ports))
	switch {
	case n == 0:
	case n <= 4:
		var parts []string
		for _, p := range sorted[:n] {
			parts = append(parts, p.Interface+" "+percent(p.Share))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	default:
		text += fmt.Sprintf(" (%s %s to %s %s)", sorted[0].Interface, percent(sorted[0].Share), sorted[n-1].Interface, percent(sorted[n-1].Share))
	}
	return text
}
