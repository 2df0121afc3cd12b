package redact

import (
	"cmp"
	"reflect"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/syntax"
)

// class says what a string of a snapshot may tell about whose host it is. Addresses are replaced in strings of every
// class. Values of secret parameters are in no snapshot (proc.IsSecret).
type class string

const (
	// kept are words of the kernel, of drivers, of hardware and of linerate, and names of interfaces.
	kept class = "kept"
	// text may contain names.
	text class = "text"
	// parameter is text where the parameter is one of the host's own (kernel.hostname), and kept elsewhere.
	parameter class = "parameter"
	// The other classes are names, and the words by which they are replaced.
	host        class = "host"
	description class = "description"
	domain      class = "domain"
)

// classes has the class of each kind of strings. TestFields fails for a kind that has none.
var classes = map[syntax.Kind]class{
	syntax.Host: host, syntax.System: host, syntax.Description: description, syntax.Domain: domain,
	syntax.Value: parameter, syntax.Text: text, syntax.Name: text, syntax.Peer: text,
	syntax.Words: kept, syntax.Word: kept, syntax.Parameter: kept, syntax.Interface: kept, syntax.Link: kept,
	syntax.Address: kept, syntax.Socket: kept, syntax.File: kept,
}

// classOf returns the class of a field's strings. Those of maps, keys and values, are kept.
func classOf(f reflect.StructField) class { return cmp.Or(classes[syntax.Kind(f.Tag.Get("is"))], kept) }

// visit calls found for each string of a snapshot that is or may contain a name. Kind is the kind of name that the
// whole string is; empty: it is none. It looks neither at the keys nor at the values of maps, which are all kept.
func visit(s *netstate.HostSnapshot, found func(text *string, kind string)) {
	each(reflect.ValueOf(s).Elem(), kept, found)
}

func each(v reflect.Value, of class, found func(*string, string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), of, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), of, found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				of := classOf(f)
				if of == parameter {
					of = kept
					if strings.HasPrefix(v.FieldByName("Key").String(), "kernel.") {
						of = text
					}
				}
				each(v.Field(i), of, found)
			}
		}
	case reflect.String:
		switch of {
		case text:
			found(v.Addr().Interface().(*string), "")
		case host, description, domain:
			found(v.Addr().Interface().(*string), string(of))
		}
	}
}
