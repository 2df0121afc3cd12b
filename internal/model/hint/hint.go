// Package hint has advice as data: what a person is to do, with the figures that its words name.
// Advice without figures that is the same for all findings of a cause needs no hint: package
// wording adds it.
package hint

import "linerate/internal/model/kind"

// Hint is one piece of advice. In JSON it is {"more-flows": {"flows": 12}}.
type Hint struct {
	Is any // of a registered type, or kind.Unknown
}

var kinds kind.Set

// is registers a type of hints.
func is[T any](name string) struct{} { return kind.Add[T](&kinds, name) }

// MarshalJSON writes the hint under the name of its kind.
func (h Hint) MarshalJSON() ([]byte, error) { return kinds.Marshal("", h.Is) }

// UnmarshalJSON reads a hint. One of a kind that this version does not know is kept as it is.
func (h *Hint) UnmarshalJSON(data []byte) (err error) {
	_, h.Is, err = kinds.Unmarshal(data)
	return err
}

// Kinds are the zero values of all kinds, by name.
func Kinds() []any { return kinds.Zero() }
