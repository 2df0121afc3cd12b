package source

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
)

// Schema describes a file that Decode reads into a struct type, as a JSON
// Schema (https://json-schema.org/draft/2020-12): for editors that complete keys
// and underline mistakes while one types. It describes the file as written,
// before brace ranges are expanded, so a brace is allowed wherever a value is.
func Schema(t reflect.Type) map[string]any {
	m := schemaMaker{defs: map[string]any{}}
	schema := m.structure(t)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$defs"] = m.defs
	return schema
}

// schemaMaker collects the named structs, each described once.
type schemaMaker struct{ defs map[string]any }

// described is implemented by types that are written as a scalar of their own.
type described interface{ JSONSchema() map[string]any }

// brace is the alternative that every pattern gets: a range or an expression
// that will only have the right form when it has been worked out.
const brace = `\{.*\}`

func (m schemaMaker) value(t reflect.Type) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return m.value(t.Elem())
	case t == reflect.TypeFor[netip.Addr]():
		return text(`^[0-9a-fA-F:.]+$`, "192.168.1.15", "fd00::15")
	case t == reflect.TypeFor[netip.Prefix]():
		return text(`^[0-9a-fA-F:.]+/[0-9]+$`, "192.168.1.20/24")
	case isText(t):
		d, ok := reflect.Zero(t).Interface().(described)
		if !ok {
			panic("source: " + t.String() + " does not describe its spelling")
		}
		schema := d.JSONSchema()
		if pattern, ok := schema["pattern"]; ok {
			schema["pattern"] = fmt.Sprintf("%s|%s", pattern, brace)
		}
		return schema
	case isKeyed(t):
		return map[string]any{"type": "object", "additionalProperties": m.keyed(t.Elem())}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": m.value(t.Elem())}
	case t.Kind() == reflect.Struct:
		name := t.String() // with its package: there are links of two kinds
		if m.defs[name] == nil {
			m.defs[name] = true // a place, in case the type holds itself
			m.defs[name] = m.structure(t)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": []string{"number", "string"}, "pattern": `^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$|` +
			brace}
	case t.Kind() == reflect.String:
		// YAML takes unquoted 1 for a number; here it is text all the same.
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	default:
		return map[string]any{"type": []string{"integer", "string"}, "pattern": `^[+-]?[0-9]+$|` + brace}
	}
}

// keyed describes what a name stands for in a mapping from names.
func (m schemaMaker) keyed(t reflect.Type) map[string]any {
	if i, simple := option(t, "value"); simple {
		return m.value(t.Field(i).Type)
	}
	return m.value(t)
}

func text(pattern string, examples ...string) map[string]any {
	return map[string]any{"type": "string", "pattern": pattern + "|" + brace, "examples": examples}
}

func (m schemaMaker) structure(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range Fields(t) {
		property := m.value(f.Type)
		switch {
		case len(f.Enum) > 0 && f.Type.Kind() == reflect.Struct: // which may be written as one of them
			property = map[string]any{"anyOf": []any{map[string]any{"enum": f.Enum}, property}}
		case len(f.Enum) > 0:
			property = map[string]any{"enum": f.Enum}
		}
		if len(f.Enum) > 0 && f.Several {
			property = map[string]any{"type": []string{"array", "string"}, "items": property, "pattern": "^(" +
				strings.Join(f.Enum, "|") + ")$|" + brace}
		}
		property["description"] = f.Doc
		properties[f.Name] = property
		if f.Required {
			required = append(required, f.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	} else {
		// "switch:" alone is a switch with nothing special.
		schema["type"] = []string{"object", "null"}
	}
	return schema
}
