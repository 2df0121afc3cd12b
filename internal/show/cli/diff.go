package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"linerate/internal/model/netstate"
	"linerate/internal/science/compare"
	"linerate/internal/show/present"
)

func newDiffCommand(s streams) *cobra.Command {
	var counters, asJSON bool
	cmd := &cobra.Command{
		Use:   "diff SNAPSHOT SNAPSHOT",
		Short: "Show what changed between two snapshots of hosts",
		Long: `Show what changed between two snapshots, of one host at two times or of two
hosts: first interfaces, addresses, routes and neighbours, then their drivers'
settings, kernel parameters and the rest. Counters, which differ always, are
listed with --counters. "-" is standard input.

Exit status: 0 nothing but counters differs; 1 failed; 2 bad usage or input;
3 something differs.`,
		Example: `  linerate snapshot > before.json
  linerate snapshot | linerate diff before.json -`,
		Args: exactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var both [2]netstate.HostSnapshot
			for i, file := range args {
				var err error
				if both[i], err = readSnapshot(s.input(cmd.Context()), file); errors.Is(err, fs.ErrNotExist) {
					if _, noRuns := storedRuns(cmd.Context(), args...); noRuns == nil {
						return usageError(fmt.Errorf(
							"%s is a run in the notebook, not a file with a snapshot: linerate compare %s %s", file,
							quote(args[0]), quote(args[1])))
					}
				}
				if err != nil {
					return usageError(err)
				}
			}
			defer computing()()
			d := compare.Snapshots(both[0], both[1])
			if !counters {
				d.Counters = nil
			}
			if err := s.answer(asJSON, d, asText(present.Diff(d))); err != nil {
				return err
			}
			if len(d.Changes) > 0 {
				return statusError{ExitDoubt, nil}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&counters, "counters", false, "also list how much counters grew")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.diff/v1)")
	return cmd
}
