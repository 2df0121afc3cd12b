package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/control/measure"
	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/export"
	"linerate/internal/show/text"
)

// runList is what `linerate runs --json` prints.
type runList struct {
	Schema string             `json:"schema"`
	Latest string             `json:"latest,omitempty"` // ID of the run that the name latest stands for
	Runs   []notebook.Summary `json:"runs"`
}

// runsFlags select runs of the notebook.
type runsFlags struct {
	study, text string
	since       time.Time
	last        int
	asJSON      bool
}

func newRunsCommand(s streams) *cobra.Command {
	var f runsFlags
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the notebook, the latest first",
		Long: `List the runs in the notebook, the latest first, with their notes. Names,
answers and notes are cut to the width of the terminal; --json has them in full.
The last line names the run that RUN "latest" is, the latest with a trial.

The notebook is the file $LINERATE_NOTEBOOK, or else linerate/notebook.db in
$XDG_DATA_HOME or ~/.local/share.

linerate run --resume RUN continues an interrupted run.`,
		Example: `  linerate runs --grep "cable"
  linerate runs --study arp-flux --since 7d`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && slices.Contains([]string{"remove", "delete", "del"}, args[0]) {
				return usageError(fmt.Errorf("no verb %q; did you mean rm? linerate runs rm RUN", "runs "+args[0]))
			}
			if len(args) > 0 {
				return usageError(fmt.Errorf(
					"unexpected argument %q: linerate report %s shows a run, linerate runs --grep %[2]s searches",
					args[0], quote(args[0])))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			return f.list(cmd.Context(), s)
		},
	}
	cmd.AddCommand(newRunsRemoveCommand(s))
	cmd.Flags().StringVar(&f.study, "study", "", "only the runs of this `study`")
	cmd.Flags().StringVar(&f.text, "grep", "",
		"only runs with this `text` in their ID, name, study, answer or notes, in upper or lower case")
	valueVar(cmd.Flags(), &f.since, func(text string) (time.Time, error) {
		return parseSince(text, time.Now())
	}, "since", "when", "", "only runs begun since a date, such as 2026-03-31, or in the last 7d or 12h")
	numberVar(cmd.Flags(), &f.last, 0, math.MaxInt, "last", 0, "only the latest N (default: all)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON (linerate.runs/v1)")
	return cmd
}

func (f runsFlags) list(ctx context.Context, s streams) error {
	list := runList{Schema: "linerate.runs/v1", Runs: []notebook.Summary{}}
	store, err := readNotebook(ctx)
	switch {
	case errors.Is(err, notebook.ErrNoNotebook): // nothing was kept yet
	case err != nil:
		return err
	default:
		defer store.Close()
		if list.Runs, err = f.selected(ctx, store); err != nil {
			return err
		}
		list.Latest, _ = store.Resolve(ctx, "latest") // empty: no run has results
	}
	switch {
	case f.asJSON:
		return export.Indented(s.out, list)
	case len(list.Runs) > 0:
		for i := range list.Runs {
			if r := &list.Runs[i]; r.Conclusion != nil {
				r.Answer = answer.Brief(r.Conclusion)
			}
		}
		return text.Runs(s.out, list.Runs, list.Latest, textOptions(s.out, ""))
	case f.study != "" || f.text != "" || !f.since.IsZero():
		say(s.hints(), "No such runs; linerate runs lists all.\n")
	default:
		say(s.hints(),
			"No runs yet. linerate measure ADDRESS keeps a measurement, and linerate run STUDY makes a run; see "+
				"linerate studies.\n")
	}
	return nil
}

// selected returns the runs that the flags select, the latest first.
func (f runsFlags) selected(ctx context.Context, store notebook.Store) ([]notebook.Summary, error) {
	runs, err := store.Runs(ctx, notebook.Filter{Study: f.study})
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r notebook.Summary) bool { return r.Started.Before(f.since) })
	for i := range runs {
		r := &runs[i]
		if r.Study == record.MeasureStudy && r.Status == notebook.Interrupted && r.Trials == 0 {
			if run, err := store.Run(ctx, r.ID); err == nil {
				measure.Recover(run)
				r.Conclusion = run.Conclusion
			}
		}
		if r.Conclusion != nil {
			r.Answer = answer.Conclusion(r.Conclusion).Headline
		}
	}
	runs = slices.DeleteFunc(runs, func(r notebook.Summary) bool { return !mentions(r, f.text) })
	if f.last > 0 {
		runs = runs[:min(len(runs), f.last)]
	}
	return runs, nil
}

// mentions reports whether a text occurs in what identifies a run for people, such as its name or
// its answer.
func mentions(r notebook.Summary, what string) bool {
	shown := r
	if r.Conclusion != nil {
		shown.Answer = answer.Brief(r.Conclusion)
	}
	texts := []string{r.ID, r.Name, r.Study, r.Answer, text.RunLine(shown)}
	for _, note := range r.NoteList {
		texts = append(texts, note.Text)
	}
	return slices.ContainsFunc(texts, func(in string) bool {
		return strings.Contains(strings.ToLower(in), strings.ToLower(what))
	})
}

// parseSince parses a date, or a duration before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("%q: expected a date such as 2026-03-31 (UTC), or how long ago, such as 7d or 12h",
		text)
}
