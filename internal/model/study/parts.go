package study

import (
	"fmt"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/source"
)

// Part selects some of the combinations of levels: a study with many factors cannot try all of
// them. A factor that the part does not name is at its baseline; a condition has each of its
// levels.
type Part struct {
	Name   string       `yaml:",key" json:"name"`
	About  string       `yaml:"about" json:"about,omitempty" doc:"what the part finds out, in a sentence"`
	Levels []PartLevels `yaml:"levels" json:"levels,omitempty" doc:"levels by factor: every combination of them is tried"`
	// Together combines the first levels of these factors with each other, then the second ones,
	// and so on.
	Together []string `yaml:"together" json:"together,omitempty" doc:"factors that change together: first level with first, second with second, instead of every combination"`
	OneByOne []string `yaml:"one_by_one" json:"one_by_one,omitempty" doc:"factors varied one at a time: each level while the other factors of this list are at their baseline"`
	OnDemand bool     `yaml:"on_demand" json:"on_demand,omitempty" doc:"true: tried only when --part names it"`
}

// PartLevels are the levels of one factor in a part.
type PartLevels struct {
	Factor string   `yaml:",key" json:"factor"`
	Levels []string `yaml:",value" json:"levels"`
}

// AllParts selects every part of a design.
const AllParts = "all"

// parts returns the parts with these names. If names is empty, it returns those that are not on
// demand.
func (s *Study) parts(names []string) ([]Part, error) {
	known := lists.Map(s.Design.Parts, func(p Part) string { return p.Name })
	for _, name := range names {
		switch {
		case len(known) == 0 && name != AllParts:
			return nil, fmt.Errorf("part %q: study %s has no parts, it tries every combination of its levels",
				name, s.Name)
		case name != AllParts && !slices.Contains(known, name):
			return nil, fmt.Errorf("no part %q in study %s%s", name, s.Name,
				source.DidYouMean(name, append(known, AllParts)))
		}
	}
	list := lists.Where(s.Design.Parts, func(p Part) bool {
		return len(names) == 0 && !p.OnDemand || slices.Contains(names, p.Name) || slices.Contains(names, AllParts)
	})
	return list, nil
}

// everything returns the part of a study without parts: all combinations of levels.
func (s *Study) everything() (p Part) {
	for _, f := range s.Factors {
		p.Levels = append(p.Levels, PartLevels{Factor: f.Name, Levels: f.names()})
	}
	return p
}

// combinations returns the treatments of some parts, each as the index of its level for every
// factor, in the order of the levels. The index of the last factor varies fastest.
func (s *Study) combinations(parts []Part) ([][]int, error) {
	var list [][]int
	for _, p := range parts {
		mine, err := s.crossed(p)
		if err != nil {
			return nil, err
		}
		list = append(list, mine...)
	}
	slices.SortFunc(list, slices.Compare)
	return slices.CompactFunc(list, slices.Equal), nil
}

func (p Part) name() string {
	if p.Name == "" {
		return "the factors have"
	}
	return fmt.Sprintf("part %q has", p.Name)
}

func (s *Study) crossed(p Part) ([][]int, error) {
	list := [][]int{make([]int, len(s.Factors))}
	vary := func(factors []int, choices [][]int) error {
		var longer [][]int
		for _, base := range list {
			for _, choice := range choices {
				one := slices.Clone(base)
				for i, k := range factors {
					one[k] = choice[i]
				}
				longer = append(longer, one)
			}
		}
		if list = longer; len(list) > maxTreatments {
			return fmt.Errorf("%s more than %d combinations of levels", p.name(), maxTreatments)
		}
		return nil
	}
	var together []int
	var lock [][]int
	for k, f := range s.Factors {
		places := f.places(p)
		if slices.Contains(p.Together, f.Name) {
			together = append(together, k)
			for i, at := range places {
				if i == len(lock) {
					lock = append(lock, nil)
				}
				lock[i] = append(lock[i], at)
			}
			continue
		}
		choices := lists.Map(places, func(at int) []int { return []int{at} })
		if err := vary([]int{k}, choices); err != nil {
			return nil, err
		}
	}
	if len(together) > 0 {
		lock = slices.DeleteFunc(lock, func(row []int) bool { return len(row) < len(together) })
		if err := vary(together, lock); err != nil {
			return nil, err
		}
	}
	for _, base := range slices.Clone(list) {
		for k, f := range s.Factors {
			for at := range f.Levels {
				if slices.Contains(p.OneByOne, f.Name) && at != base[k] {
					one := slices.Clone(base)
					one[k] = at
					list = append(list, one)
				}
			}
		}
	}
	return list, nil
}

