package cli

import (
	"github.com/spf13/cobra"
)

func newShowCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show STUDY",
		Short: "Print a built-in study as YAML, ready to copy and change",
		Example: `  linerate show arp-flux > mine.yaml
  linerate check mine.yaml
  linerate run mine.yaml`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, data, err := readStudy(s.input(cmd.Context()), args[0])
			if err != nil {
				return usageError(err)
			}
			_, err = s.out.Write(data)
			return err
		},
	}
}
