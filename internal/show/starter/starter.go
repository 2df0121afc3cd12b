// Package starter writes initial study files: templates (package studies) with a few numbers filled
// in. Kinds is the only table of templates and their arguments; help, completion and documents are
// generated from it.
package starter

import (
	"bytes"
	"fmt"
	"text/template"

	"linerate/studies"
)

// Kind is a template.
type Kind struct {
	Name string
	// Short describes the question of the study in one line.
	Short     string
	Arguments []Argument
	// Example has the arguments of a command as users type them.
	Example string
	// derive adds what the template computes from its arguments, or returns an error if they are
	// incompatible.
	derive func(values, Sysctls) error
}

// Sysctls returns the value of a parameter of the kernel that the study is for. Empty: unknown.
type Sysctls func(key string) string

// values has the arguments of a template by name, and what is derived from them.
type values map[string]any

// Study returns the filled-in template. The arguments are those of Kind.Arguments in their order,
// as Parse has returned them. It returns an error if they are incompatible.
func (k Kind) Study(arguments []any, now Sysctls) ([]byte, error) {
	v := values{}
	for i, a := range k.Arguments {
		v[a.Name] = arguments[i]
	}
	if err := k.derive(v, now); err != nil {
		return nil, err
	}
	text, err := studies.Templates.ReadFile("templates/" + k.Name + ".yaml")
	if err != nil {
		return nil, err
	}
	// Braces have a meaning in studies, so the template has other delimiters.
	t, err := template.New(k.Name).Delims("<%", "%>").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("template %s: %w", k.Name, err)
	}
	return b.Bytes(), nil
}
