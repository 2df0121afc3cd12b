package tool

import (
	"fmt"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/pattern"
)

var iperf = Tool{
	Name: "iperf", Package: "iperf", Client: "iperf", Server: "iperf",
	Protocols: []string{flow.TCP, flow.UDP},
	Waits:     true, // since 2.1; an older client exits after its last write
	Decided: map[string]string{
		"the flow": "-c --client -s --server", "linerate": "-p --port -D --daemon", "source": "-B --bind",
		"destination": "-V --ipv6_domain", "duration": "-t --time -n --num", "streams": "-P --parallel",
		"direction": "-R --reverse -r --tradeoff", "direction: both": "-d --dualtest --full-duplex",
		"protocol": "-u --udp",
		"rate_cap": "-b --bandwidth --fq-rate", "mss": "-M --mss", "nodelay": "-N --nodelay", "window": "-w --window",
		"congestion_control":                "-Z --tcp-congestion",
		"linerate, which reads the figures": "-f --format -e --enhanced -y --reportstyle -i --interval -x",
		"linerate, which keeps the output":  "-o --output", "nothing": "-h --help -v",
	},
	Args: []Arg{
		{Names: "-l --len", Value: Size},
		{Names: "--txdelay-time", Value: Seconds},
		{Names: "-S --tos", Value: Word},
		{Names: "--connect-retries", Value: Number},
		{Names: "--no-connect-sync"},
		{Names: "--tcp-quickack"},
		{Names: "--tcp-write-prefetch", Value: Size},
	},
	server: []group{
		always("-s -p $PORT -B $ADDRESS -f b"),
		given("udp", "-u"),
		given("window", "-w $WINDOW"),
		given("tcp read congestion_control", "-Z $CONGESTION_CONTROL"),
		given("ipv6", "-V"),
	},
	client: []group{
		always("-c $ADDRESS -p $PORT -t $TIME -f b"),
		given("source", "-B $SOURCE"),
		given("streams", "-P $STREAMS"),
		given("read", "-R"),
		given("udp", "-u -b $RATE_CAP"),
		given("udp datagram", "-l $DATAGRAM"),
		given("tcp write", "-Z $CONGESTION_CONTROL"), // for read the server would have it, and iperf rejects both
		given("tcp rate_cap", "--fq-rate $RATE_CAP"), // SO_MAX_PACING_RATE
		given("tcp mss", "-M $MSS"),
		given("tcp nodelay", "-N"),
		given("window", "-w $WINDOW"),
		given("ipv6", "-V"),
	},
	parse: parseIperf,
}

// iperfLine matches the report of one stream or of all: "[SUM] 0.0000-1.8758 sec 11534336 Bytes
// 49193463 bits/sec".
var iperfLine = pattern.MustCompile(`^\[ *\*?(\d+|SUM)\] +([\d.]+)- *([\d.]+) +sec +(\d+) Bytes +([\d.e+]+) bits/sec`)

// parseIperf parses the lines that each end counted itself. With several streams a client prints
// its sum, which is the number that people use. A server does not know which streams belong
// together.
func parseIperf(client, server string) (Report, error) {
	reads := strings.Contains(client, "(reverse)")
	own, reported, err := iperfSums(client)
	if err != nil {
		return Report{}, err
	}
	if own.Seconds == 0 {
		return Report{}, fmt.Errorf("no figure in %q", beginning(client))
	}
	r := Report{Seconds: own.Seconds}
	far, _, err := iperfSums(server)
	if err != nil {
		return Report{}, err
	}
	if reported.Seconds > 0 {
		far = reported // a UDP server reports to its client
	} else {
		r.FromServer = !reads && far.Seconds > 0
	}
	sender, receiver := own, far
	if reads {
		sender, receiver = far, own
	}
	r.SenderBps, r.SenderBytes = sender.Bps, sender.Bytes
	r.ReceiverBps, r.ReceiverBytes = receiver.Bps, receiver.Bytes
	return r, nil
}

// iperfSums sums the lines that an end counted itself, and those that the other end reported to it.
func iperfSums(text string) (own, reported iperf3Sum, err error) {
	summed, theirs := false, false
	for line := range strings.Lines(text) {
		theirs = theirs || strings.Contains(line, "Server Report")
		m := iperfLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var begin, end float64
		var this iperf3Sum
		if _, err := fmt.Sscan(strings.Join(m[2:], " "), &begin, &end, &this.Bytes, &this.Bps); err != nil {
			return own, reported, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
		this.Seconds = end - begin
		switch {
		case theirs:
			add(&reported, this)
		case m[1] == "SUM":
			own, summed = this, true
		case !summed:
			add(&own, this)
		}
	}
	return own, reported, nil
}

func add(sum *iperf3Sum, one iperf3Sum) {
	sum.Bytes += one.Bytes
	sum.Bps += one.Bps
	sum.Seconds = max(sum.Seconds, one.Seconds)
}
