package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"linerate/internal/control/notebook"
	"linerate/internal/model/unit"
	"linerate/internal/show/html"
)

func newRunsRemoveCommand(s streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm RUN...",
		Short: "Remove runs from the notebook, with the files written for them",
		Long: `Remove runs from the notebook, with their trials, notes and the files that were
written for them: report.html, run.json and trials.jsonl.gz. Pages that
linerate report --html wrote elsewhere, figures and exports are not removed.

A run that is being made is refused. If one of the runs cannot be removed, none is.`,
		Example: `  linerate runs rm arp-flux-7 "old cable"`,
		Args:    minimumArgs(1, "expected the runs to remove: linerate runs lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeRuns(cmd.Context(), s, args, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func removeRuns(ctx context.Context, s streams, references []string, yes bool) error {
	reader, err := readNotebook(ctx)
	if errors.Is(err, notebook.ErrNoNotebook) {
		return usageError(fmt.Errorf("run %q: %w", references[0], err))
	}
	if err != nil {
		return err
	}
	defer reader.Close()
	var ids []string
	var problems []error
	for _, reference := range references {
		id, err := findRun(ctx, reader, reference)
		if err != nil {
			problems = append(problems, err)
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return usageError(fmt.Errorf("%w\nnothing was removed", err))
	}
	if !yes {
		if sure, err := s.askRemoval(ctx, reader, ids); err != nil || !sure {
			return err
		}
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	started, err := startsOf(ctx, reader)
	if err != nil {
		return err
	}
	err = store.Remove(ctx, func(id string, paths []string) error {
		return html.Remove(id, started[id], paths)
	}, ids...)
	switch {
	case errors.Is(err, notebook.ErrHeld):
		return usageError(fmt.Errorf("%w\nnothing was removed: end it first, or wait for it", err))
	case errors.Is(err, notebook.ErrNotFound):
		return usageError(fmt.Errorf("%w\nnothing was removed", err))
	case err == nil:
		say(s.hints(), "removed %s\n", strings.Join(ids, ", "))
	}
	return err
}

// startsOf returns when each run began, by ID.
func startsOf(ctx context.Context, store notebook.Store) (map[string]time.Time, error) {
	list, err := store.Runs(ctx, notebook.Filter{})
	started := make(map[string]time.Time, len(list))
	for _, r := range list {
		started[r.ID] = r.Started
	}
	return started, err
}

// askRemoval prints what would be removed, and asks on the terminal.
func (s streams) askRemoval(ctx context.Context, store notebook.Store, ids []string) (bool, error) {
	if in, is := s.in.(*os.File); !is || !term.IsTerminal(int(in.Fd())) {
		return false, usageError(errors.New("expected --yes: there is no terminal to ask on; nothing was removed"))
	}
	list, err := store.Runs(ctx, notebook.Filter{})
	if err != nil {
		return false, err
	}
	say(s.err, "Remove for good:\n")
	for _, r := range list {
		if !slices.Contains(ids, r.ID) {
			continue
		}
		files, err := store.Files(ctx, r.ID)
		if err != nil {
			return false, err
		}
		parts := []string{notebook.Reference{ID: r.ID, Name: r.Name}.String(), unit.Plural(r.Trials, "trial"),
			unit.Plural(r.Notes, "note")}
		for _, path := range files {
			if info, err := os.Lstat(path); err == nil && !info.IsDir() {
				parts = append(parts, shortPath(path))
			}
		}
		say(s.err, "  %s\n", strings.Join(parts, ", "))
	}
	fmt.Fprint(s.err, "Type yes to remove: ")
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(s.in).ReadString('\n') // the end of input means no
		answer <- strings.TrimSpace(text)
	}()
	select {
	case <-ctx.Done():
		return false, statusError{ExitInterrupted, errors.New("nothing was removed")}
	case text := <-answer:
		if text == "yes" || text == "y" {
			return true, nil
		}
	}
	say(s.err, "Nothing was removed.\n")
	return false, statusError{ExitFailed, nil}
}
