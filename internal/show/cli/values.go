package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
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

// answer prints a command's result, as JSON or for people.
func (s streams) answer(asJSON bool, document any, print func(io.Writer) error) error {
	if asJSON {
		return export.Indented(s.out, document)
	}
	return print(s.out)
}

// asText returns a function that prints a document for people.
func asText(d document.Document) func(io.Writer) error {
	return func(w io.Writer) error { return text.Write(w, d, textOptions(w, "")) }
}

// value is a flag whose text parse parses. Set accepts every text; mistakes reports what is wrong
// with it, together with other mistakes.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	what  string // type in the usage
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

// numberVar defines a flag for a whole number between two bounds. high math.MaxInt: there is no
// upper bound.
func numberVar(flags *pflag.FlagSet, to *int, low, high int, name string, byDefault int, usage string) {
	*to = byDefault // it may be outside the bounds
	flags.Var(&value[int]{to: to, what: "int", text: strconv.Itoa(byDefault), parse: between(low, high)}, name, usage)
}

// between returns a parser of whole numbers within bounds.
func between(low, high int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && n >= low && n <= high {
			return n, nil
		}
		expected := fmt.Sprintf("%d to %d", low, high)
		if high == math.MaxInt {
			expected = fmt.Sprintf("at least %d", low)
		}
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			expected = "a whole number, " + expected
		}
		return 0, fmt.Errorf("%s: expected %s", text, expected)
	}
}

// latencyVar defines a flag for a duration in the range of packets; see unit.ParseLatency.
func latencyVar(flags *pflag.FlagSet, to *time.Duration, least time.Duration, name, byDefault, usage string) {
	valueVar(flags, to, noShorter(unit.ParseLatency, least), name, "duration", byDefault, usage)
}

// durationVar defines a flag for a duration that is not shorter than least. A number alone is in
// seconds.
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

// reportInterval parses the length of intervals; 0: none, as with -i of iperf3.
func reportInterval(text string) (time.Duration, error) {
	if strings.Trim(text, "0") == "" && text != "" {
		return 0, nil
	}
	return noShorter(unit.ParseDuration, 100*time.Millisecond)(text)
}

// bitsPerSecond is like unit.ParseBitRate but returns a number.
func bitsPerSecond(text string) (float64, error) {
	rate, err := unit.ParseBitRate(text)
	return float64(rate), err
}

// oneOf returns a parser that accepts only certain words.
func oneOf[T ~string](accepted ...T) func(string) (T, error) {
	return func(text string) (T, error) {
		if !slices.Contains(accepted, T(text)) {
			words := make([]string, len(accepted))
			for i, word := range accepted {
				words[i] = string(word)
			}
			near := source.Nearest(text, words)
			if i := slices.IndexFunc(words, func(w string) bool {
				return strings.HasPrefix(text, w) ||
					strings.HasSuffix(w, text)
			}); i >= 0 && near == "" && text != "" {
				near = words[i]
			}
			if near != "" {
				near = "; did you mean " + near + "?"
			}
			return "", fmt.Errorf("%q: expected %s%s", text, source.Or(words), near)
		}
		return T(text), nil
	}
}

// optional returns a parser for a value that is absent unless its flag is given.
func optional[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(text string) (*T, error) {
		read, err := parse(text)
		return &read, err
	}
}

// expects returns what a parser says that it expects. Empty: it accepts every text.
func expects(err error) string {
	if err == nil {
		return ""
	}
	_, expected, _ := strings.Cut(err.Error(), "expected ")
	return expected
}
