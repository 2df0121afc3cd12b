// Package cause names what linerate finds. For each cause it has a code, the type of the
// arguments that its findings have, and which of its findings on one host are one. It has no
// sentences: package wording has them.
package cause

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"linerate/internal/model/kind"
)

// Code is a cause's name, such as "arp-flux". It is stored, accepted, exported as a metric and
// linked to; so it is never renamed, and never used for something else.
type Code = string

// Of is a cause whose findings have arguments A: what its words name and what tells its findings
// apart. Figures that were read are facts (package fact), not arguments.
type Of[A any] struct{ Code Code }

// Name returns the code.
func (c Of[A]) Name() Code { return c.Code }

// Named is a cause, whatever its arguments are.
type Named interface{ Name() Code }

// Codes are the codes of causes.
func Codes(causes ...Named) (codes []Code) {
	for _, c := range causes {
		codes = append(codes, c.Name())
	}
	return codes
}

// None is the arguments of a cause that has none.
type None struct{}

// registered is what is known of a code.
type registered struct {
	args reflect.Type
	// key is what findings of one host have in common if they are one.
	key func(about, args any) any
}

var causes = map[Code]registered{}

// one is a cause of which a host has one finding: of several the surest stays.
func one[A any](code Code) Of[A] {
	return register[A](code, func(_, _ any) any { return nil })
}

// each is a cause of which a host has a finding for each subject and arguments.
func each[A any](code Code) Of[A] {
	return register[A](code, func(about, args any) any { return []any{about, args} })
}

// by is a cause of which a host has a finding for each key.
func by[A any](code Code, key func(A) any) Of[A] {
	return register[A](code, func(_, args any) any {
		a, _ := args.(A)
		return key(a)
	})
}

// about is a cause of which a host has a finding for each subject.
func about[A any](code Code) Of[A] {
	return register[A](code, func(about, _ any) any { return about })
}

func register[A any](code Code, key func(about, args any) any) Of[A] {
	if _, used := causes[code]; used {
		panic(fmt.Sprintf("cause: %s is registered twice", code))
	}
	causes[code] = registered{reflect.TypeFor[A](), key}
	return Of[A]{code}
}

// Decode reads the arguments of a cause from JSON. Those of a code that this version does not
// know are a kind.Unknown.
func Decode(code Code, text []byte) (any, error) { return kind.Decode(causes[code].args, code, text) }

// Same reports whether two findings of a cause on one host are one. About is the subject of each.
func Same(code Code, about, args, otherAbout, otherArgs any) bool {
	c, known := causes[code]
	if !known {
		return keyed(about, args) == keyed(otherAbout, otherArgs)
	}
	return keyed(c.key(about, args)) == keyed(c.key(otherAbout, otherArgs))
}

// keyed is a text that is equal for equal values.
func keyed(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		return fmt.Sprintf("%+v", values)
	}
	return string(text)
}

// All are the codes, sorted.
func All() []Code { return slices.Sorted(maps.Keys(causes)) }

// Zero is the zero value of a cause's arguments; nil: the code is not known.
func Zero(code Code) any {
	if t := causes[code].args; t != nil {
		return reflect.Zero(t).Interface()
	}
	return nil
}
