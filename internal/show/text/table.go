package text

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/figure"
	"linerate/internal/show/words"
)

// verdictMarks stand for verdicts where a terminal is too narrow for words.
var verdictMarks = map[string]string{
	record.Improves: "+", record.Worsens: "−", record.NoDifference: "=", record.Inconclusive: "?",
}

var verdictColors = map[string]string{
	record.Improves: green, record.Worsens: red, record.NoDifference: dim, record.Inconclusive: yellow,
}

// form is how much of a ratio there is room for.
type form int

const (
	full   form = iota // 4.00× (3.98–4.01) improves
	worded             // 4.00× improves
	marked             // 4.00× +
)

// layout is how a table is laid out: which of its columns stand beside each
// other, and in which form.
type layout struct {
	form
	extra bool // with extra columns
	lines int  // that a row's name may take
}

// layouts are tried in this order.
var layouts = []layout{{full, true, 2}, {full, false, 2}, {worded, false, 2}, {worded, false, 3}, {marked, false, 2}}

// column is a column of a table, spelled and padded.
type column struct {
	heads  []string // the longest first
	group  string
	cells  []string // one per row
	colors []string
	left   bool
	wrap   bool
	width  int
}

// Limits of a table's columns.
const (
	mostName    = 56 // columns that a row's name takes, on several lines
	leastName   = 16
	leastProse  = 15
	captionRoom = 10 // a head is not cut to less
)

// table writes a table in the fullest layout that fits: the groups of its
// columns side by side if they can be, else one below the other.
func (t *terminal) table(table *document.Table) {
	shown, left := inShort(table)
	if len(shown.Rows) > 0 {
		t.rows(shown)
	}
	if left > 0 {
		t.paragraph(dim, "  ", "  ", fmt.Sprintf(shown.Left, left))
	}
}

// inShort is the table without its extra rows, and how many these are.
func inShort(table *document.Table) (*document.Table, int) {
	short := *table
	short.Rows = slices.DeleteFunc(slices.Clone(table.Rows), func(row document.Row) bool { return row.Extra })
	left := len(table.Rows) - len(short.Rows)
	short.DropEmptySections()
	return &short, left
}

func (t *terminal) rows(table *document.Table) {
	groups := table.Groups()
	all := slices.Concat(groups...)
	for _, l := range layouts {
		if l.form == full && len(groups) > 1 && intervals(table) {
			continue // the interval of every ratio side by side is too much to read
		}
		if columns := columnsOf(table, all, l); t.fits(table, columns, l.lines) {
			t.caption(table)
			t.grid(table, columns, len(groups) > 1 || groups != nil && columns[0].group != "")
			t.notes(table, l.form)
			return
		}
	}
	if table.Instead != nil {
		for _, line := range table.Instead {
			t.paragraph("", "  ", "      ", line)
		}
		return
	}
	t.caption(table)
	narrow := func(l layout) bool {
		return slices.ContainsFunc(groups, func(g []int) bool { return !t.fits(table, columnsOf(table, g, l), l.lines) })
	}
	l := layouts[0]
	for i := 1; i < len(layouts) && narrow(l); i++ {
		l = layouts[i]
	}
	for k, g := range groups {
		if k > 0 {
			t.blank()
		}
		columns := columnsOf(table, g, l)
		if name := columns[0].group; name != "" {
			t.line(bold, "  "+name)
		}
		t.grid(table, columns, false)
	}
	t.notes(table, l.form)
}

func (t *terminal) caption(table *document.Table) {
	if table.Caption != "" {
		t.paragraph("", "  ", "  ", table.Caption)
	}
}

// intervals reports whether a table has ratios with intervals.
func intervals(table *document.Table) bool {
	return slices.ContainsFunc(table.Rows, func(row document.Row) bool {
		return slices.ContainsFunc(row.Cells, func(c document.Cell) bool { return c.Interval != "" })
	})
}

