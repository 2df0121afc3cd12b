package source

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
)

// Schema returns the JSON Schema (https://json-schema.org/draft/2020-12) of files that Decode reads
// into a struct type, for editors that complete keys and mark mistakes. It describes the file as
// written, before brace ranges are expanded, so a brace is allowed wherever a value is.
func Schema(t reflect.Type) map[string]any {
	m := schemaMaker{defs: map[string]any{}}
	schema := m.structure(t)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$defs"] = m.defs
	return schema
}

// schemaMaker collects the named structs. Each is described once.
type schemaMaker struct{ defs map[string]any }

// described is implemented by types that are written as a scalar in their own notation.
type described interface{ JSONSchema() map[string]any }

// brace is an alternative in every pattern: a range or an expression, which only has the right form
// after it has been evaluated.
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
		name := t.String() // with its package: two packages have a Link
		if m.defs[name] == nil {
			m.defs[name] = true // reserves the name in case the type contains itself
			m.defs[name] = m.structure(t)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": []string{"number", "string"}, "pattern": `^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$|` +
			brace}
	case t.Kind() == reflect.String:
		// YAML reads unquoted 1 as a number; Decode accepts it as text.
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	default:
		return map[string]any{"type": []string{"integer", "string"}, "pattern": `^[+-]?[0-9]+$|` + brace}
	}
}

// keyed describes the value in a mapping from names.
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
		case len(f.Enum) > 0 && f.Type.Kind() == reflect.Struct: // which may be written as one of the names
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
		// "switch:" without a value is a switch with defaults.
		schema["type"] = []string{"object", "null"}
	}
	return schema
}
