package starter

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// Kinds lists the templates in the order of the help. A new one is an entry here and its text in
// studies/templates.
var Kinds = []Kind{
	{
		Name: "nas", Short: "a server with several interfaces on one subnet: does it use them all?",
		Example: "--interfaces 2 --clients 3",
		Arguments: []Argument{
			count("interfaces", "2", 2, 16, "interfaces of the NAS"),
			count("clients", "3", 1, 64, "clients"),
			rate("rate", "1gbit", 1e6, 100e9, "rate of each interface of the NAS"),
			rate("client-rate", "1gbit", 1e6, 100e9, "rate of each client's link"),
		},
		derive: func(v values, _ Sysctls) error {
			n, clients := v["interfaces"].(int), v["clients"].(int)
			v["last"], v["lastaddress"] = n-1, 10+n-1
			v["slow"] = unit.BitRate(clients)*v["client-rate"].(unit.BitRate) < unit.BitRate(n)*v["rate"].(unit.BitRate)
			return nil
		},
	},
	{
		Name: "switch", Short: "hosts on one switch: which of them is slow, and in which direction?",
		Example: "--hosts 12 --rate 1gbit",
		Arguments: []Argument{
			count("hosts", "12", 3, 64, "hosts, each with one interface"),
			rate("rate", "1gbit", 1e6, 100e9, "rate of each host's link"),
		},
		derive: func(values, Sysctls) error { return nil },
	},
	{
		Name: "fabric", Short: "leaves and spines: what does hashing by ports change?",
		Example: "--spines 2 --leaves 2",
		Arguments: []Argument{
			count("spines", "2", 2, 16, "spines"),
			count("leaves", "2", 2, 16, "leaves, each with a host"),
			count("flows", "8", 1, 256, "flows from each host to the one on the next leaf"),
			rate("rate", "200mbit", 1e6, 100e9, "rate of each link between leaf and spine"),
		},
		derive: func(v values, _ Sysctls) error {
			v["hostrate"] = unit.BitRate(v["spines"].(int)) * v["rate"].(unit.BitRate)
			return nil
		},
	},
	{
		Name: "wan", Short: "a path with delay: which buffers and which congestion control fill it?",
		Example: "--rate 100mbit --rtt 40ms --loss 0.1%",
		Arguments: []Argument{
			rate("rate", "100mbit", 1e6, 10e9, "rate of the path"),
			delay("rtt", "40ms", time.Millisecond, time.Second, "round-trip time with empty queues"),
			share("loss", "0%", 0, 0.1, "share of the packets that are lost on the way"),
			count("streams", "1", 1, 64, "connections at a time"),
		},
		derive: func(v values, now Sysctls) error {
			if v["loss"] == unit.Ratio(0) {
				v["loss"] = "" // the file gets no such key
			}
			if err := path(v); err != nil {
				return err
			}
			return buffers(v, now)
		},
	},
	{
		Name: "list", Short: "a list of settings: which of them matter?",
		Example: "--rate 1gbit --rtt 10ms",
		Arguments: []Argument{
			rate("rate", "100mbit", 1e6, 10e9, "rate of the path"),
			delay("rtt", "40ms", time.Millisecond, time.Second, "round-trip time with empty queues"),
		},
		derive: func(v values, _ Sysctls) error { return path(v) },
	},
	{
		Name: "hosts", Short: "two real hosts, reached by ssh: what does another congestion control change?",
		Example: "--server root@nas --server-address 192.168.1.15/24 --server-interface enp3s0",
		Arguments: []Argument{
			remote("server", "root@server", "the host that is connected to"),
			matching("server-interface", "name", "eth0", `[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}`, "as in ip link",
				"its interface"),
			address("server-address", "192.168.1.15/24", "that interface's address"),
			remote("client", "here", "the host that connects"),
			matching("client-interface", "name", "eth0", `[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}`, "as in ip link",
				"its interface"),
			address("client-address", "192.168.1.101/24", "that interface's address"),
			rate("rate", "1gbit", 1e6, 400e9, "rate of both interfaces"),
		},
		derive: func(v values, _ Sysctls) error {
			server, client := v["server-address"].(netip.Prefix), v["client-address"].(netip.Prefix)
			switch {
			case server.Masked() != client.Masked():
				return fmt.Errorf("--server-address %s, --client-address %s: expected two addresses of one network",
					server, client)
			case server.Addr() == client.Addr():
				return fmt.Errorf("--server-address %s, --client-address %s: expected two different ones",
					server, client)
			}
			return nil
		},
	},
}

// Find returns the kind with the given name.
func Find(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// maxInFlight limits the buffers that a template requests from the kernel.
const maxInFlight = 256 << 20

// path derives what a path with a rate and a round-trip time requires.
func path(v values) error {
	rate, rtt := v["rate"].(unit.BitRate), time.Duration(v["rtt"].(unit.Duration))
	bdp := int64(math.Ceil(float64(rate) / 8 * rtt.Seconds()))
	if bdp > maxInFlight {
		return fmt.Errorf(
			"--rate %s, --rtt %s: %d MiB are in flight: expected at most %d MiB, so a lower rate or a shorter "+
				"round trip",
			rate, rtt, bdp>>20, maxInFlight>>20)
	}
	v["bdp"] = bdp
	v["delay"] = unit.Duration(rtt / 2)
	v["warmup"] = unit.Duration(max(time.Second, 40*rtt))
	// Fifty round trips, which are slightly longer than the path's delay, show what limits a flow.
	v["duration"] = unit.Duration(max(3*time.Second, 60*rtt, study.ProbeWindow(float64(rate))))
	return nil
}

// buffers sets the buffers of the level with larger ones: what `limits bdp` recommends, and at
// least what the kernel has. If the kernel's are sufficient, it doubles them: a level with equal
// buffers would show nothing.
func buffers(v values, now Sysctls) error {
	p := limits.Path{RateBps: float64(v["rate"].(unit.BitRate)), RTTS: v["rtt"].(unit.Duration).Seconds()}
	needed := []int64{p.ReceiveBuffer(), p.SendBuffer()}
	receive := triple(now("net.ipv4.tcp_rmem"), [3]int64{4096, 131072, limits.LinuxRmem})
	send := triple(now("net.ipv4.tcp_wmem"), [3]int64{4096, 16384, limits.LinuxWmem})
	has := []int64{receive[2], send[2]}
	v["needed"], v["has"], v["enough"] = needed, has, needed[0] <= has[0] && needed[1] <= has[1]
	for i, buffer := range []*[3]int64{&receive, &send} {
		if buffer[2] = max(needed[i], has[i]); v["enough"] == true {
			buffer[2] = min(2*has[i], math.MaxInt32) // the kernel's bounds have 31 bits
		}
	}
	v["rmem"], v["wmem"] = receive, send
	return nil
}

// triple parses the three values of a buffer. It returns otherwise if the text has another form.
func triple(text string, otherwise [3]int64) (bounds [3]int64) {
	if n, err := fmt.Sscan(text, &bounds[0], &bounds[1], &bounds[2]); err != nil || n != 3 {
		return otherwise
	}
	return bounds
}
