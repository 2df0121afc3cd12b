package tool

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/flow"
)

var nuttcp = Tool{
	Name: "nuttcp", Package: "nuttcp", Client: "nuttcp", Server: "nuttcp",
	Protocols: []string{flow.TCP, flow.UDP},
	Options:   []string{"mss", "nodelay", "window", "rate_cap", "datagram"},
	NoSource:  true, TwoPorts: true,
	Decided: map[string]string{
		"the flow": "-S -1", "direction": "-t -r -F", "linerate": "-P -p", "duration": "-T -n",
		"streams, of which nuttcp has one here": "-N", "protocol": "-u", "rate_cap": "-R", "mss": "-M", "nodelay": "-D",
		"window": "-w", "linerate, which reads the figures": "-f -i", "linerate, which keeps the output": "-s",
	},
	Args: []Arg{
		{Names: "-l", Value: Size, Attached: true},
		{Names: "-c", Value: Number, Attached: true},
	},
	server: func(j Job) []string {
		return when([]string{"-S", "--nofork", "-P", number(j.Destination.Port())}, j.Destination.Addr().Is6(), "-6")
	},
	client: func(j Job) []string {
		w := []string{"-P", number(j.Destination.Port()), "-p", number(j.Destination.Port() + 1),
			"-T" + fraction(j.Seconds), "-fparse"}
		if j.Reads {
			// Its data connections are opened by the sender, unless flipped.
			w = append(w, "-r", "-F")
		}
		if j.Protocol == flow.UDP {
			w = append(w, "-u")
			w = when(w, j.Datagram > 0, "-l"+number(j.Datagram))
		} else {
			w = when(w, j.MSS > 0, "-M"+number(j.MSS))
			w = when(w, flow.On(j.NoDelay), "-D")
		}
		w = when(w, j.RateCap > 0, "-R"+strconv.FormatFloat(float64(j.RateCap)/1e3, 'f', 0, 64)) // kbit/s
		w = when(w, j.Window > 0, "-w"+number(max(j.Window/1024, 1)), "-ws"+number(max(j.Window/1024, 1)))
		w = when(w, j.Destination.Addr().Is6(), "-6")
		return append(append(w, j.ToolArgs...), j.Destination.Addr().String())
	},
	parse: parseNuttcp,
}

// parseNuttcp reads "megabytes=13.7627 real_seconds=2.37 rate_Mbps=48.6491 …": what
// the receiver got, over the receiver's time, as the client prints it.
func parseNuttcp(client, _ string) (Report, error) {
	figures := map[string]float64{"megabytes": 0, "real_seconds": 0, "rate_Mbps": 0}
	for word := range strings.FieldsSeq(client) {
		key, value, _ := strings.Cut(word, "=")
		if _, wanted := figures[key]; wanted {
			var err error
			if figures[key], err = strconv.ParseFloat(value, 64); err != nil {
				return Report{}, err
			}
		}
	}
	r := Report{Seconds: figures["real_seconds"], ReceiverBps: figures["rate_Mbps"] * 1e6, ReceiverBytes: int64(figures["megabytes"] * (1 << 20))}
	if r.Seconds == 0 {
		return r, fmt.Errorf("no figure in %q", beginning(client))
	}
	return r, nil
}
