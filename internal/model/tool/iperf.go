package tool

import (
	"fmt"
	"regexp"
	"strings"

	"linerate/internal/model/flow"
)

var iperf = Tool{
	Name: "iperf", Package: "iperf", Client: "iperf", Server: "iperf",
	Protocols: []string{flow.TCP, flow.UDP},
	Waits:     true, // since 2.1; one that does not ends with its last write, and is gone
	Options:   []string{"streams", "mss", "nodelay", "congestion_control", "window", "rate_cap", "datagram"},
	Decided: map[string]string{
		"the flow": "-c --client -s --server", "linerate": "-p --port -D --daemon", "source": "-B --bind",
		"destination": "-V --ipv6_domain", "duration": "-t --time -n --num", "streams": "-P --parallel",
		"direction": "-R --reverse -r --tradeoff", "direction: both": "-d --dualtest --full-duplex", "protocol": "-u --udp",
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
	server: func(j Job) []string {
		w := []string{"-s", "-p", number(j.Destination.Port()), "-B", j.Destination.Addr().String(), "-f", "b"}
		w = when(w, j.Protocol == flow.UDP, "-u")
		w = when(w, j.Window > 0, "-w", number(j.Window))
		w = when(w, j.Reads && j.CongestionControl != "" && j.Protocol != flow.UDP, "-Z", j.CongestionControl)
		return when(w, j.Destination.Addr().Is6(), "-V")
	},
	client: func(j Job) []string {
		w := []string{"-c", j.Destination.Addr().String(), "-p", number(j.Destination.Port()),
			"-t", fraction(j.Seconds), "-f", "b"}
		w = when(w, j.Source.IsValid(), "-B", j.Source.String())
		w = when(w, j.Streams > 1, "-P", number(j.Streams))
		w = when(w, j.Reads, "-R")
		if j.Protocol == flow.UDP {
			w = append(w, "-u", "-b", rate(j.RateCap))
			w = when(w, j.Datagram > 0, "-l", number(j.Datagram))
		} else {
			w = when(w, !j.Reads, "-Z", j.CongestionControl)         // the server has it then, and iperf refuses both
			w = when(w, j.RateCap > 0, "--fq-rate", rate(j.RateCap)) // SO_MAX_PACING_RATE
			w = when(w, j.MSS > 0, "-M", number(j.MSS))
			w = when(w, flow.On(j.NoDelay), "-N")
		}
		w = when(w, j.Window > 0, "-w", number(j.Window))
		w = when(w, j.Destination.Addr().Is6(), "-V")
		return append(w, j.ToolArgs...)
	},
	parse: parseIperf,
}

// iperfLine is a report of one stream, or of all: "[SUM] 0.0000-1.8758 sec
// 11534336 Bytes 49193463 bits/sec".
var iperfLine = regexp.MustCompile(`^\[ *\*?(\d+|SUM)\] +([\d.]+)- *([\d.]+) +sec +(\d+) Bytes +([\d.e+]+) bits/sec`)

// parseIperf reads each end's own lines. A client shows its sum where there are
// several streams, and that is what people read off it, however it was made; a
// server does not know how many streams belong together.
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

// iperfSums adds up an end's own lines, and those that the other end reported to it.
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
