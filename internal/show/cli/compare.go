package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"linerate/internal/science/compare"
	"linerate/internal/show/answer"
	"linerate/internal/show/export"
	"linerate/internal/show/present"
	"linerate/internal/show/text"
	"linerate/internal/show/wording"
)

func newCompareCommand(s streams) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "compare RUN RUN",
		Short: "Compare a run with an earlier one, treatment by treatment",
		Long: `Compare the treatments of the second run with those of the same name in the first.

Two runs share no blocks. Other differences between them, such as the kernel or
the study, may be the cause of an effect and are listed first; for runs of
different studies only the most important one, unless --all is given.

Of two meshes it says which hosts, racks and pairs changed by more than chance.

Exit status: 0; 2 when the runs have no treatment that can be compared; 3 when
a trust check failed in one of them.`,
		Example: `  linerate compare arp-flux-7 latest`,
		Args:    exactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := runsWithTrials(cmd.Context(), args...)
			if err != nil {
				return err
			}
			if runs[0].ID == runs[1].ID {
				return usageError(errors.New("both are the run " + runs[0].ID + ": expected two runs"))
			}
			defer computing()()
			comparison := compare.Runs(wording.Run(runs[0]), wording.Run(runs[1]))
			comparison.Answer = present.ComparisonAnswer(comparison)
			comparison.From.Answer, comparison.To.Answer = answer.Run(runs[0]).Headline, answer.Run(runs[1]).Headline
			if asJSON {
				err = export.Indented(s.out, comparison)
			} else {
				err = text.Write(s.out, present.Compare(comparison, all), textOptions(s.out, ""))
			}
			switch {
			case err != nil:
				return err
			case !comparison.Comparable:
				return statusError{ExitUsage, nil}
			}
			return doubt(runs...)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list every difference, also of runs of different studies")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.compare/v1)")
	return cmd
}
