package cli

import (
	"github.com/spf13/cobra"

	"linerate/internal/host/transaction"
)

// newTransactionWorkerCommand returns a command that linerate itself starts as a worker process,
// for a flow with more connections than one process can hold.
func newTransactionWorkerCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    transaction.WorkerCommand,
		Short:  "Hold a part of a flow's connections (linerate starts this by itself)",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(*cobra.Command, []string) error { return transaction.RunWorker(s.in, s.out) },
	}
}
