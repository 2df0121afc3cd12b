//go:build linux && !portable

package hoststate

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// twin is a lab that works, close to one with a fault.
type twin struct {
	id    string
	of    []string // the faults whose rules have most to go by there
	plant func(b *bench)
	act   func(b *bench)
}

var twins = []twin{
	{id: "idle", of: []string{"link-down", "mtu-differs", "netmask-differs", "address-twice", "mac-twice-in-subnet",
		"same-subnet-interfaces"}},
	{id: "a transfer", of: []string{"tcp-retransmissions", "window-limited", "unread-data", "unacknowledged",
		"qdisc-drop"}, act: exchange},
	{id: "a transfer over IPv6", of: []string{"tcp-retransmissions", "window-limited"}, act: func(b *bench) {
		if hasIPv6() {
			transfer(b, "server", "[fd00::1]:7001")
		}
	}},
	{id: "short connections", of: []string{"connect-fails", "syn-unanswered", "close-wait", "fin-wait-many",
		"ports-in-time-wait"}, act: reconnect},
	{id: "a burst of connections, with room", of: []string{"listen-overflow", "accept-queue-full", "syn-queue-full",
		"half-open-many"}, plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7020"), 64) })
	}, act: func(b *bench) { b.connect("client", "10.0.0.1:7020", 40) }},
	{id: "a probe that is answered", of: []string{"resolver-dead", "probe-unanswered", "mtu-blackhole",
		"several-arp-answers", "connect-unanswered"}, plant: func(b *bench) {
		b.nameServer("other", "10.0.0.3:53")
		b.probes("10.0.0.1", 7999, "10.0.0.3")
	}},
	{id: "a second name server that is dead", of: []string{"resolver-dead", "resolver-unresolved"},
		plant: func(b *bench) {
			b.nameServer("other", "10.0.0.3:53")
			b.resolver("client", "10.0.0.3", "10.0.0.99")
			b.probes("10.0.0.1", 7999, "10.0.0.3", "10.0.0.99")
			asksName(b, "10.0.0.99:53")
		}},
	{id: "datagrams that are read", of: []string{"udp-buffer-overflow", "udp-queue-full", "udp-no-listener"},
		plant: func(b *bench) { drain(b, "10.0.0.1:7010") }, act: func(b *bench) {
			send(b.udp("client", "", "10.0.0.1:7010"), 60, 1000)
		}},
	{id: "a few large datagrams", of: []string{"fragmentation", "reassembly-failed"}, plant: func(b *bench) {
		drain(b, "10.0.0.1:7010")
	}, act: func(b *bench) {
		send(b.udp("client", "", "10.0.0.1:7010"), 2, 4000)
	}},
	{id: "a queue with room", of: []string{"qdisc-drop", "tcp-retransmissions"},
		plant: shell("client", "tc qdisc add dev eth0 root tbf rate 400mbit burst 200kb limit 4mb"), act: exchange},
	{id: "larger buffers and queues", of: []string{"receive-buffer-small", "send-buffer-small", "somaxconn-small",
		"syn-backlog-small", "port-range-small", "time-wait-few"}, plant: func(b *bench) {
		b.in("server", func() error {
			for key, value := range map[string]string{"net.ipv4.tcp_rmem": "4096 131072 67108864",
				"net.ipv4.tcp_wmem": "4096 65536 67108864", "net.core.somaxconn": "65535",
				"net.ipv4.tcp_max_syn_backlog": "65535", "net.ipv4.ip_local_port_range": "1024 65535"} {
				if err := writeParameter(key, value); err != nil {
					return err
				}
			}
			return nil
		})
	}, act: reconnect},
	{id: "a strict filter on two subnets", of: []string{"strict-rp-filter", "same-subnet-interfaces"},
		plant: func(b *bench) {
			twoSubnets(b)
			b.in("server", func() error { return writeParameter("net.ipv4.conf.all.rp_filter", "1") })
			drain(b, "10.0.0.1:7010")
			drain(b, "10.1.0.1:7010")
		}, act: func(b *bench) {
			b.sendFrom("10.0.0.2:0", "10.0.0.1:7010", 50)
			b.sendFrom("10.1.0.2:0", "10.1.0.1:7010", 50)
		}},
	{id: "jumbo frames everywhere", of: []string{"mtu-differs", "bridge-mtu-mixed", "mtu-blackhole"},
		plant: func(b *bench) {
			for _, host := range benchHosts {
				b.sh("switch", "ip link set dev "+host+"-eth0 mtu 9000")
				b.sh(host, "ip link set dev eth0 mtu 9000")
			}
			b.probes("10.0.0.1", 0)
		}, act: exchange},
	{id: "a static entry that is right", of: []string{"wrong-neighbour"},
		plant: shell("client", "ip neigh replace 10.0.0.1 lladdr 02:00:00:00:01:04 dev eth0 nud permanent"),
		act:   exchange},
	{id: "a gateway that forwards", of: []string{"gateway-unresolved", "gateway-off-link", "not-for-us", "ttl-exceeded",
		"return-route-missing", "no-route", "rule-without-routes"}, plant: func(b *bench) {
		b.in("other", func() error { return writeParameter("net.ipv4.ip_forward", "1") })
		b.sh("other", "ip address add 10.1.0.1/24 dev lo")
		b.sh("client",
			"ip route add default via 10.0.0.3 && ip rule add from 10.0.0.2 table 100 && ip route add default via "+
				"10.0.0.3 table 100")
	}, act: func(b *bench) { transfer(b, "other", "10.1.0.1:7001") }},
	{id: "a firewall rule for another port", of: []string{"firewall-drop"}, plant: firewall("7011"), act: toFirewall},
	{id: "a group of next hops that answer", of: []string{"nexthop-dead"}, plant: nexthopGroup("10.0.0.3")},
	{id: "routes of a daemon that discard", of: []string{"blackhole-route"},
		plant: shell("client", "ip route add blackhole 198.51.100.0/24 proto bird")},
	{id: "addresses on a bridge of the host", of: []string{"netmask-differs", "mac-twice", "bridge-mtu-mixed"},
		plant: func(b *bench) { bridged(b, "server") }, act: exchange},
}

