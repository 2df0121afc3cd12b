package conclude

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// levelOutages returns what events in the window did to running flows, for each combination of
// compared levels in each condition. nil: no flow lost its path, and none moved.
func levelOutages(run *record.Run) (list []record.LevelOutages) {
	happened := false
	for _, t := range run.Treatments {
		if len(t.Outages) == 0 {
			continue
		}
		happened = happened || slices.ContainsFunc(t.Outages, func(o record.Outages) bool {
			return o.Withdrawn.Flows > 0 || o.Others.Moved > 0
		})
		label := strings.Join(comparedLevels(run, t.Levels), " + ")
		list = append(list, record.LevelOutages{Label: label, Condition: conditionOf(run, t.Levels),
			Outages: t.Outages})
	}
	if !happened {
		return nil
	}
	return list
}

// comparedLevels returns the levels of the factors that are compared.
func comparedLevels(run *record.Run, levels map[string]string) (names []string) {
	for _, f := range run.Factors {
		if compared(f) {
			names = append(names, levels[f.Name])
		}
	}
	return names
}

// conditionOf returns the name of the condition that has these levels. Empty: there is only one.
func conditionOf(run *record.Run, levels map[string]string) string {
	var at []string
	for _, f := range run.Factors {
		if !compared(f) {
			at = append(at, levels[f.Name])
		}
	}
	return strings.Join(at, ", ")
}
