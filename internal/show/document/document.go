// Package document is what a reader is shown, as data: a report's sections, and their
// statements, tables and figures. Packages text and html render it.
package document

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
