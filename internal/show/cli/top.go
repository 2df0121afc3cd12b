package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"linerate/internal/control/reach"
	"linerate/internal/model/record"
	"linerate/internal/show/top"
	"linerate/internal/show/wording"
)

type topFlags struct {
	hostFlags
	lab            string
	interval       time.Duration
	sort, replay   string
	once, asJSON   bool
	intervalWasSet bool
}

// leastInterval and mostInterval bound the time between samples.
const leastInterval, mostInterval = 100 * time.Millisecond, time.Hour

func newTopCommand(s streams) *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show what interfaces, CPUs, queues and TCP connections do, each second",
		Long: `Show on the terminal what a host does, each second: interfaces with bit/s,
packets/s, their share of the link's speed or of a shaper's rate, drops and errors;
CPUs by kind of time, with packets; queues; TCP connections with rate, RTT,
retransmissions and what limits them; and what the rules of linerate doctor find.
Nothing on the host is changed, and nothing is sent.

Without --host, --via and --lab it is this host. On others linerate's agent is
started by ssh or by another command; several are shown side by side, one of them
in full. A host that is not reached is named, and the others are shown.

Counters and connections are read for each sample; interfaces' settings, parameters
and the counters that drivers have of queues every 30 s.`,
		Example: `  linerate top
  linerate top --host root@nas --host root@client
  linerate top --once
  linerate top --json > nas.jsonl
  linerate top --replay nas.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.intervalWasSet = cmd.Flags().Changed("interval")
			if err := errors.Join(append(mistakes(cmd.Flags()), f.check(s)...)...); err != nil {
				return usageError(err)
			}
			return f.run(cmd.Context(), s)
		},
	}
	flags := cmd.Flags()
	f.hostFlags.define(flags, "show")
	defineInstall(flags, &f.install)
	flags.StringVar(&f.lab, "lab", "", "show all hosts of a lab that is up, by its `name`")
	durationVar(flags, &f.interval, leastInterval, "interval", "1s",
		"time between samples; with --replay: as recorded, if absent")
	valueVar(flags, &f.sort, oneOf(top.OrderNames()...), "sort", "order", top.OrderNames()[0],
		"order of rows: rate, packets, loss, name")
	flags.BoolVar(&f.once, "once", false, "print one sample of each host as text; with --replay the last")
	flags.StringVar(&f.replay, "replay", "", "show again what --json has written to a `file` (\"-\": standard input)")
	flags.BoolVar(&f.asJSON, "json", false, "print a line of JSON for each sample (linerate.top/v1)")
	cmd.Annotations = map[string]string{
		details: `Keys: 1 to 6 and Tab views, s sort, space pause, ← → the samples before and after,
n the next host, ? help, q quit.`}
	return cmd
}

func (f topFlags) check(s streams) (list []error) {
	if f.interval > mostInterval {
		list = append(list, fmt.Errorf("--interval %s: expected at most %s", f.interval, mostInterval))
	}
	if f.replay != "" && f.named()+len(f.lab) > 0 {
		list = append(list, errors.New("--replay shows a recording, and no --host, --via or --lab"))
	}
	if _, terminal := terminalWidth(s.out); !terminal && !f.once && !f.asJSON {
		list = append(list, errors.New(
			"standard output is no terminal: linerate top --once prints one sample as text, linerate top --json a "+
				"line for each"))
	}
	return list
}

func (f topFlags) run(ctx context.Context, s streams) error {
	ctx, cancel := context.WithCancel(ctx)
	sources, closeAll, err := f.sources(ctx, s)
	if err != nil {
		cancel()
		return err
	}
	defer closeAll()
	defer cancel()
	switch {
	case f.asJSON:
		return f.print(ctx, s, sources)
	case f.once:
		return f.printOnce(ctx, s, sources)
	}
	var in io.Reader
	if file, is := s.in.(*os.File); is && term.IsTerminal(int(file.Fd())) {
		in = file
	}
	m := f.model(s)
	for _, source := range sources {
		if name := source.Name(); name != "" && f.replay == "" {
			m.Hosts = append(m.Hosts, top.Host{Name: name})
		}
	}
	return top.Run(ctx, m, in, unfiltered(s.out), sources)
}

// sources returns the sources of samples, and a function that closes them after ctx has ended.
func (f topFlags) sources(ctx context.Context, s streams) (list []top.Source, closeAll func(), err error) {
	if f.replay != "" {
		r, err := openRecording(s.input(ctx), f.replay, f.pace())
		if err != nil {
			return nil, nil, usageError(err)
		}
		return []top.Source{r}, r.close, nil
	}
	hosts, err := f.remotes(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if f.lab != "" {
		inLab, err := hostsOfLab(f.lab)
		if err != nil {
			return nil, nil, usageError(err)
		}
		hosts = append(hosts, inLab...)
	}
	if len(hosts) == 0 {
		hosts = []reach.Host{{Here: true}}
	}
	names := &namer{taken: map[string]bool{}}
	var remotes []*sampled
	for _, h := range hosts {
		r := &sampled{host: h, interval: f.interval, names: names}
		list, remotes = append(list, r), append(remotes, r)
	}
	return list, func() {
		for _, r := range remotes {
			r.end()
		}
	}, nil
}

// pace returns the time between samples of a recording; 0: as they were taken; below 0: no pause.
func (f topFlags) pace() time.Duration {
	switch {
	case f.once || f.asJSON:
		return -1
	case f.intervalWasSet:
		return f.interval
	}
	return 0
}

func (f topFlags) model(s streams) top.Model {
	return top.Model{Color: textOptions(s.out, "").Color, Zone: time.Local,
		Order: slices.Index(top.OrderNames(), f.sort)}
}

// print writes a line for each sample; with --once, one for each host.
func (f topFlags) print(ctx context.Context, s streams, sources []top.Source) error {
	lines := json.NewEncoder(s.out)
	return collect(ctx, s, sources, f.once && f.replay == "", func(sample record.HostSample) error {
		return lines.Encode(wording.Sample(sample))
	})
}

func (f topFlags) printOnce(ctx context.Context, s streams, sources []top.Source) error {
	m := f.model(s)
	err := collect(ctx, s, sources, f.replay == "", func(sample record.HostSample) error {
		m = m.Add(sample)
		return nil
	})
	if coded, lost := errors.AsType[statusError](err); err != nil && !(lost && coded.cause == nil) {
		return err
	}
	for i := range m.Hosts {
		one := m
		if one.Shown = i; i > 0 {
			if _, err := fmt.Fprintln(s.out); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(s.out, top.Screen(one, columns(s.out), 0)); err != nil {
			return err
		}
	}
	return err
}

// collect passes the samples of all sources to use, one at a time: one sample of each source, or
// all until ctx ends, which is not an error. If a source fails, it prints the error, and the others
// go on.
func collect(ctx context.Context, s streams, sources []top.Source, one bool, use func(record.HostSample) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	failed := false
	var all sync.WaitGroup
	for _, source := range sources {
		all.Go(func() {
			for {
				sample, err := source.Next(within)
				if errors.Is(err, io.EOF) || within.Err() != nil {
					return
				}
				mu.Lock()
				if err != nil {
					failed = true
					say(s.err, "linerate: %v\n", withAdvice(err))
				} else if own := use(sample); own != nil {
					cancel(own)
				}
				mu.Unlock()
				if one || err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	if cause := context.Cause(within); cause != nil && ctx.Err() == nil {
		return cause
	}
	if one && ctx.Err() != nil {
		return ctx.Err()
	}
	if failed {
		return statusError{ExitFailed, nil}
	}
	return nil
}
