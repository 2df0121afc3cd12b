// Package studies embeds the built-in studies: questions ready to run, and
// examples ready to copy and change; and lists of settings that other people have
// published, as they published them. What the files mean is internal/model's.
package studies

import (
	"embed"
	"io/fs"
	"strings"
)

// Files holds one YAML file per built-in study, NAME.yaml.
//
//go:embed *.yaml
var Files embed.FS

// Published holds tables that others have published, published/NAME.csv.
//
//go:embed published/*.csv
var Published embed.FS

// Names lists the built-in studies in alphabetical order.
func Names() []string {
	// An embedded pattern that matched at compile time cannot fail.
	files, _ := fs.Glob(Files, "*.yaml")
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".yaml")
	}
	return files
}

// Lists holds the published lists of settings, lists/NAME.conf.
//
//go:embed lists/*.conf
var Lists embed.FS

// ListNames lists the published lists in alphabetical order.
func ListNames() []string {
	// As above.
	files, _ := fs.Glob(Lists, "lists/*.conf")
	for i, file := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(file, "lists/"), ".conf")
	}
	return files
}

// List is the text of a published list.
func List(name string) ([]byte, error) { return Lists.ReadFile("lists/" + name + ".conf") }

// Templates holds the templates of study files to begin from, templates/KIND.yaml; package
// starter fills them in.
//
//go:embed templates/*.yaml
var Templates embed.FS
