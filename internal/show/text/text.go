// Package text renders what package present arranges, for a terminal of any
// width, with or without colour. It adds no words of its own but labels.
package text

import (
	"fmt"
	"io"
	"strings"

	"linerate/internal/show/present"
)

// Options say where the text goes. The zero value is 80 columns without colour.
type Options struct {
	Width int
	Color bool
	// Page is the path of the HTML page; empty when none was written.
	Page string
}

// terminal prepares one of at least so many columns.
func (o Options) terminal(least int) *terminal {
	if o.Width == 0 {
		o.Width = 80
	}
	return &terminal{width: max(o.Width, least), color: o.Color}
}

// Run writes the run as a terminal report, the answer first.
func Run(w io.Writer, r *present.Report, o Options) error {
	t := o.terminal(40)
	t.line("", strings.Join(r.Facts, " · "))
	t.blank()
	t.paragraph(bold, "  ", "  ", r.Answer)
	for i, text := range r.Statements {
		if i == 0 {
			t.blank()
		}
		t.paragraph("", "  · ", "    ", text)
	}
	t.warnings(r.Warnings)
	for _, note := range r.Notes {
		t.blank()
		t.paragraph("", "  Note: ", "  ", note.Text)
	}
	t.summary(r.Summary)
	t.blank()
	for _, last := range []struct{ label, text string }{{"Made in", r.MadeIn}, {"Page", o.Page}, {"Again", r.Again}} {
		if last.text != "" {
			t.labelled("", last.label, last.text)
		}
	}
	return t.flush(w)
}

// Measurement writes a measurement.
func Measurement(w io.Writer, m present.Measurement, o Options) error {
	t := o.terminal(60)
	t.paragraph(bold, "", "", m.Title)
	t.summary(m.Summary)
	return t.flush(w)
}

// Comparison writes a comparison of two runs.
func Comparison(w io.Writer, c present.Comparison, o Options) error {
	t := o.terminal(40)
	for _, run := range c.Runs {
		t.line("", run)
	}
	t.blank()
	t.paragraph(bold, "  ", "  ", c.Answer)
	t.warnings(c.Warnings)
	t.summary(c.Summary)
	return t.flush(w)
}

// Table writes a table alone.
func Table(w io.Writer, table *present.Table, o Options) error {
	t := o.terminal(40)
	t.table(table)
	return t.flush(w)
}

func (t *terminal) warnings(list []string) {
	for _, warning := range list {
		t.blank()
		t.paragraph(red+bold, "  ! ", "    ", warning)
	}
}

// summary writes blocks, those of one list without an empty line between them.
func (t *terminal) summary(parts [][]present.Block) {
	for _, part := range parts {
		t.blank()
		for _, b := range part {
			t.block(b)
		}
	}
}

func (t *terminal) block(b present.Block) {
	switch b := b.(type) {
	case *present.Table:
		t.table(b)
	case present.Statement:
		t.statement(b)
	case present.Prose:
		t.paragraph("", "  ", "    ", b.Text)
	case present.Heading:
		t.line(bold, "  "+b.Text)
	case present.Listing:
		if b.Caption != "" {
			t.line("", "    "+b.Caption)
		}
		for _, line := range b.Lines {
			t.line("", "      "+line)
		}
	default:
		panic(fmt.Sprintf("a summary has no %T", b))
	}
}

var toneColors = map[present.Tone]string{present.Wrong: red, present.Good: green, present.Quiet: dim}

// statement writes a sentence in the second column, beside its label, and its
// items below it.
func (t *terminal) statement(s present.Statement) {
	t.labelled(toneColors[s.Tone], s.Label, s.Text)
	margin := strings.Repeat(" ", labelWidth)
	for _, item := range s.Items {
		head := margin + item.Mark + " "
		rest := strings.Repeat(" ", present.Width(head))
		switch {
		case item.Command:
			t.command(head, rest, item.Text)
		default:
			t.paragraph(toneColors[item.Tone], head, rest, item.Text)
		}
	}
}
