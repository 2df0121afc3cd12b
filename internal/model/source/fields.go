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
//	yaml:"name,zero"      a number may be zero. Of other keys that are not required zero
//	                      and empty text are refused: their default is another value, and
//	                      the struct does not tell zero from an absent key
//	yaml:",inline"        an embedded struct's keys belong to the outer one
//	yaml:",key"           a slice of such structs is written as a mapping, and
//	                      this field takes the key
//	yaml:",value"         with ",key": this field takes the whole value
//	doc:"…"               what it is for; shown in the schema and the manual
//	enum:"a,b"            the only values
//	short:"true"          a scalar instead of the struct's mapping is this field
//
// Options can be combined: yaml:"delay,unit,zero". A struct with a field of type Zeros has there
// which keys the file gives the value zero.
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
	Zero     bool
	Type     reflect.Type
	index    []int
}

// Fields lists the keys of a struct type in order, including those of embedded structs.
func Fields(t reflect.Type) []Field {
	var list []Field
	for i := range t.NumField() {
		f := t.Field(i)
		options := strings.Split(f.Tag.Get("yaml"), ",")
		name, has := options[0], func(option string) bool { return slices.Contains(options[1:], option) }
		switch {
		case has("inline"):
			for _, inner := range Fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				list = append(list, inner)
			}
		case name != "" && name != "-":
			field := Field{Name: name, Doc: f.Tag.Get("doc"), Required: has("required"),
				Several: has("several"), Unit: has("unit"), Zero: has("zero"), Type: f.Type, index: f.Index}
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

// Zeros has the keys, separated by spaces, that a file gives the value zero ("0%"), so that they
// differ from absent ones. It is a string so that structs with it can be compared by ==.
type Zeros string

// Has reports whether the file gives a key the value zero. A nil z has no keys.
func (z *Zeros) Has(key string) bool {
	return z != nil && slices.Contains(strings.Fields(string(*z)), key)
}

var zerosType = reflect.TypeFor[Zeros]()

// zerosOf returns the Zeros of the struct v that has a field, or of the embedded one that has an
// inline key. Nil: it has none.
func zerosOf(v reflect.Value, f Field) *Zeros {
	for depth := range f.index {
		owner := v.FieldByIndex(f.index[:depth])
		for i := range owner.NumField() {
			if owner.Type().Field(i).Type == zerosType {
				return owner.Field(i).Addr().Interface().(*Zeros)
			}
		}
	}
	return nil
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
