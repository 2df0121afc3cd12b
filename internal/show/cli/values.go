package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/text"
)

// answer prints a command's result: as JSON, or for people.
func (s streams) answer(asJSON bool, document any, print func(io.Writer) error) error {
	if asJSON {
		return export.Indented(s.out, document)
	}
	return print(s.out)
}

// asText prints a document for people.
func asText(d document.Document) func(io.Writer) error {
	return func(w io.Writer) error { return text.Write(w, d, textOptions(w, "")) }
}

// value is a flag that parse reads. Set takes every text: what is wrong with it is reported
// by mistakes, together with what else is wrong.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	what  string // its type in the usage
	text  string
	given string // what Set was given last
	wrong error
}

func (v *value[T]) String() string { return v.text }

func (v *value[T]) Type() string { return v.what }

func (v *value[T]) Set(text string) error {
	read, err := v.parse(text)
	v.given = text
	if v.wrong = err; err == nil {
		*v.to, v.text = read, text
	}
	return nil
}

func (v *value[T]) mistake() error { return v.wrong }

func (v *value[T]) last() string { return v.given }

func (v *value[T]) expected() string {
	_, err := v.parse("")
	return expects(err)
}

// valueVar defines such a flag; byDefault may be empty.
func valueVar[T any](flags *pflag.FlagSet, to *T, parse func(string) (T, error), name, what, byDefault, usage string) {
	v := &value[T]{to: to, parse: parse, what: what}
	if byDefault != "" {
		_ = v.Set(byDefault) // a constant of the program
	}
	flags.Var(v, name, usage)
}

// numberVar defines a flag for a whole number between two bounds; high math.MaxInt: there
// is no upper bound.
func numberVar(flags *pflag.FlagSet, to *int, low, high int, name string, byDefault int, usage string) {
	*to = byDefault // which may be beyond the bounds
	flags.Var(&value[int]{to: to, what: "int", text: strconv.Itoa(byDefault), parse: between(low, high)}, name, usage)
}

// between reads a whole number.
func between(low, high int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		switch {
		case err == nil && n >= low && n <= high:
			return n, nil
		case high == math.MaxInt:
			return 0, fmt.Errorf("%s: expected at least %d", text, low)
		}
		return 0, fmt.Errorf("%s: expected %d to %d", text, low, high)
	}
}

// latencyVar defines a flag for a duration of packets.
func latencyVar(flags *pflag.FlagSet, to *time.Duration, least time.Duration, name, byDefault, usage string) {
	valueVar(flags, to, noShorter(unit.ParseLatency, least), name, "duration", byDefault, usage)
}

// durationVar defines a flag for a duration that is not shorter than least; a number alone
// is in seconds.
func durationVar(flags *pflag.FlagSet, to *time.Duration, least time.Duration, name, byDefault, usage string) {
	valueVar(flags, to, noShorter(unit.ParseDuration, least), name, "duration", byDefault, usage)
}

func noShorter(parse func(string) (unit.Duration, error), least time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := parse(text)
		if err == nil && time.Duration(d) < least {
			err = fmt.Errorf("%v: expected at least %v", d, unit.Duration(least))
		}
		return time.Duration(d), err
	}
}

// bitsPerSecond is unit.ParseBitRate as a number.
func bitsPerSecond(text string) (float64, error) {
	rate, err := unit.ParseBitRate(text)
	return float64(rate), err
}

// oneOf reads one of some words.
func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			near := source.Nearest(text, words)
			if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(text, w) || strings.HasSuffix(w, text) }); i >= 0 && near == "" && text != "" {
				near = words[i]
			}
			if near != "" {
				near = "; did you mean " + near + "?"
			}
			return "", fmt.Errorf("%q: expected %s%s", text, source.Or(words), near)
		}
		return text, nil
	}
}

// optional reads a value that is absent unless its flag is given.
func optional[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(text string) (*T, error) {
		read, err := parse(text)
		return &read, err
	}
}

// mistakes are what is wrong with values that were given.
func mistakes(flags *pflag.FlagSet) (problems []error) {
	flags.Visit(func(f *pflag.Flag) {
		wrong, text := misread(f), ""
		if wrong != nil {
			wrong = fmt.Errorf("--%s %w", f.Name, wrong)
			if v, ok := f.Value.(interface{ last() string }); ok {
				text = v.last()
			}
		} else if noun, _ := pflag.UnquoteUsage(f); f.Value.Type() == "string" && noun != "string" {
			text = f.Value.String() // the name of a thing, which is no flag
		}
		if wrong = cmp.Or(swallowed(flags, f, text), wrong); wrong != nil {
			problems = append(problems, wrong)
		}
	})
	return problems
}

// misread is what is wrong with the value of a flag that takes every text.
func misread(f *pflag.Flag) error {
	if v, ok := f.Value.(interface{ mistake() error }); ok {
		return v.mistake()
	}
	return nil
}

// swallowed is the error of a flag that took the next flag for its value; nil: it did not.
func swallowed(flags *pflag.FlagSet, f *pflag.Flag, text string) error {
	name, _, _ := strings.Cut(text, "=")
	next := flags.Lookup(strings.TrimPrefix(name, "--"))
	if len(name) == 2 && name[0] == '-' {
		next = flags.ShorthandLookup(name[1:])
	}
	if name == "" || name[0] != '-' || next == nil {
		return nil
	}
	return needsValue(flags, f, " before "+name)
}

// needsValue says what kind of value a flag needs, before another one, and which there are: the
// first of those that a shell would complete, what its parser expects, or an example.
func needsValue(flags *pflag.FlagSet, f *pflag.Flag, before string) error {
	noun, usage := pflag.UnquoteUsage(f)
	kind := "a " + noun
	switch {
	case !strings.Contains(f.Usage, "`"):
		kind = "a value"
	case strings.HasSuffix(noun, "s") || noun != strings.ToLower(noun):
		kind = noun
	case strings.ContainsAny(noun[:1], "aeiou"):
		kind = "an " + noun
	}
	said := " (" + usage + ")"
	if example := exampleOf.FindStringSubmatch(usage); example != nil {
		said = ", such as " + example[1]
	}
	if v, ok := f.Value.(interface{ expected() string }); ok && v.expected() != "" {
		said = ": " + v.expected()
	}
	if c := completionOf(f); c.list != nil && c.then != goesOn {
		if names := choices(c.list(flags, flags.Args())); names != "" {
			said = ": " + names
		}
	}
	return fmt.Errorf("--%s needs %s%s%s", f.Name, kind, before, said)
}

// exampleOf finds the first example in what is said of a flag.
var exampleOf = regexp.MustCompile(`such as ('[^']*'|[^\s;)]*[^\s;),])`)

// choices lists the first of what a shell would complete.
func choices(list []string) string {
	const most = 5
	var words []string
	for _, one := range list[:min(len(list), most)] {
		word, about, described := strings.Cut(one, "\t")
		if word = quote(word); described {
			word += " (" + about + ")"
		}
		words = append(words, word)
	}
	if len(list) > most {
		return strings.Join(words, ", ") + ", …"
	}
	return source.Or(words)
}

// expects is what a parser says that it expects; empty: it takes every text.
func expects(err error) string {
	if err == nil {
		return ""
	}
	_, expected, _ := strings.Cut(err.Error(), "expected ")
	return expected
}
