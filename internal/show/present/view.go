package present

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/ecmp"
)

// view is a run arranged for reading: treatments as a grid, one row for each
// combination of compared levels, one column for each combination of
// conditions.
type view struct {
	run      *record.Run
	scale    scale // of goodput
	measures []*measure
	columns  []column
	rows     []row
	baseline *row // nil when no row is the baseline
	best     *row // nil when nothing improves on the baseline
	focus    string
	shared   string // levels that all treatments have and that are no baselines; rows do not repeat them
	reads    reader
	placed   []ecmp.Group // treatments whose flows a hash placed
}

type column struct {
	name   string // empty when there is one column without a name
	levels map[string]string
}

type row struct {
	name     string
	about    []string
	settings []string
	count    int // settings, to prefer the cheaper of two fixes
	baseline bool
	part     bool // it takes another row's treatment apart
	levels   map[string]string
	cells    []cell // one per column
}

// cell is one treatment; the pointers are nil where there is none.
type cell struct {
	*record.Treatment
	effect *record.Effect // of the response that counts; the others are beside it
}

func newView(run *record.Run) *view {
	v := &view{run: run, scale: goodputScale(run), measures: newMeasures(run)}
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
		v.columns = append(v.columns, column{name: spell(levels, condition), levels: levels})
	}
	for _, levels := range combinations(compare) {
		r := row{name: spell(levels, named), levels: levels, cells: make([]cell, len(v.columns))}
		found := false
		for c, col := range v.columns {
			for i := range run.Treatments {
				t := &run.Treatments[i]
				if !placed[i] && holds(t.Levels, levels) && holds(t.Levels, col.levels) && (len(run.Factors) > 0 || !found) {
					r.cells[c].Treatment, placed[i], found = t, true, true
					break
				}
			}
		}
		if found {
			v.rows = append(v.rows, r)
		}
	}
	// What fits no combination of levels still gets its line.
	for i := range run.Treatments {
		if !placed[i] {
			r := row{name: run.Treatments[i].Name, cells: make([]cell, len(v.columns))}
			r.cells[0].Treatment = &run.Treatments[i]
			v.rows = append(v.rows, r)
		}
	}
	v.dropEmptyColumns()
	names := v.sharedLevels(compare)
	told := map[string]bool{}
	for i := range v.rows {
		v.describe(&v.rows[i], compare, told)
		v.rows[i].baseline = v.rows[i].baseline && (compares || len(v.rows) == 1)
		v.rows[i].name = without(v.rows[i].name, names)
	}
	v.baseline, v.best = v.findBaseline(), v.findBest()
	v.focus = focusOf(run)
	v.reads = newReader(run)
	v.placed = ecmp.Placements(run)
	return v
}

