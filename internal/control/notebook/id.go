package notebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/source"
)

// ProposeID names a run after its study and seed, such as arp-flux-7.
func ProposeID(study string, seed uint64) string {
	return study + "-" + strconv.FormatUint(seed, 10)
}

// CheckID says whether id can name a run: it becomes part of file names.
func CheckID(id string) error {
	// By hand: a bounded regular expression costs every agent a millisecond.
	good := id != "" && len(id) <= 200 && !strings.ContainsRune("._-", rune(id[0]))
	for _, r := range id {
		good = good && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}
	if !good {
		return fmt.Errorf("run ID %q: expected letters, digits, dots, dashes and underscores, at most 200, the first a letter or digit", id)
	}
	return nil
}

// FreeID returns the proposal, or the first of proposal-2, proposal-3… that is
// not taken.
func FreeID(proposal string, taken func(id string) (bool, error)) (string, error) {
	id := proposal
	for n := 2; ; n++ {
		used, err := taken(id)
		if err != nil || !used {
			return id, err
		}
		id = proposal + "-" + strconv.Itoa(n)
	}
}

// latest is how a reader refers to the run that was begun last.
var latest = []string{"latest", "last"}

// shown is how many candidates an error names.
const shown = 5

// Find resolves a reference among the IDs of a notebook, the latest first.
func Find(reference, where string, ids []string) (string, error) {
	if slices.Contains(ids, reference) {
		return reference, nil
	}
	if slices.Contains(latest, reference) && len(ids) > 0 {
		return ids[0], nil
	}
	var begin []string
	for _, id := range ids {
		if reference != "" && strings.HasPrefix(id, reference) {
			begin = append(begin, id)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0], nil
	case len(begin) > 1:
		return "", &ReferenceError{reference, where, ErrAmbiguous, source.Some(begin, shown)}
	}
	return "", &ReferenceError{reference, where, ErrNotFound, nearest(reference, ids)}
}

// nearest returns the few IDs at the smallest edit distance.
func nearest(reference string, ids []string) []string {
	near := slices.Clone(ids)
	slices.SortStableFunc(near, func(a, b string) int {
		return source.EditDistance(reference, a) - source.EditDistance(reference, b)
	})
	return near[:min(len(near), shown)]
}
