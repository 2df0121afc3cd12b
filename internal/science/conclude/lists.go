package conclude

import (
	"linerate/internal/model/record"
	"linerate/internal/science/tuning"
)

// Lists returns the results of a run that takes a list of settings apart, one for each condition;
// nil if it takes none apart.
func Lists(run *record.Run) (results []*record.Tune) {
	settings := tuning.Settings(run)
	if len(settings) == 0 {
		return nil
	}
	parts, at := tuning.Conditions(run)
	for i, part := range parts {
		result := tuning.Judge(part, settings, nil)
		result.At, result.Trust = at[i], nil
		results = append(results, result)
	}
	return results
}
