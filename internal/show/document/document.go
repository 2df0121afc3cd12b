// Package document is what a reader is shown, as data: a report's sections, and their
// statements, tables and figures. Packages text and html render it.
package document

import (
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// Document is what a terminal shows: what it is about, the answer, and what supports
// it. All of its parts may be empty.
type Document struct {
	Title      string   // a sentence that stands for an answer
	About      []string // lines
	Answer     string
	Statements []string  // after the answer, without what Warnings say
	Warnings   []string  // what a reader must know before believing the answer
	Notes      []Note    // of people, kept with the run
	Summary    [][]Block // blocks of one list belong together
}

// Report is what is shown of a run: a summary for a terminal, and the sections of a
// page, which share their tables.
type Report struct {
	Document
	ID, Study, Version string
	Question           string
	Started            string
	Trusted            string // every trust check passed; empty: not so
	Sections           []Section
	MadeIn             string // a lab whose links are not the kernel's; part of how far to trust it
	Again              string // the command that makes the run again
}

// Note is a remark that was added to a run, and when.
type Note struct{ When, Text string }

// Section is a part of a page. Title is empty where a figure's is enough.
type Section struct {
	ID, Title string
	Blocks    []Block
}

// Block is one thing in a section or summary.
type Block interface{ block() }

// Statement is a sentence, with a label in the margin and items below it.
type Statement struct {
	Label, Text string
	Tone        Tone
	Command     bool // the text is one, as an Item's
	Items       []Item
}

// Statements make a paragraph each, the first one beside the label.
func Statements(label string, texts ...string) (list []Block) {
	for _, text := range texts {
		list = append(list, Statement{Label: label, Text: text})
		label = ""
	}
	return list
}

// Tables are the tables that there are.
func Tables(tables ...*Table) (list []Block) {
	for _, t := range tables {
		if t != nil {
			list = append(list, t)
		}
	}
	return list
}

// Item stands below a statement, after its mark.
type Item struct {
	Mark, Text string
	Tone       Tone
	Command    bool // of a shell; must stay one when it is broken into lines
}

// Finding is a named cause with its evidence and what would remove it.
type Finding struct {
	record.Finding
	Where string // treatments
}

// Link reports whether the reference is an address.
func (f Finding) Link() bool { return strings.HasPrefix(f.Reference, "https://") }

// Diagnostic is a finding about a line of a file, as compilers print it; only a
// terminal shows it.
type Diagnostic struct{ Head, Text, Fix string }

// Prose is a paragraph, with the data that the blocks behind it show.
type Prose struct {
	Text string
	Name string     // of the data, as a file's name; empty: there is none
	Data [][]string // for spreadsheets
}

// Listing is text whose lines must stay as they are.
type Listing struct {
	Caption string
	Lines   []string
	Empty   string // said where there are no lines
}

// Fold is what a reader opens on demand; a terminal does not show it.
type Fold struct {
	ID, Summary string
	Blocks      []Block
}

// Heading names the blocks behind it.
type Heading struct{ Text string }

// Beside is blocks in two columns where there is room.
type Beside struct{ Left, Right []Block }

// Figure is a drawing with its title and data. Panels are the figure's own
// where there is no title.
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
