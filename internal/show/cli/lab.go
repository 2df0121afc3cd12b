package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"linerate/internal/bus/hub"
	"linerate/internal/control/lab"
	"linerate/internal/host/linkemu"
	"linerate/internal/kernel/file"
	"linerate/internal/model/lists"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/show/document"
)

func newLabCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Make only a topology, to work in by hand",
		Args:  knownVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabUpCommand(s), newLabExecCommand(s), newLabShellCommand(s), newLabInitCommand(),
		newLabEmulateCommand())
	return cmd
}

// newLabInitCommand returns the lab's init process, which linerate itself starts.
func newLabInitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if status := lab.Init(); status != 0 {
				return statusError{status, nil}
			}
			return nil
		},
	}
}

// firstTap is the first file descriptor that `lab emulate` inherits.
const firstTap = 3

// newLabEmulateCommand returns the lab's link emulator, which linerate itself starts.
func newLabEmulateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "emulate", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var links [][2]topology.Impairment
			if err := json.NewDecoder(cmd.InOrStdin()).Decode(&links); err != nil {
				return fmt.Errorf("reading the links to emulate: %w", err)
			}
			taps := make([]int, 2*len(links))
			for i := range taps {
				taps[i] = firstTap + i
			}
			return linkemu.Carry(links, taps, cmd.Context().Done())
		},
	}
}

// labTimes is what `lab up --until ready --json` prints.
type labTimes struct {
	Schema string  `json:"schema"`
	Hosts  int     `json:"hosts"`
	Links  int     `json:"links"`
	UpS    float64 `json:"up_s"`
	DownS  float64 `json:"down_s"`
}

func newLabUpCommand(s streams) *cobra.Command {
	var o lab.Options
	var until string
	var asJSON, trust bool
	cmd := &cobra.Command{
		Use:   "up FILE|STUDY",
		Short: "Make the topology of a file, and keep it until Ctrl-C",
		Args:  exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			t, err := loadTopology(s.input(cmd.Context()), args[0])
			if err != nil {
				return err
			}
			if err := s.permit(cmd.Context(), args[0], trust, t.Commands()); err != nil {
				return err
			}
			if until == "ready" {
				o.Name = ""
			}
			return labUp(cmd.Context(), s, t, o, until == "ready", asJSON)
		},
	}
	cmd.Flags().StringVar(&o.Name, "lab", lab.DefaultName, "the lab's `name`, for lab exec and lab shell")
	cmd.Flags().BoolVar(&trust, "trust", false, trustUsage)
	defineInstall(cmd.Flags(), &o.Install)
	cmd.Flags().BoolVar(&o.AllowMachine, "allow-machine-settings", false,
		"permit settings that change more than one network namespace")
	valueVar(cmd.Flags(), &until, oneOf("ready"), "until", "string", "",
		"ready: take the lab down again once all agents are ready, and print how long both took")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --until ready: print the times as JSON (linerate.lab-times/v1)")
	return cmd
}

func labUp(ctx context.Context, s streams, t *topology.Topology, o lab.Options, untilReady, asJSON bool) (err error) {
	began := time.Now()
	b, err := hub.Start()
	if err != nil {
		return err
	}
	defer b.Close()
	l, err := lab.Up(ctx, t, b, o)
	if err != nil {
		return err
	}
	up := time.Since(began)
	if untilReady {
		began = time.Now()
		if err := l.Down(); err != nil {
			return err
		}
		times := labTimes{"linerate.lab-times/v1", len(t.Hosts), len(t.Links), up.Seconds(),
			time.Since(began).Seconds()}
		return s.answer(asJSON, times, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%d hosts, %d links: up in %.2f s, down in %.2f s\n", times.Hosts, times.Links,
				times.UpS, times.DownS)
			return err
		})
	}
	defer func() { err = errors.Join(err, l.Down()) }()
	if err := asText(describeLab(t))(s.out); err != nil {
		return err
	}
	flag := ""
	if o.Name != lab.DefaultName {
		flag = " --lab " + o.Name
	}
	switch r := l.Routing(); {
	case r == nil:
	case r.Daemon == "":
		say(s.hints(), "\nRoutes are made as %s would bring them: %s\n", strings.ToUpper(r.Protocol), r.Note)
	default:
		say(s.hints(), "\nRoutes by %s, %s: all there after %.2f s\n", strings.ToUpper(r.Protocol), r.Daemon,
			r.ConvergedS)
	}
	for _, o := range l.Services() {
		say(s.hints(), "Service %s of %s, port %d: %s\n", o.Name, o.Host, o.Port, o.Version)
	}
	s.labReady(l.Mode(), up, t.Hosts[0].Name, flag)
	for _, node := range l.Nodes() {
		go func() {
			<-b.Lost(node)
			if ctx.Err() == nil { // the lab failed and is not just being taken down
				say(s.err, "linerate: the agent of %s has ended\n", node)
			}
		}()
	}
	<-ctx.Done()
	return nil
}