// columnsOf spells some of a table's columns.
func columnsOf(table *document.Table, places []int, l layout) (list []column) {
	for _, at := range places {
		of := table.Columns[at]
		if of.Extra && !l.extra {
			continue
		}
		c := column{heads: append([]string{of.Head}, of.Shorter...), group: of.Group, wrap: of.Wrap,
			left: of.Align == document.Left || of.Align == document.Ratio}
		texts, widest := table.Texts(at, " ", " "), 0
		for i, text := range texts {
			if of.Align != document.Ratio || table.Cell(i, at).Verdict != "" { // a word stands alone
				widest = max(widest, words.Width(text))
			}
		}
		for i, text := range texts {
			cell := table.Cell(i, at)
			color := verdictColors[cell.Verdict]
			if cell.Verdict != "" {
				text = pad(text, widest)
				if cell.Interval != "" && l.form == full {
					text += " (" + cell.Interval + ")"
				}
				if l.form == marked {
					text += " " + verdictMarks[cell.Verdict]
				} else {
					text += " " + cell.Verdict
				}
			}
			text = strings.TrimRight(text, " ")
			if of.Align == document.Decimal {
				text = pad(text, widest)
			}
			c.cells, c.colors = append(c.cells, figure.Plain(text)), append(c.colors, color)
			c.width = max(c.width, words.Width(text))
		}
		head := words.Width(c.heads[len(c.heads)-1])
		if len(c.heads) > 1 || c.wrap {
			head = min(head, captionRoom)
		}
		c.width = max(c.width, head)
		list = append(list, c)
	}
	return list
}

// gap is what stands between two columns: more between words than between numbers.
func gap(columns []column) int {
	for _, c := range columns {
		if !c.left || len(c.heads) > 1 {
			return 2
		}
	}
	return 3
}

// nameRoom is what a table's columns leave for the names of its rows; prose may
// be as narrow as a few words.
func (t *terminal) nameRoom(columns []column) int {
	room := t.width - 2
	for i, c := range columns {
		w := c.width
		if c.wrap && i == len(columns)-1 {
			w = min(w, leastProse)
		}
		room -= gap(columns) + w
	}
	return room
}

// fits reports whether the columns leave room for the names on at most so
// many lines each, without breaking a word.
func (t *terminal) fits(table *document.Table, columns []column, lines int) bool {
	room := t.nameRoom(columns)
	if room < words.Width(table.Columns[0].Head) {
		return false
	}
	for i := range table.Rows {
		name := rowName(table, i)
		if words.Width(name) <= room || table.Rows[i].Tone == document.Head {
			continue
		}
		if room < leastName || len(wrap(name, room-2, room)) > lines {
			return false
		}
		for _, word := range strings.Fields(name) {
			if words.Width(word) > room-2 && words.Width(word) < 40 {
				return false
			}
		}
	}
	return true
}

// rowName is what stands in a row's first column: names longer than this are cut.
func rowName(table *document.Table, row int) string {
	return cut(figure.Plain(table.Cell(row, 0).Text), mostName)
}

// grid writes names and columns; groups are named above them.
func (t *terminal) grid(table *document.Table, columns []column, groups bool) {
	first, headed := table.Columns[0].Head, table.Columns[0].Head != ""
	longest := words.Width(first)
	for i := range table.Rows {
		if table.Rows[i].Tone != document.Head {
			longest = max(longest, words.Width(rowName(table, i)))
		}
	}
	between := strings.Repeat(" ", gap(columns))
	room := max(1, min(longest, t.nameRoom(columns)))
	if last := len(columns) - 1; last >= 0 && columns[last].wrap {
		taken := 2 + room
		for _, c := range columns[:last] {
			taken += gap(columns) + c.width
		}
		columns[last].width = max(8, t.width-taken-gap(columns))
	}
	if groups {
		t.line(bold, "  "+pad("", room)+groupHeads(columns))
	}
	// Columns of one kind have one head: the longest that fits all of them.
	taken, shorter := 2+room, 0
	for i, c := range columns {
		taken += len(between)
		width := c.width
		if i == len(columns)-1 {
			width = max(width, t.width-taken)
		}
		for k := 0; k < len(c.heads)-1 && words.Width(c.heads[k]) > width; k++ {
			shorter = max(shorter, k+1)
		}
		taken += c.width
	}
	head := "  " + pad(cut(first, room), room)
	for i, c := range columns {
		width := c.width
		if i == len(columns)-1 {
			width = t.width - words.Width(head) - len(between)
		}
		name := c.heads[min(shorter, len(c.heads)-1)]
		headed = headed || name != ""
		head += between + place(c, cut(figure.Plain(name), width))
	}
	if headed {
		t.line(dim, head)
	}
	for i, row := range table.Rows {
		if row.Tone == document.Head {
			t.line(bold, "  "+figure.Plain(table.Cell(i, 0).Text))
			continue
		}
		t.row(rowName(table, i), i, columns, room, between)
	}
}

