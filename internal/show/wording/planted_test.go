package wording

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/deep"
	"linerate/internal/model/record"
	"linerate/internal/model/syntax"
	"linerate/internal/science/diagnose"
)

// literal matches parts of a line that a shell takes literally: in quotation marks, and the mark itself.
var literal = regexp.MustCompile(`'[^']*'|\\'`)

// TestPlantedStrings: a command in any string of a snapshot or trial, or as a key of a map, is refused where the
// document is read, or is a quoted word in the lines of a fix. The names are changed alike everywhere, so that the
// rules find what they found.
func TestPlantedStrings(t *testing.T) {
	refused, shown := map[string]bool{}, map[string]bool{}
	for _, in := range append(inputs[input](t, "inputs.jsonl.gz"), snapshots(t)...) {
		fields := map[string]bool{}
		change(reflect.ValueOf(&in).Elem(), "", func(field, text string) string {
			fields[field] = true
			return text
		})
		for field := range fields {
			all := deep.Copy(reflect.ValueOf(in), func(reflect.Value) bool { return false })
			changed := all.Interface().(input)
			change(reflect.ValueOf(&changed).Elem(), "", func(of, text string) string {
				if of == field {
					text += ";$(canary)"
				}
				return text
			})
			if syntax.Check(&changed) != nil {
				refused[field] = true
				continue
			}
			shown[field] = true
			var findings []record.Finding
			switch {
			case changed.Trial != nil:
				findings = Findings(diagnose.Diagnose(*changed.Trial, changed.Topology), false)
			case changed.Run == nil:
				findings = Evaluation(diagnose.Hosts(changed.Hosts)).Findings
			}
			for _, f := range findings {
				for _, line := range slices.Concat(f.Fix, f.Advice) {
					if strings.Contains(literal.ReplaceAllString(line, ""), "canary") {
						t.Errorf("%s: the fix of %s: %s", field, f.ID, line)
					}
				}
			}
		}
	}
	for field := range refused {
		if shown[field] {
			t.Errorf("%s is refused in some documents alone", field)
		}
	}
	if len(refused) < 80 || len(shown) < 10 {
		t.Errorf("%d fields are refused, %d shown", len(refused), len(shown))
	}
}

// change replaces each string in v that declares what it is, keys of maps too. Its field is named by its type.
func change(v reflect.Value, name string, to func(name, text string) string) {
	switch v.Kind() {
	case reflect.String:
		if name != "" && v.Len() > 0 {
			v.SetString(to(name, v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			change(v.Elem(), name, to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			change(v.Index(i), name, to)
		}
	case reflect.Map:
		if name == "" || v.Type().Key().Kind() != reflect.String {
			return
		}
		changed := reflect.MakeMap(v.Type())
		for key, value := range v.Seq2() {
			k, e := reflect.New(key.Type()).Elem(), reflect.New(value.Type()).Elem()
			k.Set(key)
			e.Set(value)
			change(k, name+" key", to)
			change(e, name, to)
			changed.SetMapIndex(k, e)
		}
		v.Set(changed)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			field := ""
			if f.Tag.Get("is") != "" {
				field = v.Type().Name() + "." + f.Name
			}
			change(v.Field(i), field, to)
		}
	}
}
