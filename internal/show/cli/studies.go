package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"linerate/studies"
)

// studyList is what `linerate studies --json` prints.
type studyList struct {
	Schema  string       `json:"schema"`
	Studies []studyEntry `json:"studies"`
}

type studyEntry struct {
	Study      string `json:"study"`
	Question   string `json:"question"`
	Treatments int    `json:"treatments"`
	// EstimateS is how long a run will take, in seconds.
	EstimateS float64 `json:"estimate_s"`
}

func newStudiesCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "studies",
		Short: "List the built-in studies and the questions they answer",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			list := studyList{Schema: "linerate.studies/v1"}
			for _, name := range studies.Names() {
				plan, err := new(planFlags).plan(name)
				if err != nil {
					return err
				}
				list.Studies = append(list.Studies, studyEntry{
					Study: name, Question: plan.Study.Question, Treatments: len(plan.Treatments),
					EstimateS: plan.Time(plan.Blocks()).Seconds(),
				})
			}
			return s.answer(asJSON, list, func(w io.Writer) error {
				table := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
				for _, e := range list.Studies {
					fmt.Fprintf(table, "%s\t%s\t%s\n", e.Study, estimate(e.EstimateS), e.Question)
				}
				return table.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.studies/v1)")
	return cmd
}
