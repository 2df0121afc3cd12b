// Package fact has the evidence of findings, trust checks and limits as data, such as a counter
// that grew. Each kind of fact is a type with a name in JSON, registered next to its definition.
// Package wording turns facts into text.
package fact

import (
	"linerate/internal/model/kind"
)

// Fact is one piece of evidence. In JSON it is {"host": "a", "counter": {…}}.
type Fact struct {
	Host string // the host that was read; empty: none in particular
	Is   any    // a registered type or kind.Unknown
}

// kinds are the registered types of facts.
var kinds = kind.NewSet(256)

// are registers types of facts, whose names in JSON are those of the types in snake case.
func are(values ...any) struct{} { return kind.Add(kinds, values...) }

// is registers a type of facts with another name in JSON.
func is[T any](name string) struct{} { return kind.AddAs[T](kinds, name) }

// MarshalJSON encodes the fact with the name of its kind.
func (f Fact) MarshalJSON() ([]byte, error) { return kinds.Marshal(f.Host, f.Is) }

// UnmarshalJSON decodes a fact. A kind that this version does not know is kept as kind.Unknown.
func (f *Fact) UnmarshalJSON(data []byte) (err error) {
	f.Host, f.Is, err = kinds.Unmarshal(data)
	return err
}

// Kinds returns the zero values of all kinds, in the order of their names.
func Kinds() []any { return kinds.Zero() }

// Named is implemented by facts that concern something a setting can change. Names returns the
// kernel parameters and interfaces.
type Named interface {
	Names() []string
}
