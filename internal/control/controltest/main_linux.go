package controltest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"linerate/internal/bus"
	"linerate/internal/control/lab"
	"linerate/internal/host/agent"
	"linerate/internal/host/apply"
	"linerate/internal/host/linkemu"
	"linerate/internal/host/transaction"
	"linerate/internal/model/message"
	"linerate/internal/model/topology"
)

// Main runs the tests, or the part of linerate that the arguments of the program name, and
// exits. While tests run, trials are not repeated because a hypervisor took CPU time:
// script/undisturbed judges that.
func Main(m *testing.M) {
	part, args := "", os.Args[1:]
	if len(args) > 0 {
		part, args = args[0], args[1:]
	}
	if part == "lab" && len(args) > 0 {
		part, args = part+" "+args[0], args[1:]
	}
	var err error
	switch part {
	case "lab init":
		os.Exit(lab.Init())
	case "lab emulate":
		err = emulate()
	case "agent":
		err = serveAgent(args)
	case "serve":
		err = serveClients(args)
	case apply.GuardCommand:
		err = apply.RunGuard(os.Stdin, args)
	case transaction.WorkerCommand:
		err = transaction.RunWorker(os.Stdin, os.Stdout)
	default:
		os.Setenv("LINERATE_MAX_RETRY_TIME", "0s")
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", part, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// emulate carries the frames of a lab's links; the descriptors from 3 on are their ends.
func emulate() error {
	var links [][2]topology.Impairment
	if err := json.NewDecoder(os.Stdin).Decode(&links); err != nil {
		return err
	}
	taps := make([]int, 2*len(links))
	for i := range taps {
		taps[i] = 3 + i
	}
	return linkemu.Carry(links, taps, nil)
}

// serveAgent serves this host over standard input and output.
func serveAgent(args []string) error {
	o := agent.Options{Access: message.Client | message.Own | message.Change}
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.Bool("stdio", true, "")
	flags.StringVar(&o.Node, "node", "host", "")
	flags.DurationVar(&o.Lease, "lease", apply.Lease, "")
	flags.StringVar(&o.Journal, "journal", "", "")
	purpose := flags.String("for", "", "")
	ofLab := flags.Bool("of-lab", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch *purpose {
	case "read":
		o.Access = message.Own
	case "measure":
		o.Access = message.Client | message.Own
	}
	var err error
	switch o.Journal {
	case "":
		o.Journal, err = apply.DefaultJournal(o.Node)
	case "memory":
		o.Journal = ""
	}
	if *ofLab && err == nil {
		var membership message.Membership
		membership, err = agent.ReadMembership()
		o.Lab = &membership
	}
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // otherwise it would end before it has reverted its settings
	return agent.Serve(context.Background(), bus.Pipes(os.Stdin, os.Stdout), o)
}
