// Package starter writes study files to begin from: templates of studies (package
// studies), with a few numbers filled in. Kinds is the one table of templates and their
// arguments; help, completion and documents are made from it.
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
	// Short says in a line what the study asks.
	Short     string
	Arguments []Argument
	// Example is the arguments of a command, as people type them.
	Example string
	// derive adds what the template computes from its arguments, or says which of
	// them do not go together.
	derive func(values, Sysctls) error
}

// Sysctls reads a parameter of the kernel that the study is for; empty: it is not known.
type Sysctls func(key string) string

// values are those of a template: its arguments by name, and what is derived from them.
type values map[string]any

// Study fills the template in. The arguments are those of Kind.Arguments, in their order,
// as Parse has read them. It is an error if some do not go together.
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
	// Braces belong to the study.
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
