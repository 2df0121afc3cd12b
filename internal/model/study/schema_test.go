package study

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// loadSchema is the schema as an editor gets it: through JSON.
func loadSchema(t *testing.T) map[string]any {
	t.Helper()
	text, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// validator knows the part of JSON Schema that our schema uses, and fails on
// any keyword beyond it.
type validator struct {
	t    *testing.T
	root map[string]any
}

func (v validator) check(schema map[string]any, value any, path string) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, path+": "+fmt.Sprintf(format, args...)) }
	object, isObject := value.(map[string]any)
	for keyword, rule := range schema {
		switch keyword {
		case "$schema", "$defs", "title", "description", "examples", "properties":
		case "$ref":
			name := strings.TrimPrefix(rule.(string), "#/$defs/")
			wrong = append(wrong, v.check(v.root["$defs"].(map[string]any)[name].(map[string]any), value, path)...)
		case "type":
			if kinds := list(rule); !slices.Contains(kinds, kind(value)) && !(kind(value) == "integer" &&
				slices.Contains(kinds, "number")) {
				say("is %s, want %v", kind(value), kinds)
			}
		case "enum":
			if !slices.Contains(rule.([]any), value) {
				say("%v is none of %v", value, rule)
			}
		case "anyOf":
			if !slices.ContainsFunc(rule.([]any), func(one any) bool {
				return len(v.check(one.(map[string]any), value, path)) == 0
			}) {
				say("%v is none of %v", value, rule)
			}
		case "pattern":
			if s, ok := value.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(s) {
				say("%q does not match %s", s, rule)
			}
		case "items":
			items, _ := value.([]any)
			for i, item := range items {
				wrong = append(wrong, v.check(rule.(map[string]any), item, fmt.Sprintf("%s[%d]", path, i))...)
			}
		case "required":
			for _, key := range list(rule) {
				if _, there := object[key]; isObject && !there {
					say("lacks %s", key)
				}
			}
		case "additionalProperties":
			known, _ := schema["properties"].(map[string]any)
			for key, inner := range object {
				switch inside := path + "." + key; {
				case known[key] != nil:
					wrong = append(wrong, v.check(known[key].(map[string]any), inner, inside)...)
				case rule == false:
					say("unknown key %s", key)
				default:
					wrong = append(wrong, v.check(rule.(map[string]any), inner, inside)...)
				}
			}
		default:
			v.t.Fatalf("%s: the schema says %q, which this test does not know", path, keyword)
		}
	}
	return wrong
}

func list(rule any) []string {
	if one, ok := rule.(string); ok {
		return []string{one}
	}
	var names []string
	for _, name := range rule.([]any) {
		names = append(names, name.(string))
	}
	return names
}

func kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case float64:
		return "number"
	}
	return "integer"
}

// validate holds a YAML text against the schema, as an editor does.
func validate(t *testing.T, schema map[string]any, text []byte) []string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return validator{t, schema}.check(schema, value, "")
}

func TestSchemaAcceptsStudies(t *testing.T) {
	schema := loadSchema(t)
	files, _ := filepath.Glob("../../../studies/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range validate(t, schema, text) {
			t.Errorf("%s: %s", filepath.Base(file), wrong)
		}
	}
	for _, text := range []string{pair, combined} {
		for _, wrong := range validate(t, schema, []byte(text)) {
			t.Error(wrong)
		}
	}
}

// TestSchemaRefuses: what an editor can see, it underlines.
func TestSchemaRefuses(t *testing.T) {
	schema := loadSchema(t)
	for name, want := range map[string]string{
		"unknown-key":          ".workload: unknown key durration",
		"missing-key":          ".workload.flows[0]: map[from:client] is none of [map[required:[from to]] map[required:[pairs]]]",
		"bad-choice":           `.workload.direction: wirte is none of`,
		"bad-units":            `.workload.duration: "1 parsec" does not match`,
		"megabytes-per-second": `.rate: "100MBps" does not match`,
		"level-unknown-kind":   "unknown key sysctls",
		"mapping-for-value":    ".table: is object, want [integer string]",
		"bad-boolean":          ".forward: is string, want [boolean]",
		"list-for-mapping":     ": is array, want [object]",
	} {
		text, err := os.ReadFile("testdata/wrong/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(validate(t, schema, text), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %s", name, got, want)
		}
	}
}

// TestSchemaCompletes: an editor has something to say about every key.
func TestSchemaCompletes(t *testing.T) {
	schema := loadSchema(t)
	if schema["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$schema is %v", schema["$schema"])
	}
	objects := map[string]any{"study": schema}
	for name, def := range schema["$defs"].(map[string]any) {
		objects[name] = def
	}
	keys := 0
	for name, object := range objects {
		o := object.(map[string]any)
		if o["additionalProperties"] != false {
			t.Errorf("%s admits unknown keys", name)
		}
		for key, property := range o["properties"].(map[string]any) {
			keys++
			if d, _ := property.(map[string]any)["description"].(string); d == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
	if keys < 80 {
		t.Errorf("the schema has %d keys; a study has more", keys)
	}
	if got := list(schema["required"]); !slices.Equal(got, []string{"study", "topology", "workload"}) {
		t.Errorf("required are %v", got)
	}
}
