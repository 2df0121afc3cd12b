package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/host/apply"
	"linerate/internal/show/text"
)

// recovery is what `linerate recover --json` prints.
type recovery struct {
	Schema  string            `json:"schema"`
	Changes []apply.Recovered `json:"changes"`
}

func newRecoverCommand(s streams) *cobra.Command {
	var journal string
	var asJSON bool
	var o apply.RecoverOptions
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Undo changes that a killed agent has left on this host",
		Long: `Undo changes that a killed agent has left on this host.

An agent reverts its settings when its conductor ends for any reason. An agent
killed by SIGKILL cannot; the changes are then still in its undo journal. A value
that another program has changed since is kept, unless --force is given. The
command may be repeated.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			journals := []string{journal}
			if journal == "" {
				var err error
				if journals, err = apply.Journals(); err != nil {
					return err
				}
			}
			all := recovery{Schema: "linerate.recover/v1", Changes: []apply.Recovered{}}
			var failed []error
			for _, path := range journals {
				o.Journal = path
				changes, err := apply.Recover(o)
				all.Changes = append(all.Changes, changes...)
				failed = append(failed, err)
			}
			failed = append(failed, s.answer(asJSON, all, func(w io.Writer) error { return printRecovery(w, all.Changes, journal == "" && os.Geteuid() != 0) }))
			kept := 0
			for _, c := range all.Changes {
				if c.Result == apply.Kept {
					kept++
				}
			}
			if kept > 0 {
				failed = append(failed, fmt.Errorf("%d of %d changes could not be undone", kept, len(all.Changes)))
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().StringVar(&journal, "journal", "", "the undo journal (default: all of this user's agents on this host)")
	cmd.Flags().BoolVar(&o.List, "list", false, "only list what would be undone")
	cmd.Flags().BoolVar(&o.Force, "force", false, "also undo settings that another program has changed since")
	cmd.Flags().BoolVar(&o.Forget, "forget", false, "remove changes that cannot be undone from the journal, without undoing them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.recover/v1)")
	return cmd
}

// printRecovery lists what was undone. ofUser: only the journals of an ordinary user's
// agents were looked at.
func printRecovery(out io.Writer, changes []apply.Recovered, ofUser bool) error {
	if len(changes) == 0 {
		said := "Nothing to recover: no agent has left a change."
		if ofUser {
			said = "Nothing to recover: no agent of this user has left a change. Those of root: sudo linerate recover."
		}
		_, err := io.WriteString(out, text.Paragraph("", "", said, columns(out)))
		return err
	}
	for _, c := range changes {
		head, what := fmt.Sprintf("%-9s  ", c.Result), fmt.Sprintf("%s %s: %s → %s", c.Kind, c.What, c.New, c.Prior)
		if c.Why != "" {
			what += " (" + c.Why + ")"
		}
		if _, err := io.WriteString(out, text.Paragraph(head, strings.Repeat(" ", len(head)), what, columns(out))); err != nil {
			return err
		}
	}
	return nil
}
