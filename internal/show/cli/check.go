package cli

import (
	"cmp"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/control/run"
)

func newCheckCommand(s streams) *cobra.Command {
	var f planFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE.yaml|STUDY",
		Short: "Check a study file and print its plan; measure nothing",
		Args:  exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := f.plan(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			document := newPlanDocument(plan, cmp.Or(f.options.Seed, plan.Study.Design.Seed))
			document.leaveOut(run.LeftOut(cmd.Context(), plan))
			warned := s.err
			if asJSON { // the JSON document contains the warnings
				warned = io.Discard
			}
			if err := f.parameters(warned, args[0], document.parameters); err != nil {
				return err
			}
			return errors.Join(s.answer(asJSON, document, asText(document.shown())), run.MissingTools(plan))
		},
	}
	f.define(cmd.Flags(), "plan")
	defineDesign(cmd.Flags(), &f.options)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.plan/v1)")
	return cmd
}
