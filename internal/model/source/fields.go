package source

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strings"
)

// Field is one key that a struct can be written with, as its tags say:
//
//	yaml:"name"           the key
//	yaml:"name,required"  the key must be there
//	yaml:"name,several"   a list, or one value without the brackets
//	yaml:"name,unit"      a number without a unit is refused, although its type takes it
//	yaml:",inline"        an embedded struct's keys belong to the outer one
//	yaml:",key"           a slice of such structs is written as a mapping, and
//	                      this field takes the key
//	yaml:",value"         with ",key": this field takes the whole value
//	doc:"…"               what it is for; shown in the schema and the manual
//	enum:"a,b"            the only values
//	short:"true"          a scalar instead of the struct's mapping is this field
//
// A struct with a method Describe has what keys are for and their only values from
// there, where the tags do not say.
type Field struct {
	Name     string
	Doc      string
	Enum     []string
	Required bool
	Several  bool
	Unit     bool
	Type     reflect.Type
	index    []int
}

// Fields lists the keys of a struct type in order, including those of embedded structs.
func Fields(t reflect.Type) []Field {
	var list []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			for _, inner := range Fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				list = append(list, inner)
			}
		case name != "" && name != "-":
			field := Field{Name: name, Doc: f.Tag.Get("doc"), Required: option == "required",
				Several: option == "several", Unit: option == "unit", Type: f.Type, index: f.Index}
			if enum := f.Tag.Get("enum"); enum != "" {
				field.Enum = strings.Split(enum, ",")
			}
			if d, ok := reflect.Zero(t).Interface().(interface {
				Describe(string) (string, []string)
			}); ok {
				doc, enum := d.Describe(name)
				field.Doc = cmp.Or(field.Doc, doc)
				if field.Enum == nil {
					field.Enum = enum
				}
			}
			list = append(list, field)
		}
	}
	return list
}

// option returns the index of the field that is tagged with ",key" or ",value".
func option(t reflect.Type, option string) (int, bool) {
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("yaml") == ","+option {
				return i, true
			}
		}
	}
	return 0, false
}

// shortField returns the index of the field that a scalar stands for.
func shortField(t reflect.Type) (int, bool) {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("short") != "" {
			return i, true
		}
	}
	return 0, false
}

// isKeyed reports whether t is a slice that is written as a mapping.
func isKeyed(t reflect.Type) bool {
	if t.Kind() != reflect.Slice {
		return false
	}
	_, keyed := option(t.Elem(), "key")
	return keyed
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// isText reports whether t is written as a scalar that it parses itself.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textUnmarshaler) }

// hasRequired reports whether the struct type t has a required key.
func hasRequired(t reflect.Type) bool {
	return slices.ContainsFunc(Fields(t), func(f Field) bool { return f.Required })
}
