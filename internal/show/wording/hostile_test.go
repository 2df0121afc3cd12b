package wording

import (
	"math"
	"reflect"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/kind"
	"linerate/internal/model/record"
)

// TestWordsOfAnything: a stored or a remote finding, check or flow has arguments and facts that no rule
// made, such as none, others, or figures out of range. They have words or none, and none ends the program.
func TestWordsOfAnything(t *testing.T) {
	facts := []fact.Fact{{}, {Host: "a", Is: kind.Unknown{Name: "later", JSON: `{"x": 1}`}}}
	for _, zero := range fact.Kinds() {
		of := reflect.TypeOf(zero)
		facts = append(facts, fact.Fact{Is: zero}, fact.Fact{Host: "a", Is: filled(of)},
			fact.Fact{Host: "a", Is: extreme(of, false)}, fact.Fact{Host: "a", Is: extreme(of, true)})
	}
	never := func(what string, call func()) {
		defer func() {
			if err := recover(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}()
		call()
	}
	for _, f := range facts {
		what := reflect.TypeOf(f.Is)
		if what == nil {
			what = reflect.TypeFor[any]()
		}
		name := what.String()
		never(name, func() { Fact(f) })
		never("check by "+name, func() { Checked(record.Check{Check: "limit", Facts: []fact.Fact{f}}) })
		never("flow limited by "+name, func() { Flow(record.Flow{LimitedBy: "link", LimitedFacts: []fact.Fact{f}}) })
	}
	for _, zero := range hint.Kinds() {
		of := reflect.TypeOf(zero)
		for _, is := range []any{nil, zero, filled(of), extreme(of, false), extreme(of, true)} {
			never(of.String(), func() { Step(record.Step{Hint: &hint.Hint{Is: is}}, false) })
		}
	}
	for _, code := range cause.All() {
		of := reflect.TypeOf(cause.Zero(code))
		for _, args := range []any{nil, cause.Zero(code), filled(of), extreme(of, false), extreme(of, true),
			kind.Unknown{Name: code, JSON: "[]"}} {
			f := record.Finding{ID: code, Host: "a", Args: args, Facts: []fact.Fact{}}
			never(code+" without facts", func() { Worded(f, false) })
			for _, one := range facts {
				f.Facts = []fact.Fact{one}
				never(code, func() { Worded(f, true) })
			}
		}
	}
}

// extreme is a value of a type with the largest or the least numbers, and with empty lists.
func extreme(of reflect.Type, least bool) any {
	v := reflect.New(of).Elem()
	stretch(v, least)
	return v.Interface()
}

func stretch(v reflect.Value, least bool) {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bits := v.Type().Bits()
		if v.SetInt(1<<(bits-1) - 1); least {
			v.SetInt(-1 << (bits - 1))
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if !least {
			v.SetUint(math.MaxUint64 >> (64 - v.Type().Bits()))
		}
	case reflect.Float32, reflect.Float64:
		if v.SetFloat(math.MaxFloat32); least {
			v.SetFloat(-math.MaxFloat32)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				stretch(v.Field(i), least)
			}
		}
	}
}

// TestWordsWithoutFacts: a finding has its words also where a rule had no evidence to add.
func TestWordsWithoutFacts(t *testing.T) {
	f := Worded(record.Finding{ID: cause.ARPFlux.Code, Host: "a", Args: filled(reflect.TypeFor[cause.Flux]())}, true)
	if f.Summary == "" || f.Reference == "" {
		t.Errorf("%+v", f)
	}
	old := record.Finding{ID: cause.ARPFlux.Code, Host: "a", Summary: "as it was", Fix: []string{"do that"}}
	if f := Worded(old, true); !reflect.DeepEqual(f, old) {
		t.Errorf("%+v", f)
	}
}
