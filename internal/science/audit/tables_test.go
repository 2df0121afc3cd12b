package audit

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"linerate/internal/science/stats"
)

var (
	update = flag.Bool("update", false, "simulate everything, and write the tables of docs/results/audit.md")
	runs   = flag.Int("runs", 1000, "with -update, how many runs each figure is of")
)

// column is one count of a table, with what it has to be.
type column struct {
	name        string
	count       func(tally) (of, all int)
	least, most float64 // the share that is required; both 0: none is
	// required is further what a tally needs; nil: nothing.
	required func(tally) bool
}

var (
	covered = column{name: "a treatment's interval holds", count: func(t tally) (int, int) {
		return t.covered, t.treatments
	}, least: 0.93}
	stated = column{name: "… or what the trials can show", count: func(t tally) (int, int) {
		return t.stated, t.treatments
	}, least: 0.93}
	together = column{name: "all effects' intervals hold", count: func(t tally) (int, int) {
		return t.together, t.runs
	}, least: 0.93}
	described = column{name: "… or what the trials can show", count: func(t tally) (int, int) {
		return t.described, t.runs
	}, least: 0.93}
	direction = column{name: "a false direction", count: func(t tally) (int, int) {
		return t.direction, t.runs
	}, most: 0.06}
	indistinct = column{name: "a false “no difference”", count: func(t tally) (int, int) {
		return t.indistinct, t.runs
	}, most: 0.05}
	overlooked = column{name: "… that the trials can show", count: func(t tally) (int, int) {
		return t.overlooked, t.runs
	}, most: 0.05}
	undecided = column{name: "no verdict", count: func(t tally) (int, int) { return t.undecided, t.effects }}
	fix       = column{name: "a false fix", count: func(t tally) (int, int) { return t.fix, t.runs }, most: 0.03}
	settled   = column{name: "settles", count: func(t tally) (int, int) { return t.settled, t.runs }}
	stopped   = column{name: "holds where it settles", count: func(t tally) (int, int) {
		return t.together, t.settled
	}}
	strayed = column{name: "settles where an interval does not hold", count: func(t tally) (int, int) {
		return t.settled - t.together, t.runs
	}, most: 0.07}
	// found has to be no less than before, but for what is taken for a jump in 1 of 100 runs.
	found = column{name: "found", count: func(t tally) (int, int) {
		return t.found, t.effects
	}, required: func(t tally) bool { return float64(t.found) >= 0.99*float64(t.before) }}
	before = column{name: "found by plain t", count: func(t tally) (int, int) { return t.before, t.effects }}
)

// alone is the column without a requirement.
func (c column) alone() column {
	c.least, c.most, c.required = 0, 0, nil
	return c
}

// misses reports whether a count is further from what is required than simulations of
// this size differ by chance (three standard errors). Of runs that are too short for
// verdicts, no interval is required.
func (c column) misses(t tally) bool {
	of, all := c.count(t)
	if all == 0 || t.blocks < stats.LeastBlocks && c.least > 0 {
		return false
	}
	share := float64(of) / float64(all)
	off := func(required float64) float64 { return 3 * math.Sqrt(required*(1-required)/float64(t.runs)) }
	return c.required != nil && !c.required(t) || c.least > 0 && share < c.least-off(c.least) || c.most > 0 &&
		share > c.most+off(c.most)
}

// cell is a count in percent; bold: it is not what is required.
func (c column) cell(t tally) string {
	of, all := c.count(t)
	if all == 0 {
		return "–"
	}
	percent := 100 * float64(of) / float64(all)
	text := fmt.Sprintf("%.0f", percent)
	if of > 0 && percent < 9.5 {
		text = fmt.Sprintf("%.1f", percent)
	}
	if c.misses(t) {
		return "**" + text + "**"
	}
	return text
}

// row is a network with the designs in which it is simulated.
type row struct {
	network
	comparisons, responses int
}

// rows are the networks with each number of comparisons.
func rows(comparisons []int, networks ...network) (list []row) {
	for _, w := range networks {
		for _, k := range comparisons {
			list = append(list, row{w, k, 1})
		}
	}
	return list
}

// table is one of the page, for these numbers of blocks.
type table struct {
	name    string
	rows    []row
	blocks  []int
	columns []column
	from    int // of fewer blocks, nothing is required
	part    int // only one of so many runs is made, since each takes long; 0: all
	// one simulates a run of a row; nil: a run of the row's design, concluded.
	one func(row, int, *rand.Rand) tally
}

// simulate is the tally of some runs of a row.
func (table table) simulate(r row, blocks, runs int) tally {
	simulate := table.one
	if simulate == nil {
		simulate = func(r row, blocks int, random *rand.Rand) tally {
			return r.simulate(random, design{blocks, r.comparisons, r.responses}).judge()
		}
	}
	// The number of comparisons is no part of the seed.
	return each(fmt.Sprint(r.name, blocks), runs, func(random *rand.Rand) tally { return simulate(r, blocks, random) })
}

// text makes the table of so many runs each, and says what is not as required.
func (table table) text(runs int, wrong func(format string, args ...any)) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| trials | comparisons |")
	for _, c := range table.columns {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", len(table.columns)))
	for _, r := range table.rows {
		cells := make([][]string, len(table.columns))
		for _, n := range table.blocks {
			t := table.simulate(r, n, runs)
			t.blocks = n
			for i, c := range table.columns {
				if n < table.from {
					c = c.alone()
				}
				cells[i] = append(cells[i], c.cell(t))
				if of, all := c.count(t); c.misses(t) {
					wrong("%s, %s, %d comparisons, %d blocks: %s in %d of %d", table.name, r.name, r.comparisons, n,
						c.name, of, all)
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d |", r.name, r.comparisons)
		for _, c := range cells {
			fmt.Fprintf(&b, " %s |", strings.Join(c, "/"))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d runs a figure.\n", runs)
	return b.String()
}

const page = "../../../docs/results/audit.md"

// TestTables: with -update, the tables of the page are simulated anew; all figures have
// to be as required. Without it, the page has the tables and rows that there are here.
func TestTables(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, table := range tables {
		t.Run(table.name, func(t *testing.T) {
			if !*update {
				_, old, _ := section(t, table.name)
				for _, r := range table.rows {
					if !strings.Contains(old, fmt.Sprintf("| %s | %d |", r.name, r.comparisons)) {
						t.Errorf("%s has no row %q with %d comparisons: make audit", page, r.name, r.comparisons)
					}
				}
				return
			}
			text := table.text(*runs/max(1, table.part), t.Errorf)
			before, _, after := section(t, table.name)
			if err := os.WriteFile(page, []byte(before+text+after), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// section is a table of the page, and what is before and after it.
func section(t *testing.T, name string) (before, table, after string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, found := strings.Cut(string(text), begin)
	table, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table: want %q and %q", page, begin, end)
	}
	return before + begin, table, end + after
}

// TestInference is the audit's short form, with a few rows and runs.
func TestInference(t *testing.T) {
	for _, table := range short {
		t.Run(table.name, func(t *testing.T) { table.text(100, t.Errorf) })
	}
}
