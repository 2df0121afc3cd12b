package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/export"
	"linerate/internal/show/html"
	"linerate/internal/show/present"
	"linerate/internal/show/text"
)

// showRun prints a run's document or its report, which names the page.
func (s streams) showRun(run *record.Run, asJSON bool, page string) error {
	if asJSON {
		return export.JSON(s.out, answer.Worded(run))
	}
	return text.Run(s.out, present.Report(run), textOptions(s.out, page))
}

func newReportCommand(s streams) *cobra.Command {
	var page, dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Show a run again: text, page, or JSON",
		Long: `Show a run again from the notebook.

RUN is a run's ID or name, the beginning of one, or latest, which is the latest
run with results. An unfinished run is shown with its finished trials.

Exit status: 0; 3 when a trust check of the run failed.`,
		Example: `  linerate report latest
  linerate report arp-flux-7 --html page.html
  linerate report arp-flux-7 --json | jq .effects`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && (page != "" || dir != "") {
				return usageError(errors.New(
					"--json goes to standard output: expected it without --html and --out (--out writes " +
						"run.json, too)"))
			}
			if page == "-" {
				return usageError(errors.New(
					"--html -: the report goes to standard output; expected a file, such as --html page.html"))
			}
			runs, err := storedRuns(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			run := runs[0]
			shown := page
			if page != "" {
				err := export.WriteFile(page, func(w io.Writer) error { return html.Run(w, run) })
				if err != nil {
					return fmt.Errorf("write the page: %w", err)
				}
			}
			if dir != "" {
				paths, err := writePage(cmd.Context(), dir, run)
				if err != nil {
					return err
				}
				if shown == "" {
					shown = paths.Page
				}
			}
			defer computing()()
			if err := s.showRun(run, asJSON, shown); err != nil {
				return err
			}
			return doubt(run)
		},
	}
	cmd.Flags().StringVar(&page, "html", "", "write the page to this `file`, too")
	cmd.Flags().StringVar(&dir, "out", "", "write the page and the result into this `directory`, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result document (linerate.run/v2) instead")
	return cmd
}
