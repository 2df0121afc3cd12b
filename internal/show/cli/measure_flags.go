package cli

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/host/iperf3"
	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
)

type measureFlags struct {
	asked              measure.Options // completed by the fields below
	copies             bool
	aliases            aliasFlags
	source, sourcePort []string
	token, expect      string
	asJSON             bool
	wait               bool
	keep               keepFlags
	lossFree           bool
	findMax            string
	search             study.LossFree
	iperf3             iperf3Flags
	like               iperf3Like
	flags              *pflag.FlagSet
	args               []string // of the command line
}

// given reports whether a flag was given.
func (f *measureFlags) given(flag string) bool { return f.flags.Changed(flag) }

// allModes is the value of --mode that measures in all modes, one after another.
const allModes = "all"

func (f *measureFlags) define(to *pflag.FlagSet) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	defer func() { withShorthands(to, flags, iperf3Client) }()
	f.flags = to
	f.asked.Flows.Protocol, f.asked.Flows.Direction = flow.TCP, flow.Write
	for _, o := range flow.Options {
		if o.Type != "" {
			flags.Var(&optionValue{option: o, to: &f.asked.Flows}, o.Flag(), o.Help())
		}
		if o.Type == "bool" {
			flags.Lookup(o.Flag()).NoOptDefVal = "true"
		}
	}
	flags.BoolVar(&f.copies, "copy", false, "tcp: move bytes as an ordinary program does (--mode copy)")
	durationVar(flags, &f.asked.Duration, 10*time.Millisecond, "duration", "10s",
		"length of the window that is measured")
	durationVar(flags, &f.asked.Warmup, 0, "warmup", "1s", "traffic before the window, which is not counted")
	valueVar(flags, &f.asked.Interval, reportInterval, "interval", "duration", "1s",
		"length of the intervals that are reported; 0: only the whole window")
	flags.BoolVar(&f.asked.Latency, "latency", false,
		"tcp, udp: also measure latency, first idle, then under load, with the buffer delay of RFC 6349 and a "+
			"grade (bufferbloat)")
	flags.BoolVar(&f.lossFree, "loss-free", false,
		"udp: search for the highest rate at which no datagram is lost (RFC 2544 throughput); the trials that "+
			"confirm it take --duration, those of the search a tenth")
	flags.StringVar(&f.findMax, "find-max", "",
		"requests: search for the highest rate that meets an `objective`, conditions as for --expect, such as "+
			"'latency_p99 <= 20ms, errors <= 0.1%'; the trials that confirm it take --duration, those of the "+
			"search a tenth, or what percentiles need")
	valueVar(flags, &f.search.Loss, unit.ParseRatio, "loss", "share", "",
		"with --loss-free: the share that may be lost, such as 0.1% (default: none)")
	valueVar(flags, &f.search.Resolution, unit.ParseRatio, "resolution", "share", "1%",
		"with --loss-free, --find-max: largest difference between the result and a rate that fails (default of "+
			"--find-max: 5%)")
	flags.IntVar(&f.search.Repeats, "repeats", study.DefaultRepeats,
		"with --loss-free, --find-max: number of trials that confirm the result (default of --find-max: 3)")
	flags.StringArrayVar(&f.source, "source", nil,
		"local `address` to connect from, or a range such as '10.0.1.{1..4}'; flows take them in turn (may be "+
			"repeated)")
	f.aliases.define(flags, "without --source, flows connect from them in turn")
	flags.StringArrayVar(&f.sourcePort, "source-port", nil,
		"tcp, udp: local `port` to connect from, or a range such as '{7000..7007}'; flows take them in turn (may "+
			"be repeated)")
	flags.StringVar(&f.token, "token", "", tokenUsage)
	f.iperf3.define(flags)
	f.like.define(flags, &f.asked.Flows)
	flags.StringVar(&f.expect, "expect", "",
		"conditions for each direction and mode, separated by commas, such as '>= 900mbit' or 'latency_p99 <= "+
			"500us, lost <= 0.1%', on the metrics of docs/metrics.md")
	f.keep.define(flags)
	flags.BoolVar(&f.asJSON, "json", false, "print the result document (linerate.measure/v2)")
	flags.BoolVar(&f.wait, "wait", false, waitUsage)
}

func (f *measureFlags) transacts() bool { return flow.Of(f.asked.Flows.Protocol).Transactional() }

func (f *measureFlags) protocolKnown() bool { return flow.Find("protocol").Check(&f.asked.Flows) == "" }

// wrongOptions returns the flow options that are invalid, alone or together, or that have no
// meaning for the protocol.
func (f *measureFlags) wrongOptions() (problems []error) {
	flows := &f.asked.Flows
	fitted := flows.Fitted()
	for _, o := range flow.Options {
		flag := o.Flag()
		if o.Key == "mode" && f.copies {
			flag = "copy"
		}
		given := f.given(flag) || o.Key == "direction" && (f.like.reverse || f.like.bidir) || o.Key == "dscp" &&
			f.given("tos")
		if o.Type == "" || !given || misread(f.flags.Lookup(flag)) != nil || o.Key == "rate_cap" && flows.RateCap == 0 {
			continue
		}
		wrong := cmp.Or(o.Check(flows), o.Conflict(&fitted))
		if o.Key == "mode" && (f.copies || flows.Mode == allModes) {
			wrong = ""
		}
		switch {
		case !o.For(flows.Protocol) && f.protocolKnown():
			problems = append(problems, fmt.Errorf("--%s is for %s, and --protocol is %s%s", flag,
				source.Or(o.Protocols), flows.Protocol, iperf3Instead(flag, flows.Protocol)))
		case wrong != "":
			problems = append(problems, fmt.Errorf("--%s%s", flag, wrong))
		}
	}
	return problems
}

