package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/control/measure"
	"linerate/internal/host/agent"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/report"
)

type measureFlags struct {
	duration, warmup, interval unit.Duration
	flows                      study.Options
	noDelay                    bool
	source, token, expect      string
	asJSON, quiet              bool
}

func newMeasureCommand(s streams) *cobra.Command {
	var f measureFlags
	cmd := &cobra.Command{
		Use:   "measure ADDRESS[:PORT]",
		Short: "Measure between this host and one that runs linerate serve",
		Long: `Measure between this host and one that runs linerate serve, over TCP.

Goodput is what the receivers read in one window that is common to all flows and
both hosts; it is held against the limit, where the ports tell their speed, and
against the trust checks.

Exit status: 0 measured; 1 linerate failed; 2 bad usage; 3 measured, but a trust
check failed or --expect was not met; 130 interrupted.`,
		Example: `  linerate measure 192.0.2.1
  linerate measure nas:5202 --direction both --streams 4 --duration 30s
  linerate measure fd00::1 --expect '>= 900mbit' --json`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("nodelay") {
				f.flows.NoDelay = &f.noDelay
			}
			return f.measure(cmd.Context(), s, args[0])
		},
	}
	flags := cmd.Flags()
	quantityVar(flags, &f.duration, unit.ParseDuration, "duration", "duration", "10s", "length of the window that is measured")
	quantityVar(flags, &f.warmup, unit.ParseDuration, "warmup", "duration", "1s", "traffic before it, which is not counted")
	quantityVar(flags, &f.interval, unit.ParseDuration, "interval", "duration", "1s", "length of the intervals that are told")
	flags.IntVar(&f.flows.Streams, "streams", 1, "connections in each direction")
	flags.StringVar(&f.flows.Direction, "direction", study.Write, "write: this host sends; read: the server sends; both")
	flags.IntVar(&f.flows.MSS, "mss", 0, "TCP maximum segment size in bytes (default: as the MTU allows)")
	flags.BoolVar(&f.noDelay, "nodelay", false, "set TCP_NODELAY")
	flags.StringVar(&f.flows.CongestionControl, "congestion-control", "", "TCP congestion control, such as cubic or bbr (default: each sender's own)")
	quantityVar(flags, &f.flows.Window, unit.ParseBytes, "window", "size", "", "socket buffers at both ends, such as 256KiB (default: the kernel's autotuning)")
	quantityVar(flags, &f.flows.RateCap, unit.ParseBitRate, "rate-cap", "rate", "", "pacing of each connection, such as 100mbit")
	flags.StringVar(&f.source, "source", "", "local address to connect from")
	flags.StringVar(&f.token, "token", "", tokenUsage)
	flags.StringVar(&f.expect, "expect", "", "goodput that each direction has to have, such as '>= 900mbit'")
	flags.BoolVar(&f.asJSON, "json", false, "print the result document (linerate.measure/v1)")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
	return cmd
}

// options are what the flags say, or everything that is wrong with them.
func (f measureFlags) options(address string) (measure.Options, gate, error) {
	o := measure.Options{
		Address: address, Flows: f.flows,
		Duration: time.Duration(f.duration), Warmup: time.Duration(f.warmup), Interval: time.Duration(f.interval),
	}
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.Duration < 10*time.Millisecond {
		problem("--duration %v: expected at least 10ms", f.duration)
	}
	if o.Interval < 100*time.Millisecond {
		problem("--interval %v: expected at least 100ms", f.interval)
	}
	if f.flows.Streams < 1 {
		problem("--streams %d: expected a positive number", f.flows.Streams)
	}
	if !slices.Contains([]string{study.Write, study.Read, study.Both}, f.flows.Direction) {
		problem("--direction %q: expected write, read or both", f.flows.Direction)
	}
	if f.flows.MSS != 0 && (f.flows.MSS < 88 || f.flows.MSS > 32767) {
		problem("--mss %d: Linux takes 88 to 32767", f.flows.MSS)
	}
	if f.source != "" {
		var err error
		if o.Source, err = netip.ParseAddr(f.source); err != nil {
			problem("--source %q: expected an address of this host", f.source)
		}
	}
	expected, err := parseGate(f.expect)
	if err != nil {
		problem("--expect: %w", err)
	}
	if len(problems) > 0 {
		return o, expected, usageError(errors.Join(problems...))
	}
	o.Token, err = readToken(f.token)
	return o, expected, err
}

func (f measureFlags) measure(ctx context.Context, s streams, address string) error {
	o, expected, err := f.options(address)
	if err != nil {
		return err
	}
	shown := newProgress(s.err, f.quiet)
	o.Progress = func(p measure.Progress) { shown.replace(measureLine(p)) }
	m, err := conductHere(ctx, o)
	shown.end()
	switch {
	case ctx.Err() != nil:
		return statusError{ExitInterrupted, errors.New("interrupted: nothing was measured to its end")}
	case err != nil:
		return err
	}
	m.Expect = expected.hold(m)
	if f.asJSON {
		err = json.NewEncoder(s.out).Encode(m)
	} else {
		err = report.Measure(s.out, m, textOptions(s.out, ""))
	}
	if err != nil {
		return err
	}
	if m.Expect != nil && !m.Expect.Met {
		return statusError{ExitDoubt, fmt.Errorf("expected goodput %s, got %s", m.Expect.Gate, goodputs(m))}
	}
	if slices.ContainsFunc(m.Trust, func(c record.Check) bool { return !c.Pass }) {
		return statusError{ExitDoubt, nil}
	}
	return nil
}

// conductHere measures with an agent for this host in this process.
func conductHere(ctx context.Context, o measure.Options) (*record.Measure, error) {
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := agent.Serve(ctx, far, agent.Options{Node: record.NodeClient, TrafficOnly: true})
		far.Close()
		ended <- err
	}()
	m, err := measure.Conduct(ctx, near, o)
	near.Close()
	cancel()
	if own := <-ended; own != nil && err != nil && ctx.Err() == nil {
		err = errors.Join(own, err)
	}
	return m, err
}

func measureLine(p measure.Progress) string {
	words := []string{p.Phase, fmt.Sprintf("%.0f s left", max(0, p.LeftS))}
	for _, way := range []struct {
		name string
		bps  float64
	}{{study.Write, p.Write}, {study.Read, p.Read}} {
		if way.bps >= 0 {
			words = append(words, way.name+" "+limits.Rate(way.bps))
		}
	}
	return strings.Join(words, " · ")
}

func goodputs(m *record.Measure) string {
	var words []string
	for _, d := range m.Directions {
		words = append(words, d.Direction+" "+limits.Rate(d.GoodputBps))
	}
	return strings.Join(words, ", ")
}