// groupHeads names the groups, each above its columns.
func groupHeads(columns []column) string {
	line := ""
	for i := 0; i < len(columns); {
		n, w := i, 0
		for ; n < len(columns) && columns[n].group == columns[i].group; n++ {
			w += gap(columns) + columns[n].width
		}
		w -= gap(columns)
		line += strings.Repeat(" ", gap(columns)) + pad(cut(columns[i].group, w), w)
		i = n
	}
	return line
}

// row writes one row; its name and its last cell, where that is prose, may take
// several lines.
func (t *terminal) row(name string, at int, columns []column, room int, between string) {
	indent := len(name) - len(strings.TrimLeft(name, " "))
	names := wrap(name, room-2, room)
	names[0] = strings.Repeat(" ", indent) + names[0]
	if indent > 0 && words.Width(names[0]) > room || len(names) > 1 && indent > 0 {
		// Keys differ at their ends.
		text := []rune(strings.TrimSpace(name))
		names = []string{strings.Repeat(" ", indent) + "…" + string(text[max(0, len(text)-room+indent+1):])}
	}
	line, more := "  "+pad(cut(names[0], room), room), names[1:]
	for k, c := range columns {
		text := c.cells[at]
		if c.wrap && k == len(columns)-1 {
			head := line + between
			for n, part := range wrap(text, c.width, c.width) {
				if n > 0 {
					next := ""
					if len(more) > 0 {
						next, more = "  "+more[0], more[1:]
					}
					head = pad("  "+next, words.Width(line)+len(between))
				}
				t.out.WriteString(strings.TrimRight(head+part, " ") + "\n")
			}
			line = ""
			break
		}
		line += between + t.paint(c.colors[at], place(c, text))
	}
	if line != "" {
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, rest := range more {
		t.line("", "    "+rest)
	}
}

func place(c column, text string) string {
	if c.left {
		return pad(text, c.width)
	}
	return padLeft(text, c.width)
}

// notes explain the marks, and say what cells have beside their figures.
func (t *terminal) notes(table *document.Table, f form) {
	var notes []string
	if f == marked && table.Key != "" {
		notes = append(notes, table.Key+": + improves, − worsens, = no difference, ? inconclusive")
	}
	notes = append(notes, table.Notes...)
	for i := range table.Rows {
		notes = append(notes, remarks(table, i)...)
	}
	if len(notes) > 0 {
		t.blank()
	}
	for _, note := range notes {
		t.paragraph(dim, "  ", "    ", note)
	}
}

// remarks are those of a row's cells, each with the groups that it is about
// where others have none, or another.
func remarks(table *document.Table, row int) (list []string) {
	var where words.ByText
	for at, of := range table.Columns {
		cell := table.Cell(row, at)
		text := cell.Remark
		if text == "" {
			continue
		}
		if cell.Verdict != "" {
			text = cell.Verdict + " (" + text + ")"
		}
		where.Add(text, of.Group)
	}
	for _, text := range where.Texts {
		about := ""
		if len(table.Groups()) > 1 {
			about = strings.Join(where.Names[text], ", ") + ": "
		}
		list = append(list, rowName(table, row)+": "+about+text)
	}
	return list
}
