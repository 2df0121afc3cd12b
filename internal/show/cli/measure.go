package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/control/measure"
	"linerate/internal/host/agent"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
	"linerate/internal/show/number"
	"linerate/internal/show/present"
)

// protocols lists those of flows, a line each.
func protocols() string {
	var b strings.Builder
	for _, p := range flow.Protocols {
		fmt.Fprintf(&b, "  %-8s%s\n", p.Name, p.Doc)
	}
	return b.String()
}

func newMeasureCommand(s streams) *cobra.Command {
	var f measureFlags
	cmd := &cobra.Command{
		Use:   "measure ADDRESS[:PORT]...",
		Short: "Measure between this host and one that runs linerate serve",
		Long: `Measure between this host and one that runs linerate serve.

What is measured, by --protocol:
` + protocols() + `
Everything is counted in one window that is common to all flows and both hosts:
goodput is what the receivers read in it. It is compared with the limit, where
the interfaces report their speed, and trust checks are made.

Several addresses, as a list or with ranges such as '192.168.2.{1..4}', are
those of one server; flows take them in turn, and --source likewise. --alias
adds addresses to this host for the time of the measurement.

Options of iperf3, and what they are here:
  iperf3 -c HOST        linerate measure HOST
  -R, --bidir           --direction read, --direction both
  -P 4 -t 30 -O 2       --streams 4 --duration 30s --warmup 2s
  -u -b 100M -l 1000    --protocol udp --rate-cap 100mbit --datagram 1000
  -u -b 0               --protocol udp
  -w, -M, -N, -C        --window, --mss, --nodelay, --congestion-control
  -B, -i, -J            --source, --interval, --json
  -Z, --skip-rx-copy    the default; --copy does what iperf3 does without them

Exit status: 0 measured; 1 linerate failed; 2 bad usage; 3 measured, but a trust
check failed, --expect was not met, or --loss-free found no rate; 130
interrupted.`,
		Example: `  linerate measure 192.0.2.1
  linerate measure nas:5202 --direction both --streams 4 --duration 30s
  linerate measure fd00::1 --expect '>= 900mbit' --json
  linerate measure nas --protocol udp --rate-cap 500mbit --datagram 512
  linerate measure nas --protocol udp --loss-free --duration 60s
  linerate measure '10.0.{1..4}.1' --source '10.0.{1..4}.2' --streams 8
  linerate measure 192.168.2.1-254 --alias 'eth1=192.168.3.1-254/16'
  linerate measure nas --latency --direction both
  linerate measure nas --protocol rr --expect 'latency_p99 <= 500us'
  linerate measure --iperf3 nas --direction both`,
		Args: minimumArgs(1, "expected the address of a host that runs linerate serve; usage: linerate measure ADDRESS[:PORT]..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.measure(cmd.Context(), s, args)
		},
	}
	f.define(cmd.Flags())
	// As wide as a terminal is at least; cobra would leave wrapping to it.
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	return cmd
}

func (f *measureFlags) measure(ctx context.Context, s streams, addresses []string) error {
	o, expected, err := f.options(addresses)
	if err != nil {
		return err
	}
	said := s.err
	if f.quiet {
		said = io.Discard
	}
	for _, why := range tooFew(o, expected) {
		fmt.Fprintf(said, "linerate: with --duration %v, %s\n", o.Duration, why)
	}
	shown := newProgress(s.err, f.quiet)
	o.Progress = func(p measure.Progress) { shown.replace(measureLine(p)) }
	var m *record.Measure
	err = f.aliases.while(ctx, "measure", said, func(ctx context.Context) (err error) {
		m, err = conductHere(ctx, o)
		return err
	})
	shown.end()
	switch {
	case ctx.Err() != nil:
		return statusError{ExitInterrupted, errors.New("interrupted: no measurement was completed")}
	case err != nil:
		return err
	}
	m.Expect = expected.Check(m)
	err = s.answer(f.asJSON, m, asText(present.Measure(m)))
	if err != nil {
		return err
	}
	if err := expect.Unmet(m.Expect); err != nil {
		return statusError{ExitDoubt, err}
	}
	if m.Doubtful() {
		return statusError{ExitDoubt, nil} // the report says why
	}
	return nil
}

// tooFew says which percentiles that are asked for the measurement will not show.
func tooFew(o measure.Options, expected expect.Expectation) []string {
	requests := o.Requests()
	list := expected.TooFew(requests)
	if why := metric.LatencyP99.TooFew(requests); o.Latency && why != "" && !slices.Contains(list, why) {
		list = append(list, why)
	}
	return list
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
	if p.Mode != "" {
		words = append([]string{"mode " + p.Mode}, words...)
	}
	for i, bps := range []float64{p.Write, p.Read} {
		if bps >= 0 {
			words = append(words, []string{flow.Write, flow.Read}[i]+" "+unit.FormatRate(bps))
		}
	}
	if p.RatePerS >= 0 {
		words = append(words, number.PerSecond(p.RatePerS))
	}
	if p.LostShare >= 0 {
		words = append(words, "lost "+unit.FormatPercent(p.LostShare))
	}
	return strings.Join(words, " · ")
}

// options are what the flags say, or everything that is wrong with them.
func (f *measureFlags) options(addresses []string) (measure.Options, expect.Expectation, error) {
	o := f.asked
	o.Modes = []string{""}
	problems := append(mistakes(f.flags), f.wrongOptions()...)
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	problems = append(problems, f.places(&o, addresses)...)
	problems = append(problems, f.iperf3.problems(f, o)...)
	if o.Latency && f.transacts() {
		problem("--latency is for tcp or udp, and --protocol is %s, whose latency is always measured", o.Flows.Protocol)
	}
	if problems = append(problems, f.searching(&o)...); f.lossFree {
		o.LossFree = &f.search
	}
	expected, err := expect.Parse(f.expect, metric.Setup{Protocol: o.Flows.Protocol, Probe: o.Latency, LossFree: f.lossFree})
	if err != nil && f.protocolKnown() {
		problem("--expect: %w", err)
	}
	if o.Flows.Protocol == flow.TCP {
		if o.Modes, err = f.modes(); err != nil {
			problems = append(problems, err)
		}
	}
	if o.Latency && len(o.Modes) > 1 {
		problem("--latency and --mode %s: expected one mode", o.Flows.Mode)
	}
	if len(problems) > 0 {
		return o, expected, usageError(errors.Join(problems...))
	}
	o.Flows.Mode = "" // see modes
	o.Flows = o.Flows.Fitted()
	if o.Iperf3 = f.iperf3.on; o.Iperf3 {
		o.Iperf3Login, err = f.iperf3.login()
		return o, expected, err
	}
	o.Token, err = readToken(f.token)
	return o, expected, err
}
