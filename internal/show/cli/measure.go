package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/control/measure"
	"linerate/internal/host/agent"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/present"
)

// protocols lists the protocols of flows, one per line.
func protocols() string {
	var b strings.Builder
	for _, p := range flow.Protocols {
		fmt.Fprintf(&b, "  %-6s  %s\n", p.Name, p.Doc)
	}
	return b.String()
}

// Flags of flow options that --help prints in other sections.
const (
	commonOptions  = "protocol direction streams rate-cap datagram"
	addressOptions = "bind-no-port"
)

// optionSections returns the --help sections of the flow options, except those printed elsewhere,
// grouped by the protocols that have them.
func optionSections(elsewhere string) string {
	sections := []string{"TCP, UDP and sockets: tos copy", "Requests and responses:", "Protocols of applications:"}
	for _, o := range flow.Options {
		if o.Type == "" || slices.Contains(strings.Fields(elsewhere), o.Flag()) {
			continue
		}
		of := 0
		switch has := func(p string) bool { return slices.Contains(o.Protocols, p) }; {
		case o.Protocols == nil || has(flow.TCP):
		case has(flow.RR):
			of = 1
		case flow.Of(o.Protocols[0]).Application:
			of = 2
		}
		sections[of] += " " + o.Flag()
	}
	return strings.Join(sections, "\n")
}

