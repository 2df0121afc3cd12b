package present

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// grid arranges a run's treatments: one row for each combination of compared levels,
// one column for each combination of conditions.
type grid struct {
	columns  []column
	rows     []row
	baseline *row     // nil when no row is the baseline
	best     *row     // nil when nothing improves on the baseline
	shared   string   // levels that all treatments have and that are no baselines; rows do not repeat them
	context  []string // what the only levels of factors are about, which all treatments have
}

type column struct {
	name   string // empty when there is one column without a name
	levels map[string]string
}

type row struct {
	name     string
	about    []string
	settings []string
	baseline bool
	part     bool // it takes another row's treatment apart
	levels   map[string]string
	cells    []*record.Treatment // one per column; nil: there is none
}

func newGrid(run *record.Run) *grid {
	g := &grid{}
	compare, condition := split(run.Factors)
	compares := len(combinations(compare)) > 1
	if !compares && len(condition) > 1 {
		// Nothing is compared: the first condition has the rows, so that there is a
		// table at all.
		compare, condition = condition[:1], condition[1:]
	}
	named := varied(compare)
	placed := map[int]bool{}
	for _, levels := range combinations(condition) {
		g.columns = append(g.columns, column{name: spell(levels, condition), levels: levels})
	}
	for _, levels := range combinations(compare) {
		r := row{name: spell(levels, named), levels: levels, cells: make([]*record.Treatment, len(g.columns))}
		found := false
		for c, col := range g.columns {
			for i := range run.Treatments {
				t := &run.Treatments[i]
				if !placed[i] && holds(t.Levels, levels) && holds(t.Levels, col.levels) && (len(run.Factors) > 0 || !found) {
					r.cells[c], placed[i], found = t, true, true
					break
				}
			}
		}
		if found {
			g.rows = append(g.rows, r)
		}
	}
	// What fits no combination of levels still has its row.
	for i := range run.Treatments {
		if !placed[i] {
			r := row{name: run.Treatments[i].Name, cells: make([]*record.Treatment, len(g.columns))}
			r.cells[0] = &run.Treatments[i]
			g.rows = append(g.rows, r)
		}
	}
	g.dropEmptyColumns()
	names := g.sharedLevels(compare)
	said := map[string]bool{}
	for i := range g.rows {
		r := &g.rows[i]
		g.describe(r, compare, said)
		if r.name == "" {
			r.name = run.Study
		}
		r.baseline = r.baseline && (compares || len(g.rows) == 1)
		r.name = without(r.name, names)
	}
	g.mark()
	return g
}

// varied are the factors with several levels, or all where none has: a level that
// every treatment has distinguishes none.
func varied(factors []record.Factor) []record.Factor {
	list := slices.DeleteFunc(slices.Clone(factors), func(f record.Factor) bool { return len(f.Levels) < 2 })
	if len(list) == 0 {
		return factors
	}
	return list
}

func split(factors []record.Factor) (compare, condition []record.Factor) {
	for _, f := range factors {
		if f.Role == "condition" {
			condition = append(condition, f)
		} else {
			compare = append(compare, f)
		}
	}
	return
}

// combinations lists every combination of the factors' levels, the last factor
// turning fastest; one empty combination when there is no factor.
func combinations(factors []record.Factor) []map[string]string {
	out := []map[string]string{{}}
	for _, f := range factors {
		var longer []map[string]string
		for _, have := range out {
			for _, level := range f.Levels {
				more := maps.Clone(have)
				more[f.Name] = level.Name
				longer = append(longer, more)
			}
		}
		out = longer
	}
	return out
}

