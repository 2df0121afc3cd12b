package view

import (
	"iter"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// grid arranges a run's treatments: one row for each combination of compared levels, one column for
// each combination of conditions.
type grid struct {
	Columns  []Column
	Rows     []Row
	Baseline *Row     // nil: no row is the baseline
	Best     *Row     // nil: nothing improves on the baseline
	Shared   string   // levels that all treatments have and that are no baselines; rows do not repeat them
	Context  []string // descriptions of the only levels of factors, which all treatments have
}

// Column is one combination of conditions.
type Column struct {
	Name   string // empty if there is only one column
	Levels map[string]string
}

// Row is one combination of compared levels.
type Row struct {
	Name       string
	About      []string
	Settings   []string
	Baseline   bool
	Part       bool // whether it takes another row's treatment apart
	Levels     map[string]string
	Treatments []*record.Treatment // one per column; nil: there is none
}

func newGrid(run *record.Run) *grid {
	g := &grid{}
	compare, condition := Split(run.Factors)
	compares := slices.ContainsFunc(compare, func(f record.Factor) bool { return len(f.Levels) > 1 })
	if !compares && (len(condition) > 1 || len(condition) == 1 && len(run.Hashing) == 0) {
		// If nothing is compared, the first condition becomes the rows. A single condition over
		// which flows are hashed is a curve, which is one row.
		compare, condition = slices.Concat(compare, condition[:1]), condition[1:]
	}
	named := varied(compare)
	placed := map[int]bool{}
	for _, levels := range combinations(condition, run.Treatments) {
		g.Columns = append(g.Columns, Column{Name: spell(levels, condition), Levels: levels})
	}
	if len(g.Columns) == 0 {
		g.Columns = []Column{{}}
	}
	for _, levels := range combinations(compare, run.Treatments) {
		r := Row{Name: spell(levels, named), Levels: levels, Treatments: make([]*record.Treatment, len(g.Columns))}
		found := false
		for c, col := range g.Columns {
			for i := range run.Treatments {
				t := &run.Treatments[i]
				if !placed[i] && Holds(t.Levels, levels) && Holds(t.Levels, col.Levels) &&
					(len(run.Factors) > 0 || !found) {
					r.Treatments[c], placed[i], found = t, true, true
					break
				}
			}
		}
		if found {
			g.Rows = append(g.Rows, r)
		}
	}
	// A treatment that matches no combination of levels gets its own row.
	for i := range run.Treatments {
		if !placed[i] {
			r := Row{Name: run.Treatments[i].Name, Treatments: make([]*record.Treatment, len(g.Columns))}
			r.Treatments[0] = &run.Treatments[i]
			g.Rows = append(g.Rows, r)
		}
	}
	g.dropEmptyColumns()
	names := g.sharedLevels(compare)
	said := map[string]bool{}
	for i := range g.Rows {
		r := &g.Rows[i]
		g.describe(r, compare, said)
		if r.Name == "" {
			r.Name = run.Study
		}
		r.Baseline = r.Baseline && (compares || len(g.Rows) == 1)
		r.Name = without(r.Name, names)
	}
	g.mark()
	return g
}

// varied returns the factors with several levels, or all factors if none has: a level that every
// treatment has does not distinguish them.
func varied(factors []record.Factor) []record.Factor {
	list := slices.DeleteFunc(slices.Clone(factors), func(f record.Factor) bool { return len(f.Levels) < 2 })
	if len(list) == 0 {
		return factors
	}
	return list
}

// Split separates compared factors from conditions.
func Split(factors []record.Factor) (compare, condition []record.Factor) {
	for _, f := range factors {
		if f.Role == "condition" {
			condition = append(condition, f)
		} else {
			compare = append(compare, f)
		}
	}
	return
}

// combinations lists the combinations of levels that treatments have, in the order of the levels,
// with the last factor varying fastest. Without factors there is one empty combination.
func combinations(factors []record.Factor, treatments []record.Treatment) (out []map[string]string) {
	if len(factors) == 0 {
		return []map[string]string{{}}
	}
	var places [][]int
	for _, t := range treatments {
		at := make([]int, len(factors))
		for k, f := range factors {
			at[k] = slices.IndexFunc(f.Levels, func(l record.Level) bool { return l.Name == t.Levels[f.Name] })
		}
		if !slices.Contains(at, -1) {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, slices.Compare)
	for _, at := range slices.CompactFunc(places, slices.Equal) {
		levels := map[string]string{}
		for k, f := range factors {
			levels[f.Name] = f.Levels[at[k]].Name
		}
		out = append(out, levels)
	}
	return out
}

// spell names a combination: by the level alone if there is only one factor, or if the name of the
// level contains that of the factor, as "2 links" contains "links".
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

// Holds reports whether have includes all levels in want.
func Holds(have, want map[string]string) bool {
	for name, level := range want {
		if have[name] != level {
			return false
		}
	}
	return true
}

func (g *grid) dropEmptyColumns() {
	for c := len(g.Columns) - 1; c >= 0 && len(g.Columns) > 1; c-- {
		if slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Treatments[c] != nil }) {
			continue
		}
		g.Columns = slices.Delete(g.Columns, c, c+1)
		for i := range g.Rows {
			g.Rows[i].Treatments = slices.Delete(g.Rows[i].Treatments, c, c+1)
		}
	}
}

// manyFactors is the number of factors above which a row's name would be too long. The name of the
// treatment is then used, which leaves out baselines.
const manyFactors = 2

