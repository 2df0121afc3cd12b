//go:build linux

package main

import (
	"context"
	"fmt"
)

// turnSeconds is how long each tool sends in a turn.
const turnSeconds = "2"

// ours is a turn of linerate: `linerate measure` against the `linerate serve` that
// runs in b.
func ours(parse func([]byte) (figure, error), args ...string) func(context.Context, *bench) (figure, error) {
	return func(ctx context.Context, l *bench) (figure, error) {
		command := append([]string{l.binary, "measure", far, "--json", "--quiet", "--duration", turnSeconds + "s", "--warmup", "500ms"}, args...)
		// Status 3: the machine was the limit, as is meant here.
		out, err := l.in(ctx, "a", command...)
		if err != nil {
			return figure{}, err
		}
		return parse(out)
	}
}

// theirs is a turn of another tool.
func theirs(parse func([]byte) (figure, error), command ...string) func(context.Context, *bench) (figure, error) {
	return func(ctx context.Context, l *bench) (figure, error) {
		out, cpu, err := l.burdened(ctx, command...)
		if err != nil {
			return figure{}, err
		}
		f, err := parse(out)
		if err != nil {
			return figure{}, fmt.Errorf("%s: %w", command[0], err)
		}
		if gigabytes := f.cpu; gigabytes > 0 { // what the parser has found
			f.cpu = cpu / gigabytes
		}
		return f, nil
	}
}

// alike is a contender that does the same in each condition but for one argument.
func alike(name string, values []string, turn func(value string) func(context.Context, *bench) (figure, error)) contender {
	return contender{name: name, turn: func(ctx context.Context, l *bench, condition int) (figure, error) {
		return turn(values[condition])(ctx, l)
	}}
}

type turn = func(context.Context, *bench) (figure, error)

var streams = []string{"1", "4"}

var tcp = contest{
	key: "tcp", title: "TCP over a link without a rate",
	unit: "Gbit/s", digits: 1, cpu: true,
	conditions: []string{"one flow", "four flows"},
	contenders: []contender{
		alike("linerate", streams, func(n string) turn {
			return ours(parseMeasure, "--streams", n, "--congestion-control", "cubic")
		}),
		alike("linerate --copy", streams, func(n string) turn {
			return ours(parseMeasure, "--streams", n, "--congestion-control", "cubic", "--copy")
		}),
		alike("iperf3", streams, func(n string) turn {
			return theirs(parseIperf3, "iperf3", "-c", far, "-t", turnSeconds, "-P", n, "-C", "cubic", "-J")
		}),
		alike("iperf3 -Z", streams, func(n string) turn {
			return theirs(parseIperf3, "iperf3", "-c", far, "-t", turnSeconds, "-P", n, "-C", "cubic", "-J", "-Z")
		}),
		alike("iperf", streams, func(n string) turn {
			return theirs(parseIperf, "iperf", "-c", far, "-p", iperfPort, "-t", turnSeconds, "-P", n, "-Z", "cubic", "-y", "C")
		}),
		alike("nuttcp", streams, func(n string) turn {
			return theirs(parseNuttcp, "nuttcp", "-T"+turnSeconds, "-N"+n, "-fparse", far)
		}),
	},
	marks: []mark{
		{0, "linerate", "iperf3 -Z", rateOf, "rate", 2.2, atLeast},
		{0, "linerate", "iperf", rateOf, "rate", 2.2, atLeast},
		{0, "linerate --copy", "iperf3", rateOf, "rate", 1.05, atLeast},
		{1, "linerate", "iperf3", rateOf, "rate", 1.5, atLeast},
		{1, "linerate", "iperf3 -Z", rateOf, "rate", 1.5, atLeast},
		{1, "linerate", "iperf", rateOf, "rate", 1.5, atLeast},
		{1, "linerate", "nuttcp", rateOf, "rate", 1.5, atLeast},
		{0, "linerate", "iperf3", cpuOf, "CPU time per GB", 0.5, atMost},
	},
	about: "Congestion control is cubic for all (nuttcp cannot be told and takes the kernel's default). linerate counts at the receiver, in a window of two seconds after half a second of warm-up, chooses how to send (`--mode auto`, see [traffic.md](traffic.md)), and its receiver does not copy; `--copy` is the path of an ordinary program, which the others take. For iperf3 it is what its receiver got; iperf and nuttcp say what they say. CPU is that of the whole machine, both ends, kernel and all.",
}

var datagrams = []string{"1448", "64"}

var udp = contest{
	key: "udp", title: "UDP over a link without a rate, as fast as possible",
	unit: "Gbit/s received", digits: 3, cpu: true, lost: true,
	conditions: []string{"1448 bytes", "64 bytes"},
	contenders: []contender{
		alike("linerate", datagrams, func(size string) turn {
			return ours(parseMeasure, "--protocol", "udp", "--datagram", size)
		}),
		alike("iperf3 -u -b 0", datagrams, func(size string) turn {
			return theirs(parseIperf3, "iperf3", "-c", far, "-t", turnSeconds, "-u", "-b", "0", "-l", size, "-J")
		}),
		alike("nuttcp -u -Ru", datagrams, func(size string) turn {
			return theirs(parseNuttcp, "nuttcp", "-T"+turnSeconds, "-u", "-Ru", "-l"+size, "-fparse", far)
		}),
	},
	marks: []mark{
		{0, "linerate", "iperf3 -u -b 0", rateOf, "rate", 9, atLeast},
		{1, "linerate", "iperf3 -u -b 0", rateOf, "rate", 30, atLeast},
	},
	about: "Rates are those of payload that was received; what was lost is told beside them, by sequence numbers. linerate hands datagrams over by the dozen (UDP_SEGMENT) and takes them so (UDP_GRO) where the kernel can.",
}

