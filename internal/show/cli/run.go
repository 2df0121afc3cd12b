package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/control/run"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/show/report"
)

type runFlags struct {
	set, only     []string
	seed          uint64
	until, budget string
	replicates    int
	out, resume   string
	asJSON, quiet bool
	allowMachine  bool
}

func newRunCommand(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run STUDY|FILE.yaml",
		Short: "Answer a study's question: make the lab, measure, and report",
		Long: `Answer a study's question: make the lab, measure, and report.

Every trial is saved when it is made. A run that was interrupted goes on with
  linerate run --resume RUN

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
			return runStudy(cmd.Context(), s, args, f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "replace a value of the study, such as workload.duration=5s (may be repeated)")
	flags.StringSliceVar(&f.only, "only", nil, "run only these levels (and the baseline)")
	flags.Uint64Var(&f.seed, "seed", 0, "order of the trials (default: drawn and printed)")
	flags.StringVar(&f.until, "until", "", "add blocks until every effect's interval is this narrow, such as 2%")
	flags.StringVar(&f.budget, "budget", "", "begin no block that would end after this time, such as 2m")
	flags.IntVar(&f.replicates, "replicates", 0, "blocks: how often each treatment is tried")
	flags.StringVar(&f.out, "out", "", "directory for the page and the result (default: runs/RUN)")
	flags.StringVar(&f.resume, "resume", "", "carry on an interrupted run")
	flags.BoolVar(&f.asJSON, "json", false, "print the result document (linerate.run/v1) instead of the report")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
	flags.BoolVar(&f.allowMachine, "allow-machine-settings", false, "permit settings that change more than one network namespace")
	return cmd
}

func runStudy(ctx context.Context, s streams, args []string, f runFlags) error {
	options := run.Options{AllowMachine: f.allowMachine}
	options.Design = record.Design{Replicates: f.replicates, Only: f.only, Set: f.set}
	if f.replicates < 0 {
		return usageError(fmt.Errorf("--replicates %d: expected a positive number", f.replicates))
	}
	if f.until != "" {
		ratio, err := unit.ParseRatio(f.until)
		if err != nil {
			return usageError(fmt.Errorf("--until: %w", err))
		}
		options.Design.Until = float64(ratio)
	}
	if f.budget != "" {
		budget, err := unit.ParseDuration(f.budget)
		if err != nil {
			return usageError(fmt.Errorf("--budget: %w", err))
		}
		options.Design.BudgetS = budget.Seconds()
	}
	var plan *study.Plan
	if f.resume == "" {
		var err error
		if plan, options.StudyFile, err = planStudy(args[0], f); err != nil {
			return err
		}
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	progress := newProgress(s.err, f.quiet)
	options.Progress = progress.show
	var result *record.Run
	if f.resume != "" {
		id, findErr := findRun(ctx, store, f.resume)
		if findErr != nil {
			return findErr
		}
		result, err = run.Resume(ctx, store, id, options)
		if errors.Is(err, notebook.ErrComplete) || errors.Is(err, notebook.ErrHeld) {
			return usageError(err)
		}
	} else {
		options.Seed, options.Again = f.seed, again(args[0], f)
		result, err = run.New(ctx, plan, store, options)
	}
	progress.end()
	return conclude(ctx, s, result, err, f)
}

// planStudy loads a study with what was asked for at the command line.
func planStudy(what string, f runFlags) (*study.Plan, string, error) {
	s, text, err := loadStudyWith(what, f.set)
	if err != nil {
		return nil, "", err
	}
	plan, err := study.NewPlan(s)
	if err == nil {
		plan, err = plan.Only(f.only)
	}
	if err != nil {
		return nil, "", usageError(err)
	}
	return plan, string(text), nil
}

// conclude reports what there is, also of a run that was cut short.
func conclude(ctx context.Context, s streams, result *record.Run, err error, f runFlags) error {
	if result == nil {
		return err
	}
	if len(result.Trials) > 0 {
		dir := f.out
		if dir == "" {
			dir = filepath.Join("runs", result.ID)
		}
		paths, writeErr := report.Write(dir, result)
		err = errors.Join(err, writeErr)
		if f.asJSON {
			err = errors.Join(err, report.JSON(s.out, result))
		} else {
			err = errors.Join(err, report.Text(s.out, result, textOptions(s.out, paths.Page)))
		}
	}
	switch {
	case ctx.Err() != nil:
		return statusError{ExitInterrupted, fmt.Errorf("interrupted after %d trials; carry on with: linerate run --resume %s", len(result.Trials), result.ID)}
	case err != nil && len(result.Trials) > 0:
		return fmt.Errorf("%w\nThe %d finished trials are saved; carry on with: linerate run --resume %s", err, len(result.Trials), result.ID)
	case err != nil:
		return err
	}
	for _, check := range result.Trust {
		if !check.Pass {
			return statusError{ExitDoubt, nil}
		}
	}
	return nil
}

// again spells the command that repeats a run, without its seed.
func again(what string, f runFlags) string {
	words := []string{"linerate", "run", quote(what)}
	for _, v := range f.set {
		words = append(words, "--set", quote(v))
	}
	if len(f.only) > 0 {
		words = append(words, "--only", quote(strings.Join(f.only, ",")))
	}
	if f.replicates > 0 {
		words = append(words, "--replicates", fmt.Sprint(f.replicates))
	}
	if f.until != "" {
		words = append(words, "--until", f.until)
	}
	if f.budget != "" {
		words = append(words, "--budget", f.budget)
	}
	return strings.Join(words, " ")
}

// quote protects a word from the shell where it needs it.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,%+@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
