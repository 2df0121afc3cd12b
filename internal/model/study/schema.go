package study

import (
	"reflect"

	"linerate/internal/model/source"
)

// Schema returns the JSON Schema of study files. It is generated from the types, so that it always
// agrees with the decoder.
func Schema() map[string]any {
	schema := source.Schema(reflect.TypeFor[Study]())
	schema["title"] = "linerate study"
	schema["description"] = "A question about a network: hosts and links, flows, what is varied, and how often it " +
		"is tried. " +
		"{0..3} repeats an item or a key, {p=0..3} also binds p, and {100+p} computes with it."
	// A flow names hosts, or a pattern of pairs, which Parse replaces.
	flow := schema["$defs"].(map[string]any)[reflect.TypeFor[Flow]().String()].(map[string]any)
	delete(flow, "required")
	flow["anyOf"] = []any{map[string]any{"required": []string{"from", "to"}},
		map[string]any{"required": []string{"pairs"}}}
	for _, key := range []string{"from", "to", "among"} {
		property := flow["properties"].(map[string]any)[key].(map[string]any)
		text := map[string]any{"type": []string{"string", "number", "boolean"}}
		flow["properties"].(map[string]any)[key] = map[string]any{"description": property["description"],
			"anyOf": []any{text, map[string]any{"type": "array", "items": text}}}
	}
	return schema
}
