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

// ablated is a factor with the levels that take its list apart: each setting of the
// list alone, compared with the baseline, and the list without it, compared with
// the list. What one of them does alone says little of what it does among others:
// of two buffers that are both too small, either one is no help by itself.
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

// list is the level that is taken apart.
func (f Factor) list() (Level, bool) {
	i := slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == f.Ablate && l.Part == "" })
	if f.Ablate == "" || i < 0 {
		return Level{}, false
	}
	return f.Levels[i], true
}

// parts names what a level consists of, with its flows' congestion control.
func (l Level) parts() []string {
	names := parts(l.Settings)
	if l.control() != "" && !slices.Contains(names, setting.CongestionControl) {
		names = append(names, setting.CongestionControl)
	}
	return names
}

// control is the congestion control that the level gives its flows, where it changes
// nothing else of the workload; empty: that is not so.
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

// workload is what is left of the level's workload of the parts that are wanted.
func (l Level) workload(wanted func(part string) bool) *Override {
	if l.control() == "" || !wanted(setting.CongestionControl) {
		return nil
	}
	return l.Workload
}

// parts names what a list consists of: a kernel parameter, or another change, each
// with all the hosts that it is made on.
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

// having is what is left of settings of the parts that are wanted.
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

// partLabels name a level for each part. Those that are alike where they are cut are
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

// partLabel names a level; a part is cut from its front, which many share.
func partLabel(word, part string) string {
	if room := maxLabel - len(word); len(part) > room {
		part = part[len(part)-room+len("…"):]
		part = "…" + strings.TrimLeftFunc(part, func(r rune) bool { return r == '\uFFFD' })
	}
	return word + part
}

// ablate checks which level is to be taken apart.
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
			"%q changes more of the workload than congestion_control: expected a level of settings, which can be taken apart", list.Name)
	case len(list.parts()) < 2:
		c.report(path, "%q has %s: expected at least two settings", list.Name,
			unit.Plural(len(list.parts()), "setting"))
	case taken >= 0:
		c.report(path,
			"one of the levels that %q is taken apart into is called %q, as a level of the file is: call that otherwise",
			list.Name, names[taken])
	case c.Factors[earlier].Name != f.Name:
		c.report(path, "factor %q is taken apart already: only one list can be", c.Factors[earlier].Name)
	}
}
