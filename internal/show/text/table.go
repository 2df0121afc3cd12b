package text

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// table writes a table in the most detailed layout that fits: the groups of its columns side by
// side, otherwise one below the other, otherwise as a list of cards. Nothing is truncated.
func (t *terminal) table(table *document.Table) {
	shown, left := inShort(table)
	if len(shown.Rows) > 0 {
		t.rows(shown)
	}
	if left > 0 {
		t.paragraph(Dim, "  ", "  ", fmt.Sprintf(shown.Left, left))
	}
}

// inShort returns the table without its extra rows, and their number.
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
			continue // the intervals of all ratios side by side would be too much
		}
		if columns := t.columnsOf(table, all, l); t.fits(table, columns, l, false) {
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
	l, fits := t.stacked(table, groups)
	if !fits {
		t.cards(table, t.columnsOf(table, all, layout{form: full, folded: true}))
		t.notes(table, full)
		return
	}
	for k, g := range groups {
		if k > 0 {
			t.blank()
		}
		columns := t.columnsOf(table, g, l)
		if name := columns[0].group; name != "" {
			t.paragraph(Bold, "  ", "    ", name)
		}
		t.grid(table, columns, false)
	}
	t.notes(table, l.form)
}

// stacked returns the most detailed layout in which each group of columns fits alone, if there is
// one, with long names on their own lines if necessary.
func (t *terminal) stacked(table *document.Table, groups [][]int) (layout, bool) {
	for _, apart := range []bool{false, true} {
		for _, l := range layouts {
			if !slices.ContainsFunc(groups, func(g []int) bool {
				return !t.fits(table, t.columnsOf(table, g, l), l, apart)
			}) {
				return l, true
			}
		}
	}
	return layout{}, false
}

func (t *terminal) caption(table *document.Table) {
	if table.Caption != "" {
		t.paragraph("", "  ", "  ", table.Caption)
	}
}

// nameRoom returns the width that columns leave for the names of rows. Prose may be as narrow as a
// few words.
func (t *terminal) nameRoom(columns []column) int {
	room := t.width - 2
	for i, c := range columns {
		w := c.width
		if c.wrap && i == len(columns)-1 {
			w = min(w, max(leastProse, min(c.word, mostWord)))
		}
		room -= gap(columns) + w
	}
	return room
}

// fits reports whether the columns leave room for the names without breaking a word. If apart is
// true, names with longer words are on their own lines.
func (t *terminal) fits(table *document.Table, columns []column, l layout, apart bool) bool {
	room := t.nameRoom(columns)
	if room < l.headWidth(table.Columns[0].Head) {
		return false
	}
	for i := range table.Rows {
		name := rowName(table, i)
		width := words.Width(name)
		if width <= room || table.Rows[i].Tone == document.Head {
			continue
		}
		if room < leastName {
			return false
		}
		if word := longestWord(name); word > room-nameIndent(name)-2 {
			if !apart && word < mostWord {
				return false
			}
		} else if len(wrapName(name, room)) > l.lines+width/mostName {
			return false
		}
	}
	return true
}

// rowName returns the text of a row's first column.
func rowName(table *document.Table, row int) string {
	return plain.Line(table.Cell(row, 0).Text)
}

// nameIndent returns the indentation of a name, such as that of a setting below its verdict.
func nameIndent(name string) int { return len(name) - len(strings.TrimLeft(name, " ")) }

// wrapName breaks a name into lines. Lines after the first have a larger indentation.
func wrapName(name string, room int) []string {
	if words.Width(name) <= room {
		return []string{name}
	}
	indent := nameIndent(name)
	lines := wrap(name, room-indent-2, room-indent)
	for i := range lines {
		lines[i] = strings.Repeat(" ", indent+2*min(i, 1)) + lines[i]
	}
	return lines
}

// grid writes names and columns, with the names of groups above them if groups is true.
func (t *terminal) grid(table *document.Table, columns []column, groups bool) {
	first := table.Columns[0].Head
	longest := words.Width(first)
	for i := range table.Rows {
		if table.Rows[i].Tone != document.Head {
			longest = max(longest, words.Width(rowName(table, i)))
		}
	}
	room := max(1, min(longest, mostName, t.nameRoom(columns)))
	if last := len(columns) - 1; last >= 0 && columns[last].wrap {
		taken := 2 + room
		for _, c := range columns[:last] {
			taken += gap(columns) + c.width
		}
		columns[last].width = max(8, t.width-taken-gap(columns))
	}
	if groups {
		t.groupHeads(columns, room)
	}
	t.heads(first, columns, room)
	for i, row := range table.Rows {
		if row.Tone == document.Head {
			t.paragraph(Bold, "  ", "    ", table.Cell(i, 0).Text)
			continue
		}
		t.row(rowName(table, i), i, columns, room)
	}
}

// row writes one row. Its name, and its last cell if that is prose, may have several lines.
func (t *terminal) row(name string, at int, columns []column, room int) {
	between := strings.Repeat(" ", gap(columns))
	if indent := nameIndent(name); words.Width(name) > room && longestWord(name) > room-indent-2 {
		t.paragraph("", strings.Repeat(" ", 2+indent), strings.Repeat(" ", 4+indent), name)
		name = ""
	}
	names := wrapName(name, room)
	line, more := "  "+pad(names[0], room), names[1:]
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
					head = pad(next, words.Width(line)+len(between))
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
		t.line("", "  "+rest)
	}
}

// cards writes a table without columns: the name of each row, and below it its cells after their
// heads.
func (t *terminal) cards(table *document.Table, columns []column) {
	for i, row := range table.Rows {
		name := rowName(table, i)
		if row.Tone == document.Head {
			t.paragraph(Bold, "  ", "    ", name)
			continue
		}
		indent := strings.Repeat(" ", 2+nameIndent(name))
		t.paragraph("", indent, indent+"  ", name)
		var parts []string
		for _, c := range columns {
			words := slices.Concat(strings.Fields(c.group), strings.Fields(c.heads[0]), strings.Fields(c.cells[i]))
			if strings.TrimSpace(c.cells[i]) != "" {
				parts = append(parts, strings.Join(words, " "))
			}
		}
		if len(parts) > 0 {
			t.paragraph("", indent+"  ", indent+"    ", strings.Join(parts, " · "))
		}
	}
}

// notes explains the marks and the additions to figures in cells.
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
		t.paragraph(Dim, "  ", "    ", note)
	}
}

// remarks returns those of a row's cells, each with the groups that it applies to if other groups
// have none or a different one.
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
