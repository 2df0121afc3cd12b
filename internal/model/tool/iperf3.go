package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/model/flow"
)

// cookie is the number of bytes that the opener of a data connection of iperf3 sends first.
const cookie = 37

var iperf3 = Tool{
	Name: "iperf3", Package: "iperf3", Client: "iperf3", Server: "iperf3",
	Protocols: []string{flow.TCP, flow.UDP},
	Decided: map[string]string{
		"the flow": "-c --client -s --server", "linerate": "-p --port -D --daemon", "source": "-B --bind",
		"duration": "-t --time -n --bytes -k --blockcount", "streams": "-P --parallel", "direction": "-R --reverse",
		"direction: both": "--bidir", "protocol": "-u --udp --sctp", "rate_cap": "-b --bitrate --fq-rate",
		"mss":     "-M --set-mss",
		"nodelay": "-N --no-delay", "window": "-w --window", "congestion_control": "-C --congestion",
		"dscp":                              "-S --tos --dscp",
		"linerate, which reads the figures": "-J --json --json-stream", "linerate, which keeps the output": "--logfile",
		"nothing": "-h --help -v --version",
	},
	Args: []Arg{
		{Names: "-l --length", Value: Size},
		{Names: "-O --omit", Value: Number},
		{Names: "-Z --zerocopy"},
		{Names: "-A --affinity", Value: Number},
		{Names: "-L --flowlabel", Value: Number},
		{Names: "--pacing-timer", Value: Number},
		{Names: "--connect-timeout", Value: Number},
		{Names: "--snd-timeout", Value: Number},
		{Names: "--rcv-timeout", Value: Number},
		{Names: "--dont-fragment"},
		{Names: "--repeating-payload"},
		{Names: "--udp-counters-64bit"},
	},
	server: []group{always("-s -1 -J -i 0 -p $PORT -B $ADDRESS")},
	client: []group{
		// One report at the end: with many streams the interval reports would be megabytes.
		always("-c $ADDRESS -p $PORT -t $SECONDS -J -i 0"),
		given("source", "-B $SOURCE"),
		given("streams", "-P $STREAMS"),
		given("read", "-R"),
		given("udp", "-u -b $RATE_CAP"), // 0: as fast as possible
		given("udp datagram", "-l $DATAGRAM"),
		given("tcp", "-C $CONGESTION_CONTROL"),
		given("tcp read rate_cap", "-b $RATE_CAP"),         // the server supports no other limit
		given("tcp write rate_cap", "--fq-rate $RATE_CAP"), // SO_MAX_PACING_RATE
		given("tcp mss", "-M $MSS"),
		given("tcp nodelay", "-N"),
		given("window", "-w $WINDOW"),
		given("dscp", "--tos $TOS"), // its server sets it too
	},
	parse: parseIperf3,
	// The first connection carries parameters and results. Both ends send on it; the acceptor sends
	// a byte for each step, two of which happen before there is another connection. On a data
	// connection the end that only reads sends just the cookie and finally its FIN, which counts as
	// a byte.
	control: func(opener, acceptor uint64) bool { return opener > cookie+1 && acceptor > 1 },
}

// iperf3Sum is a summary in iperf3's JSON.
type iperf3Sum struct {
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
	Bps     float64 `json:"bits_per_second"`
	Lost    float64 `json:"lost_packets"`
	Packets float64 `json:"packets"`
}

// parseIperf3 parses the client's JSON document, which has the counts of both ends. For UDP before
// 3.14 the receiver only counts packets.
func parseIperf3(client, _ string) (Report, error) {
	var doc struct {
		Error string `json:"error"`
		End   struct {
			Sent     *iperf3Sum `json:"sum_sent"`
			Received *iperf3Sum `json:"sum_received"`
			UDP      *iperf3Sum `json:"sum"`
		} `json:"end"`
	}
	start := strings.IndexByte(client, '{')
	if start < 0 {
		return Report{}, fmt.Errorf("no JSON document in %q", beginning(client))
	}
	if err := json.NewDecoder(strings.NewReader(client[start:])).Decode(&doc); err != nil {
		return Report{}, err
	}
	if doc.Error != "" {
		return Report{}, errors.New(doc.Error)
	}
	var r Report
	if sent := doc.End.Sent; sent != nil {
		r.SenderBps, r.SenderBytes, r.Seconds = sent.Bps, sent.Bytes, sent.Seconds
	}
	if received := doc.End.Received; received != nil {
		r.ReceiverBps, r.ReceiverBytes = received.Bps, received.Bytes
		r.Seconds = max(r.Seconds, received.Seconds)
	}
	if udp := doc.End.UDP; udp != nil && doc.End.Received == nil {
		r.SenderBps, r.SenderBytes, r.Seconds = udp.Bps, udp.Bytes, udp.Seconds
		if udp.Packets > 0 {
			arrived := 1 - udp.Lost/udp.Packets
			r.ReceiverBps, r.ReceiverBytes = arrived*udp.Bps, int64(arrived*float64(udp.Bytes))
		}
	}
	if doc.End.Sent == nil && doc.End.UDP == nil {
		return Report{}, errors.New("the document has no sum")
	}
	return r, nil
}

// beginning returns enough of an output to recognise it.
func beginning(text string) string {
	text = strings.TrimSpace(text)
	if line, _, more := strings.Cut(text, "\n"); more {
		text = line
	}
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return text
}
