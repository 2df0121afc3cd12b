package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
		Long: `Attach a note to a run, such as a change in the network or the label of a cable.
The note appears in every report of the run and in the list of runs. The page
written for the run is updated, if it is still at its place.`,
		Example: `  linerate note latest "after the new cable in switch port 3"`,
		Args: minimumArgs(2,
			`expected a run and the note's text, such as: linerate note latest "after the new cable"`),
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
	// Read first, so that no notebook is created for a note that belongs to no run.
	reader, err := readNotebook(ctx)
	if errors.Is(err, notebook.ErrNoNotebook) {
		return usageError(fmt.Errorf("run %q: %w", reference, err))
	}
	if err != nil {
		return err
	}
	id, err := findRun(ctx, reader, reference)
	var notes []record.Note
	if err == nil {
		notes, err = reader.Notes(ctx, id)
	}
	if err = errors.Join(err, reader.Close()); err != nil {
		return err
	}
	if n := len(notes); n > 0 && notes[n-1].Text == text {
		say(s.hints(), "%s has this note already, as its last\n", id)
		return nil
	}
	store, err := openNotebook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.AddNote(ctx, id, record.Note{Time: time.Now(), Text: text}); err != nil {
		return err
	}
	say(s.hints(), "noted on %s\n", id)
	renewed, gone, err := renewPages(ctx, store, id)
	for _, path := range renewed {
		say(s.hints(), "written with it: %s\n", shortPath(path))
	}
	for _, path := range gone {
		say(s.hints(), "%s is no longer the page of this run; to write it again: linerate report %s --out %s\n",
			shortPath(path), id, quote(shortPath(filepath.Dir(path))))
	}
	if err != nil {
		return fmt.Errorf("the note is in the notebook, but not on the page: %w", err)
	}
	return nil
}
