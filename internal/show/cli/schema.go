package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/model/inventory"
	"linerate/internal/model/study"
)

func newSchemaCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [study|hosts]",
		Short: "Print the JSON Schema of study files or of hosts.yaml, for editors",
		Long: `Print the JSON Schema of study files or of hosts.yaml, for editors.

With the YAML language server, the first line of a study then reads
  # yaml-language-server: $schema=study.schema.json`,
		Example: "  linerate schema > study.schema.json",
		Args:    rangeArgs(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			schema := study.Schema
			switch what := strings.Join(args, ""); what {
			case "", "study":
			case "hosts":
				schema = inventory.FileSchema
			default:
				return usageError(fmt.Errorf("schema %q: expected study or hosts", what))
			}
			e := json.NewEncoder(s.out)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(schema())
		},
	}
}
