package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// ablated returns the factor with two more levels for each setting of the level that Ablate names:
// the setting alone, compared with the baseline, and the list without it, compared with the list.
// Neither comparison is enough by itself: if two buffers are both too small, enlarging only one does
// not help.
func (f Factor) ablated() Factor {
	list, ok := f.list()
	if !ok {
		return f
	}
	names := list.parts()
	f.Levels = slices.Clone(f.Levels)
	only, without := partLabels("only ", names), partLabels("without ", names)
	for i, name := range names {
		f.Levels = append(f.Levels, Level{
			Name: only[i], About: "this setting of " + list.Name + " and no other", Part: name,
			Workload: list.workload(func(part string) bool { return part == name }),
			Settings: having(list.Settings, func(part string) bool { return part == name }),
		})
	}
	for i, name := range names {
		f.Levels = append(f.Levels, Level{
			Name: without[i], About: list.Name + " without this setting", Part: name, Against: list.Name,
			Workload: list.workload(func(part string) bool { return part != name }),
			Settings: having(list.Settings, func(part string) bool { return part != name }),
		})
	}
	return f
}

// list returns the level that is taken apart.
func (f Factor) list() (Level, bool) {
	i := slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == f.Ablate && l.Part == "" })
	if f.Ablate == "" || i < 0 {
		return Level{}, false
	}
	return f.Levels[i], true
}

// parts names the settings of a level, including the congestion control of its flows.
func (l Level) parts() []string {
	names := parts(l.Settings)
	if l.control() != "" && !slices.Contains(names, setting.CongestionControl) {
		names = append(names, setting.CongestionControl)
	}
	return names
}

// control returns the congestion control that the level sets for its flows, if that is all it
// changes in the workload. Empty: otherwise.
func (l Level) control() string {
	if l.Workload == nil {
		return ""
	}
	rest := *l.Workload
	rest.CongestionControl = ""
	if !reflect.DeepEqual(rest, Override{}) {
		return ""
	}
	return l.Workload.CongestionControl
}

// workload returns the part of the level's workload for which wanted is true.
func (l Level) workload(wanted func(part string) bool) *Override {
	if l.control() == "" || !wanted(setting.CongestionControl) {
		return nil
	}
	return l.Workload
}

// parts names the settings of a list: kernel parameters and other changes. A change on several
// hosts is one part.
func parts(settings []setting.Setting) (names []string) {
	for _, s := range settings {
		for _, c := range s.Changes() {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// having returns the settings whose parts are wanted.
func having(settings []setting.Setting, wanted func(part string) bool) []setting.Setting {
	var list []setting.Setting
	for _, s := range settings {
		for _, c := range s.Changes() {
			if wanted(c.Name) {
				list = append(list, c.Setting)
			}
		}
	}
	return list
}

// partLabels returns a level name for each part. Names that are equal after truncation are
// numbered.
func partLabels(word string, parts []string) (names []string) {
	for _, part := range parts {
		name := partLabel(word, part)
		for n := 2; slices.Contains(names, name); n++ {
			name = partLabel(word, fmt.Sprintf("%s (%d)", part, n))
		}
		names = append(names, name)
	}
	return names
}

// partLabel returns a level name. It truncates the beginning of the part, which many parts share.
func partLabel(word, part string) string {
	if room := maxLabel - len(word); len(part) > room {
		part = part[len(part)-room+len("…"):]
		part = "…" + strings.TrimLeftFunc(part, func(r rune) bool { return r == '\uFFFD' })
	}
	return word + part
}

// ablate checks the name of the level that is to be taken apart.
func (c *checker) ablate(path string, f Factor) {
	if !c.has(path) {
		return
	}
	var names, made []string
	for _, l := range f.Levels {
		if l.Part == "" {
			names = append(names, l.Name)
		} else {
			made = append(made, l.Name)
		}
	}
	taken := slices.IndexFunc(names, func(name string) bool { return slices.Contains(made, name) })
	earlier := slices.IndexFunc(c.Factors, func(f Factor) bool { return f.Ablate != "" })
	list, ok := f.list()
	switch {
	case f.Role == roleCondition:
		c.report(path, "a condition is not compared: leave out ablate, or make the role compare")
	case !ok:
		c.report(path, "ablate %q: not a level of factor %q%s", f.Ablate, f.Name, source.DidYouMean(f.Ablate, names))
	case list.Name == f.baseline():
		c.report(path, "%q is the baseline, which each of its settings would be compared with; expected another level",
			list.Name)
	case list.Workload != nil && list.control() == "":
		c.report(path,
			"%q changes more of the workload than congestion_control: expected a level of settings, which can be "+
				"taken apart", list.Name)
	case len(list.parts()) < 2:
		c.report(path, "%q has %s: expected at least two settings", list.Name,
			unit.Plural(len(list.parts()), "setting"))
	case taken >= 0:
		c.report(path,
			"one of the levels that %q is taken apart into is called %q, as a level of the file is: call that "+
				"otherwise",
			list.Name, names[taken])
	case c.Factors[earlier].Name != f.Name:
		c.report(path, "factor %q is taken apart already: only one list can be", c.Factors[earlier].Name)
	}
}