// labReady prints how to use a lab that is up.
func (s streams) labReady(mode string, took time.Duration, host, flag string) {
	say(s.hints(),
		"\nThe lab is up (%s, %.2f s). Use it from another terminal:\n  linerate lab exec%s %s -- ip address\n  "+
			"linerate lab shell%s %s\nCtrl-C takes it down; nothing is left then.\n",
		mode, took.Seconds(), flag, host, flag, host)
}

func describeLab(t *topology.Topology) document.Document {
	table := &document.Table{Columns: []document.Column{{Head: "host"}, {Head: "interface"},
		{Head: "MAC address", From: 100}, {Head: "link"}, {Head: "rate"}, {Head: "addresses", Wrap: true}}}
	for _, h := range t.Hosts {
		for i, p := range h.Interfaces {
			name := h.Name
			if i > 0 {
				name = ""
			}
			end := topology.End{Node: h.Name, Interface: p.Name}
			link, rate := "", ""
			if l, ok := t.LinkAt(end); ok {
				link = l.Other(end).String()
				if shape := l.Towards(end); shape.Rate > 0 {
					rate = shape.Rate.String()
				}
			}
			table.Add(name, p.Name, fmt.Sprint(t.MAC(end)), link, rate, someAddresses(p.Addresses))
		}
	}
	return document.Document{Summary: [][]document.Block{document.Tables(table)}}
}

// someAddresses lists an interface's addresses; of many, only the first ones.
func someAddresses(all []topology.Address) string {
	words := lists.Map(all, topology.Address.String)
	return strings.Join(source.Some(words, 3), " ")
}

func newLabExecCommand(s streams) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "exec HOST -- COMMAND [ARGUMENT…]",
		Short: "Run a command in a host of a lab that is up",
		RunE: func(cmd *cobra.Command, args []string) error {
			// Flags before the host belong to this command, those after it to the command that is
			// run.
			if len(args) > 1 && strings.HasPrefix(args[1], "-") {
				if err := cmd.Flags().Parse(args[1:]); err != nil {
					return usageError(err)
				}
				args = append(args[:1], cmd.Flags().Args()...)
			}
			if len(args) < 2 {
				return usageError(errors.New("expected a host and a command: linerate lab exec HOST -- COMMAND"))
			}
			return execInLab(s, name, args[0], args[1:])
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&name, "lab", lab.DefaultName, "the lab's `name`")
	return cmd
}

func newLabShellCommand(s streams) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "shell HOST",
		Short: "Open a shell in a host of a lab that is up",
		Args:  exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			shell := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
			return execInLab(s, name, args[0], []string{shell})
		},
	}
	cmd.Flags().StringVar(&name, "lab", lab.DefaultName, "the lab's `name`")
	return cmd
}

// execInLab runs a command in the lab with this process's own streams. Instead of a terminal it
// gets a pseudo-terminal, so that job control and full-screen programs work.
func execInLab(s streams, name, host string, argv []string) error {
	var files [3]*os.File
	var isFile [3]bool
	files[0], isFile[0] = s.in.(*os.File)
	files[1], isFile[1] = fileOf(s.out)
	files[2], isFile[2] = fileOf(s.err)
	if isFile != [3]bool{true, true, true} {
		return errors.New("lab exec needs files as its standard streams")
	}
	terminal := term.IsTerminal(int(files[0].Fd())) && term.IsTerminal(int(files[1].Fd()))
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // it is ignored, for example, by nohup(1)
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	var status int
	var err error
	if terminal {
		status, err = execWithTerminal(name, host, argv, files, signals)
	} else {
		status, err = lab.Exec(name, host, argv, files, false, signals)
	}
	if err != nil || status != 0 {
		return statusError{status, err}
	}
	return nil
}

func execWithTerminal(name, host string, argv []string, files [3]*os.File, signals <-chan os.Signal) (int, error) {
	controller, inner, err := file.OpenPTY()
	if err != nil {
		return ExitFailed, err
	}
	defer controller.Close()
	_ = file.CopyWindowSize(files[0], controller)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	go func() {
		for range resized {
			_ = file.CopyWindowSize(files[0], controller)
		}
	}()
	before, err := term.MakeRaw(int(files[0].Fd()))
	if err != nil {
		return ExitFailed, err
	}
	defer func() { _ = term.Restore(int(files[0].Fd()), before) }()
	go func() { _, _ = io.Copy(controller, files[0]) }()
	shown := make(chan struct{})
	go func() {
		_, _ = io.Copy(files[1], controller) // ends with EIO when the command has ended
		close(shown)
	}()
	status, err := lab.Exec(name, host, argv, [3]*os.File{inner, inner, inner}, true, signals)
	inner.Close()
	<-shown
	return status, err
}
