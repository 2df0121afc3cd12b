package cli

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/flow"

	"github.com/spf13/pflag"

	"linerate/internal/control/measure"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
)

type measureFlags struct {
	duration, warmup, interval unit.Duration
	flows                      study.Options
	noDelay, copies            bool
	poll, follow               bool
	bindNoPort                 bool
	aliases                    aliasFlags
	source, sourcePort         []string
	token, expect              string
	asJSON, quiet, latency     bool
	lossFree                   bool
	search                     study.LossFree
	iperf3                     iperf3Flags
	flags                      *pflag.FlagSet
}

// given says whether a flag was.
func (f *measureFlags) given(flag string) bool { return f.flags.Changed(flag) }

// allModes is the --mode that measures in one mode after another.
const allModes = "all"

// The protocols that something is known of.
var (
	bulk         = []string{flow.TCP, flow.UDP}
	transactions = flow.Transactional
)

// The sizes that make sense: a datagram carries its number and its time, and fits
// into IPv4; a message is a message.
const (
	leastDatagram = 16
	mostMessage   = 1 << 30
)

func (f *measureFlags) define(flags *pflag.FlagSet) {
	flags.SortFlags = false
	f.flags = flags
	flags.StringVar(&f.flows.Protocol, "protocol", flow.TCP, "tcp: bytes; udp: datagrams; rr: request and response; udp-rr: in datagrams; crr: connect, request, response")
	flags.StringVar(&f.flows.Direction, "direction", study.Write, "tcp, udp: write: this host sends; read: the server sends; both")
	flags.IntVar(&f.flows.Streams, "streams", 0, "flows in each direction (default: one, or as many as there are addresses)")
	quantityVar(flags, &f.duration, unit.ParseDuration, "duration", "duration", "10s", "length of the window that is measured")
	quantityVar(flags, &f.warmup, unit.ParseDuration, "warmup", "duration", "1s", "traffic before it, which is not counted")
	quantityVar(flags, &f.interval, unit.ParseDuration, "interval", "duration", "1s", "length of the intervals that are told")
	quantityVar(flags, &f.flows.RateCap, unit.ParseBitRate, "rate-cap", "rate", "", "tcp, udp: pacing of each flow, such as 100mbit (default: as fast as can be)")
	quantityVar(flags, &f.flows.Window, unit.ParseBytes, "window", "size", "", "socket buffers at both ends, such as 256KiB (default: the kernel's)")
	flags.StringVar(&f.flows.Mode, "mode", "", "tcp: how bytes are moved: "+strings.Join(flow.Modes, ", ")+"; or all: auto, then copy (default: auto, which tries what is cheapest in the first 300ms of the warm-up)")
	flags.BoolVar(&f.copies, "copy", false, "tcp: the same as --mode copy: as an ordinary program does")
	quantityVar(flags, &f.flows.ReadCap, unit.ParseBitRate, "read-cap", "rate", "", "tcp: the most that each receiver reads, as a slow program does")
	quantityVar(flags, &f.flows.WriteCap, unit.ParseBitRate, "write-cap", "rate", "", "tcp: the most that each sender writes, as a program does that has little to send")
	quantityVar(flags, &f.flows.SendBuffer, unit.ParseBytes, "send-buffer", "size", "", "socket buffer of each sender, instead of --window")
	quantityVar(flags, &f.flows.ReceiveBuffer, unit.ParseBytes, "receive-buffer", "size", "", "socket buffer of each receiver, instead of --window")
	flags.IntVar(&f.flows.MSS, "mss", 0, "tcp, rr, crr: TCP maximum segment size in bytes (default: as the MTU allows)")
	flags.BoolVar(&f.noDelay, "nodelay", false, "tcp, rr, crr: set TCP_NODELAY")
	flags.StringVar(&f.flows.CongestionControl, "congestion-control", "", "tcp, rr, crr: congestion control, such as cubic or bbr (default: each sender's own)")
	quantityVar(flags, &f.flows.Datagram, unit.ParseBytes, "datagram", "size", "", "udp: payload of each datagram (default: as large as the MTU allows)")
	quantityVar(flags, &f.flows.Request, unit.ParseBytes, "request", "size", "", "rr, udp-rr, crr: a request (default 1 byte)")
	quantityVar(flags, &f.flows.Response, unit.ParseBytes, "response", "size", "", "rr, udp-rr, crr: a response (default 1 byte)")
	flags.IntVar(&f.flows.Connections, "connections", 1, "rr, udp-rr, crr: connections of each flow, each with one request at a time")
	flags.Float64Var(&f.flows.Pace, "pace", 0, "rr, udp-rr, crr: requests that each flow begins in a second, on a schedule that waits for nothing (default: the next when one is answered)")
	flags.BoolVar(&f.poll, "poll", false, "rr, udp-rr, crr: both ends poll their sockets instead of sleeping")
	flags.BoolVar(&f.follow, "follow", false, "rr, udp-rr, crr: each end's thread sleeps on the CPU at which its packets come in, so that no other has to be woken")
	flags.IntVar(&f.flows.Threads, "threads", 1, "rr, udp-rr, crr: threads of each flow at each end")
	flags.BoolVar(&f.latency, "latency", false, "tcp, udp: measure latency, too: first idle, then under the load; with the buffer delay of RFC 6349 and a grade (bufferbloat)")
	flags.BoolVar(&f.lossFree, "loss-free", false, "udp: search the highest rate at which no datagram is lost (RFC 2544 throughput); --duration is that of the trials which confirm it, those of the search take a tenth")
	quantityVar(flags, &f.search.Loss, unit.ParseRatio, "loss", "share", "", "with --loss-free: the share that may be lost, such as 0.1% (default: none)")
	quantityVar(flags, &f.search.Resolution, unit.ParseRatio, "resolution", "share", "1%", "with --loss-free: how far below a rate that loses the result may be")
	flags.IntVar(&f.search.Repeats, "repeats", study.DefaultRepeats, "with --loss-free: how many trials the result has to stand")
	flags.StringArrayVar(&f.source, "source", nil, "local address to connect from, or a range such as '10.0.1.{1..4}'; flows take them in turn (may be repeated)")
	f.aliases.define(flags, "without --source, flows connect from them in turn")
	flags.StringArrayVar(&f.sourcePort, "source-port", nil, "tcp, udp: local port to connect from, or a range such as '{7000..7007}'; flows take them in turn (may be repeated)")
	flags.BoolVar(&f.bindNoPort, "bind-no-port", true, "with --source: connecting chooses a local port that is free between the two ends; =false: binding takes one of the source for itself, as programs do that do not set IP_BIND_ADDRESS_NO_PORT")
	flags.StringVar(&f.token, "token", "", tokenUsage)
	f.iperf3.define(flags)
	flags.StringVar(&f.expect, "expect", "", "what has to be met in each direction and mode: '>= 900mbit', 'latency_p99 <= 500us, lost <= 0.1%': metrics of docs/metrics.md, several with commas between")
	flags.BoolVar(&f.asJSON, "json", false, "print the result document (linerate.measure/v1)")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
}

