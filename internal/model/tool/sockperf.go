package tool

import (
	"fmt"

	"linerate/internal/model/flow"
	"linerate/internal/model/pattern"
)

// sockperf measures latency, with its ping-pong test over TCP.
var sockperf = Tool{
	Name: "sockperf", Package: "sockperf", Client: "sockperf", Server: "sockperf",
	Protocols:    []string{flow.RR},
	leastMessage: 14, // its own header
	Decided: map[string]string{
		"the flow": "-i --ip", "linerate": "-p --port --client_port --daemonize",
		"duration": "-t --time -n --number-of-packets",
		"protocol": "--tcp", "source": "--client_ip", "request": "-m --msg-size",
		"nothing: linerate lets it go on as it can": "--mps", "linerate, which reads the figures": "--full-rtt",
	},
	Args: []Arg{
		{Names: "--sender-affinity", Value: Number},
		{Names: "--receiver-affinity", Value: Number},
		{Names: "--buffer-size", Value: Size},
		{Names: "--tos", Value: Number},
		{Names: "--lls", Value: Number},
		{Names: "--timeout", Value: Number},
		{Names: "--pre-warmup-wait", Value: Number},
		{Names: "--nonblocked"},
		{Names: "--dontwarmup"},
		{Names: "--no-rdtsc"},
		{Names: "--tcp-avoid-nodelay"},
	},
	server: []group{always("server --tcp -i $ADDRESS -p $PORT")},
	client: []group{
		always("ping-pong --tcp -i $ADDRESS -p $PORT -t $SECONDS -m $REQUEST --full-rtt"),
		given("source", "--client_ip $SOURCE"),
	},
	parse: parseSockperf,
}

var (
	sockperfTime = pattern.MustCompile(
		`\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)`)
	sockperfMean = pattern.MustCompile(`avg-(?:rtt|latency)=([\d.]+)`)
)

func parseSockperf(client, _ string) (Report, error) {
	run, mean := sockperfTime.FindStringSubmatch(client), sockperfMean.FindStringSubmatch(client)
	if run == nil || mean == nil {
		return Report{}, fmt.Errorf("no valid duration or no mean in %q", beginning(client))
	}
	var r Report
	var received float64
	if _, err := fmt.Sscan(run[1]+" "+run[2]+" "+mean[1], &r.Seconds, &received, &r.LatencyUs); err != nil {
		return r, err
	}
	if r.Seconds > 0 {
		r.TransactionsPerS = received / r.Seconds
	}
	return r, nil
}
