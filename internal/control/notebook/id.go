package notebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
		good = good && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-", r))
	}
	if !good {
		return fmt.Errorf(
			"run ID %q: expected letters, digits, dots, dashes and underscores, at most 200, the first a letter or digit", id)
	}
	return nil
}

// FreeID returns the proposal or, where that or one of proposal_2, proposal_3… is taken, the one
// after the highest: the ID of a run that was removed, in a ticket or a note, names no other run.
// No proposal has an underscore: measure-web-2 is of the host web-2, and measure-web_2 the second
// measurement with web.
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

// CheckName says whether a run can be given this name.
func CheckName(name string) error {
	if name != strings.TrimSpace(name) {
		return fmt.Errorf("name %q: expected no space at its beginning or end", name)
	}
	good := utf8.RuneCountInString(name) <= 80 && !strings.HasPrefix(name, "-") && !slices.Contains(latest, name)
	for _, r := range name {
		good = good && unicode.IsPrint(r) // no break of a line, no control character
	}
	if name == "" || !good {
		return fmt.Errorf("name %q: expected up to 80 characters in one line, the first no dash, and not %s", name,
			strings.Join(latest, " or "))
	}
	return nil
}

// Reference is what a run can be referred to by.
type Reference struct {
	ID, Name string
	Results  bool // it has a trial
}

// String is the run in a list: its ID, and its name if it has one.
func (r Reference) String() string {
	if r.Name == "" {
		return r.ID
	}
	return fmt.Sprintf("%s (%s)", r.ID, r.Name)
}

// latest is how a reader refers to the run that was begun last of those with results.
var latest = []string{"latest", "last"}

// shown is how many candidates an error names.
const shown = 5

// Find resolves what a reader calls a run, among the runs of a notebook, the latest
// first. An ID comes before a name, and both before beginnings of them.
func Find(reference, where string, runs []Reference) (string, error) {
	matching := func(is func(Reference) bool) (list []Reference) {
		for _, run := range runs {
			if is(run) {
				list = append(list, run)
			}
		}
		return list
	}
	fail := func(cause error, list []Reference) error {
		var candidates []string
		for _, run := range list {
			candidates = append(candidates, run.String())
		}
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
