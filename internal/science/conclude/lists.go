package conclude

import (
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/tuning"
)

// lists are Lists where the list itself was tried in some condition.
func lists(run *record.Run) []*record.Tune {
	results := Lists(run)
	if !slices.ContainsFunc(results, func(t *record.Tune) bool { return t.List != nil }) {
		return nil
	}
	return results
}

// Lists are the results of a run that takes a list of settings apart, one for each
// condition; nil: it takes none apart.
func Lists(run *record.Run) (results []*record.Tune) {
	settings := tuning.Settings(run)
	if len(settings) == 0 {
		return nil
	}
	parts, at := tuning.Conditions(run)
	for i, part := range parts {
		result := tuning.Judge(part, settings)
		result.At, result.Trust = at[i], nil
		results = append(results, result)
	}
	return results
}
