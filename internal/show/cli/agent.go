package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/bus"
	"linerate/internal/host/agent"
	"linerate/internal/host/apply"
)

// inMemory is the journal of a host that ends with its agent.
const inMemory = "memory"

func newAgentCommand() *cobra.Command {
	var stdio bool
	var o agent.Options
	cmd := &cobra.Command{
		Use:   "agent --stdio",
		Short: "Serve this host to a conductor over standard input and output",
		Long: `Serve this host to a conductor over standard input and output.

A run starts this by itself on every host, behind the host's "via". Every
setting that the agent changes is written to a journal first and reverted when
the stream ends, or when nothing has arrived on it for the lease. A guard
process reverts what an agent left that was killed or stopped.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stdio {
				return usageError(errors.New("an agent is reached over its standard input and output: say --stdio"))
			}
			if o.Lease < time.Second {
				return usageError(fmt.Errorf("--lease %v: expected at least 1s", o.Lease))
			}
			switch o.Journal {
			case "":
				var err error
				if o.Journal, err = apply.DefaultJournal(o.Node); err != nil {
					return err
				}
			case inMemory:
				o.Journal = ""
			}
			// The agent's words go to its standard output. Were the conductor gone
			// while it speaks, SIGPIPE would end it before it has reverted anything.
			signal.Ignore(syscall.SIGPIPE)
			// A closed terminal is a conductor's end like any other.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
			defer stop()
			return agent.Serve(ctx, bus.Pipes(os.Stdin, os.Stdout), o)
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "speak over standard input and output")
	cmd.Flags().StringVar(&o.Node, "node", "host", "this host's `name` in the topology")
	cmd.Flags().DurationVar(&o.Lease, "lease", apply.Lease, "revert settings when the conductor has been silent for so long")
	cmd.Flags().StringVar(&o.Journal, "journal", "", "`file` for undo entries; \"memory\" keeps none (default: the host's own)")
	return cmd
}

// newGuardCommand is run by linerate itself, beside an agent that changes settings.
func newGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    apply.GuardCommand + " JOURNAL LEASE PROCESS",
		Short:  "Revert an agent's settings when it has ended without that (linerate starts this by itself)",
		Hidden: true,
		RunE:   func(_ *cobra.Command, args []string) error { return apply.RunGuard(os.Stdin, args) },
	}
}
