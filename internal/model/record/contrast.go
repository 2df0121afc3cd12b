package record

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/lists"
)

// Contrast is a pair of treatments that a run compares, given by their levels. In a contrast of
// levels the two differ only in Factor. In a contrast of treatments Factor is empty.
type Contrast struct {
	Factor      string
	Base, Level map[string]string
	// At has the levels of the other factors or, in a contrast of treatments, of the condition
	// factors. Nil: there are none.
	At map[string]string
}

// Contrasts lists the pairs that a run compares. Tried has the levels of each treatment.
//
// The first result has, for each level of a compared factor, the comparison with the baseline level
// of the factor, or with the level named by Level.Against, at equal levels of all other factors.
// The second has, for each treatment that differs from the baseline in several factors, the
// comparison with the baseline under the same conditions. A treatment with a level that is compared
// with something other than the baseline is not in the second result. In a partial design, which
// lacks some combinations of levels, both sides must have been tried.
func Contrasts(factors []Factor, tried []map[string]string, partial bool) (levels, treatments []Contrast) {
	has := map[string]bool{}
	for _, t := range tried {
		has[spelled(factors, t)] = true
	}
	for k, f := range factors {
		if f.Role == "condition" {
			continue
		}
		for _, at := range settled(factors, tried, k) {
			for _, l := range f.Levels {
				if l.Name == f.Baseline {
					continue
				}
				c := Contrast{Factor: f.Name, Base: with(at, f.Name, cmp.Or(l.Against, f.Baseline)),
					Level: with(at, f.Name, l.Name), At: at}
				base, level := has[spelled(factors, c.Base)], has[spelled(factors, c.Level)]
				if base && level || !partial && (base || level) {
					levels = append(levels, c)
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range tried {
		if seen[spelled(factors, t)] {
			continue
		}
		seen[spelled(factors, t)] = true
		c := Contrast{Base: map[string]string{}, Level: t}
		changed, dissected := 0, false
		for _, f := range factors {
			name := t[f.Name]
			c.Base[f.Name] = f.Baseline
			i := slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == name })
			switch {
			case f.Role == "condition":
				c.At, c.Base[f.Name] = with(c.At, f.Name, name), name
			case name == f.Baseline:
			case i >= 0 && f.Levels[i].Against != "" && f.Levels[i].Against != f.Baseline:
				dissected = true
			default:
				changed++
			}
		}
		if changed > 1 && !dissected && has[spelled(factors, c.Base)] {
			treatments = append(treatments, c)
		}
	}
	return levels, treatments
}

// settled lists the tried combinations of levels of all factors except one, in the order of the
// levels. A combination without levels is nil.
func settled(factors []Factor, tried []map[string]string, except int) (list []map[string]string) {
	var rows [][]int // places of levels, by factor
	for _, t := range tried {
		row := make([]int, len(factors))
		for k, f := range factors {
			if k != except {
				row[k] = slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == t[f.Name] })
			}
		}
		if !slices.Contains(row, -1) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, slices.Compare)
	for _, row := range slices.CompactFunc(rows, slices.Equal) {
		var at map[string]string
		for k, f := range factors {
			if k != except {
				at = with(at, f.Name, f.Levels[row[k]].Name)
			}
		}
		list = append(list, at)
	}
	return list
}

// with returns a copy of levels in which factor has the given level.
func with(levels map[string]string, factor, level string) map[string]string {
	made := map[string]string{factor: level}
	for f, l := range levels {
		if f != factor {
			made[f] = l
		}
	}
	return made
}

// spelled returns a key that is equal for equal combinations of levels.
func spelled(factors []Factor, levels map[string]string) string {
	names := lists.Map(factors, func(f Factor) string { return levels[f.Name] })
	return strings.Join(names, "\x00")
}
