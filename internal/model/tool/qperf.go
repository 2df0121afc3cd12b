package tool

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/flow"
)

var qperf = Tool{
	Name: "qperf", Package: "qperf", Client: "qperf", Server: "qperf",
	Protocols: []string{flow.TCP, flow.RR},
	NoSource:  true, WriteOnly: true, Forks: true, TwoPorts: true,
	Decided: map[string]string{
		"linerate": "-lp --listen_port -ip --ip_port", "duration": "-t --time -n --no_msgs",
		"direction": "-f -f1 --flip",
		"the flow":  "-H --host", "linerate, which reads the figures": "-uu -ub -v -vv -oo",
		"window": "-sb --sock_buf_size",
	},
	Args: []Arg{
		{Names: "-m --msg_size", Value: Size},
		{Names: "-ca --cpu_affinity", Value: Number},
		{Names: "-lca --loc_cpu_affinity", Value: Number},
		{Names: "-rca --rem_cpu_affinity", Value: Number},
		{Names: "-to --timeout", Value: Number},
	},
	server: []group{always("-lp $PORT")},
	client: []group{
		always("-lp $PORT -ip $NEXT_PORT -t $SECONDS -v -uu"),
		given("rr", "-m $REQUEST"),
		given("window", "-sb $WINDOW"),
		always("$ARGS $ADDRESS"), // the host and the test must come last
		given("tcp", "tcp_bw"), given("rr", "tcp_lat"),
	},
	parse: parseQperf,
}

// parseQperf parses "bw = 6160384 bytes/sec", which is what the receiver got, or "latency = 5358
// ns", which is half of a round trip.
func parseQperf(client, _ string) (Report, error) {
	var r Report
	for line := range strings.Lines(client) {
		key, value, ok := strings.Cut(line, "=")
		words := strings.Fields(value)
		if !ok || len(words) == 0 {
			continue
		}
		figure, err := strconv.ParseFloat(strings.ReplaceAll(words[0], ",", ""), 64)
		if err != nil {
			continue // "test = tcp_bw"
		}
		switch strings.TrimSpace(key) {
		case "bw":
			r.ReceiverBps = figure * 8
		case "time":
			r.Seconds = figure / 1e9
		case "latency":
			r.LatencyUs = 2 * figure / 1e3
			r.TransactionsPerS = 1e9 / (2 * figure)
		}
	}
	if r.ReceiverBps == 0 && r.LatencyUs == 0 {
		return r, fmt.Errorf("no figure in %q", beginning(client))
	}
	r.ReceiverBytes = int64(r.ReceiverBps / 8 * r.Seconds)
	return r, nil
}