// spell names a combination: by its level alone when there is one factor, or where
// the level's name contains the factor's, as "2 links" contains "links".
func spell(levels map[string]string, factors []record.Factor) string {
	var parts []string
	for _, f := range factors {
		name := levels[f.Name]
		if len(factors) > 1 && !strings.Contains(name, f.Name) {
			name = f.Name + " " + name
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

func holds(have, want map[string]string) bool {
	for name, level := range want {
		if have[name] != level {
			return false
		}
	}
	return true
}

func (g *grid) dropEmptyColumns() {
	for c := len(g.columns) - 1; c >= 0 && len(g.columns) > 1; c-- {
		if slices.ContainsFunc(g.rows, func(r row) bool { return r.cells[c] != nil }) {
			continue
		}
		g.columns = slices.Delete(g.columns, c, c+1)
		for i := range g.rows {
			g.rows[i].cells = slices.Delete(g.rows[i].cells, c, c+1)
		}
	}
}

// manyFactors would make a row's name too long: the treatment's own leaves out
// baselines.
const manyFactors = 2

// sharedLevels are the names of those levels that every treatment has, and that are
// not their factors' baselines.
func (g *grid) sharedLevels(compare []record.Factor) (names []string) {
	if len(varied(compare)) == len(compare) || len(g.rows) < 2 {
		return nil
	}
	var spelled []string
	for _, f := range compare {
		if len(f.Levels) == 1 && f.Levels[0].Name != f.Baseline {
			names, spelled = append(names, f.Levels[0].Name), append(spelled, f.Name+" "+f.Levels[0].Name)
		}
	}
	g.shared = strings.Join(spelled, ", ")
	return names
}

// without takes levels out of a treatment's name.
func without(name string, levels []string) string {
	parts := slices.DeleteFunc(strings.Split(name, ", "), func(part string) bool { return slices.Contains(levels, part) })
	if len(parts) == 0 {
		return name
	}
	return strings.Join(parts, ", ")
}

// describe fills in a row from its treatments and levels. The text about a level
// stands in the first row that has it (said), not in every one.
func (g *grid) describe(r *row, compare []record.Factor, said map[string]bool) {
	r.baseline = true
	for c, t := range r.cells {
		if t == nil {
			continue
		}
		r.baseline = r.baseline && t.Baseline
		if r.name == "" || len(compare) > manyFactors && len(g.columns) == 1 {
			r.name = t.Name
			if t.Baseline && g.columns[c].name != "" {
				r.name = "baseline"
			}
		}
	}
	for _, f := range compare {
		i := slices.IndexFunc(f.Levels, func(l record.Level) bool { return r.levels[f.Name] == l.Name })
		if i < 0 {
			continue
		}
		level := f.Levels[i]
		if name := f.Name + " " + level.Name; level.About != "" && !said[name] {
			said[name] = true
			if len(compare) > manyFactors {
				level.About = level.Name + ": " + level.About
			}
			if len(f.Levels) == 1 && len(g.rows) > 1 {
				g.context = append(g.context, level.About)
			} else {
				r.about = append(r.about, level.About)
			}
		}
		r.settings = append(r.settings, level.SettingLines...)
		r.part = r.part || level.Part != "" && slices.ContainsFunc(f.Levels, func(l record.Level) bool { return l.Name == f.Ablate })
	}
}

// mark finds the baseline's row, and the one that the answer recommends
// (conclude.Recommend).
func (g *grid) mark() {
	g.baseline, g.best = nil, nil
	for i := range g.rows {
		r := &g.rows[i]
		if r.baseline && g.baseline == nil {
			g.baseline = r
		}
		if g.best == nil && slices.ContainsFunc(r.cells, func(t *record.Treatment) bool { return t != nil && t.Best }) {
			g.best = r
		}
	}
}

// pair is the baseline and the best fix, or the one of them that there is, or else
// the first row: the treatments worth looking into.
func (g *grid) pair() []*row {
	out := slices.DeleteFunc([]*row{g.baseline, g.best}, func(r *row) bool { return r == nil })
	if len(out) == 0 && len(g.rows) > 0 {
		out = append(out, &g.rows[0])
	}
	return out
}

// perColumn says something of each condition, and says it once where
// conditions agree: "writes and reads: 1 of 4", "writes: 4 of 4; reads: 1 of 4".
func (g *grid) perColumn(say func(c int) string) string {
	var said byText
	for c, col := range g.columns {
		if text := say(c); text != "" {
			said.add(text, col.name)
		}
	}
	var parts []string
	for _, text := range said.texts {
		if len(said.texts) > 1 {
			text += " for " + list(said.names[text])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// beforeAfter says something of the baseline and of the best fix.
func (g *grid) beforeAfter(say func(r *row, c int) string) string {
	pair := g.pair()
	if len(pair) == 0 {
		return ""
	}
	text := g.perColumn(func(c int) string { return say(pair[0], c) })
	if len(g.rows) > 1 {
		text += " at " + pair[0].name
	}
	if len(pair) == 2 {
		text += "; " + g.perColumn(func(c int) string { return say(pair[1], c) }) + " with " + pair[1].name
	}
	return text
}

// each ranges over the treatments, by row and column.
func (g *grid) each() iter.Seq2[*row, int] {
	return func(yield func(*row, int) bool) {
		for i := range g.rows {
			for c := range g.columns {
				if g.rows[i].cells[c] != nil && !yield(&g.rows[i], c) {
					return
				}
			}
		}
	}
}

// label names a treatment by its row and column.
func (g *grid) label(r *row, c int) string {
	if g.columns[c].name == "" {
		return r.name
	}
	return r.name + ", " + g.columns[c].name
}
