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
		"-S": "the flow", "-1": "the flow", "-t": "direction", "-r": "direction", "-F": "direction",
		"-P": "linerate", "-p": "linerate", "-T": "duration", "-n": "duration", "-N": "streams, of which nuttcp has one here",
		"-u": "protocol", "-R": "rate_cap", "-M": "mss", "-D": "nodelay", "-w": "window",
		"-f": "linerate, which reads the figures", "-i": "linerate, which reads the figures", "-s": "linerate, which keeps the output",
	},
	server: func(j Job) []string {
		return append([]string{"-S", "--nofork", "-P", number(j.Destination.Port())}, nuttcpFamily(j)...)
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
			if j.Datagram > 0 {
				w = append(w, "-l"+number(j.Datagram))
			}
		} else {
			if j.MSS > 0 {
				w = append(w, "-M"+number(j.MSS))
			}
			if flow.On(j.NoDelay) {
				w = append(w, "-D")
			}
		}
		if j.RateCap > 0 {
			w = append(w, "-R"+strconv.FormatFloat(float64(j.RateCap)/1e3, 'f', 0, 64)) // kbit/s
		}
		if j.Window > 0 {
			w = append(w, "-w"+number(max(j.Window/1024, 1)), "-ws"+number(max(j.Window/1024, 1)))
		}
		w = append(w, nuttcpFamily(j)...)
		return append(append(w, j.ToolArgs...), j.Destination.Addr().String())
	},
	parse: parseNuttcp,
}

func nuttcpFamily(j Job) []string {
	if j.Destination.Addr().Is6() {
		return []string{"-6"}
	}
	return nil
}

// parseNuttcp reads "megabytes=13.7627 real_seconds=2.37 rate_Mbps=48.6491 …": what
// the receiver got, over the receiver's time, as the client prints it.
func parseNuttcp(client, _ string) (Report, error) {
	var r Report
	var err error
	for word := range strings.FieldsSeq(client) {
		key, value, _ := strings.Cut(word, "=")
		var into *float64
		scale := 1.0
		var megabytes float64
		switch key {
		case "megabytes": // of 2^20
			into = &megabytes
		case "real_seconds":
			into = &r.Seconds
		case "rate_Mbps":
			into, scale = &r.ReceiverBps, 1e6
		default:
			continue
		}
		if *into, err = strconv.ParseFloat(value, 64); err != nil {
			return r, err
		}
		*into *= scale
		if key == "megabytes" {
			r.ReceiverBytes = int64(megabytes * (1 << 20))
		}
	}
	if r.Seconds == 0 {
		return r, fmt.Errorf("no figure in %q", beginning(client))
	}
	return r, nil
}
