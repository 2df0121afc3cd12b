// Package text renders what package present composes for a terminal of any width, with or without
// colour. It adds no words except labels.
package text

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Options of rendering. The zero value is 80 columns without colour.
type Options struct {
	Width int
	Color bool
	// Page is the path of the HTML page. Empty: none was written.
	Page string
}

// leastWidth is the width of the narrowest terminal that is supported.
const leastWidth = 40

func (o Options) terminal() *terminal {
	return &terminal{width: max(cmp.Or(o.Width, 80), leastWidth), color: o.Color}
}

// Run writes the report of a run for a terminal, with the answer first.
func Run(w io.Writer, r *document.Report, o Options) error {
	t := o.terminal()
	t.document(&r.Document)
	t.blank()
	for _, last := range []document.Statement{{Label: "Made in", Text: r.MadeIn}, {Label: "Page", Text: o.Page},
		{Label: "Again", Text: r.Again, Command: true}} {
		if last.Text != "" {
			t.statement(last)
		}
	}
	return t.flush(w)
}

// Write writes a document.
func Write(w io.Writer, d document.Document, o Options) error {
	t := o.terminal()
	t.document(&d)
	return t.flush(w)
}

func (t *terminal) document(d *document.Document) {
	if d.Title != "" {
		t.paragraph(Bold, "", "", d.Title)
	}
	for _, line := range d.About {
		t.paragraph("", "", "  ", line)
	}
	if d.Answer != "" {
		t.blank()
		t.paragraph(Bold, "  ", "  ", d.Answer)
	}
	for i, text := range d.Statements {
		if i == 0 {
			t.blank()
		}
		t.paragraph("", "  · ", "    ", text)
	}
	for _, warning := range d.Warnings {
		t.blank()
		t.paragraph(Red+Bold, "  ! ", "    ", warning)
	}
	for _, note := range d.Notes {
		t.blank()
		t.paragraph("", "  Note: ", "  ", note.Text)
	}
	for _, part := range d.Summary {
		t.blank()
		for _, b := range part {
			t.block(b)
		}
	}
}

func (t *terminal) block(b document.Block) {
	switch b := b.(type) {
	case *document.Table:
		t.table(b)
	case document.Statement:
		t.statement(b)
	case document.Prose:
		t.paragraph("", "  ", "    ", b.Text)
	case document.Heading:
		t.line(Bold, "  "+b.Text)
	case document.Diagnostic:
		t.paragraph("", "", "    ", b.Head) // begins in the format that editors parse
		t.paragraph("", "    ", "    ", b.Text)
		for line := range strings.Lines(b.Fix) {
			t.paragraph("", "    → ", "      ", line)
		}
	case document.Listing:
		if b.Caption != "" {
			t.paragraph("", "    ", "      ", b.Caption)
		}
		for _, line := range b.Lines {
			t.listed(line)
		}
	default:
		panic(fmt.Sprintf("a summary has no %T", b))
	}
}

var toneColors = map[document.Tone]string{document.Wrong: Red, document.Good: Green, document.Quiet: Dim}

// statement writes a sentence in the second column beside its label, and its items below it.
func (t *terminal) statement(s document.Statement) {
	margin := strings.Repeat(" ", labelWidth)
	head := "  " + pad(s.Label, labelWidth-2)
	if s.Command {
		t.command(head, margin+"  ", s.Text)
	} else {
		t.paragraph(toneColors[s.Tone], head, margin, s.Text)
	}
	for _, item := range s.Items {
		head = margin + item.Mark + " "
		rest := strings.Repeat(" ", words.Width(head))
		switch {
		case item.Command:
			t.command(head, rest, item.Text)
		default:
			t.paragraph(toneColors[item.Tone], head, rest, item.Text)
		}
	}
}

// listed writes a line of a listing: a command to copy, or text that is wrapped with its own
// indentation.
func (t *terminal) listed(line string) {
	const margin = "      "
	line = strings.TrimRight(plain.Line(line), " ")
	text := strings.TrimLeft(line, " ")
	indent := margin + line[:len(line)-len(text)]
	if words.Width(margin+line) <= t.width {
		t.out.WriteString(strings.TrimRight(margin+line, " ") + "\n")
		return
	}
	t.command(indent, indent+"  ", text)
}
