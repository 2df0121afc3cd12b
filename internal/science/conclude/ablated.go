package conclude

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/tuning"
)

// ablated answers a run that takes a list of settings apart: which of them did it,
// in each condition. nil: the list itself was not tried anywhere.
func ablated(run *record.Run) (said []string) {
	settings := tuning.Settings(run)
	if len(settings) == 0 {
		return nil
	}
	whole := false
	parts, at := tuning.Conditions(run)
	for i, part := range parts {
		result := tuning.Judge(part, settings)
		whole = whole || result.List != nil
		text := result.Answer
		if label := strings.Join(slices.Sorted(maps.Values(at[i])), ", "); label != "" {
			text = upper(label) + ": " + strings.ToLower(text[:1]) + text[1:]
		}
		said = append(said, text)
	}
	if !whole {
		return nil
	}
	return said
}