// drain has a host read the datagrams that come to an address of the server.
func drain(b *bench, at string) {
	c := b.udp("server", at, "")
	go func() {
		for buffer := make([]byte, 8192); ; {
			if _, err := c.Read(buffer); err != nil {
				return
			}
		}
	}()
}

// TestNothingChanges: reading a host leaves its tables as they were.
func TestNothingChanges(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		exchange(b)
		state := func() (out string) {
			b.in("client", func() error {
				text, err := exec.Command("sh", "-c",
					"ip address; ip route show table all; ip neigh | sed 's/ [A-Z]*$//'; ip rule; tc qdisc; sysctl "+
						"-a 2>/dev/null | grep -E '^net\\.ipv[46]' | sort").CombinedOutput()
				out = string(text)
				return err
			})
			return out
		}
		before := state()
		b.diagnosed(nil, "client")
		if after := state(); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// TestFirewallPlace: what a rule of nftables drops has the rule as its place in the table of
// drops, by the kernel's reasons or by counters.
func TestFirewallPlace(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		firewall("7010")(b)
		e := b.diagnosed(toFirewall, "server")
		var rows []string
		for _, d := range e.Drops {
			if row := strings.Join(strings.Fields(d.Where+" "+d.Counter+" "+d.Place), " "); !d.Again && !d.Boot &&
				strings.Contains(row, "inet lab in handle ") && d.Packets == 20 {
				rows = append(rows, row)
			}
		}
		if len(rows) != 1 {
			t.Errorf("rows %q of %+v", rows, e.Drops)
		}
	})
}
