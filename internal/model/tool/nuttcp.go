package tool

import "linerate/internal/model/flow"

var nuttcp = Tool{
	Name: "nuttcp", Package: "nuttcp", Client: "nuttcp", Server: "nuttcp",
	Protocols: []string{flow.TCP, flow.UDP},
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
	server: []group{always("-S --nofork -P $PORT"), given("ipv6", "-6")},
	client: []group{
		always("-P $PORT -p $NEXT_PORT -T$TIME -fparse"),
		given("read", "-r -F"), // the sender opens its data connections unless they are flipped
		given("udp", "-u"),
		given("udp datagram", "-l$DATAGRAM"),
		given("tcp mss", "-M$MSS"),
		given("tcp nodelay", "-D"),
		given("rate_cap", "-R$RATE_CAP_KBIT"),
		given("window", "-w$WINDOW_KIB -ws$WINDOW_KIB"),
		given("ipv6", "-6"),
		always("$ARGS $ADDRESS"),
	},
	// Parses "megabytes=13.7627 real_seconds=2.37 rate_Mbps=48.6491 …", which the client prints:
	// what the receiver got in its own time.
	parse: figures(
		finds(`rate_Mbps=([\d.]+)`, "Mbit/s", receiverRate),
		finds(`real_seconds=([\d.]+)`, "s", duration),
		finds(`megabytes=([\d.]+)`, "MiB", receivedBytes),
	),
}