// again returns the command that repeats the measurement. addresses include that of --server.
func (f *measureFlags) again(addresses []string) string {
	words := []string{"linerate measure"}
	for _, a := range addresses {
		words = append(words, quote(a))
	}
	var given []string
	f.flags.Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"name", "out", "no-save", "json", "quiet", "wait", "server"}, flag.Name) {
			given = append(given, flag.Name)
		}
	})
	return strings.Join(append(words, spelled(f.flags, given...)...), " ")
}

// mostPlaces is the largest number of addresses or ports of one kind: as many as 12 host bits
// allow.
const mostPlaces = 4096

// defaultPort returns the server's port for addresses without one.
func (f *measureFlags) defaultPort() string {
	if f.iperf3.on {
		return iperf3.DefaultPort
	}
	return measure.DefaultPort
}

// places sets where flows begin and end. If the number of streams is not given, every address gets
// one.
func (f *measureFlags) places(o *measure.Options, addresses []string) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	expand := func(what string, texts []string) (all []string) {
		for _, text := range texts {
			some, err := places(text)
			if err != nil {
				problem("%s%q: %w", what, text, err)
			}
			all = append(all, some...)
		}
		if len(all) > mostPlaces {
			problem("%sexpected at most %d, got %d", what, mostPlaces, len(all))
			return nil
		}
		return all
	}
	o.Addresses = expand("", addresses)
	for _, text := range o.Addresses {
		if _, err := measure.Complete(text, f.defaultPort()); err != nil {
			problems = append(problems, err)
		}
	}
	problems = append(problems, f.aliases.parse()...)
	if len(f.source) == 0 {
		if o.Sources = f.aliases.addresses(); len(o.Sources) > mostPlaces {
			problem("--alias: %d addresses to connect from, expected at most %d; --source says which of them",
				len(o.Sources), mostPlaces)
			return problems
		}
	}
	for _, text := range expand("--source ", f.source) {
		a, err := netip.ParseAddr(text)
		if err != nil {
			problem("--source %q: expected an address of this host", text)
		}
		o.Sources = append(o.Sources, a)
	}
	for _, text := range expand("--source-port ", f.sourcePort) {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			problem("--source-port %q: expected 1 to 65535", text)
		}
		o.SourcePorts = append(o.SourcePorts, uint16(port))
	}
	if len(o.SourcePorts) > 0 && f.transacts() {
		problem("--source-port is for tcp or udp, and --protocol is %s, where each connection needs one",
			o.Flows.Protocol)
	}
	if f.given("bind-no-port") && len(o.Sources) == 0 {
		problem("--bind-no-port is for connections from a --source: without one nothing is bound")
	}
	if len(problems) > 0 || f.given("streams") && o.Flows.Streams < 1 {
		return problems
	}
	if all := max(len(o.Addresses), len(o.Sources)); !f.given("streams") {
		o.Flows.Streams = all
	} else if o.Flows.Streams < all {
		problem("--streams %d: %d would be unused; expected at least %d, or no --streams", o.Flows.Streams,
			all-o.Flows.Streams, all)
	}
	directions := 1
	if o.Flows.Direction == flow.Both {
		directions = 2
	}
	if err := o.Clash(o.Flows.Streams, directions); err != nil {
		problem("--source-port: %w", err)
	}
	return problems
}

// probing is how much of the warm-up it takes to try the modes of sending, with some reserve.
const probing = 400 * time.Millisecond

// modes returns the modes to measure in, one after another.
func (f *measureFlags) modes() ([]string, error) {
	mode, warmup := f.asked.Flows.Mode, f.asked.Warmup
	switch {
	case mode == "" && f.copies:
		mode = flow.ModeCopy
	case mode == "" && warmup >= probing:
		mode = flow.ModeAuto
	case f.copies && mode != flow.ModeCopy:
		return nil, fmt.Errorf("--copy and --mode %s: expected one of them", mode)
	}
	switch {
	case warmup < probing && slices.Contains([]string{flow.ModeAuto, flow.ModeWrite, allModes}, mode):
		return nil, fmt.Errorf("--mode %s first tries the modes of sending: expected a --warmup of at least %v",
			mode, probing)
	case mode == allModes:
		return []string{flow.ModeAuto, flow.ModeCopy}, nil
	}
	return []string{mode}, nil
}

// optionValue is a flow option as a flag. Like value, it reports mistakes later, together with
// others.
type optionValue struct {
	option *flow.Option
	to     *flow.Spec
	text   string
	wrong  error
}

func (v *optionValue) Set(text string) error {
	v.text, v.wrong = text, nil
	rate, burst, isRate := strings.Cut(text, "/")
	switch _, err := strconv.ParseUint(burst, 10, 64); {
	case v.option.Key == "rate_cap" && text == "0": // iperf3's spelling of no cap
	case v.option.Key == "rate_cap" && isRate && err == nil:
		v.wrong = fmt.Errorf(
			"%.40q: iperf3's /BURST is not supported: each connection is paced, without bursts; expected %.40s",
			text, rate)
	default:
		v.wrong = v.option.Parse(v.to, text)
	}
	return nil
}

func (v *optionValue) String() string { return v.text }
func (v *optionValue) Type() string   { return v.option.Type }
func (v *optionValue) mistake() error { return v.wrong }
func (v *optionValue) last() string   { return v.text }

func (v *optionValue) expected() string {
	var none flow.Spec
	return expects(v.option.Parse(&none, ""))
}
