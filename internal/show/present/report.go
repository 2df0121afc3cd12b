package present

import "linerate/internal/show/figure"

// Report is what is shown of a run: first what stands at its head, then a
// summary for a terminal and the sections of a page, which share their tables.
type Report struct {
	ID, Study, Version string
	Question, Answer   string
	Statements         []string // after the answer, without what Warnings say
	Facts              []string // study, size, seed, time
	Started            string
	Warnings           []string  // what a reader must know before believing the answer
	Trusted            string    // every trust check passed; empty: not so
	Notes              []Note    // of people, kept with the run
	Summary            [][]Block // blocks of one list belong together
	Sections           []Section
	MadeIn             string // a lab whose links are not the kernel's; part of how far to trust it
	Again              string // the command that makes the run again
}

// Note is what somebody wrote about a run, and when.
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
	Items       []Item
}

// Item stands below a statement, after its mark.
type Item struct {
	Mark, Text string
	Tone       Tone
	Command    bool // of a shell; must stay one when it is broken into lines
}

// Finding is a named cause with its evidence and what would remove it.
type Finding struct {
	ID, Confidence, Host, Summary string
	Evidence, Fix                 []string
	Where                         string // treatments
	Reference                     string
	Link                          bool // the reference is an address
}

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

func (Statement) block() {}
func (Prose) block()     {}
func (Finding) block()   {}
func (Listing) block()   {}
func (Fold) block()      {}
func (Heading) block()   {}
func (Beside) block()    {}
func (Figure) block()    {}
func (*Table) block()    {}
