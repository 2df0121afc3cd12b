// Package studies embeds the built-in studies: questions ready to run, and
// examples ready to copy and change. What the files mean is internal/model's.
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

// Names lists the built-in studies in alphabetical order.
func Names() []string {
	// An embedded pattern that matched at compile time cannot fail.
	files, _ := fs.Glob(Files, "*.yaml")
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".yaml")
	}
	return files
}
