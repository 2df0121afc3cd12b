package notebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Latest is how a reader refers to the run that was begun last.
var Latest = []string{"latest", "last"}

// shown is how many candidates an error names.
const shown = 5

// Find resolves a reference among the IDs of a notebook, the latest first.
func Find(reference, where string, ids []string) (string, error) {
	if slices.Contains(ids, reference) {
		return reference, nil
	}
	if slices.Contains(Latest, reference) && len(ids) > 0 {
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
		if more := len(begin) - shown; more > 0 {
			begin = append(begin[:shown], fmt.Sprintf("and %d more", more))
		}
		return "", &ReferenceError{reference, where, ErrAmbiguous, begin}
	}
	return "", &ReferenceError{reference, where, ErrNotFound, nearest(reference, ids)}
}

// nearest returns the few IDs that take the fewest changes of a letter.
func nearest(reference string, ids []string) []string {
	near := slices.Clone(ids)
	slices.SortStableFunc(near, func(a, b string) int {
		return distance(reference, a) - distance(reference, b)
	})
	return near[:min(len(near), shown)]
}

// distance is the Levenshtein distance, counted in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
