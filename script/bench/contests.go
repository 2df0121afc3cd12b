//go:build linux

package main

import "strings"

// gsro and skip are options that iperf3 has since 3.21 and 3.17.
const (
	gsro = "iperf3 --gsro"
	skip = "iperf3 --skip-rx-copy"
)

var tcp = contest{
	key: "tcp", Title: "TCP over a link without a rate", lab: pair,
	services:   []service{linerateServer, iperf3Server, {":5999", "-t", "iperf -s -p 5999"}},
	conditions: []string{"one flow", "four flows"}, args: []string{"1", "4"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --streams {}", parse: parseMeasure},
		{name: "linerate --copy", command: "{measure} --streams {} --copy", parse: parseMeasure},
		{name: "iperf3", command: "{iperf3} -P {}", parse: parseIperf3},
		{name: "iperf3 -Z", command: "{iperf3} -P {} -Z", parse: parseIperf3},
		{name: "iperf3 -Z --skip-rx-copy", command: "{iperf3} -P {} -Z --skip-rx-copy",
			parse: parseIperf3, needs: skip},
		{name: "iperf", command: "iperf -c {server} -p 5999 -t {seconds} -P {} -y C", parse: parseIperf},
	},
	shown: []quantity{rate("Gbit/s", 1), cpuPerGB},
	marks: []mark{
		{0, "linerate", "iperf3 -Z", rateOf, 2.4, atLeast},
		{0, "linerate", "iperf3 -Z --skip-rx-copy", rateOf, 2.4, atLeast},
		{0, "linerate", "iperf3", cpuPerGB, 0.5, atMost},
		{0, "linerate --copy", "iperf3", rateOf, 1.05, atLeast},
		{1, "linerate", "iperf3 -Z", rateOf, 1.7, atLeast},
		{1, "linerate", "iperf3 -Z --skip-rx-copy", rateOf, 1.7, atLeast},
		{1, "linerate", "iperf", rateOf, 1.5, atLeast},
	},
	About: "linerate counts at the receiver, in a window of two seconds after half a second of warm-up, " +
		"chooses how to send (`--mode auto`, see [traffic.md](../traffic.md)), and its receiver does not copy; " +
		"`--copy` moves bytes as ordinary programs and the other tools do. `-Z` is sendfile(2), and " +
		"`--skip-rx-copy` discards in the kernel what arrives (MSG_TRUNC): the fastest of iperf3 is one of the " +
		"two. The rate of iperf3 is that of its receiver; for iperf it is the printed one. CPU time is that of " +
		"the whole machine: both ends and the kernel.",
}

var udp = contest{
	key: "udp", Title: "UDP over a link without a rate", lab: pair,
	services:   []service{linerateServer, iperf3Server},
	conditions: []string{"1448 bytes", "64 bytes"}, args: []string{"1448", "64"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --protocol udp --datagram {}", parse: parseMeasure},
		{name: "iperf3 -u -b 0", command: "{iperf3} -u -b 0 -l {}", parse: parseIperf3},
		{name: "iperf3 -u -b 0 --gsro", command: "{iperf3} -u -b 0 -l {} --gsro", parse: parseIperf3, needs: gsro},
	},
	shown: []quantity{rate("Gbit/s received", 3), cpuPerGB, lostOf, missing},
	marks: []mark{
		{0, "linerate", "iperf3 -u -b 0 --gsro", rateOf, 1.3, atLeast},
		{0, "linerate", "iperf3 -u -b 0", rateOf, 9, atLeast},
		{0, "linerate", "", missing, 0, atMost},
		{1, "linerate", "iperf3 -u -b 0 --gsro", rateOf, 1.3, atLeast},
	},
	About: "Rates are of received payload; loss is counted by sequence numbers. *Not counted* are " +
		"datagrams that a program has sent and counts neither as received nor as lost; of linerate none if its " +
		"check `conservation` passes, by which no more are missing than the receiver's buffer can hold at the " +
		"edges of the window ([trust](../trust.md)). linerate sends and receives dozens of datagrams by one " +
		"system call (UDP_SEGMENT, UDP_GRO), and so does iperf3 with `--gsro`, since 3.21. If the packaged " +
		"iperf3 is older, `script/setup bench` unpacks that of Debian's unstable suite for this directory " +
		"alone; without it `-u -b 0` is iperf3's fastest mode.",
}

