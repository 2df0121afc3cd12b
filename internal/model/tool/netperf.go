package tool

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/flow"
)

// netperf is not in Debian's main archive. If it is installed, it is used as its manual describes
// (output selectors of the omni tests, netperf 2.5 and later).
var netperf = Tool{
	Name: "netperf", Package: "netperf (non-free)", Client: "netperf", Server: "netserver",
	Protocols: []string{flow.TCP, flow.RR},
	Waits:     true,
	Forks:     true, TwoPorts: true,
	Decided: map[string]string{
		"the flow": "-H", "source": "-L", "linerate": "-p", "duration": "-l", "protocol and direction": "-t",
		"linerate, which reads the figures": "-P -v -f -j -k -o", "nodelay": "-D", "congestion_control": "-K",
		"window":               "-s -S",
		"request and response": "-r", "destination": "-4 -6", "linerate: words come after it": "--",
	},
	Args: []Arg{
		{Names: "-m", Value: Size},
		{Names: "-M", Value: Size},
	},
	server: []group{always("-D -p $PORT -L $ADDRESS"), given("ipv4", "-4"), given("ipv6", "-6")},
	client: []group{
		always("-H $ADDRESS -p $PORT -l $SECONDS -t"),
		given("tcp write", "TCP_STREAM"), given("tcp read", "TCP_MAERTS"), given("rr", "TCP_RR"),
		always("-P 0"),
		given("ipv4", "-4"), given("ipv6", "-6"),
		given("source", "-L $SOURCE"),
		always(
			"-- -P ,$NEXT_PORT -K $CONGESTION_CONTROL -k " +
				"THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,LOCAL_BYTES_SENT,LOCAL_BYTES_RECVD," +
				"REMOTE_BYTES_SENT,REMOTE_BYTES_RECVD,MEAN_LATENCY"),
		given("nodelay", "-D"),
		given("window", "-s $WINDOW,$WINDOW -S $WINDOW,$WINDOW"),
		given("rr", "-r $REQUEST,$RESPONSE"),
	},
	parse: parseNetperf,
}

// parseNetperf parses KEY=VALUE lines. The THROUGHPUT of a stream is what the receiver got over the
// whole time.
func parseNetperf(client, _ string) (Report, error) {
	value := map[string]string{}
	for line := range strings.Lines(client) {
		if key, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			value[key] = v
		}
	}
	figure := func(key string) float64 {
		f, _ := strconv.ParseFloat(value[key], 64)
		return f
	}
	r := Report{Seconds: figure("ELAPSED_TIME")}
	throughput, err := strconv.ParseFloat(value["THROUGHPUT"], 64)
	if err != nil || r.Seconds == 0 {
		return Report{}, fmt.Errorf("no THROUGHPUT and ELAPSED_TIME in %q", beginning(client))
	}
	switch units := value["THROUGHPUT_UNITS"]; units {
	case "Trans/s":
		r.TransactionsPerS, r.LatencyUs = throughput, figure("MEAN_LATENCY")
	case "10^6bits/s":
		r.ReceiverBps = throughput * 1e6
		sent, received := figure("LOCAL_BYTES_SENT"), figure("REMOTE_BYTES_RECVD")
		if sent == 0 {
			sent, received = figure("REMOTE_BYTES_SENT"), figure("LOCAL_BYTES_RECVD")
		}
		r.SenderBytes, r.ReceiverBytes = int64(sent), int64(received)
		r.SenderBps = sent * 8 / r.Seconds
	default:
		return Report{}, fmt.Errorf("THROUGHPUT_UNITS %q: expected 10^6bits/s or Trans/s", units)
	}
	return r, nil
}