// level returns the index of a level. -1: there is none with that name.
func (f Factor) level(name string) int {
	return slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == name })
}

// names returns the names of the levels.
func (f Factor) names() (list []string) {
	return lists.Map(f.Levels, func(l Level) string { return l.Name })
}

// baseline returns the name of the level that the others are compared with. Empty: there are no
// levels.
func (f Factor) baseline() string {
	if f.Baseline == "" && len(f.Levels) > 0 {
		return f.Levels[0].Name
	}
	return f.Baseline
}

// places returns the indices of the factor's levels in a part.
func (f Factor) places(p Part) []int {
	var list []int
	named := slices.IndexFunc(p.Levels, func(l PartLevels) bool { return l.Factor == f.Name })
	switch {
	case named >= 0:
		for _, name := range p.Levels[named].Levels {
			if i := f.level(name); i >= 0 { // an unknown name is a mistake in the file
				list = append(list, i)
			}
		}
	case f.Role == roleCondition:
		for i := range f.Levels {
			list = append(list, i)
		}
	default:
		list = []int{max(0, f.level(f.Baseline))}
	}
	return list
}

// quiet reports whether a level is left out of the names of treatments, which would be long in a
// study with many factors: the baseline of a compared factor, unless the first part is about that
// factor.
func (s *Study) quiet(f Factor, level string) bool {
	if len(s.Design.Parts) == 0 || f.Role == roleCondition || level != f.Baseline {
		return false
	}
	return !slices.ContainsFunc(s.Design.Parts[0].Levels, func(l PartLevels) bool { return l.Factor == f.Name })
}

// parts checks that the design's parts name existing factors and levels.
func (c *checker) parts() {
	factors := lists.Map(c.Factors, func(f Factor) string { return f.Name })
	if len(c.Design.Parts) > 0 && !slices.ContainsFunc(c.Design.Parts, func(p Part) bool { return !p.OnDemand }) {
		c.report("design.parts", "every part is on demand: nothing would be tried")
	}
	for i, p := range c.Design.Parts {
		path := fmt.Sprintf("design.parts[%d]", i)
		if !studyName.MatchString(p.Name) || p.Name == AllParts {
			c.report(path, "part name %q: expected small letters, digits and dashes, and not %q", p.Name, AllParts)
		}
		listed := map[string]int{}
		for j, l := range p.Levels {
			at := fmt.Sprintf("%s.levels[%d]", path, j)
			k := slices.Index(factors, l.Factor)
			if k < 0 {
				c.report(at, "no factor %q%s", l.Factor, source.DidYouMean(l.Factor, factors))
				continue
			}
			names := c.Factors[k].names()
			if listed[l.Factor] = len(l.Levels); len(l.Levels) == 0 {
				c.report(at, "factor %q: expected at least one of its levels", l.Factor)
			}
			for n, name := range l.Levels {
				if !slices.Contains(names, name) {
					c.report(at, "factor %q has no level %q%s", l.Factor, name, source.DidYouMean(name, names))
				} else if slices.Contains(l.Levels[:n], name) {
					c.report(at, "factor %q: level %q is named twice", l.Factor, name)
				}
			}
		}
		for j, name := range p.Together {
			at := fmt.Sprintf("%s.together[%d]", path, j)
			switch n, there := listed[name]; {
			case !there:
				c.report(at, "together: expected a factor of which levels are listed, found %q", name)
			case n != listed[p.Together[0]]:
				c.report(at, "together: %q has %d levels here, %q has %d; expected as many", name, n, p.Together[0],
					listed[p.Together[0]])
			}
		}
		for j, name := range p.OneByOne {
			if at := fmt.Sprintf("%s.one_by_one[%d]", path, j); !slices.Contains(factors, name) {
				c.report(at, "no factor %q%s", name, source.DidYouMean(name, factors))
			} else if _, crossed := listed[name]; crossed {
				c.report(at, "factor %q: its levels are either listed or tried one by one", name)
			}
		}
	}
}
