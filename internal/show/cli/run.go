package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/control/lab"
	"linerate/internal/control/notebook"
	"linerate/internal/control/run"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/show/export"
	"linerate/internal/show/html"
	"linerate/internal/show/present"
	"linerate/internal/show/text"
)

type runFlags struct {
	set, only     []string
	parts         []string
	seed          uint64
	until, budget string
	replicates    int
	out, resume   string
	asJSON, quiet bool
	allowMachine  bool
	given         func(flag string) bool
}

func newRunCommand(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run STUDY|FILE.yaml",
		Short: "Answer a study's question: make the lab, measure, and report",
		Long: `Answer a study's question: make the lab, measure, and report.

Every trial is saved when it is made. A run that was interrupted goes on with
  linerate run --resume RUN
and so does one that has ended, when --replicates, --until or --budget ask for
more than it has.

Exit status: 0 the question was answered; 1 linerate failed; 2 bad usage or
input; 3 answered, but a trust check failed; 130 interrupted.`,
		Example: `  linerate run arp-flux
  linerate run arp-flux --only "kernel defaults,static ARP entries" --seed 7
  linerate run mine.yaml --set workload.duration=5s --until 2% --budget 5m`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (f.resume != "") {
				return usageError(errors.New("expected a study, a file, or --resume RUN: linerate studies lists the studies"))
			}
			f.given = cmd.Flags().Changed
			return runStudy(cmd.Context(), s, args, f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "replace a value of the study, such as workload.duration=5s (may be repeated)")
	flags.StringSliceVar(&f.only, "only", nil, "run only these levels (and the baseline)")
	flags.StringSliceVar(&f.parts, "part", nil, "run these parts of the study's design, or all (default: those that are not on demand)")
	flags.Uint64Var(&f.seed, "seed", 0, "order of the trials (default: drawn and printed)")
	flags.StringVar(&f.until, "until", "", "add blocks until every effect's interval is this narrow, such as 2%")
	flags.StringVar(&f.budget, "budget", "", "begin no block that would end after this time, such as 2m (the first is made in any case)")
	flags.IntVar(&f.replicates, "replicates", 0, "blocks: how often each treatment is tried")
	flags.StringVar(&f.out, "out", "", "directory for the page and the result (default: runs/RUN)")
	flags.StringVar(&f.resume, "resume", "", "carry on an interrupted run, or add to one")
	flags.BoolVar(&f.asJSON, "json", false, "print the result document (linerate.run/v1) instead of the report")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
	flags.BoolVar(&f.allowMachine, "allow-machine-settings", false, "permit settings that change more than one network namespace")
	return cmd
}

func runStudy(ctx context.Context, s streams, args []string, f runFlags) error {
	redesign, err := f.redesign()
	if err != nil {
		return usageError(err)
	}
	options := run.Options{Only: f.only, Set: f.set, AllowMachine: f.allowMachine, Redesign: redesign}
	var plan *study.Plan
	if f.resume == "" {
		if plan, options.StudyFile, err = planStudy(args[0], f, redesign); err != nil {
			return err
		}
		if options.Published, err = published(args[0], plan.Study); err != nil {
			return err
		}
	} else if err := f.fitsResume(); err != nil {
		return usageError(err)
	}
	where := f.out
	if where == "" {
		where = "runs"
	}
	if err := export.Writable(where); err != nil {
		return fmt.Errorf("%w: nothing was run; --out names another directory", err)
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if plan != nil {
		if warning := run.NeighbourWarning(plan, proc.Sysctls{}); warning != "" {
			fmt.Fprintln(s.err, "linerate: "+warning)
		}
	}
	progress := newProgress(s.err, f.quiet)
	options.Progress = progress.show
	var result *record.Run
	if f.resume != "" {
		id, findErr := findRun(ctx, store, f.resume)
		if findErr != nil {
			return findErr
		}
		options.Again = strings.Join(f.designWords(), " ")
		result, err = run.Resume(ctx, store, id, options)
		if _, wrong := errors.AsType[source.Problems](err); wrong || isAny(err, notebook.ErrComplete, notebook.ErrHeld, run.ErrSpent) {
			return usageError(err)
		}
	} else {
		options.Seed, options.Again = f.seed, again(args[0], f)
		result, err = run.New(ctx, plan, store, options)
	}
	progress.end()
	return finishRun(ctx, s, result, err, f)
}

// planStudy loads a study with what was asked for at the command line.
func planStudy(what string, f runFlags, redesign study.Redesign) (*study.Plan, string, error) {
	s, text, err := loadStudyWith(what, f.set)
	if err != nil {
		return nil, "", err
	}
	plan, err := study.NewPlan(s, f.parts...)
	if err == nil {
		plan, err = plan.Only(f.only)
	}
	if err == nil {
		err = plan.Redesign(redesign)
	}
	if err != nil {
		return nil, "", usageError(err)
	}
	return plan, string(text), nil
}

func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprintf("%d trials", n)
}

// finishRun reports what there is, also of a run that was cut short.
func finishRun(ctx context.Context, s streams, result *record.Run, err error, f runFlags) error {
	if result == nil {
		return err
	}
	var lost error // what could not be shown
	if len(result.Trials) > 0 {
		dir := f.out
		if dir == "" {
			dir = filepath.Join("runs", result.ID)
		}
		var paths html.Paths
		paths, lost = html.Write(dir, result)
		if f.asJSON {
			lost = errors.Join(lost, export.JSON(s.out, present.WithAnswer(result)))
		} else {
			lost = errors.Join(lost, text.Run(s.out, present.Run(result), textOptions(s.out, paths.Page)))
		}
	}
	if lost != nil {
		lost = fmt.Errorf("%w\nThe run is in the notebook; its page is made with: linerate report %s --out DIR", lost, result.ID)
	}
	switch {
	case ctx.Err() != nil:
		if left, is := errors.AsType[*lab.NotRevertedError](err); is {
			lost = errors.Join(left, lost)
		}
		err = fmt.Errorf("interrupted after %s; carry on with: %s", trials(len(result.Trials)), resumeCommand(result.ID, f))
		return statusError{ExitInterrupted, errors.Join(err, lost)}
	case err != nil && len(result.Trials) > 0 && result.Status == notebook.Interrupted:
		err = fmt.Errorf("%w\nWhat was measured (%s) is saved; carry on with: %s", err, trials(len(result.Trials)), resumeCommand(result.ID, f))
		return errors.Join(err, lost)
	case err != nil || lost != nil:
		return errors.Join(err, lost)
	}
	return doubt(result)
}
