package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Problem is a mistake in a file.
type Problem struct {
	File string
	Position
	Text string
}

func (p Problem) Error() string {
	switch {
	case p.Option != "":
		return p.Option + ": " + p.Text
	case p.Line == 0:
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems lists all mistakes that were found in a file.
type Problems []Problem

// shownProblems limits a message: one mistake inside a range of a thousand copies should not hide
// the others.
const shownProblems = 50

func (p Problems) Error() string {
	lines := make([]string, 0, min(len(p), shownProblems)+1)
	for i, problem := range p {
		if i == shownProblems {
			lines = append(lines, fmt.Sprintf("… and %d more", len(p)-i))
			break
		}
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(file string, at Position, format string, args ...any) {
	*p = append(*p, Problem{file, at, fmt.Sprintf(format, args...)})
}

// Err returns nil if there are no problems. Otherwise the error lists them sorted by position, with
// those of several copies of one line merged.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	sorted := slices.Clone(p)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(sorted)
}

// Nearest returns the candidate that a mistyped or shortened name probably means: the most similar
// one; otherwise the only one that begins with name, if that is at least half of it (strict-rp for
// strict-rp-filter); otherwise one that ends with an underscore and name (p99 for latency_p99). It
// returns "" if there is none.
func Nearest(name string, candidates []string) string {
	letters := len([]rune(name))
	// A third of the letters may be wrong, but not all of them.
	best, distance := "", min(max(1, letters/3)+1, letters)
	for _, c := range candidates {
		if d := EditDistance(strings.ToLower(name), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	if best == "" && name != "" {
		begun := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool {
			return !strings.HasPrefix(c, name) ||
				len(c) > 2*len(name)
		})
		if len(begun) == 1 {
			best = begun[0]
		}
	}
	if best == "" && name != "" {
		i := slices.IndexFunc(candidates, func(c string) bool { return strings.HasSuffix(c, "_"+name) })
		if i >= 0 {
			best = candidates[i]
		}
	}
	return best
}

// DidYouMean returns the end of a message about an unknown name: the candidates with all words of
// the name (words are separated by dashes), otherwise the nearest candidate, otherwise all
// candidates if they are few. Candidates that differ from the name only in a number are equally
// near and are all listed.
func DidYouMean(name string, candidates []string) string {
	switch list := numbered(name, candidates); {
	case len(list) == 2:
		return fmt.Sprintf("; %s exist", And(list))
	case len(list) > 2:
		return fmt.Sprintf("; %s to %s exist", list[0], list[len(list)-1])
	}
	if list := containing(name, candidates); len(list) > 0 && len(list) <= 8 {
		return fmt.Sprintf("; did you mean %s?", Or(list))
	}
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	switch {
	case len(candidates) == 0:
		return ""
	case len(candidates) <= 20:
		return "; expected " + Or(candidates)
	default:
		return fmt.Sprintf("; expected one of %s, … (%d names)", strings.Join(candidates[:8], ", "), len(candidates))
	}
}

// containing returns the candidates, quoted, that have every word of a name. Words are separated by
// dashes.
func containing(name string, candidates []string) (list []string) {
	parts := strings.Split(name, "-")
	for _, c := range candidates {
		has := strings.Split(c, "-")
		if !slices.ContainsFunc(parts, func(p string) bool { return !slices.Contains(has, p) }) {
			list = append(list, strconv.Quote(c))
		}
	}
	return list
}

// numbered returns the candidates that differ from name only in the number at the end, if these
// numbers are consecutive.
func numbered(name string, candidates []string) []string {
	stem := strings.TrimRight(name, "0123456789")
	numbers := map[int]string{}
	for _, c := range candidates {
		if rest, same := strings.CutPrefix(c, stem); same && stem != name {
			if n, err := strconv.Atoi(rest); err == nil && strconv.Itoa(n) == rest {
				numbers[n] = c
			}
		}
	}
	var list []string
	for i, n := range slices.Sorted(maps.Keys(numbers)) {
		list = append(list, numbers[n])
		if numbers[n-1] == "" && i > 0 {
			return nil
		}
	}
	return list
}

// Or joins alternatives: "a, b or c".
func Or(names []string) string { return sentence(names, " or ") }

// And joins names: "a, b and c".
func And(names []string) string { return sentence(names, " and ") }

func sentence(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + last + names[len(names)-1]
}

// Some returns at most the first most words, followed by the number of the remaining ones.
func Some(words []string, most int) []string {
	if more := len(words) - most; more > 0 {
		return append(words[:most:most], fmt.Sprintf("and %d more", more))
	}
	return words
}

// EditDistance counts insertions, deletions, substitutions and swaps of adjacent letters (optimal
// string alignment). For texts of more than 64 letters it returns the longer length.
func EditDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	// Names are short. A pasted paragraph is no typing mistake.
	if len(s) > 64 || len(t) > 64 {
		return max(len(s), len(t))
	}
	before, above, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(t)]
}
