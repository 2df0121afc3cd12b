package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"linerate/internal/model/study"
)

func newSchemaCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of study files, for editors",
		Long: `Print the JSON Schema of study files, for editors.

With the YAML language server, the first line of a study then reads
  # yaml-language-server: $schema=study.schema.json`,
		Example: "  linerate schema > study.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			e := json.NewEncoder(s.out)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(study.Schema())
		},
	}
}