// sharedLevels returns the names of the levels that every treatment has and that are not baselines.
func (g *grid) sharedLevels(compare []record.Factor) (names []string) {
	if len(varied(compare)) == len(compare) || len(g.Rows) < 2 {
		return nil
	}
	var spelled []string
	for _, f := range compare {
		if len(f.Levels) == 1 && f.Levels[0].Name != f.Baseline {
			names, spelled = append(names, f.Levels[0].Name), append(spelled, f.Name+" "+f.Levels[0].Name)
		}
	}
	g.Shared = strings.Join(spelled, ", ")
	return names
}

// without removes levels from a treatment's name.
func without(name string, levels []string) string {
	parts := slices.DeleteFunc(strings.Split(name, ", "), func(part string) bool {
		return slices.Contains(levels, part)
	})
	if len(parts) == 0 {
		return name
	}
	return strings.Join(parts, ", ")
}

// describe fills in a row from its treatments and levels. The description of a level is only in the
// first row that has it (see said).
func (g *grid) describe(r *Row, compare []record.Factor, said map[string]bool) {
	r.Baseline = true
	for c, t := range r.Treatments {
		if t == nil {
			continue
		}
		r.Baseline = r.Baseline && t.Baseline
		if r.Name == "" || len(compare) > manyFactors && len(g.Columns) == 1 {
			r.Name = t.Name
			if t.Baseline && g.Columns[c].Name != "" {
				r.Name = "baseline"
			}
		}
	}
	for _, f := range compare {
		i := slices.IndexFunc(f.Levels, func(l record.Level) bool { return r.Levels[f.Name] == l.Name })
		if i < 0 {
			continue
		}
		level := f.Levels[i]
		if name := f.Name + " " + level.Name; level.About != "" && !said[name] {
			said[name] = true
			if len(compare) > manyFactors {
				level.About = level.Name + ": " + level.About
			}
			if len(f.Levels) == 1 && len(g.Rows) > 1 {
				g.Context = append(g.Context, level.About)
			} else {
				r.About = append(r.About, level.About)
			}
		}
		r.Settings = append(r.Settings, level.SettingLines...)
		for _, option := range level.FlowLines {
			r.Settings = append(r.Settings, "flows: "+option)
		}
		r.Part = r.Part || level.Part != "" && slices.ContainsFunc(f.Levels, func(l record.Level) bool {
			return l.Name == f.Ablate
		})
	}
}

// mark finds the row of the baseline, and the one that the answer recommends (conclude.Recommend).
func (g *grid) mark() {
	g.Baseline, g.Best = nil, nil
	for i := range g.Rows {
		r := &g.Rows[i]
		if r.Baseline && g.Baseline == nil {
			g.Baseline = r
		}
		if g.Best == nil && slices.ContainsFunc(r.Treatments, func(t *record.Treatment) bool {
			return t != nil && t.Best
		}) {
			g.Best = r
		}
	}
}

// Pair returns the baseline and the best fix, or the one of them that exists, or the first row: the
// treatments that are shown in detail.
func (g *grid) Pair() []*Row {
	out := slices.DeleteFunc([]*Row{g.Baseline, g.Best}, func(r *Row) bool { return r == nil })
	if len(out) == 0 && len(g.Rows) > 0 {
		out = append(out, &g.Rows[0])
	}
	return out
}

// PerColumn joins texts about each condition. Conditions with the same text are combined: "writes
// and reads: 1 of 4", "writes: 4 of 4; reads: 1 of 4".
func (g *grid) PerColumn(say func(c int) string) string {
	var said words.ByText
	for c, col := range g.Columns {
		if text := say(c); text != "" {
			said.Add(text, col.Name)
		}
	}
	var parts []string
	for _, text := range said.Texts {
		if len(said.Texts) > 1 {
			text += " for " + words.List(said.Names[text])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// BeforeAfter joins texts about the baseline and the best fix. If there is neither, it joins the
// texts of all rows and combines equal ones.
func (g *grid) BeforeAfter(say func(r *Row, c int) string) string {
	if g.Baseline == nil && g.Best == nil {
		var said words.ByText
		for i := range g.Rows {
			said.Add(g.PerColumn(func(c int) string { return say(&g.Rows[i], c) }), words.Name(g.Rows[i].Name))
		}
		if len(g.Rows) > 1 {
			var parts []string
			for _, text := range said.Texts {
				parts = append(parts, text+" at "+words.FirstFew(said.Names[text], "and"))
			}
			return words.FirstFew(parts, "and")
		}
	}
	pair := g.Pair()
	if len(pair) == 0 {
		return ""
	}
	text := g.PerColumn(func(c int) string { return say(pair[0], c) })
	if len(g.Rows) > 1 {
		text += " at " + words.Name(pair[0].Name)
	}
	if len(pair) == 2 {
		text += "; " + g.PerColumn(func(c int) string { return say(pair[1], c) }) + " with " + words.Name(pair[1].Name)
	}
	return text
}

// Each returns an iterator over the treatments by row and column.
func (g *grid) Each() iter.Seq2[*Row, int] {
	return func(yield func(*Row, int) bool) {
		for i := range g.Rows {
			for c := range g.Columns {
				if g.Rows[i].Treatments[c] != nil && !yield(&g.Rows[i], c) {
					return
				}
			}
		}
	}
}

// Label returns a name of a treatment from its row and column.
func (g *grid) Label(r *Row, c int) string {
	if g.Columns[c].Name == "" {
		return r.Name
	}
	return r.Name + ", " + g.Columns[c].Name
}
