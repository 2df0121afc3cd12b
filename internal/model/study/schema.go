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
	return schema
}
