package cli

import (
	"cmp"
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
	"linerate/internal/model/unit"
	"linerate/internal/show/html"
)

func newRunCommand(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run STUDY|FILE.yaml",
		Short: "Make a study's trials and answer its question",
		Long: `Make a study's lab, measure, and answer its question.

Every trial is saved as soon as it is finished.
  linerate run --resume RUN
continues an interrupted run, and adds blocks to a finished one if --replicates,
--until or --budget ask for more.

Exit status: 0 the question was answered; 1 linerate failed; 2 bad usage or
input; 3 answered, but a trust check failed, or treatments were left out because
the kernel lacks what they need; 130 interrupted. A second Ctrl-C ends the run at
once.`,
		Example: `  linerate run arp-flux
  linerate run nas.yaml --name "after the new cable"
  linerate run arp-flux --only "kernel defaults,static ARP entries" --seed 7
  linerate run mine.yaml --set workload.duration=5s --until 2% --budget 5m`,
		Annotations: map[string]string{flagSections: `Common flags: set only name resume out json quiet
			Trials: replicates until budget seed part wait trust allow-machine-settings`},
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && f.resume != "":
				return wrongArguments(cmd,
					fmt.Errorf("%s and --resume %s: expected one of them; a run that is resumed has its study",
						args[0], f.resume))
			case len(args) == 0 && f.resume == "":
				return wrongArguments(cmd,
					errors.New("expected a study, a file, or --resume RUN: see linerate studies"))
			}
			return runStudy(cmd.Context(), s, args, f)
		},
	}
	f.define(cmd.Flags())
	return cmd
}

func runStudy(ctx context.Context, s streams, args []string, f runFlags) error {
	err := errors.Join(mistakes(f.flags)...)
	if err != nil {
		return usageError(err)
	}
	if f.resume != "" {
		return f.resumeRun(ctx, s)
	}
	plan, err := f.plan(ctx, s, args[0])
	if err != nil {
		return err
	}
	if err := f.writable(); err != nil {
		return err
	}
	if err := s.permit(ctx, args[0], f.trust, plan.Commands()); err != nil {
		return err
	}
	if err := f.from.permit(ctx, s, f.taken, f.trust); err != nil { // a built-in study is not asked about
		return err
	}
	result, err := f.begin(ctx, s, plan, args[0], f.again(args[0]))
	return finishRun(ctx, s, result, err, f)
}

// begin makes a new run of a plan. file is the study's name in messages, and again the command that
// repeats the run.
func (f runFlags) begin(ctx context.Context, s streams, plan *study.Plan, file, again string) (*record.Run, error) {
	if err := f.parameters(s.err, file, run.ParameterWarnings(plan, proc.Sysctls{})); err != nil {
		return nil, err
	}
	for _, warning := range []string{run.NeighbourWarning(plan, proc.Sysctls{}), run.BlocksWarning(plan)} {
		if warning != "" {
			say(s.err, "linerate: %s\n", warning)
		}
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	f.options.Again = again
	result, err := f.conduct(ctx, s, "run "+file, func(o run.Options) (*record.Run, error) {
		return run.New(ctx, plan, store, o)
	})
	if errors.Is(err, notebook.ErrNameTaken) {
		return nil, usageError(fmt.Errorf("--%w", err))
	}
	return result, err
}

// resumeRun continues a run in the notebook.
func (f runFlags) resumeRun(ctx context.Context, s streams) error {
	if err := f.fitsResume(); err != nil {
		return usageError(err)
	}
	if err := f.writable(); err != nil {
		return err
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	id, err := findRun(ctx, store, f.resume)
	if err != nil {
		return err
	}
	saved, err := store.Run(ctx, id)
	if err != nil {
		return err
	}
	if err := s.permitRun(ctx, saved, f.trust); err != nil {
		return err
	}
	f.options.Again = strings.Join(spelled(f.flags, designFlags...), " ")
	result, err := f.conduct(ctx, s, "run "+f.resume, func(o run.Options) (*record.Run, error) {
		if warning := run.BudgetWarning(saved, o.Redesign); warning != "" {
			say(s.err, "linerate: %s\n", warning)
		}
		return run.Resume(ctx, store, saved.ID, o)
	})
	if _, wrong := errors.AsType[source.Problems](err); wrong || errors.Is(err, notebook.ErrComplete) ||
		errors.Is(err, notebook.ErrHeld) || errors.Is(err, run.ErrSpent) {
		return usageError(err)
	}
	return finishRun(ctx, s, result, err, f)
}

// conduct makes trials. It marks them as the work of this process and prints their progress on
// stderr.
func (f runFlags) conduct(ctx context.Context, s streams, what string, trials func(run.Options) (*record.Run, error)) (
	*record.Run, error) {
	claim, err := claimActive(ctx, s, what, f.wait)
	if err != nil {
		return nil, err
	}
	defer claim.Leave()
	options, progress := f.options, newProgress(s.hints())
	options.Progress = func(p run.Progress) {
		claim.Describe(runTitle(p.Run, options.RunName))
		progress.show(p)
	}
	defer progress.end()
	return trials(options)
}

// withoutPage adds to an error about a run's page how to make the page later; nil stays nil.
func withoutPage(err error, id string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\nThe run is in the notebook; its page is made with: linerate report %s --out DIR", err, id)
}

// finishRun reports what there is, also of a run that was cut short.
func finishRun(ctx context.Context, s streams, result *record.Run, err error, f runFlags) error {
	if result == nil {
		return err
	}
	var lost error // what could not be written or printed
	if len(result.Trials) > 0 {
		var paths html.Paths
		paths, lost = writePage(ctx, cmp.Or(f.out, filepath.Join("runs", result.ID)), result)
		lost = withoutPage(errors.Join(lost, s.showRun(result, f.asJSON, paths.Page)), result.ID)
	}
	switch {
	case ctx.Err() != nil:
		if left, is := errors.AsType[*lab.NotRevertedError](err); is {
			lost = errors.Join(left, lost)
		}
		err = errors.New("interrupted before the first trial ended; the notebook has nothing of it")
		if len(result.Trials) > 0 {
			err = fmt.Errorf("interrupted after %s; continue with: %s", unit.Plural(len(result.Trials), "trial"),
				f.resumeCommand(result.ID))
		}
		return statusError{ExitInterrupted, errors.Join(err, lost)}
	case err != nil && len(result.Trials) > 0 && result.Status == notebook.Interrupted:
		err = fmt.Errorf("%w\nWhat was measured (%s) is saved; continue with: %s", err,
			unit.Plural(len(result.Trials), "trial"), f.resumeCommand(result.ID))
		return errors.Join(err, lost)
	case err != nil || lost != nil:
		return errors.Join(err, lost)
	}
	return doubt(result)
}