// varied are the factors with several levels, or all where none has: a level that
// every treatment has tells none from another.
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
// the level's name has the factor's in it, as 2 links has links.
func spell(levels map[string]string, factors []record.Factor) string {
	var parts []string
	for _, f := range factors {
		if len(factors) == 1 {
			return levels[f.Name]
		}
		name := levels[f.Name]
		if !strings.Contains(name, f.Name) {
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

func (v *view) dropEmptyColumns() {
	for c := len(v.columns) - 1; c >= 0 && len(v.columns) > 1; c-- {
		if slices.ContainsFunc(v.rows, func(r row) bool { return r.cells[c].Treatment != nil }) {
			continue
		}
		v.columns = slices.Delete(v.columns, c, c+1)
		for i := range v.rows {
			v.rows[i].cells = slices.Delete(v.rows[i].cells, c, c+1)
		}
	}
}

// manyFactors would make a row's name too long: the treatment's own leaves out what
// goes without saying.
const manyFactors = 2

// sharedLevels are the names of those levels that every treatment has, and that are
// not their factors' baselines.
func (v *view) sharedLevels(compare []record.Factor) (names []string) {
	if len(varied(compare)) == len(compare) || len(v.rows) < 2 {
		return nil
	}
	var spelled []string
	for _, f := range compare {
		if len(f.Levels) == 1 && f.Levels[0].Name != f.Baseline {
			names, spelled = append(names, f.Levels[0].Name), append(spelled, f.Name+" "+f.Levels[0].Name)
		}
	}
	v.shared = strings.Join(spelled, ", ")
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

// describe fills in what is known of a row from its levels and effects. What a level
// is about is told where it comes first, and not again in every row that has it.
func (v *view) describe(r *row, compare []record.Factor, told map[string]bool) {
	r.baseline = true
	for c := range r.cells {
		if t := r.cells[c].Treatment; t != nil {
			r.baseline = r.baseline && t.Baseline
			if r.cells[c].effect = t.Effect; t.Effect == nil {
				r.cells[c].effect = v.effectOf(r, v.columns[c], compare)
			}
			if r.name == "" || len(compare) > manyFactors && len(v.columns) == 1 {
				r.name = t.Name
				if t.Baseline && v.columns[c].name != "" {
					r.name = "baseline"
				}
			}
		}
	}
	if r.name == "" {
		r.name = v.run.Study
	}
	for _, f := range compare {
		for _, level := range f.Levels {
			if r.levels[f.Name] == level.Name {
				if name := f.Name + " " + level.Name; level.About != "" && !told[name] {
					told[name] = true
					if len(compare) > manyFactors {
						level.About = level.Name + ": " + level.About
					}
					r.about = append(r.about, level.About)
				}
				r.settings = append(r.settings, level.SettingLines...)
				r.count += level.Settings
				r.part = r.part || level.Part != "" && slices.ContainsFunc(f.Levels, func(l record.Level) bool { return l.Name == f.Ablate })
			}
		}
	}
}

// effectOf finds the effect that compares a row with the baseline: one that
// changes a single factor while all others are at their baseline. A row that
// changes several has none.
func (v *view) effectOf(r *row, col column, compare []record.Factor) *record.Effect {
	changed, baseline := "", ""
	for _, f := range compare {
		if r.levels[f.Name] != f.Baseline {
			if changed != "" {
				return nil
			}
			changed, baseline = f.Name, f.Baseline
		}
	}
	for i := range v.run.Effects {
		e := &v.run.Effects[i]
		if e.Factor != changed || e.To != r.levels[changed] || e.From != baseline {
			continue
		}
		fits := true
		for name, level := range e.At {
			_, compared := r.levels[name]
			fits = fits && (compared && r.levels[name] == level || !compared && col.levels[name] == level)
		}
		if fits {
			return e
		}
	}
	return nil
}

func (v *view) findBaseline() *row {
	for i := range v.rows {
		if v.rows[i].baseline {
			return &v.rows[i]
		}
	}
	return nil
}

// findBest is the row that the answer recommends (conclude.Recommend).
func (v *view) findBest() *row {
	for i := range v.rows {
		for _, c := range v.rows[i].cells {
			if c.Treatment != nil && c.Best {
				return &v.rows[i]
			}
		}
	}
	return nil
}

// pair is the baseline and the best fix, or whatever of them there is, or else
// the first row: the treatments worth looking into.
func (v *view) pair() []*row {
	var out []*row
	if v.baseline != nil {
		out = append(out, v.baseline)
	}
	if v.best != nil {
		out = append(out, v.best)
	}
	if len(out) == 0 && len(v.rows) > 0 {
		out = append(out, &v.rows[0])
	}
	return out
}

// trialOf finds a trial by its place in the run.
func trialOf(run *record.Run, order int) *record.Trial {
	for i := range run.Trials {
		if run.Trials[i].Order == order {
			return &run.Trials[i]
		}
	}
	return nil
}

// trialsOf lists a treatment's trials.
func trialsOf(run *record.Run, treatment string) []*record.Trial {
	var out []*record.Trial
	for i := range run.Trials {
		if run.Trials[i].Treatment == treatment {
			out = append(out, &run.Trials[i])
		}
	}
	return out
}

// blocks is how many blocks the run's trials make.
func blocks(run *record.Run) int {
	most := 0
	for _, t := range run.Trials {
		most = max(most, t.Block)
	}
	return most
}

// perColumn says something of each condition, and says it once where
// conditions agree: "writes and reads: 1 of 4", "writes: 4 of 4; reads: 1 of 4".
func (v *view) perColumn(say func(c int) string) string {
	type group struct {
		text  string
		names []string
	}
	var groups []group
	for c, col := range v.columns {
		text := say(c)
		if text == "" {
			continue
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.text == text })
		if at < 0 {
			groups, at = append(groups, group{text: text}), len(groups)
		}
		if col.name != "" {
			groups[at].names = append(groups[at].names, col.name)
		}
	}
	var parts []string
	for _, g := range groups {
		if len(groups) == 1 || len(g.names) == 0 {
			parts = append(parts, g.text)
			continue
		}
		parts = append(parts, g.text+" for "+list(g.names))
	}
	return strings.Join(parts, ", ")
}

// before and after say something of the baseline and of the best fix.
func (v *view) beforeAfter(say func(r *row, c int) string) string {
	pair := v.pair()
	if len(pair) == 0 {
		return ""
	}
	text := v.perColumn(func(c int) string { return say(pair[0], c) })
	if len(v.rows) > 1 {
		text += " at " + pair[0].name
	}
	if len(pair) == 2 {
		text += "; " + v.perColumn(func(c int) string { return say(pair[1], c) }) + " with " + pair[1].name
	}
	return text
}

// label names a treatment by its row and column.
func (v *view) label(r *row, c int) string {
	if v.columns[c].name == "" {
		return r.name
	}
	return r.name + ", " + v.columns[c].name
}

// whole is the view without the treatments that take another one apart: those are
// worth comparing, which other tables do, and nobody would choose one of them.
func (v *view) whole() *view {
	w := *v
	w.rows = slices.DeleteFunc(slices.Clone(v.rows), func(r row) bool { return r.part })
	w.baseline, w.best = w.findBaseline(), w.findBest()
	return &w
}

// panes lists a measure's.
func (v *view) panesOf(m *measure) []pane {
	var list []pane
	for c, col := range v.columns {
		name := col.name
		if !v.ordinary() {
			name = m.Label
			if col.name != "" {
				name += ", " + col.name
			}
		}
		list = append(list, pane{m, c, name})
	}
	return list
}

// panes lists all, the response that counts first.
func (v *view) panes() []pane {
	var list []pane
	for _, m := range v.measures {
		list = append(list, v.panesOf(m)...)
	}
	return list
}

// lead is the response that the answer and the verdicts are about.
func (v *view) lead() *measure { return v.measures[0] }

// ordinary runs are about goodput alone, and need not say so.
func (v *view) ordinary() bool { return len(v.measures) == 1 && v.lead().goodput() }

// effects are the comparisons of a run in all its responses, those of the first
// one first.
func (v *view) effects() []record.Effect {
	list := append([]record.Effect(nil), v.run.Effects...)
	for _, e := range v.run.Effects {
		list = append(list, e.Beside...)
	}
	return list
}

// of is the measure that an effect is about.
func (v *view) of(e *record.Effect) *measure {
	for _, m := range v.measures {
		if m.Effect(e) == e {
			return m
		}
	}
	return v.lead()
}

// value is the pane's estimate of a row; 0 where there is none.
func (p pane) value(r *row) float64 {
	if r.cells[p.c].Treatment == nil {
		return 0
	}
	return p.Estimate(r.cells[p.c].Treatment).Mean
}