var rr = contest{
	key: "rr", Title: "One request at a time, over TCP and over UDP", lab: pair,
	services: []service{linerateServer, {":11111", "-t", "sockperf server --tcp -i {server} -p 11111"},
		{":11112", "-u", "sockperf server -i {server} -p 11112"}},
	conditions: []string{"TCP", "UDP", "TCP, one CPU taken"},
	contenders: []contender{
		{name: "linerate", command: "{}", args: linerateTurns(""), parse: parseMeasure},
		{name: "linerate --poll=false", command: "{}", args: linerateTurns(" --poll=false"), parse: parseMeasure},
		{name: "linerate --follow", command: "{}", args: linerateTurns(" --follow")[:1], parse: parseMeasure},
		{name: "linerate --poll", command: "{}", args: linerateTurns(" --poll")[:1], parse: parseMeasure},
		{name: "neper tcp_rr", command: "{}", args: []string{neperRR, "", taken + neperRR}, needs: "tcp_rr",
			server: neper("tcp_rr --nolog -l {seconds}"), parse: parseNeper},
		{name: "both.c", command: "{dir}/both {}", args: []string{"tcp {seconds}", "udp {seconds}"},
			parse: parseThousands},
		{name: "sockperf ping-pong", command: "{}", args: inTurn("sockperf ping-pong -i {server} -t {seconds} -m 14 ",
			"-p 11111 --tcp", "-p 11112"), parse: parseSockperf},
	},
	shown: []quantity{rate("thousand per second", 1), cpuEach},
	marks: []mark{
		{0, "linerate", "neper tcp_rr", rateOf, 4, atLeast},
		{0, "linerate", "sockperf ping-pong", rateOf, 4, atLeast},
		{0, "linerate --poll=false", "sockperf ping-pong", rateOf, 1, level},
		{1, "linerate", "sockperf ping-pong", rateOf, 4, atLeast},
		{1, "linerate --poll=false", "sockperf ping-pong", rateOf, 1, level},
		{2, "linerate", "neper tcp_rr", rateOf, 1, atLeast},
		{2, "linerate", "sockperf ping-pong", rateOf, 1, level},
		{2, "linerate", "linerate --poll=false", rateOf, 1, level},
	},
	About: "A byte each way; sockperf sends 14 bytes, its minimum, and reports half of the round trip, " +
		"from which the rate follows. neper and sockperf sleep until a response comes. linerate spins before it " +
		"sleeps where that is faster ([how an end waits](../transactions.md#how-an-end-waits)); with " +
		"`--poll=false` it sleeps as the others do; with `--follow` each end sleeps on the CPU where its " +
		"packets arrive, so that no other CPU has to be woken; with `--poll` each end polls its sockets instead " +
		"of sleeping. [both.c](../../script/bench/peers/both.c) has both ends in one thread, over the loopback " +
		"interface, and never waits: about the most that polling can reach. With *one CPU taken* an endless " +
		"loop runs on CPU 1 meanwhile ([taken.sh](../../script/bench/peers/taken.sh)), and is part of the CPU " +
		"time. *Level* means that the 95 % interval of the median includes 1 or lies above it; the interval is " +
		"given. " +
		aboutNeper,
}

const (
	neperRR    = "tcp_rr --nolog -c -H {server} -l {seconds}"
	aboutNeper = "neper is not in Debian and in no other registry of packages that `script/setup bench` could " +
		"install it from: build it from its source, and put `tcp_rr` and `tcp_crr` on the PATH or in bin/peers."
	// taken is before a command that runs while another program takes a CPU.
	taken = "sh {dir}/peers/taken.sh "
)

// neper is the other end of one of neper's tests, which ends with it.
func neper(command string) service { return service{":12866", "-t", command} }

// linerateTurns are the commands of a linerate with options in the conditions of rr.
func linerateTurns(options string) []string {
	return inTurn("{measure} --protocol ", "rr"+options, "udp-rr"+options)
}

// inTurn are the commands of a contender in the conditions of rr, with what tells them apart.
func inTurn(command, tcp, udp string) []string {
	return []string{command + tcp, command + udp, taken + command + tcp}
}

var many = contest{
	key: "many", Title: "Requests over 100 TCP connections", lab: pair,
	services:   []service{linerateServer},
	conditions: []string{"one thread", "two threads"}, args: []string{"1", "2"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --protocol rr --connections 100 --threads {}", parse: parseMeasure},
		{name: "neper tcp_rr", command: neperRR + " -F 100 -T {}", parse: parseNeper, needs: "tcp_rr",
			server: neper("tcp_rr --nolog -l {seconds} -F 100 -T {}")},
	},
	shown: []quantity{rate("thousand per second", 1), cpuEach},
	marks: []mark{
		{0, "linerate", "neper tcp_rr", rateOf, 1.2, atLeast},
		{1, "linerate", "neper tcp_rr", rateOf, 1.2, atLeast},
	},
	About: "A byte each way, one request at a time on each connection, and so many threads at each end. " +
		aboutNeper,
}

var crr = contest{
	key: "crr", Title: "A TCP connection for each request", lab: pair,
	services:   []service{linerateServer, {":7100", "-t", "{dir}/crr server 7100"}},
	conditions: []string{"a byte each way"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --protocol crr", parse: parseMeasure},
		{name: "linerate --follow", command: "{measure} --protocol crr --follow", parse: parseMeasure},
		{name: "linerate --poll", command: "{measure} --protocol crr --poll", parse: parseMeasure},
		{name: "neper tcp_crr", command: "tcp_crr --nolog -c -H {server} -l {seconds}", parse: parseNeper,
			needs: "tcp_crr", server: neper("tcp_crr --nolog -l {seconds}")},
		{name: "crr.c", command: "{dir}/crr client {server} 7100 {seconds}", parse: parseThousands},
	},
	shown: []quantity{rate("thousand per second", 1), cpuEach},
	marks: []mark{
		{0, "linerate", "neper tcp_crr", rateOf, 1.4, atLeast},
		{0, "linerate", "crr.c", rateOf, 1.3, atLeast},
		{0, "linerate --follow", "crr.c", rateOf, 1.3, atLeast},
		{0, "linerate --poll", "crr.c", rateOf, 1.3, atLeast},
	},
	About: "[crr.c](../../script/bench/peers/crr.c) has blocking calls and one transaction at a time. Such " +
		"a transaction has two wake-ups, one at each end. If wake-ups are expensive they dominate, and " +
		"`linerate` is only a little faster. `--follow` makes them cheap, `--poll` avoids them. " +
		aboutNeper,
}

var contests = []contest{lab, tcp, udp, rr, many, crr, connections, http, own, requests, paced, services, aliases,
	frames, tools}

// contestKeys are their keys, for a message.
func contestKeys() string {
	var keys []string
	for _, c := range contests {
		keys = append(keys, c.key)
	}
	return strings.Join(keys, ", ")
}
