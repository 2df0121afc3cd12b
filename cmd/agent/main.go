// Command agent is the agent of linerate alone, with the same words: the agent, its worker processes and its guard.
// The hosts of a lab execute it, and, with the build tag carried, real hosts that do not have linerate. What only other
// commands need, such as the server of the bus, the notebook and the readers of files, is not linked: Go initialises
// every package of a program before main, and a lab has many agents (decision record 0057). make build attaches both to
// linerate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"linerate/internal/bus"
	"linerate/internal/host/agent"
	"linerate/internal/host/apply"
	"linerate/internal/host/transaction"
	"linerate/internal/model/message"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "linerate: %q\n", err.Error())
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == transaction.WorkerCommand:
		return transaction.RunWorker(os.Stdin, os.Stdout)
	case len(args) > 0 && args[0] == apply.GuardCommand:
		return apply.RunGuard(os.Stdin, args[1:])
	case len(args) > 0 && args[0] == "agent":
		return serve(args[1:])
	}
	return fmt.Errorf("the program of an agent has no command %q", args)
}

// serve answers requests until the stream ends.
func serve(args []string) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	node, journal := flags.String("node", "", ""), flags.String("journal", "", "")
	purpose := flags.String("for", "", "")
	stdio, ofLab := flags.Bool("stdio", false, ""), flags.Bool("of-lab", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*stdio || *ofLab != (*journal == "memory") || *node == "" || flags.NArg() > 0 {
		return errors.New("agent: expected --stdio --node NAME [--for PURPOSE | --journal memory --of-lab]")
	}
	o := agent.Options{Node: *node, Access: message.Purpose(*purpose).Access(), Lease: apply.Lease}
	ctx := context.Background()
	if *ofLab {
		// The host ends with its agent: a signal has nothing to revert.
		lab, err := agent.ReadMembership()
		if err != nil {
			return err
		}
		o.Lab = &lab
	} else {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP, os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := o.RealHost(); err != nil {
			return err
		}
	}
	signal.Ignore(syscall.SIGPIPE) // of standard output: reading notices the end of the stream
	return agent.Serve(ctx, bus.Pipes(os.Stdin, os.Stdout), o)
}
