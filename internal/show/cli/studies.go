package cli

import (
	"github.com/spf13/cobra"

	"linerate/internal/show/document"
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
	// EstimateS is the expected duration of a run, in seconds.
	EstimateS float64 `json:"estimate_s"`
}

func newStudiesCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "studies",
		Short: "List the built-in studies and the questions they answer",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := studyList{Schema: "linerate.studies/v1"}
			for _, name := range studies.Names() {
				plan, err := new(planFlags).plan(cmd.Context(), s, name)
				if err != nil {
					return err
				}
				list.Studies = append(list.Studies, studyEntry{
					Study: name, Question: plan.Study.Question, Treatments: len(plan.Treatments),
					EstimateS: plan.Time(plan.Blocks()).Seconds(),
				})
			}
			table := &document.Table{Columns: []document.Column{{Head: "study"}, {Head: "takes", Align: document.Right},
				{Head: "question", Wrap: true}}}
			for _, e := range list.Studies {
				table.Add(e.Study, estimate(e.EstimateS), e.Question)
			}
			return s.answer(asJSON, list,
				asText(document.Document{Summary: [][]document.Block{document.Tables(table)}}))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.studies/v1)")
	return cmd
}
