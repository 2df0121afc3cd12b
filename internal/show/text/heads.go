package text

import (
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/show/words"
)

// heads writes the heads of a table's columns; the first one is above the names of the rows.
// Columns of the same kind have the same head: the longest one that fits all of them, otherwise the
// shortest on several lines.
func (t *terminal) heads(first string, columns []column, room int) {
	taken, shorter := 2+room, 0
	widths := []int{room}
	for i, c := range columns {
		taken += gap(columns)
		width := c.width
		if i == len(columns)-1 {
			width = max(width, t.width-taken)
		}
		for k := 0; k < len(c.heads)-1 && words.Width(c.heads[k]) > width; k++ {
			shorter = max(shorter, k+1)
		}
		widths, taken = append(widths, width), taken+c.width
	}
	cells := []headCell{{text: first, width: room, room: room, left: true}}
	for i, c := range columns {
		cells = append(cells, headCell{c.heads[min(shorter, len(c.heads)-1)], c.width, widths[i+1], c.left})
	}
	t.headLines(Dim, cells, gap(columns))
}

// groupHeads writes the names of groups, each above its columns.
func (t *terminal) groupHeads(columns []column, room int) {
	cells := []headCell{{width: room, room: room, left: true}}
	for _, s := range spans(columns) {
		cells = append(cells, headCell{columns[s.start].group, s.width, s.width, true})
	}
	t.headLines(Bold, cells, gap(columns))
}

// headCell is a head, the width of the column below it, and its maximum width.
type headCell struct {
	text        string
	width, room int
	left        bool
}

// headLines writes heads side by side, aligned at their last lines.
func (t *terminal) headLines(attribute string, cells []headCell, gap int) {
	var folded [][]string
	most := 0
	for _, c := range cells {
		lines := []string{plain.Line(c.text)}
		if words.Width(lines[0]) > c.room {
			lines = wrap(lines[0], c.width, c.width)
		}
		folded, most = append(folded, lines), max(most, len(lines))
	}
	for n := range most {
		line := "  "
		for i, c := range cells {
			text := ""
			if k := n - most + len(folded[i]); k >= 0 {
				text = folded[i][k]
			}
			if i > 0 {
				line += strings.Repeat(" ", gap)
			}
			if c.left {
				line += pad(text, c.width)
			} else {
				line += padLeft(text, c.width)
			}
		}
		if strings.TrimSpace(line) != "" {
			t.line(attribute, line)
		}
	}
}
