package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
)

func newNoteCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   `note RUN "TEXT"`,
		Short: "Attach a note to a run",
		Long: `Attach a note to a run: what was different that day, what the cable was
called. It appears in every report of the run.`,
		Example: `  linerate note latest "after the new cable in switch port 3"`,
		Args:    minimumArgs(2, `expected a run and the note's text, such as: linerate note latest "after the new cable"`),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.TrimSpace(strings.Join(args[1:], " "))
			if text == "" {
				return usageError(errors.New("expected the note's text"))
			}
			return addNote(cmd.Context(), s, args[0], text)
		},
	}
}

func addNote(ctx context.Context, s streams, reference, text string) error {
	// Read first: a notebook is not made for a note on nothing.
	reader, err := readNotebook(ctx)
	if errors.Is(err, notebook.ErrNoNotebook) {
		return usageError(fmt.Errorf("run %q: %w", reference, err))
	}
	if err != nil {
		return err
	}
	id, err := findRun(ctx, reader, reference)
	if err = errors.Join(err, reader.Close()); err != nil {
		return err
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	err = store.AddNote(ctx, id, record.Note{Time: time.Now(), Text: text})
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "noted on %s\n", id)
	return nil
}
