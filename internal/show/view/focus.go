package view

import (
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"slices"
)

// focusOf is the host whose interfaces the run is about (conclude.Focus).
// Where there is none, figures are arranged around the flows' end with the most
// interfaces; the first of several.
func focusOf(run *record.Run) string {
	if asked := conclude.Focus(run); asked.Host != "" {
		return asked.Host
	}
	isEnd := map[string]bool{}
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			isEnd[f.From], isEnd[f.To] = true, true
		}
	}
	count := map[string]map[string]bool{}
	var order []string
	for _, t := range run.Treatments {
		for _, p := range t.Interfaces {
			if _, isSwitch := run.Topology.Switch(p.Host); isSwitch || len(isEnd) > 0 && !isEnd[p.Host] {
				continue
			}
			if count[p.Host] == nil {
				count[p.Host] = map[string]bool{}
				order = append(order, p.Host)
			}
			count[p.Host][p.Interface] = true
		}
	}
	if len(order) == 0 {
		return ""
	}
	return slices.MaxFunc(order, func(a, b string) int { return len(count[a]) - len(count[b]) })
}
