// Package cause registers what linerate can find. Each cause has a code, a type for the arguments
// of its findings, and a rule for merging several findings on one host into one. The sentences that
// a user reads are in package wording.
package cause

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"linerate/internal/model/kind"
	"linerate/internal/model/lists"
)

// Code identifies a cause, such as "arp-flux". Records, lists of accepted findings, metrics and links
// refer to it, so a code is never renamed and never reused for another cause.
type Code = string

// Of is a cause whose findings have arguments of type A. The arguments are the names by which the
// findings of one cause differ, and which their sentences mention. Figures that were read are not
// arguments but evidence (package fact).
type Of[A any] struct{ Code Code }

// Name returns the code.
func (c Of[A]) Name() Code { return c.Code }

// Named is implemented by every Of, so that causes with different arguments fit in one list.
type Named interface{ Name() Code }

// Codes returns the codes of the causes, in the same order.
func Codes(causes ...Named) (codes []Code) {
	return lists.Map(causes, Named.Name)
}

// None is the argument type of a cause without arguments.
type None struct{}

type registered struct {
	code Code
	args reflect.Type
	// key returns the same value for two findings on one host if they are to be merged.
	key func(about, args any) any
}

var (
	list   = make([]registered, 0, 320) // more than there are
	causes = sync.OnceValue(func() map[Code]registered {
		all := make(map[Code]registered, len(list))
		for _, r := range list {
			if _, used := all[r.code]; used {
				panic(fmt.Sprintf("cause: %s is registered twice", r.code))
			}
			all[r.code] = r
		}
		return all
	})
)

// one registers a cause that a host has at most once. All its findings on a host are merged; the
// one with the highest confidence is kept.
func one[A any](code Code) Of[A] {
	return register[A](code, nothing)
}

// each registers a cause that a host can have several times: findings are merged only if both their
// subject (Finding.About) and their arguments are equal.
func each[A any](code Code) Of[A] {
	return register[A](code, both)
}

// by registers a cause whose findings on a host are merged if key returns equal values for their
// arguments; the subject does not matter. Use it where some arguments change from trial to trial.
func by[A any](code Code, key func(A) any) Of[A] {
	return register[A](code, func(_, args any) any {
		a, _ := args.(A)
		return key(a)
	})
}

// about registers a cause whose findings on a host are merged if they have the same subject
// (Finding.About), whatever their arguments are.
func about[A any](code Code) Of[A] {
	return register[A](code, subject)
}

// A function literal within a generic function is allocated for each cause before main.
func nothing(_, _ any) any     { return nil }
func both(about, args any) any { return []any{about, args} }
func subject(about, _ any) any { return about }

func register[A any](code Code, key func(about, args any) any) Of[A] {
	list = append(list, registered{code, reflect.TypeFor[A](), key})
	return Of[A]{code}
}

// Decode decodes the arguments of a cause from JSON into the type registered for the code. For a
// code that this version does not know it returns a kind.Unknown.
func Decode(code Code, text []byte) (any, error) { return kind.Decode(causes()[code].args, code, text) }

// Identity returns what distinguishes findings of a cause on one host: two with the same are merged. about
// is the finding's subject. Findings with an unknown code are merged if subject and arguments are equal.
func Identity(code Code, about, args any) string {
	if c, known := causes()[code]; known {
		return keyed(c.key(about, args))
	}
	return keyed(about, args)
}

// keyed returns the values as one text. Equal values give equal texts, also if their types do not
// support ==.
func keyed(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		return fmt.Sprintf("%+v", values)
	}
	return string(text)
}

// All returns all registered codes, sorted.
func All() []Code { return slices.Sorted(maps.Keys(causes())) }

// Zero returns the zero value of the cause's argument type, or nil if the code is not registered.
func Zero(code Code) any {
	if t := causes()[code].args; t != nil {
		return reflect.Zero(t).Interface()
	}
	return nil
}
