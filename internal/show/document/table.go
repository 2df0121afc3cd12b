package document

import (
	"slices"
)

// Table is a table as data. The renderer decides how many of its columns and rows are displayed
// side by side and what it leaves out if there is no room.
type Table struct {
	Name    string // name of the data's file; empty: there is none
	Caption string
	Columns []Column // the first one has the names of the rows
	Rows    []Row
	Notes   []string // below the table
	Key     string   // what ratios relate to, if verdicts are reduced to marks
	Shaded  string   // the meaning of rows with tone Best
	Left    string   // format for the number of extra rows that are left out: "%d more that …"
	// Instead has the same content in words, for terminals that are too narrow even for one group
	// below the other. Nil: the table is truncated.
	Instead []string
	Data    [][]string // for spreadsheets: the names of the columns first, then unrounded values
}

// Column describes the cells below one head.
type Column struct {
	Head    string
	Shorter []string // heads for narrower columns, longest first
	Group   string   // consecutive columns with the same group have this common head
	Align   Align
	Wrap    bool // text: a cell may have several lines
	From    int  // width of the terminal from which it is shown regardless of its cells; 0: always
}

// Align is the alignment of the cells in a column.
type Align uint8

const (
	Left    Align = iota // words
	Right                // numbers
	Decimal              // numbers aligned at their decimal points
	Ratio                // the same, followed by interval and verdict
)

// Row is one row of a table.
type Row struct {
	Cells []Cell // one per column; missing ones are empty
	Tone  Tone
	Extra bool // left out in a summary because it shows nothing unexpected
}

// Tone marks rows and texts that should attract attention.
type Tone uint8

const (
	Plain Tone = iota
	Best       // recommended
	Wrong      // contradicts what is expected
	Good       // a condition is met
	Quiet      // a remark
	Head       // a title for the following rows; only the first cell is set
)

// Cell is a figure or word with its additions.
type Cell struct {
	Text     string
	Spread   string // shown beside the figure: "±0.2" or "(0.99–1.98)"
	Interval string // of a ratio; left out if there is no room
	Verdict  string // record.Improves …; the word has a colour mark
	Remark   string // a caveat that is never left out
	Detail   string // additional text if there is room below
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

// OrNil returns the table, or nil if it has no rows.
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

// AddSection adds a row with a title for the following rows, unless the name is empty.
func (t *Table) AddSection(name string) {
	if name != "" {
		t.Rows = append(t.Rows, Row{Cells: Cells(name), Tone: Head})
	}
}

// DropEmptySections removes titles that are not followed by rows.
func (t *Table) DropEmptySections() {
	for i := len(t.Rows) - 1; i >= 0; i-- {
		if t.Rows[i].Tone == Head && (i+1 == len(t.Rows) || t.Rows[i+1].Tone == Head) {
			t.Rows = slices.Delete(t.Rows, i, i+1)
		}
	}
}

// Groups lists the indices of the columns after the first one, by group.
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

// Cell returns the cell of a row in a column, or an empty one.
func (t *Table) Cell(row, column int) Cell {
	if cells := t.Rows[row].Cells; column < len(cells) {
		return cells[column]
	}
	return Cell{}
}

// FigureList returns a table without heads: the name of each row, its figures, and a last column of
// text about them.
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