func newMeasureCommand(s streams) *cobra.Command {
	f := measureFlags{args: s.args}
	cmd := &cobra.Command{
		Use:   "measure {ADDRESS[:PORT]... | URL}",
		Short: "Measure between this host and one that runs linerate serve",
		Long: `Measure between this host and one that runs linerate serve, with --iperf3
iperf3 -s, or a server of an application by its URL. All is counted in one
window: goodput is the payload that receivers read in it. It is compared with
the limit, if the interfaces report their speed, and trust checks are made.`,
		Example: `  linerate measure nas
  linerate measure nas --direction both --streams 4 --duration 30s
  linerate measure nas --protocol udp --rate-cap 500M --datagram 512
  linerate measure --iperf3 nas
  linerate measure http://nas/file --pace 1000`,
		Annotations: map[string]string{
			flagSections: `Common flags: ` + commonOptions + ` duration latency expect iperf3 name json quiet
				Addresses and ports: port source source-port ` + addressOptions + ` ipv4 ipv6 alias token
				Window: warmup interval wait
				Where it is kept: out no-save
				` + optionSections(commonOptions+" "+addressOptions) + `
				Highest rate without loss, or that meets an objective: loss-free loss find-max resolution repeats
				As iperf3 has it: server reverse bidir udp
				Users of an iperf3 server: iperf3-user iperf3-password iperf3-key iperf3-pkcs1`,
			details: `What is measured, by --protocol:

` + protocols() + `
Several addresses, as a list or with ranges such as '192.168.2.{1..4}', are those of one server; flows take them in turn, and --source likewise. --alias adds addresses to this host for the time of the measurement:
  linerate measure '10.0.{1..4}.1' --source '10.0.{1..4}.2' --streams 8
  linerate measure 192.168.2.1-254 --alias 'eth1=192.168.3.1-254/16'

The notebook keeps the measurement as a run: see linerate runs, report, compare. Ctrl-C prints what was measured until then.

Further examples:
  linerate measure nas --protocol udp --loss-free --duration 60s
  linerate measure http://nas/file --connections 8 --find-max 'latency_p99 <= 20ms'
  linerate measure nas --protocol rr --expect 'latency_p99 <= 500us'
  linerate measure -c nas -P 4 -t 30 -R

The last one has iperf3's options, most of which mean the same here; docs/iperf3.md lists them.

Rates are in bits (100M, 1gbit), sizes in bytes (64K, 1MB), times in seconds or with a unit (30, 500ms).

Exit status: 0 measured; 1 linerate failed; 2 bad usage; 3 measured, but a trust check failed, --expect was not met, or --loss-free or --find-max found no rate; 130 interrupted, or the server was lost while it was measured.`,
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.like.server == "" {
				if cmd.Flags().Changed("iperf3") {
					return usageError(errors.New(
						"usage: linerate measure --iperf3 ADDRESS[:PORT]: expected the address of an iperf3 " +
							"server, such as linerate measure --iperf3 192.0.2.1"))
				}
				return usageError(errors.New(
					"usage: linerate measure ADDRESS[:PORT]: expected the address of a host that runs linerate " +
						"serve, such as linerate measure 192.0.2.1"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.measure(cmd.Context(), s, args)
		},
	}
	f.define(cmd.Flags())
	return cmd
}

func (f *measureFlags) measure(ctx context.Context, s streams, addresses []string) error {
	for _, address := range addresses { // a file instead of an address
		info, err := os.Stat(address)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if text, err := readFile(address); err == nil {
			if err := wrongKind("measure", address, text); err != nil {
				return usageError(err)
			}
		}
	}
	addresses = f.like.withServer(addresses, f.defaultPort())
	o, expected, err := f.options(addresses)
	if err != nil {
		return err
	}
	if o.URL == "" { // a URL's server is addressed by its name
		if o.Addresses, err = f.like.locate(ctx, o.Addresses, f.defaultPort()); err != nil {
			return err
		}
	}
	said := s.hints()
	if f.like.udp && !f.given("rate-cap") && !f.lossFree {
		say(said, "linerate: -u without -b sends as fast as it can, where iperf3 sends 1 Mbit/s (-b 1M)\n")
	}
	for _, why := range tooFew(o, expected) {
		say(said, "linerate: with --duration %v, %s\n", unit.Duration(o.Duration), why)
	}
	if err := f.keep.check(ctx); err != nil {
		return err
	}
	// Other active processes are reported only once the server answers, except that waiting is
	// reported immediately.
	var others strings.Builder
	warned := s
	if !f.wait {
		warned.err = &others
	}
	claim, err := claimActive(ctx, warned, "measure "+strings.Join(addresses, " "), f.wait)
	if err != nil {
		return err
	}
	defer claim.Leave()
	shown := newProgress(said)
	o.Progress = func(p measure.Progress) {
		say(s.err, "%s", others.String())
		others.Reset()
		shown.replace(measureLine(p))
	}
	if !f.keep.noSave {
		o.Until = func(run *record.Run) {
			f.keep.until(ctx, run)
			if held := f.keep.held; held != nil {
				claim.Describe(runTitle(held.run.ID, held.run.Name) + ", of measure " + strings.Join(addresses, " "))
			}
		}
	}
	var run *record.Run
	linger, end := lingering(ctx)
	defer end()
	o.Linger = linger
	err = f.aliases.while(ctx, "measure", said, func(ctx context.Context) (err error) {
		run, err = conductHere(ctx, o)
		return err
	})
	shown.end()
	if err != nil {
		f.keep.abandon(ctx, err)
	}
	switch {
	case err != nil && linger.Err() != nil:
		return statusError{ExitInterrupted,
			errors.New("interrupted twice: what was measured, if anything, is not shown")}
	case err != nil && ctx.Err() != nil:
		return statusError{ExitInterrupted, errors.New("interrupted before anything was measured")}
	case err != nil:
		return err
	}
	run.Again, run.Expect = f.again(addresses), expected.Check(run.Trials...)
	id, page, err := f.keep.save(ctx, s.err, run)
	m := export.Measure(run, page)
	m.Run = id
	err = errors.Join(err, s.answer(f.asJSON, m, asText(present.Measure(m))))
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return statusError{ExitInterrupted,
			errors.New("interrupted: these figures are for the time measured until then")}
	}
	for _, t := range run.Trials {
		if t.Ended != "" {
			return statusError{ExitInterrupted,
				fmt.Errorf("%s (%s): these figures are for the time measured until then", t.Ended, run.Address)}
		}
	}
	if err := expect.Unmet(run.Expect); err != nil {
		return statusError{ExitDoubt, err}
	}
	if run.Doubtful() {
		return statusError{ExitDoubt, nil} // the report says why
	}
	return nil
}

// tooFew lists the requested percentiles that the measurement will not show.
func tooFew(o measure.Options, expected expect.Expectation) []string {
	requests := o.Requests()
	list := expected.TooFew(requests)
	if why := metric.LatencyP99.TooFew(requests); o.Latency && why != "" && !slices.Contains(list, why) {
		list = append(list, why)
	}
	return list
}

// sameInterruption is the time within which two signals count as one interruption: timeout(1) signals the
// program and then the program's process group.
const sameInterruption = 100 * time.Millisecond

// lingering returns a context that outlives ctx, which the first signal ends. It ends with a second
// signal, so that what was measured can be read until then.
func lingering(ctx context.Context) (context.Context, func()) {
	linger, end := context.WithCancelCause(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var first time.Time
		for {
			select {
			case <-signals:
			case <-linger.Done():
				return
			}
			if first.IsZero() {
				first = time.Now()
			} else if time.Since(first) >= sameInterruption {
				end(errors.New("interrupted twice"))
				return
			}
		}
	}()
	return linger, func() {
		signal.Stop(signals)
		end(nil)
	}
}

// conductHere measures with an agent for this host in this process.
func conductHere(ctx context.Context, o measure.Options) (*record.Run, error) {
	near, far := net.Pipe()
	serving, cancel := context.WithCancel(o.Linger)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := agent.Serve(serving, far, agent.Options{Node: record.NodeClient, Access: message.Client | message.Own})
		far.Close()
		ended <- err
	}()
	run, err := measure.Conduct(ctx, near, o)
	near.Close()
	cancel()
	// EOF means that Conduct has closed the stream because nothing was measured.
	if own := <-ended; own != nil && err != nil && ctx.Err() == nil && !errors.Is(own, io.EOF) &&
		!errors.Is(own, io.ErrClosedPipe) {
		err = errors.Join(own, err)
	}
	return run, err
}

func measureLine(p measure.Progress) string {
	words := []string{p.Phase, strconv.FormatFloat(p.Left.Seconds(), 'f', -1, 64) + " s left"}
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

// options returns the options that the flags give, or everything that is wrong with them.
func (f *measureFlags) options(addresses []string) (measure.Options, expect.Expectation, error) {
	problems := append(mistakes(f.flags), f.like.apply(&f.asked.Flows, f.given)...)
	url := ""
	if i := slices.IndexFunc(addresses, isURL); i >= 0 {
		url = addresses[i]
		problems = append(problems, f.foreignProblems(addresses)...)
		at, err := f.fromURL(url)
		addresses = []string{at}
		if err != nil {
			problems, addresses = append(problems, err), nil
		}
	}
	problems = append(problems, f.wrongOptions()...)
	o := f.asked
	o.Modes = []string{""}
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	problems = append(problems, f.keep.problems()...)
	problems = append(problems, f.places(&o, addresses)...)
	problems = append(problems, f.iperf3.problems(f, o)...)
	if o.Latency && f.transacts() {
		problem("--latency is for tcp or udp, and --protocol is %s, whose latency is always measured", o.Flows.Protocol)
	}
	problems = append(problems, f.searching(&o)...)
	expected, err := expect.Parse(f.expect, metric.Setup{Protocol: o.Flows.Protocol, Probe: o.Latency,
		LossFree: f.lossFree})
	switch {
	case err != nil && f.protocolKnown():
		problem("--expect: %w", err)
	case f.given("expect") && len(expected) == 0: // as of an empty variable: nothing would be checked
		problem("--expect: expected conditions, such as 'goodput >= 900mbit'")
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
		typed := typedFlags{f.flags, f.args, iperf3Client}
		return o, expected, usageError(errors.Join(typed.asTyped(problems)...))
	}
	o.Flows.Mode = "" // see modes
	o.Flows = o.Flows.Fitted()
	if o.URL = url; url != "" {
		o.Network = f.like.network()
		return o, expected, nil
	}
	if o.Iperf3 = f.iperf3.on; o.Iperf3 {
		o.Iperf3Login, err = f.iperf3.login()
		return o, expected, err
	}
	o.Token, err = readToken(f.token)
	return o, expected, err
}