var rr = contest{
	key: "rr", title: "One request after another, over one TCP connection and over UDP",
	unit: "thousand per second", digits: 1, often: 3,
	conditions: []string{"TCP, 1 byte each way", "UDP, 1 byte each way"},
	contenders: []contender{
		alike("linerate", []string{"rr", "udp-rr"}, func(protocol string) turn {
			return ours(parseRate, "--protocol", protocol)
		}),
		alike("linerate --follow", []string{"rr", "udp-rr"}, func(protocol string) turn {
			return ours(parseRate, "--protocol", protocol, "--follow")
		}),
		alike("linerate --poll", []string{"rr", "udp-rr"}, func(protocol string) turn {
			return ours(parseRate, "--protocol", protocol, "--poll")
		}),
		{name: "sockperf ping-pong", turn: func(ctx context.Context, l *bench, condition int) (figure, error) {
			over := [][]string{{"-p", "11111", "--tcp"}, {"-p", "11112"}}[condition]
			return theirs(parseSockperf, append([]string{"sockperf", "ping-pong", "-i", far, "-t", turnSeconds, "-m", "14"}, over...)...)(ctx, l)
		}},
		alike("qperf", []string{"tcp_lat", "udp_lat"}, func(test string) turn {
			return theirs(parseQperf, "qperf", far, "-t", turnSeconds, "-uu", "-m", "1", test)
		}),
		{name: "both.c", turn: func(ctx context.Context, l *bench, condition int) (figure, error) {
			return theirs(parseThousands, l.both, []string{"tcp", "udp"}[condition], turnSeconds)(ctx, l)
		}},
	},
	marks: []mark{
		{0, "linerate", "sockperf ping-pong", rateOf, "rate", 1, level},
		{0, "linerate", "qperf", rateOf, "rate", 1, level},
		{0, "linerate --poll", "linerate", rateOf, "rate", 8, atLeast},
		{0, "linerate --poll", "sockperf ping-pong", rateOf, "rate", 8, atLeast},
		{0, "linerate --poll", "qperf", rateOf, "rate", 8, atLeast},
		{1, "linerate", "sockperf ping-pong", rateOf, "rate", 1, level},
		{1, "linerate", "qperf", rateOf, "rate", 1, level},
		{1, "linerate --poll", "linerate", rateOf, "rate", 8, atLeast},
		{1, "linerate --poll", "sockperf ping-pong", rateOf, "rate", 8, atLeast},
		{1, "linerate --poll", "qperf", rateOf, "rate", 8, atLeast},
	},
	about: "sockperf sends 14 bytes, its least. It and qperf (`tcp_lat`, `udp_lat`) tell half of the round trip, from which the rate follows. `--follow` has each end sleep where its packets come in, so that no other CPU has to be woken, and `--poll` asks the sockets over and over instead of sleeping ([three ways of waiting](transactions.md#three-ways-of-waiting)). [both.c](../script/bench/peers/both.c) has both ends in one thread, over the loopback interface, and never waits: about the most that polling could come to. Where that is less than eight times what blocking makes, nothing is; sockperf's ping-pong is over UDP unless it is told otherwise. The figures are close, so there are three times as many rounds; *level* is what cannot be told from 1, or lies above: the 95 % interval of the median is given.",
}

var crr = contest{
	key: "crr", title: "A TCP connection for each request, one after another",
	unit: "thousand per second", digits: 1,
	conditions: []string{"1 byte each way"},
	contenders: []contender{
		{name: "linerate", turn: func(ctx context.Context, l *bench, _ int) (figure, error) {
			return ours(parseRate, "--protocol", "crr")(ctx, l)
		}},
		{name: "linerate --follow", turn: func(ctx context.Context, l *bench, _ int) (figure, error) {
			return ours(parseRate, "--protocol", "crr", "--follow")(ctx, l)
		}},
		{name: "linerate --poll", turn: func(ctx context.Context, l *bench, _ int) (figure, error) {
			return ours(parseRate, "--protocol", "crr", "--poll")(ctx, l)
		}},
		{name: "crr.c, both ends on CPU 0", turn: func(ctx context.Context, l *bench, _ int) (figure, error) {
			return theirs(parseThousands, "taskset", "-c", "0", l.crr, "client", far, boundPort, turnSeconds)(ctx, l)
		}},
		{name: "crr.c", turn: func(ctx context.Context, l *bench, _ int) (figure, error) {
			return theirs(parseThousands, l.crr, "client", far, crrPort, turnSeconds)(ctx, l)
		}},
	},
	marks: []mark{
		{0, "linerate", "crr.c", rateOf, "rate", 1.3, atLeast},
		{0, "linerate --follow", "crr.c", rateOf, "rate", 1.3, atLeast},
		{0, "linerate --poll", "crr.c", rateOf, "rate", 1.3, atLeast},
	},
	about: "No tool that Debian has in main measures this; [crr.c](../script/bench/peers/crr.c) does it as netperf's TCP_CRR does, with blocking calls and one transaction at a time. A transaction of those that block has two wake-ups, one at each end: where they are dear, what else a connection takes weighs little, and `linerate` is little quicker. `--follow` makes them cheap, `--poll` spares them. What following alone does is shown by crr.c with both of its ends on one CPU (`taskset -c 0`).",
}

var contests = []contest{tcp, udp, rr, crr, aliases}
