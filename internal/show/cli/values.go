package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"linerate/internal/show/present"
	"linerate/internal/show/text"
)

// answer prints a command's result: as JSON, or for people.
func (s streams) answer(asJSON bool, document any, print func(io.Writer) error) error {
	if asJSON {
		return json.NewEncoder(s.out).Encode(document)
	}
	return print(s.out)
}

// asText prints a document for people.
func asText(d present.Document) func(io.Writer) error {
	return func(w io.Writer) error { return text.Write(w, d, textOptions(w, "")) }
}

// quantity is a flag whose text is read as the same value in a study is.
type quantity[T any] struct {
	to    *T
	parse func(string) (T, error)
	what  string
	text  string
}

var _ pflag.Value = (*quantity[int])(nil)

func (q *quantity[T]) String() string { return q.text }

func (q *quantity[T]) Type() string { return q.what }

func (q *quantity[T]) Set(text string) error {
	value, err := q.parse(text)
	if err == nil {
		*q.to, q.text = value, text
	}
	return err
}

// quantityVar defines such a flag; byDefault may be empty.
func quantityVar[T any](flags *pflag.FlagSet, to *T, parse func(string) (T, error), name, what, byDefault, usage string) {
	q := &quantity[T]{to: to, parse: parse, what: what}
	if byDefault != "" {
		_ = q.Set(byDefault) // a constant of the program
	}
	flags.Var(q, name, usage)
}

// number is a flag for a whole number between two bounds, which outOfRange checks: so a
// value that is wrong is reported together with what else is wrong.
type number struct {
	to        *int
	low, high int
}

func (n *number) String() string { return strconv.Itoa(*n.to) }

func (n *number) Type() string { return "int" }

func (n *number) Set(text string) (err error) {
	*n.to, err = strconv.Atoi(text)
	return err
}

// numberVar defines such a flag; high math.MaxInt: there is no upper bound.
func numberVar(flags *pflag.FlagSet, to *int, low, high int, name string, byDefault int, usage string) {
	*to = byDefault
	flags.Var(&number{to, low, high}, name, usage)
}

// outOfRange are the numbers given that are beyond their bounds.
func outOfRange(flags *pflag.FlagSet) (problems []error) {
	flags.Visit(func(f *pflag.Flag) {
		n, ok := f.Value.(*number)
		switch {
		case !ok || *n.to >= n.low && *n.to <= n.high:
		case n.high == math.MaxInt:
			problems = append(problems, fmt.Errorf("--%s %d: expected at least %d", f.Name, *n.to, n.low))
		default:
			problems = append(problems, fmt.Errorf("--%s %d: expected %d to %d", f.Name, *n.to, n.low, n.high))
		}
	})
	return problems
}
