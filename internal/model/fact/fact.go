// Package fact has the evidence of findings as data: what was read of a host, such as a counter
// that grew. Each kind of fact is a type, which is registered with the name that it has in JSON
// in the file that defines it. Package wording has the words.
package fact

import (
	"linerate/internal/model/kind"
)

// Fact is one piece of evidence. In JSON it is {"host": "a", "counter": {…}}.
type Fact struct {
	Host string // of which it was read; empty: of none
	Is   any    // of a registered type, or kind.Unknown
}

// kinds are the types of facts.
var kinds kind.Set

// is registers a type of facts.
func is[T any](name string) struct{} { return kind.Add[T](&kinds, name) }

// MarshalJSON writes the fact under the name of its kind.
func (f Fact) MarshalJSON() ([]byte, error) { return kinds.Marshal(f.Host, f.Is) }

// UnmarshalJSON reads a fact. One of a kind that this version does not know is kept as it is.
func (f *Fact) UnmarshalJSON(data []byte) (err error) {
	f.Host, f.Is, err = kinds.Unmarshal(data)
	return err
}

// Kinds are the zero values of all kinds, by name.
func Kinds() []any { return kinds.Zero() }

// Named is a fact that names what settings change: kernel parameters and interfaces.
type Named interface {
	Names() []string
}
