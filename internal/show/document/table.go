package document

import (
	"slices"
)

// Table is a table as data. A renderer decides how many of its columns and
// rows stand beside each other and what it leaves out where there is no room.
type Table struct {
	Name    string // of its data, as a file's name; empty: it has none
	Caption string
	Columns []Column // the first one names the rows
	Rows    []Row
	Notes   []string // under the table
	Key     string   // what the ratios are to, where verdicts are reduced to marks
	Shaded  string   // what is true of rows with tone Best
	Left    string   // said with a count where extra rows are left out: "%d more that …"
	// Instead says the same in words, for a terminal that is too narrow even
	// for the groups one below the other; nil: the table is cut.
	Instead []string
	Data    [][]string // for spreadsheets, the columns' names first; all digits
}

// Column describes the cells below one head.
type Column struct {
	Head    string
	Shorter []string // heads for narrower columns, the longest first
	Group   string   // consecutive columns of one group stand under its name
	Align   Align
	Wrap    bool // prose: a cell may take several lines
	From    int  // columns of a terminal from which it is shown, whatever the cells are; 0: on any
}

// Align is where the cells of a column stand.
type Align uint8

const (
	Left    Align = iota // words
	Right                // numbers
	Decimal              // numbers, their decimal points below each other
	Ratio                // the same, with interval and verdict behind them
)

// Row is one row of a table.
type Row struct {
	Cells []Cell // one per column; a missing one is empty
	Tone  Tone
	Extra bool // left out in a summary: it says nothing unexpected
}

// Tone marks what a reader is to see first.
type Tone uint8

const (
	Plain Tone = iota
	Best       // recommended
	Wrong      // contradicts what is expected
	Good       // a condition is met
	Quiet      // a remark
	Head       // names the rows below it; only the first cell is set
)

// Cell is one figure or word, with what belongs to it.
type Cell struct {
	Text     string
	Spread   string // of the figure, beside it: "±0.2" or "(0.99–1.98)"
	Interval string // of a ratio; left out where there is no room
	Verdict  string // record.Improves …; drawn with a colour beside the word
	Remark   string // a caveat, which is never left out
	Detail   string // more about it, where there is room below it
}

// Cells returns plain cells, one per text.
func Cells(texts ...string) []Cell {
	list := make([]Cell, len(texts))
	for i, text := range texts {
		list[i].Text = text
	}
	return list
}

// Add adds a row of plain cells.
func (t *Table) Add(texts ...string) { t.Rows = append(t.Rows, Row{Cells: Cells(texts...)}) }

// OrNil is the table, or nil where it has no rows.
func (t *Table) OrNil() *Table {
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// AddColumn adds a column with a cell for each row.
func (t *Table) AddColumn(c Column, cells []Cell) {
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i].Cells = append(t.Rows[i].Cells, cells[i])
	}
}

// AddSection adds a row that names the rows below it, unless the name is empty.
func (t *Table) AddSection(name string) {
	if name != "" {
		t.Rows = append(t.Rows, Row{Cells: Cells(name), Tone: Head})
	}
}

// DropEmptySections removes the names of sections that have no rows.
func (t *Table) DropEmptySections() {
	for i := len(t.Rows) - 1; i >= 0; i-- {
		if t.Rows[i].Tone == Head && (i+1 == len(t.Rows) || t.Rows[i+1].Tone == Head) {
			t.Rows = slices.Delete(t.Rows, i, i+1)
		}
	}
}

// Groups lists the places of the columns behind the first one, those of one
// group together.
func (t *Table) Groups() (groups [][]int) {
	for i := 1; i < len(t.Columns); i++ {
		if n := len(groups); n > 0 && t.Columns[i].Group == t.Columns[i-1].Group {
			groups[n-1] = append(groups[n-1], i)
			continue
		}
		groups = append(groups, []int{i})
	}
	return groups
}

// Cell returns a row's cell of a column, or an empty one.
func (t *Table) Cell(row, column int) Cell {
	if cells := t.Rows[row].Cells; column < len(cells) {
		return cells[column]
	}
	return Cell{}
}

// FigureList is a table without heads: what each row is, its figures, and a last
// column of prose about them.
func FigureList(rows [][]string) *Table {
	t := &Table{}
	for i, row := range rows {
		if i == 0 {
			t.Columns = make([]Column, len(row))
			t.Columns[len(row)-1].Wrap = true
		}
		t.Add(row...)
	}
	return t
}
