package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/host/apply"
	"linerate/internal/model/lists"
	"linerate/internal/show/text"
)

// recovery is what `linerate recover --json` prints.
type recovery struct {
	Schema  string            `json:"schema"`
	Changes []apply.Recovered `json:"changes"`
	// Unread lists root's journals, which an ordinary user cannot read.
	Unread []string `json:"unread,omitempty"`

	ofUser bool // only the directories of an ordinary user and of root were searched
	failed bool // journals could not be read, or must not be
}

func newRecoverCommand(s streams) *cobra.Command {
	var journal string
	var asJSON bool
	var o apply.RecoverOptions
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Undo changes that a killed agent has left on this host",
		Long: `Undo changes that a killed agent has left on this host.

An agent reverts its settings when its conductor ends for any reason, and its
guard process if the agent itself is killed. If both are killed, the changes are
still in the undo journal. A value that another program has changed since is
kept, unless --force is given. What a live run has changed is only listed. Each
user recovers what his agents have left; root's needs root. The command may be
repeated.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			journals := []string{journal}
			if journal == "" {
				var err error
				if journals, err = apply.Journals(); err != nil {
					return err
				}
			}
			all := recovery{Schema: "linerate.recover/v1", Changes: []apply.Recovered{}, ofUser: journal == "" &&
				os.Geteuid() != 0}
			var failed []error
			for _, path := range journals {
				o.Journal = path
				changes, err := apply.Recover(o)
				all.Changes = append(all.Changes, changes...)
				if journal == "" && errors.Is(err, fs.ErrPermission) {
					all.Unread = append(all.Unread, path)
				} else if err != nil {
					failed, all.failed = append(failed, err), true
				}
			}
			failed = append(failed, s.answer(asJSON, all, func(w io.Writer) error { return printRecovery(w, all) }))
			kept := lists.Count(all.Changes, func(c apply.Recovered) bool { return c.Result == apply.Kept })
			if kept > 0 {
				failed = append(failed, fmt.Errorf("%d of %d changes could not be undone", kept, len(all.Changes)))
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().StringVar(&journal, "journal", "",
		"the undo journal's `file` (default: all of this user's agents on this host)")
	cmd.Flags().BoolVar(&o.List, "list", false, "only list what would be undone")
	cmd.Flags().BoolVar(&o.Force, "force", false, "also undo settings that another program has changed since")
	cmd.Flags().BoolVar(&o.Forget, "forget", false,
		"remove changes that cannot be undone from the journal, without undoing them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.recover/v1)")
	return cmd
}

// printRecovery lists what was undone, and what was not examined.
func printRecovery(out io.Writer, all recovery) error {
	if len(all.Changes) == 0 && !all.failed {
		said := "Nothing to recover: no agent has left a change."
		switch {
		case len(all.Unread) > 0:
			said = "Nothing to recover: no agent of this user has left a change."
		case all.ofUser:
			said = "Nothing to recover: no agent of this user has left a change. Those of root: sudo linerate recover."
		}
		if _, err := io.WriteString(out, text.Paragraph("", "", said, columns(out))); err != nil {
			return err
		}
	}
	for _, c := range all.Changes {
		head, what := fmt.Sprintf("%-9s  ", c.Result), fmt.Sprintf("%s %s: %s → %s", c.Kind, c.What, c.New, c.Prior)
		if c.Result == apply.Kept && c.Now != "" && c.Now != c.New {
			what += ", is " + c.Now
		}
		if c.Why != "" {
			what += " (" + c.Why + ")"
		}
		if _, err := io.WriteString(out, text.Paragraph(head, strings.Repeat(" ", len(head)), what,
			columns(out))); err != nil {
			return err
		}
	}
	if len(all.Unread) == 0 {
		return nil
	}
	_, err := io.WriteString(out,
		text.Paragraph("", "", fmt.Sprintf(
			"Only root can read %s, of agents that live or were killed: sudo linerate recover",
			strings.Join(all.Unread, ", ")), columns(out)))
	return err
}
