package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/show/answer"
	"linerate/internal/show/export"
)

// runList is what `linerate runs --json` prints.
type runList struct {
	Schema string             `json:"schema"`
	Runs   []notebook.Summary `json:"runs"`
}

func newRunsCommand(s streams) *cobra.Command {
	var filter notebook.Filter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the notebook, the latest first",
		Long: `List the runs in the notebook, the latest first.

The notebook is the file $LINERATE_NOTEBOOK, or else linerate/notebook.db in
$XDG_DATA_HOME or ~/.local/share.

Status: running; complete; budget, which ran out before every interval was
narrow; interrupted: carry it on with linerate run --resume RUN.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			list := runList{"linerate.runs/v1", []notebook.Summary{}}
			store, err := readNotebook(cmd.Context())
			switch {
			case errors.Is(err, notebook.ErrNoNotebook): // nothing was kept yet
			case err != nil:
				return err
			default:
				defer store.Close()
				if list.Runs, err = store.Runs(cmd.Context(), filter); err != nil {
					return err
				}
				for i := range list.Runs {
					if r := &list.Runs[i]; r.Conclusion != nil {
						r.Answer = answer.Conclusion(r.Conclusion).Headline
					}
				}
			}
			if asJSON {
				return export.Indented(s.out, list)
			}
			if len(list.Runs) == 0 {
				fmt.Fprintln(s.err, "No runs yet. Make one with linerate run STUDY; see linerate studies.")
				return nil
			}
			return writeRuns(s.out, list.Runs)
		},
	}
	cmd.Flags().StringVar(&filter.Study, "study", "", "only the runs of this study")
	numberVar(cmd.Flags(), &filter.Limit, 0, math.MaxInt, "last", 0, "only so many (default: all)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.runs/v1)")
	return cmd
}

// writeRuns writes one line per run; headlines are cut to the terminal's width,
// and not cut where there is no terminal.
func writeRuns(w io.Writer, runs []notebook.Summary) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 2, 8, 2, ' ', 0)
	fmt.Fprintln(table, "run\tstudy\tstarted (UTC)\ttrials\tstatus\tanswer")
	for _, r := range runs {
		answer := r.Answer
		if r.Error != "" {
			answer = "failed: " + r.Error
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%6d\t%s\t%s\n", r.ID, r.Study,
			r.Started.UTC().Format("2006-01-02 15:04"), r.Trials, r.Status, strings.Join(strings.Fields(answer), " "))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	width := textOptions(w, "").Width
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, " \n")
		if runes := []rune(line); width > 1 && len(runes) > width {
			line = string(runes[:width-1]) + "…"
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