// options are what the flags say, or everything that is wrong with them.
func (f *measureFlags) options(addresses []string) (measure.Options, expect.Expectation, error) {
	o := measure.Options{
		Modes:    []string{""},
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
	if !slices.Contains(flow.Protocols, f.flows.Protocol) {
		problem("--protocol %q: expected %s", f.flows.Protocol, source.Or(flow.Protocols))
	} else {
		problems = append(problems, f.unsuited()...)
	}
	problems = append(problems, f.outOfRange()...)
	problems = append(problems, f.places(&o, addresses)...)
	problems = append(problems, f.iperf3.problems(f, o)...)
	if f.latency && f.transacts() {
		problem("--latency is for tcp or udp, and --protocol is %s, whose latency is always measured", f.flows.Protocol)
	}
	o.Latency = f.latency
	if problems = append(problems, f.searching(&o)...); f.lossFree {
		o.LossFree = &f.search
	}
	expected, err := expect.Parse(f.expect, metric.Setup{Protocol: f.flows.Protocol, Probe: f.latency, LossFree: f.lossFree})
	if err != nil && slices.Contains(flow.Protocols, f.flows.Protocol) {
		problem("--expect: %w", err)
	}
	if f.flows.Protocol == flow.TCP {
		if o.Modes, err = f.modes(); err != nil {
			problems = append(problems, err)
		}
	}
	if f.latency && len(o.Modes) > 1 {
		problem("--latency and --mode %s: expected one mode", f.flows.Mode)
	}
	if len(problems) > 0 {
		return o, expected, usageError(errors.Join(problems...))
	}
	o.Flows = f.traffic()
	if o.Iperf3, err = f.iperf3.peer(); err != nil || o.Iperf3 != nil {
		return o, expected, err
	}
	o.Token, err = readToken(f.token)
	return o, expected, err
}

func (f *measureFlags) transacts() bool { return slices.Contains(transactions, f.flows.Protocol) }

// unsuited are the options that mean nothing to the protocol.
func (f *measureFlags) unsuited() (problems []error) {
	f.flags.Visit(func(flag *pflag.Flag) {
		key := strings.ReplaceAll(flag.Name, "-", "_")
		if flag.Name == "copy" {
			key = "mode"
		}
		if of := study.ProtocolsOf(key); len(of) > 0 && !slices.Contains(of, f.flows.Protocol) {
			problems = append(problems, fmt.Errorf("--%s is for %s, and --protocol is %s", flag.Name, source.Or(of), f.flows.Protocol))
		}
	})
	return problems
}

// mostPlaces is the most addresses or ports of a kind: as many as a network of 12
// bits has.
const mostPlaces = 4096

// places are where flows begin and end. When it is not said how many there are to
// be, every address has one.
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
	problems = append(problems, f.aliases.parse()...)
	if len(f.source) == 0 {
		if o.Sources = f.aliases.addresses(); len(o.Sources) > mostPlaces {
			problem("--alias: %d addresses to connect from, expected at most %d; --source says which of them", len(o.Sources), mostPlaces)
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
		problem("--source-port is for tcp or udp, and --protocol is %s, where each connection needs one", f.flows.Protocol)
	}
	if f.given("bind-no-port") && len(o.Sources) == 0 {
		problem("--bind-no-port is for connections from a --source: without one nothing is bound")
	}
	if len(problems) > 0 || f.given("streams") && f.flows.Streams < 1 {
		return problems
	}
	if all := max(len(o.Addresses), len(o.Sources)); !f.given("streams") {
		f.flows.Streams = all
	} else if f.flows.Streams < all {
		problem("--streams %d: %d would be unused; expected at least %d, or no --streams", f.flows.Streams, all-f.flows.Streams, all)
	}
	directions := 1
	if f.flows.Direction == study.Both {
		directions = 2
	}
	if err := o.Clash(f.flows.Streams, directions); err != nil {
		problem("--source-port: %w", err)
	}
	return problems
}

// outOfRange are the values that cannot be.
func (f *measureFlags) outOfRange() (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	o := f.flows
	for _, n := range []struct {
		flag  string
		value int
	}{{"streams", o.Streams}, {"connections", o.Connections}, {"threads", o.Threads}} {
		if n.value < 1 && f.given(n.flag) {
			problem("--%s %d: expected a positive number", n.flag, n.value)
		}
	}
	if f.follow && (f.poll || o.Connections > 1) {
		problem("--follow is for one connection that is waited for: not with --poll or several --connections")
	}
	if !slices.Contains([]string{study.Write, study.Read, study.Both}, o.Direction) {
		problem("--direction %q: expected write, read or both", o.Direction)
	}
	if o.MSS != 0 && (o.MSS < 88 || o.MSS > 32767) {
		problem("--mss %d: Linux takes 88 to 32767", o.MSS)
	}
	if f.given("datagram") && (o.Datagram < leastDatagram || o.Datagram > flow.MaxDatagramBytes) {
		problem("--datagram %d: expected %d to %d bytes", int64(o.Datagram), leastDatagram, flow.MaxDatagramBytes)
	}
	for _, n := range []struct {
		flag  string
		value unit.Bytes
	}{{"request", o.Request}, {"response", o.Response}} {
		switch {
		case !f.given(n.flag):
		case n.value < 1 || n.value > mostMessage:
			problem("--%s %d: expected 1 byte to %v", n.flag, int64(n.value), unit.Bytes(mostMessage))
		case o.Protocol == flow.UDPRR && n.value > flow.MaxDatagramBytes:
			problem("--%s %d: of %s each is one datagram, which carries at most %d bytes", n.flag, int64(n.value), o.Protocol, flow.MaxDatagramBytes)
		}
	}
	if f.given("pace") && !(o.Pace > 0 && o.Pace <= 1e9) {
		problem("--pace %g: expected requests per second, more than none", o.Pace)
	}
	if o.Connections >= 1 && o.Threads > o.Connections {
		problem("--threads %d: there are no more than %d --connections to share", o.Threads, o.Connections)
	}
	return problems
}

// probing is what trying out the ways of sending takes of the warm-up, with some
// room.
const probing = 400 * time.Millisecond

// modes are the ones to measure in, one after another.
func (f *measureFlags) modes() ([]string, error) {
	mode := f.flows.Mode
	switch {
	case mode == "" && f.copies:
		mode = flow.ModeCopy
	case mode == "" && time.Duration(f.warmup) >= probing:
		mode = flow.ModeAuto
	case f.copies && mode != flow.ModeCopy:
		return nil, fmt.Errorf("--copy and --mode %s: expected one of them", mode)
	}
	switch {
	case mode != "" && mode != allModes && !slices.Contains(flow.Modes, mode):
		return nil, fmt.Errorf("--mode %q: expected %s", mode, source.Or(append(slices.Clone(flow.Modes), allModes)))
	case time.Duration(f.warmup) < probing && slices.Contains([]string{flow.ModeAuto, flow.ModeWrite, allModes}, mode):
		return nil, fmt.Errorf("--mode %s tries for a while before it is steady: expected a --warmup of at least %v", mode, probing)
	case mode == allModes:
		return []string{flow.ModeAuto, flow.ModeCopy}, nil
	}
	return []string{mode}, nil
}

// traffic is what the flags say of the flows; what is not said is left to the
// carrier.
func (f *measureFlags) traffic() study.Options {
	o := f.flows
	o.Mode = "" // see modes
	if f.given("nodelay") {
		o.NoDelay = &f.noDelay
	}
	if f.given("bind-no-port") {
		o.BindNoPort = &f.bindNoPort
	}
	if !f.transacts() {
		o.Connections, o.Threads = 0, 0
	}
	if f.given("poll") {
		o.Poll = &f.poll
	}
	if f.given("follow") {
		o.Follow = &f.follow
	}
	return o
}
