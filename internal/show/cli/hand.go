package cli

import (
	"github.com/spf13/cobra"

	"linerate/internal/host/transaction"
)

// newHandCommand is for linerate itself, which starts it where a flow has more
// connections than one process may hold.
func newHandCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    transaction.Verb,
		Short:  "Hold a part of a flow's connections (linerate starts this by itself)",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(*cobra.Command, []string) error { return transaction.Hand(s.in, s.out) },
	}
}
