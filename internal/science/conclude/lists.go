package conclude

import (
	"linerate/internal/model/record"
	"linerate/internal/science/tuning"
)

// Lists returns the results of a run that tries the settings of a list one by one, one result for
// each condition. Nil: the run does not do that.
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
