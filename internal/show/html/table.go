package html

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Spaces as wide as a digit and as a point, to align decimals in proportional text with tabular
// figures.
const figureSpace, pointSpace = "\u2007", "\u2008"

// table is a table as the template shows it: in one part or, if its groups of columns do not fit
// side by side, in one part for each group.
type table struct {
	Caption string
	Parts   []part
	Notes   []string
	Data    *data
}

type part struct {
	Name   string // of the single group
	Class  string
	Groups []group // above the heads
	Heads  []head
	Rows   []row
}

type group struct {
	Name string
	Span int
}

type head struct{ Text, Class string }

type row struct {
	Class string
	Name  head
	About string // additional text below the name
	Cells []cell
}

type cell struct {
	Head         string // head of the column, for rows that are shown as cards
	Text, Class  string
	Verdict      string
	VerdictClass string
	Below        []string
}

// verdictClasses are the CSS classes of verdicts.
var verdictClasses = map[string]string{
	record.Improves: "good", record.Worsens: "bad", record.Inconclusive: "open", record.NoDifference: "same",
}

var toneClasses = map[document.Tone]string{document.Best: "best", document.Wrong: "wrong", document.Head: "head"}

// Widths in pixels: a page's column, a phone's, a digit, and the gap between two columns.
const (
	pageWidth  = 1040
	phoneWidth = 358
	digit      = 7.7
	padding    = 18
)

func tableOf(t *document.Table) *table {
	out := &table{Caption: t.Caption, Data: dataOf(t.Name, t.Data)}
	if t.Shaded != "" {
		out.Notes = append(out.Notes, "Shaded: "+t.Shaded+".")
	}
	out.Notes = append(out.Notes, t.Notes...)
	groups := t.Groups()
	all := slices.Concat(groups...)
	if len(groups) < 2 || least(t, all) <= pageWidth {
		out.Parts = []part{partOf(t, all, groups)}
		return out
	}
	for _, g := range groups {
		p := partOf(t, g, nil)
		p.Name = t.Columns[g[0]].Group
		out.Parts = append(out.Parts, p)
	}
	return out
}

// least estimates the minimum width of some columns beside the rows' names.
func least(t *document.Table, places []int) float64 {
	width := 0.0
	for _, at := range append([]int{0}, places...) {
		of, most := t.Columns[at], 0
		for _, word := range strings.Fields(of.Head) {
			most = max(most, words.Width(word))
		}
		for _, text := range t.Texts(at, " ", " ") {
			n := words.Width(text)
			if of.Wrap || at == 0 {
				n = min(n, 16)
			}
			most = max(most, n)
		}
		if of.Align == document.Ratio {
			for i := range t.Rows {
				if v := t.Cell(i, at).Verdict; v != "" { // beside the figure or below it
					most = max(most, 7+words.Width(v))
				}
			}
		}
		width += float64(most)*digit + padding
	}
	return width
}

func partOf(t *document.Table, places []int, groups [][]int) part {
	var p part
	switch width := least(t, places); {
	case width > pageWidth:
		p.Class = "cards always"
	case width > phoneWidth:
		p.Class = "cards"
	}
	grouped := len(groups) > 1 || len(groups) == 1 && t.Columns[1].Group != ""
	if grouped {
		for _, g := range groups {
			p.Groups = append(p.Groups, group{t.Columns[g[0]].Group, len(g)})
		}
	}
	for i, r := range t.Rows {
		name := t.Cell(i, 0)
		p.Rows = append(p.Rows, row{Class: toneClasses[r.Tone], Name: head{name.Text, class(t.Columns[0])},
			About: name.Detail})
	}
	p.Heads = append(p.Heads, head{t.Columns[0].Head, class(t.Columns[0])})
	for _, at := range places {
		of := t.Columns[at]
		p.Heads = append(p.Heads, head{of.Head, class(of)})
		label := of.Head
		if n := len(of.Shorter); n > 0 {
			label = of.Shorter[n-1]
		}
		if grouped && of.Group != "" {
			label = strings.TrimSuffix(of.Group+": "+label, ": ")
		}
		for i, text := range t.Texts(at, figureSpace, pointSpace) {
			from := t.Cell(i, at)
			c := cell{Head: label, Text: text, Class: class(of), Verdict: from.Verdict,
				VerdictClass: verdictClasses[from.Verdict]}
			for _, below := range []string{from.Interval, from.Remark, from.Detail} {
				if below != "" {
					c.Below = append(c.Below, below)
				}
			}
			if from.Text == "" && from.Verdict == "" && len(c.Below) == 0 {
				c.Class = strings.TrimSpace(c.Class + " none")
			}
			p.Rows[i].Cells = append(p.Rows[i].Cells, c)
		}
	}
	return p
}

func class(c document.Column) string {
	switch {
	case c.Align == document.Right, c.Align == document.Decimal:
		return "n"
	case c.Wrap, c.Align == document.Ratio:
		return ""
	}
	return "word"
}
