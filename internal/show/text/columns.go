package text

import (
	"slices"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// verdictMarks replace verdicts if a terminal is too narrow for words.
var verdictMarks = map[string]string{
	record.Improves: "+", record.Worsens: "−", record.NoDifference: "=", record.Inconclusive: "?",
}

var verdictColors = map[string]string{
	record.Improves: Green, record.Worsens: Red, record.NoDifference: Dim, record.Inconclusive: Yellow,
}

// form is the representation of a ratio.
type form int

const (
	full   form = iota // 4.00× (3.98–4.01) improves
	worded             // 4.00× improves
	marked             // 4.00× +
)

// layout is the layout of a table: the distance between its columns, and the form of its ratios.
type layout struct {
	form
	folded bool // heads may have several lines, and columns are as close as possible
	lines  int  // maximum number of lines of a row's name
}

// layouts are tried in this order.
var layouts = []layout{
	{full, false, 2}, {full, true, 2}, {worded, false, 2}, {worded, false, 3}, {worded, true, 3}, {marked, false, 2},
	{marked, true, 2},
}

// column is a column of a table, formatted and padded.
type column struct {
	heads  []string // longest first
	group  string
	cells  []string // one per row
	colors []string
	left   bool
	wrap   bool
	near   bool // close to the previous column
	width  int
	word   int // width of the longest word
}

// Limits of a table's columns.
const (
	mostName   = 56 // width of a row's name; longer ones have several lines
	leastName  = 16
	leastProse = 20
	mostWord   = 40 // maximum width of a column of names for a longer word
)

// intervals reports whether a table has ratios with intervals.
func intervals(table *document.Table) bool {
	return slices.ContainsFunc(table.Rows, func(row document.Row) bool {
		return slices.ContainsFunc(row.Cells, func(c document.Cell) bool { return c.Interval != "" })
	})
}

// columnsOf formats those of a table's columns that are shown at the width of the terminal.
func (t *terminal) columnsOf(table *document.Table, places []int, l layout) (list []column) {
	for _, at := range places {
		of := table.Columns[at]
		if t.width < of.From {
			continue
		}
		c := column{heads: append([]string{of.Head}, of.Shorter...), group: of.Group, wrap: of.Wrap, near: l.folded,
			left: of.Align == document.Left || of.Align == document.Ratio}
		texts, widest := table.Texts(at, " ", " "), 0
		for i, text := range texts {
			if of.Align != document.Ratio || table.Cell(i, at).Verdict != "" { // a word without a ratio
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
			c.cells, c.colors = append(c.cells, plain.Line(text)), append(c.colors, color)
			c.width, c.word = max(c.width, words.Width(text)), max(c.word, longestWord(text))
		}
		c.width = max(c.width, l.headWidth(c.heads[len(c.heads)-1]))
		list = append(list, c)
	}
	for _, s := range spans(list) {
		list[s.end-1].width += max(0, longestWord(list[s.start].group)-s.width)
	}
	return list
}

// gap returns the distance between two columns: larger between words than between numbers.
func gap(columns []column) int {
	for _, c := range columns {
		if !c.left || len(c.heads) > 1 || c.near {
			return 2
		}
	}
	return 3
}

// headWidth returns the minimum width of a column for its head.
func (l layout) headWidth(head string) int {
	if l.folded {
		return longestWord(head)
	}
	return words.Width(head)
}

func longestWord(text string) (widest int) {
	for _, word := range splitWords(text) {
		widest = max(widest, words.Width(word))
	}
	return widest
}

// span is a range of columns of one group, and their width.
type span struct{ start, end, width int }

func spans(columns []column) (list []span) {
	for i, c := range columns {
		if last := len(list) - 1; i > 0 && c.group == columns[i-1].group {
			list[last].end, list[last].width = i+1, list[last].width+gap(columns)+c.width
		} else {
			list = append(list, span{i, i + 1, c.width})
		}
	}
	return list
}

func place(c column, text string) string {
	if c.left {
		return pad(text, c.width)
	}
	return padLeft(text, c.width)
}
