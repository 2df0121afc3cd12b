// Package studies embeds the built-in studies: questions ready to run, and
// examples ready to copy and change.
package studies

import "embed"

// Files holds one YAML file per built-in study, NAME.yaml.
//
//go:embed *.yaml
var Files embed.FS
