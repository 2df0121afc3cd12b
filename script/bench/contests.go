//go:build linux

package main

import "strings"

var tcp = contest{
	key: "tcp", Title: "TCP over a link without a rate", lab: pair,
	unit: "Gbit/s", digits: 1, cpu: true,
	conditions: []string{"one flow", "four flows"}, args: []string{"1", "4"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --streams {} --congestion-control cubic", parse: parseMeasure},
		{name: "linerate --copy", command: "{measure} --streams {} --congestion-control cubic --copy",
			parse: parseMeasure},
		{name: "iperf3", command: "iperf3 -c {server} -t {seconds} -P {} -C cubic -J", parse: parseIperf3},
		{name: "iperf3 -Z", command: "iperf3 -c {server} -t {seconds} -P {} -C cubic -J -Z", parse: parseIperf3},
		{name: "iperf", command: "iperf -c {server} -p {iperf} -t {seconds} -P {} -Z cubic -y C", parse: parseIperf},
		{name: "nuttcp", command: "nuttcp -T{seconds} -N{} -fparse {server}", parse: parseNuttcp},
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
	About: "Congestion control is cubic for all (nuttcp has no option for it and uses the kernel's default). " +
		"linerate counts at the receiver, in a window of two seconds after half a second of warm-up, chooses how " +
		"to send (`--mode auto`, see [traffic.md](../traffic.md)), and its receiver does not copy; `--copy` moves " +
		"bytes as ordinary programs and the other tools do. The rate of iperf3 is that of its receiver; for iperf " +
		"and nuttcp it is the printed one. CPU time is that of the whole machine: both ends and the kernel.",
}

var udp = contest{
	key: "udp", Title: "UDP over a link without a rate", lab: pair,
	unit: "Gbit/s received", digits: 3, cpu: true, lost: true,
	conditions: []string{"1448 bytes", "64 bytes"}, args: []string{"1448", "64"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --protocol udp --datagram {}", parse: parseMeasure},
		{name: "iperf3 -u -b 0", command: "iperf3 -c {server} -t {seconds} -u -b 0 -l {} -J", parse: parseIperf3},
		{name: "nuttcp -u -Ru", command: "nuttcp -T{seconds} -u -Ru -l{} -fparse {server}", parse: parseNuttcp},
	},
	marks: []mark{
		{0, "linerate", "iperf3 -u -b 0", rateOf, "rate", 9, atLeast},
		{1, "linerate", "iperf3 -u -b 0", rateOf, "rate", 30, atLeast},
	},
	About: "Rates are of received payload; loss is counted by sequence numbers. linerate sends and receives dozens " +
		"of datagrams by one system call (UDP_SEGMENT, UDP_GRO), if the kernel supports it.",
}

var rr = contest{
	key: "rr", Title: "One request at a time, over TCP and over UDP", lab: pair,
	unit: "thousand per second", digits: 1,
	conditions: []string{"TCP, 1 byte each way", "UDP, 1 byte each way", "TCP, one CPU taken"},
	contenders: []contender{
		{name: "linerate", command: "{}", args: linerateTurns(""), parse: parseMeasure},
		{name: "linerate --poll=false", command: "{}", args: linerateTurns(" --poll=false"), parse: parseMeasure},
		{name: "linerate --follow", command: "{}", args: linerateTurns(" --follow"), parse: parseMeasure},
		{name: "linerate --poll", command: "{}", args: linerateTurns(" --poll"), parse: parseMeasure},
		{name: "sockperf ping-pong", command: "{}", args: inTurn("sockperf ping-pong -i {server} -t {seconds} -m 14 ",
			"-p 11111 --tcp", "-p 11112"), parse: parseSockperf},
		{name: "qperf", command: "{}", args: inTurn("qperf {server} -t {seconds} -uu -m 1 ", "tcp_lat", "udp_lat"),
			parse: parseQperf},
		{name: "both.c", command: "{}", args: inTurn("{dir}/both ", "tcp {seconds}", "udp {seconds}"),
			parse: parseThousands},
	},
	marks: []mark{
		{0, "linerate", "sockperf ping-pong", rateOf, "rate", 4, atLeast},
		{0, "linerate", "qperf", rateOf, "rate", 4, atLeast},
		{0, "linerate --poll=false", "sockperf ping-pong", rateOf, "rate", 1, level},
		{0, "linerate --poll", "sockperf ping-pong", rateOf, "rate", 8, atLeast},
		{1, "linerate", "sockperf ping-pong", rateOf, "rate", 4, atLeast},
		{1, "linerate", "qperf", rateOf, "rate", 4, atLeast},
		{1, "linerate --poll=false", "sockperf ping-pong", rateOf, "rate", 1, level},
		{1, "linerate --poll", "sockperf ping-pong", rateOf, "rate", 8, atLeast},
		{2, "linerate", "linerate --poll=false", rateOf, "rate", 1, level},
		{2, "linerate", "sockperf ping-pong", rateOf, "rate", 1, level},
	},
	About: "sockperf sends 14 bytes, its minimum. sockperf and qperf (`tcp_lat`, `udp_lat`) sleep until a response " +
		"comes, and report half of the round trip, from which the rate follows. linerate spins before it sleeps " +
		"where that is faster ([how an end waits](transactions.md#how-an-end-waits)); with `--poll=false` it sleeps " +
		"as the others do; with `--follow` each end sleeps on the CPU where its packets arrive, so that no other " +
		"CPU has to be woken; with `--poll` each end polls its sockets instead of sleeping. " +
		"[both.c](../script/bench/peers/both.c) has both ends in one thread, over the loopback interface, and " +
		"never waits: about the most that polling can reach. In the last column an endless loop runs on CPU 1 " +
		"meanwhile ([taken.sh](../script/bench/peers/taken.sh)). sockperf's ping-pong uses UDP by default. *Level* " +
		"means that the 95 % interval of the median includes 1 or lies above it; the interval is given.",
}

// linerateTurns are the commands of a linerate with options in the conditions of rr.
func linerateTurns(options string) []string {
	return inTurn("{measure} --protocol ", "rr"+options, "udp-rr"+options)
}

// inTurn are the commands of a contender in the conditions of rr, with what tells them apart.
func inTurn(command, tcp, udp string) []string {
	return []string{command + tcp, command + udp, "{dir}/peers/taken.sh " + command + tcp}
}

var crr = contest{
	key: "crr", Title: "A TCP connection for each request", lab: pair,
	unit: "thousand per second", digits: 1,
	conditions: []string{"1 byte each way"},
	contenders: []contender{
		{name: "linerate", command: "{measure} --protocol crr", parse: parseMeasure},
		{name: "linerate --follow", command: "{measure} --protocol crr --follow", parse: parseMeasure},
		{name: "linerate --poll", command: "{measure} --protocol crr --poll", parse: parseMeasure},
		{name: "crr.c, both ends on CPU 0", command: "taskset -c 0 {dir}/crr client {server} {bound} {seconds}",
			parse: parseThousands},
		{name: "crr.c", command: "{dir}/crr client {server} {crr} {seconds}", parse: parseThousands},
	},
	marks: []mark{
		{0, "linerate", "crr.c", rateOf, "rate", 1.3, atLeast},
		{0, "linerate --follow", "crr.c", rateOf, "rate", 1.3, atLeast},
		{0, "linerate --poll", "crr.c", rateOf, "rate", 1.3, atLeast},
	},
	About: "No tool in Debian main measures this; [crr.c](../script/bench/peers/crr.c) works like netperf's " +
		"TCP_CRR, with blocking calls and one transaction at a time. A transaction with blocking calls has two " +
		"wake-ups, one at each end. If wake-ups are expensive they dominate, and `linerate` is only a little " +
		"faster. `--follow` makes them cheap, `--poll` avoids them. crr.c with both ends on one CPU (`taskset -c " +
		"0`) shows the effect of following alone.",
}

var contests = []contest{lab, tcp, udp, rr, crr, aliases, frames, requests, stall, services, tools}

// contestKeys are their keys, for a message.
func contestKeys() string {
	var keys []string
	for _, c := range contests {
		keys = append(keys, c.key)
	}
	return strings.Join(keys, ", ")
}
