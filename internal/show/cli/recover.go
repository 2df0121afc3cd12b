package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/host/apply"
)

// recovery is what `linerate recover --json` prints.
type recovery struct {
	Schema  string            `json:"schema"`
	Changes []apply.Recovered `json:"changes"`
}

func newRecoverCommand(s streams) *cobra.Command {
	var journal string
	var list, asJSON bool
	var o apply.RecoverOptions
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Undo what an agent that was killed has left changed on this host",
		Long: `Undo what an agent that was killed has left changed on this host.

An agent undoes its settings itself, whatever becomes of its conductor. Only one
that was killed with SIGKILL cannot; its undo journal then still holds them. A
value that another program has changed since is kept, unless --force is given. It
does no harm to repeat this.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			journals := []string{journal}
			if journal == "" {
				var err error
				if journals, err = apply.Journals(); err != nil {
					return err
				}
			}
			o.List = list
			all := recovery{Schema: "linerate.recover/v1", Changes: []apply.Recovered{}}
			var failed []error
			for _, path := range journals {
				o.Journal = path
				changes, err := apply.Recover(o)
				all.Changes = append(all.Changes, changes...)
				failed = append(failed, err)
			}
			if asJSON {
				failed = append(failed, json.NewEncoder(s.out).Encode(all))
			} else {
				printRecovery(s.out, all.Changes)
			}
			if kept := withResult(all.Changes, apply.Kept); kept > 0 {
				failed = append(failed, fmt.Errorf("%d of %d changes could not be undone", kept, len(all.Changes)))
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().StringVar(&journal, "journal", "", "the undo journal (default: all of this user's agents on this host)")
	cmd.Flags().BoolVar(&list, "list", false, "only say what would be undone")
	cmd.Flags().BoolVar(&o.Force, "force", false, "also undo what another program has changed since")
	cmd.Flags().BoolVar(&o.Forget, "forget", false, "drop what cannot be undone from the journal, leaving it as it is")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (linerate.recover/v1)")
	return cmd
}

func withResult(changes []apply.Recovered, result string) int {
	n := 0
	for _, c := range changes {
		if c.Result == result {
			n++
		}
	}
	return n
}

func printRecovery(out io.Writer, changes []apply.Recovered) {
	if len(changes) == 0 {
		fmt.Fprintln(out, "Nothing to recover: no agent has left anything changed.")
		return
	}
	for _, c := range changes {
		fmt.Fprintf(out, "%-9s  %s %s: %s → %s", c.Result, c.Kind, c.What, c.New, c.Prior)
		if c.Why != "" {
			fmt.Fprintf(out, " (%s)", c.Why)
		}
		fmt.Fprintln(out)
	}
}
