// Package hint represents advice as data: what a person should do, with the figures that the
// sentence needs. Package wording has the sentences. It also has the advice that contains no
// figures and is the same for all findings of a cause.
package hint

import "linerate/internal/model/kind"

// Hint is one piece of advice. In JSON it is {"more_flows": {"flows": 12, "links": 4}}.
type Hint struct {
	Is any // a registered type or kind.Unknown
}

var kinds kind.Set

// are registers types of hints, whose names in JSON are those of the types in snake case.
func are(values ...any) struct{} { return kind.Add(&kinds, values...) }

// MarshalJSON encodes the hint with the name of its kind.
func (h Hint) MarshalJSON() ([]byte, error) { return kinds.Marshal("", h.Is) }

// UnmarshalJSON decodes a hint. A kind that this version does not know is kept as kind.Unknown.
func (h *Hint) UnmarshalJSON(data []byte) (err error) {
	_, h.Is, err = kinds.Unmarshal(data)
	return err
}

// Kinds returns the zero values of all kinds, in the order of their names.
func Kinds() []any { return kinds.Zero() }
