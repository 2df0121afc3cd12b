// Package document has what is displayed, as data: the sections of a report with their statements,
// tables and figures. Packages text and html render it.
package document

import (
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// Document is what a terminal displays: the subject, the answer, and the evidence. All parts may be
// empty.
type Document struct {
	Title      string   // a sentence that replaces the answer
	About      []string // lines
	Answer     string
	Statements []string  // after the answer, without the Warnings
	Warnings   []string  // what a reader must know to judge the answer
	Notes      []Note    // remarks that are stored with the run
	Summary    [][]Block // blocks of one list belong together
}

// Report is what is displayed of a run: a summary for a terminal, and the sections of a page, which
// share their tables.
type Report struct {
	Document
	ID, Study, Version string
	Question           string
	Started            string
	Trusted            string // set if every trust check passed
	Sections           []Section
	MadeIn             string // set for a lab whose links are not the kernel's; it affects trust
	Again              string // the command that repeats the run
}

// Note is a remark on a run with its time.
type Note struct{ When, Text string }

// Section is a part of a page. Title is empty if the title of a figure is sufficient.
type Section struct {
	ID, Title string
	Blocks    []Block
}

// Block is an element of a section or summary.
type Block interface{ block() }

// Statement is a sentence with a label in the margin and items below it.
type Statement struct {
	Label, Text string
	Tone        Tone
	Command     bool // whether the text is a command, as in Item
	Items       []Item
}

// Statements returns a paragraph for each text. The first one has the label.
func Statements(label string, texts ...string) (list []Block) {
	for _, text := range texts {
		list = append(list, Statement{Label: label, Text: text})
		label = ""
	}
	return list
}

// Tables returns the tables that are not nil.
func Tables(tables ...*Table) (list []Block) {
	for _, t := range tables {
		if t != nil {
			list = append(list, t)
		}
	}
	return list
}

// Item is shown below a statement, after its mark.
type Item struct {
	Mark, Text string
	Tone       Tone
	Command    bool // a shell command, which must remain valid when it is wrapped
}

// Finding is a finding with the treatments in which it occurs.
type Finding struct {
	record.Finding
	Where string // the treatments
}

// Link reports whether the reference is a URL.
func (f Finding) Link() bool { return strings.HasPrefix(f.Reference, "https://") }

// Diagnostic is a finding about a line of a file in the format of compilers. Only terminals show
// it.
type Diagnostic struct{ Head, Text, Fix string }

// Prose is a paragraph, with the data of the following blocks.
type Prose struct {
	Text string
	Name string     // name of the data's file; empty: there is no data
	Data [][]string // for spreadsheets
}

// Listing is text whose line breaks must be kept.
type Listing struct {
	Caption string
	Lines   []string
	Empty   string // shown if there are no lines
}

// Fold is content that a reader opens on demand. Terminals do not show it.
type Fold struct {
	ID, Summary string
	Blocks      []Block
}

// Heading is the title of the following blocks.
type Heading struct{ Text string }

// Beside has blocks in two columns, if there is room.
type Beside struct{ Left, Right []Block }

// Figure is a drawing with its title and data. Without a title its panels have their own.
type Figure struct{ figure.Figure }

func (Diagnostic) block() {}

func (Statement) block() {}

func (Prose) block() {}

func (Finding) block() {}

func (Listing) block() {}

func (Fold) block() {}

func (Heading) block() {}

func (Beside) block() {}

func (Figure) block() {}

func (*Table) block() {}
