package tool

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
)

// Arg is an option of a tool's client that a study may pass (tool_args). Options that are not in
// the table are rejected, because a tool could read and write files, load libraries, listen, or
// connect to other hosts with them, and getopt_long(3) accepts abbreviations.
type Arg struct {
	// Names are its spellings, separated by blanks. No others are accepted.
	Names string
	Value Value
	// Attached reports whether the value follows the name within the same word, as with nuttcp.
	Attached bool
}

// Value is the kind of value that follows an option.
type Value int

// The kinds of value. None of them can be mistaken for an option, a path or an address.
const (
	NoValue Value = iota
	Number        // decimal or hexadecimal
	Seconds       // with a decimal fraction
	Size          // with a suffix of the tool: 8K
	Word          // lower-case letters and digits: af11
)

// String returns the name of the kind. Empty: no value.
func (v Value) String() string { return [...]string{"", "number", "seconds", "size", "word"}[v] }

var values = [...]struct {
	text     *pattern.Pattern
	expected string
}{
	Number:  {pattern.MustCompile(`^([0-9]{1,10}|0x[0-9a-fA-F]{1,8})$`), "a number"},
	Seconds: {pattern.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6})?$`), "a number of seconds"},
	Size:    {pattern.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,3})?[kKmMgG]?$`), "a size such as 8K"},
	Word:    {pattern.MustCompile(`^[a-z0-9][a-z0-9_]{0,15}$`), "a name of lower-case letters and digits"},
}

// ArgProblem says what is wrong with the word of tool_args at Index.
type ArgProblem struct {
	Index int
	Why   string
}

// CheckArgs lists what is wrong with the words of tool_args.
func (t *Tool) CheckArgs(words []string) (problems []ArgProblem) {
	report := func(i int, format string, args ...any) {
		problems = append(problems, ArgProblem{i, fmt.Sprintf(format, args...)})
	}
	lost := false // the following words may be values of an unknown option
	for i := 0; i < len(words); i++ {
		word := words[i]
		arg, value, known := t.arg(word)
		switch {
		case !known && !strings.HasPrefix(word, "-") && lost:
		case !known:
			lost = true
			report(i, "%s", t.refuses(word))
		case arg.Attached:
			lost = false
			if !values[arg.Value].text.MatchString(value) {
				report(i, "expected %s after %s, in the same word", values[arg.Value].expected, arg.Names)
			}
		case arg.Value == NoValue:
			lost = false
		case i+1 == len(words):
			report(i, "expected %s after it", values[arg.Value].expected)
		default:
			lost = false
			if i++; !values[arg.Value].text.MatchString(words[i]) {
				report(i, "expected %s after %s", values[arg.Value].expected, word)
			}
		}
	}
	return problems
}

// arg returns the option that a word selects, with the value if it is in the same word.
func (t *Tool) arg(word string) (arg Arg, value string, known bool) {
	for _, a := range t.Args {
		if a.Attached {
			if value, is := strings.CutPrefix(word, a.Names); is {
				return a, value, true
			}
		} else if slices.Contains(strings.Fields(a.Names), word) {
			return a, "", true
		}
	}
	return Arg{}, "", false
}

// refuses returns why a word is not passed to the tool.
func (t *Tool) refuses(word string) string {
	flag, _, _ := strings.Cut(word, "=")
	short := flag
	if len(flag) > 2 && flag[0] == '-' && flag[1] != '-' && t.Name != "qperf" {
		short = flag[:2] // -P4
	}
	for by, flags := range t.Decided {
		for _, decided := range []string{flag, short} {
			if slices.Contains(strings.Fields(flags), decided) {
				return fmt.Sprintf("%s is decided by %s", decided, by)
			}
		}
	}
	names := lists.Map(t.Args, func(a Arg) string { return strings.Fields(a.Names)[0] })
	return fmt.Sprintf("not among the arguments that linerate passes to %s: expected one of %s, spelled in full",
		t.Name, strings.Join(names, ", "))
}
