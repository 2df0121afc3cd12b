package notebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"linerate/internal/model/lists"
	"linerate/internal/model/source"
)

// ProposeID returns an ID from a study and seed, such as arp-flux-7.
func ProposeID(study string, seed uint64) string {
	return study + "-" + strconv.FormatUint(seed, 10)
}

// CheckID returns an error unless id is valid as the ID of a run: 1 to 200 letters, digits, dots, dashes and
// underscores, beginning with a letter or digit. An ID becomes part of file names.
func CheckID(id string) error {
	// Not a regular expression: compiling a bounded one costs every agent a millisecond.
	good := id != "" && len(id) <= 200 && !strings.ContainsRune("._-", rune(id[0]))
	for _, r := range id {
		good = good && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-", r))
	}
	if !good {
		return fmt.Errorf(
			"run ID %q: expected letters, digits, dots, dashes and underscores, at most 200, the first a letter "+
				"or digit", id)
	}
	return nil
}

// FreeID returns proposal if it is not among the taken IDs and names, nor are proposal_2, proposal_3 and so on.
// Otherwise it returns the proposal with the number after the highest one that is taken, so that an ID in a
// ticket or note never refers to a later run. Proposals have no underscore: measure-web-2 is for host web-2,
// and measure-web_2 is the second measurement of host web.
func FreeID(proposal string, taken []string) string {
	highest := 0
	for _, id := range taken {
		if id == proposal {
			highest = max(highest, 1)
		} else if number, is := strings.CutPrefix(id, proposal+"_"); is {
			if n, err := strconv.ParseUint(number, 10, 31); err == nil {
				highest = max(highest, int(n))
			}
		}
	}
	if highest == 0 {
		return proposal
	}
	return proposal + "_" + strconv.Itoa(highest+1)
}

// CheckName returns an error unless name is valid as the name of a run: 1 to 80 printable characters, no space
// at either end, no dash at the beginning, and not "latest" or "last".
func CheckName(name string) error {
	if name != strings.TrimSpace(name) {
		return fmt.Errorf("name %q: expected no space at its beginning or end", name)
	}
	good := utf8.RuneCountInString(name) <= 80 && !strings.HasPrefix(name, "-") && !slices.Contains(latest, name)
	for _, r := range name {
		good = good && unicode.IsPrint(r) // excludes line breaks and control characters
	}
	if name == "" || !good {
		return fmt.Errorf("name %q: expected up to 80 characters in one line, the first no dash, and not %s", name,
			strings.Join(latest, " or "))
	}
	return nil
}

// Reference is what a user can refer to a run by.
type Reference struct {
	ID, Name string
	Results  bool // the run has a trial
}

// String returns the run's ID and, if it has one, its name.
func (r Reference) String() string {
	if r.Name == "" {
		return r.ID
	}
	return fmt.Sprintf("%s (%s)", r.ID, r.Name)
}

// latest lists the words for the latest run with results.
var latest = []string{"latest", "last"}

// shown is how many candidates an error lists.
const shown = 5

// Find returns the ID of the run that reference means. runs are those of the notebook at where, the latest
// first. IDs precede names, and both precede beginnings of them. The error is a *ReferenceError.
func Find(reference, where string, runs []Reference) (string, error) {
	matching := func(is func(Reference) bool) (list []Reference) {
		return lists.Where(runs, func(run Reference) bool { return is(run) })
	}
	fail := func(cause error, list []Reference) error {
		candidates := lists.Map(list, Reference.String)
		return &ReferenceError{reference, where, cause, source.Some(candidates, shown), len(runs) == 0}
	}
	for _, is := range []func(Reference) bool{
		func(r Reference) bool { return r.ID == reference },
		func(r Reference) bool { return r.Name != "" && r.Name == reference },
		func(r Reference) bool { return r.Results && slices.Contains(latest, reference) },
		func(r Reference) bool {
			return reference != "" && !slices.Contains(latest, reference) && (strings.HasPrefix(r.ID, reference) ||
				strings.HasPrefix(r.Name, reference))
		},
	} {
		switch found := matching(is); {
		case len(found) == 1, len(found) > 1 && slices.Contains(latest, reference):
			return found[0].ID, nil
		case len(found) > 1:
			return "", fail(ErrAmbiguous, found)
		}
	}
	if slices.Contains(latest, reference) && len(runs) > 0 {
		return "", fail(ErrNoResults, runs)
	}
	distance := func(r Reference) int {
		d := source.EditDistance(reference, r.ID)
		if r.Name != "" {
			d = min(d, source.EditDistance(reference, r.Name))
		}
		return d
	}
	near := slices.DeleteFunc(slices.Clone(runs), func(r Reference) bool {
		return source.Nearest(reference, []string{r.ID}) == "" && source.Nearest(reference, []string{r.Name}) == ""
	})
	slices.SortStableFunc(near, func(a, b Reference) int { return distance(a) - distance(b) })
	return "", fail(ErrNotFound, near[:min(len(near), shown)])
}
