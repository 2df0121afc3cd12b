package cli

import "github.com/spf13/pflag"

// quantity is a flag whose text is read like the same value in a study.
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
		_ = q.Set(byDefault) // as the program says itself
	}
	flags.Var(q, name, usage)
}
