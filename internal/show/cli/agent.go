package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/bus"
	"linerate/internal/host/agent"
	"linerate/internal/host/apply"
	"linerate/internal/model/message"
)

// inMemory selects a journal that exists only as long as the agent.
const inMemory = "memory"

func newAgentCommand(s streams) *cobra.Command {
	var stdio bool
	var metrics metricsFlag
	var o agent.Options
	var ofLab bool
	purpose := message.ForChange
	cmd := &cobra.Command{
		Use:   "agent {--stdio | --metrics ADDRESS}",
		Short: "Serve this host to a conductor over standard input and output, or to Prometheus",
		Long: `Serve this host to a conductor over standard input and output, or to Prometheus.

A run starts this by itself on every host, behind the host's "via". Every
setting that the agent changes is written to a journal first and reverted when
the stream ends, or when nothing has arrived on it for the lease. A guard
process reverts what an agent left that was killed or stopped.

With --metrics, Prometheus reads the host by HTTP: counters by their meaning, the
limits of the interfaces, and the findings of doctor. Without --stdio that is all,
until Ctrl-C or SIGTERM, without privileges.`,
		Example: `  linerate agent --stdio --node nas
  linerate agent --metrics 5299`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			if !stdio && metrics.address == "" {
				return usageError(errors.New(
					"an agent is reached over its standard input and output, or by Prometheus: expected --stdio or " +
						"--metrics"))
			}
			if !stdio {
				log := newLogWriter(s.err)
				defer log.close()
				return metrics.while(cmd.Context(), log, nil)
			}
			if o.Lease < time.Second {
				return usageError(fmt.Errorf("--lease %v: expected at least 1s", o.Lease))
			}
			o.Access = purpose.Access()
			if o.Journal == inMemory {
				o.Journal = ""
			} else if err := o.RealHost(); err != nil {
				return err
			}
			if ofLab {
				lab, err := agent.ReadMembership()
				if err != nil {
					return err
				}
				o.Lab = &lab
			}
			// The agent writes messages to its standard output. If the conductor is gone, SIGPIPE
			// would end the agent before it has reverted its changes.
			signal.Ignore(syscall.SIGPIPE)
			ctx, stop := untilHangup(cmd.Context())
			defer stop()
			return metrics.while(ctx, io.Discard, func(ctx context.Context) error {
				return agent.Serve(ctx, bus.Pipes(os.Stdin, os.Stdout), o)
			})
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "speak over standard input and output")
	metrics.define(cmd.Flags())
	cmd.Flags().StringVar(&o.Node, "node", "host", "this host's `name` in the topology")
	cmd.Flags().DurationVar(&o.Lease, "lease", apply.Lease,
		"revert settings when the conductor has been silent for so long")
	cmd.Flags().StringVar(&o.Journal, "journal", "",
		"`file` for undo entries; \"memory\" keeps none (default: the host's own)")
	valueVar(cmd.Flags(), &purpose, oneOf(message.ForRead, message.ForMeasure), "for", "purpose", "",
		"read: the host's state alone; measure: traffic, too. Nothing is changed, and no journal is opened")
	cmd.Flags().BoolVar(&ofLab, "of-lab", false,
		"descriptor 3 has the host's membership of a lab, from the lab's init process (linerate passes this by itself)")
	_ = cmd.Flags().MarkHidden("of-lab") // fails only for a flag that does not exist
	return cmd
}

// newGuardCommand returns a command that linerate itself starts beside an agent that changes
// settings.
func newGuardCommand(streams) *cobra.Command {
	return &cobra.Command{
		Use:    apply.GuardCommand + " JOURNAL LEASE PROCESS",
		Short:  "Revert an agent's settings when it has ended without that (linerate starts this by itself)",
		Hidden: true,
		RunE:   func(_ *cobra.Command, args []string) error { return apply.RunGuard(os.Stdin, args) },
	}
}
