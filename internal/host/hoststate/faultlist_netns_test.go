//go:build linux && !portable

package hoststate

import (
	"encoding/binary"
	"io"
	"net/netip"
	"slices"
	"time"
)

// fault is one that is planted: before the readings, or between them by act.
type fault struct {
	id    string // of the rule that finds it
	as    string // what is other than in the fault of that rule alone; empty: nothing
	on    string // the host that has it; empty: any
	plant func(b *bench)
	act   func(b *bench)
	// parameter: it is planted in one lab with the others that are.
	parameter bool
	// hosts are those that are read; none: all.
	hosts []string
	// beside are rules that may find something as well, which is not said to follow from
	// another one: what follows from the fault on another host, or what it follows from.
	beside []string
	// and are further faults in the same lab.
	and []fault
}

func (f fault) name() string {
	if f.as == "" {
		return f.id
	}
	return f.id + " (" + f.as + ")"
}

// sysctl plants a kernel parameter on the server.
func sysctl(id, key, value string) fault {
	return fault{id: id, on: "server", parameter: true, plant: func(b *bench) {
		b.in("server", func() error { return writeParameter(key, value) })
	}}
}

// besides are further rules that may find something.
func (f fault) besides(rules ...string) fault {
	f.beside = append(f.beside, rules...)
	return f
}

// shell plants something by a script on a host.
func shell(host, script string) func(*bench) { return func(b *bench) { b.sh(host, script) } }

// firewall has the server drop what is to a port of UDP, with a counter.
func firewall(port string) func(*bench) {
	return func(b *bench) {
		b.udp("server", "10.0.0.1:7010", "")
		b.nft("server", "table inet lab { chain in { type filter hook input priority 0; udp dport "+port+
			" counter drop; }; }")
	}
}

func toFirewall(b *bench) { send(b.udp("client", "", "10.0.0.1:7010"), 20, 100) }

// nexthopGroup plants a route by a group of nexthop objects on the client, the second of which
// has this gateway.
func nexthopGroup(gateway string) func(*bench) {
	return func(b *bench) {
		b.sh("client", "ip nexthop add id 1 via 10.0.0.1 dev eth0 && ip nexthop add id 2 via "+gateway+
			" dev eth0 && ip nexthop add id 10 group 1/2 && ip route add 198.51.100.0/24 nhid 10")
		send(b.udp("client", "", gateway+":9"), 1, 100)
		time.Sleep(3500 * time.Millisecond) // three requests, a second apart
	}
}

var faults = slices.Concat(oneHostFaults, peerFaults, ipv6Faults, variedFaults, pairedFaults)

var oneHostFaults = []fault{
	sysctl("window-scaling-off", "net.ipv4.tcp_window_scaling", "0"),
	sysctl("sack-off", "net.ipv4.tcp_sack", "0"),
	sysctl("receive-buffer-small", "net.ipv4.tcp_rmem", "4096 65536 262144").besides("window-scaling-off"),
	sysctl("send-buffer-small", "net.ipv4.tcp_wmem", "4096 16384 131072"),
	sysctl("autotuning-off", "net.ipv4.tcp_moderate_rcvbuf", "0"),
	sysctl("somaxconn-small", "net.core.somaxconn", "16"),
	sysctl("syn-backlog-small", "net.ipv4.tcp_max_syn_backlog", "8"),
	sysctl("path-mtu-discovery-off", "net.ipv4.ip_no_pmtu_disc", "1"),
	sysctl("port-range-small", "net.ipv4.ip_local_port_range", "40000 41000"),
	sysctl("retries-few", "net.ipv4.tcp_retries2", "3"),
	sysctl("synack-retries-few", "net.ipv4.tcp_synack_retries", "1"),
	sysctl("ttl-small", "net.ipv4.ip_default_ttl", "8"),
	sysctl("dsack-off", "net.ipv4.tcp_dsack", "0"),
	sysctl("rack-off", "net.ipv4.tcp_recovery", "0"),
	sysctl("loss-probes-off", "net.ipv4.tcp_early_retrans", "0"),
	sysctl("abort-on-overflow", "net.ipv4.tcp_abort_on_overflow", "1"),
	sysctl("output-limit-small", "net.ipv4.tcp_limit_output_bytes", "65536"),
	sysctl("unsent-limit-small", "net.ipv4.tcp_notsent_lowat", "4096"),
	sysctl("time-wait-few", "net.ipv4.tcp_max_tw_buckets", "16"),
	{id: "buffer-sizes-disordered", on: "other", parameter: true, plant: func(b *bench) {
		b.in("other", func() error { return writeParameter("net.ipv4.tcp_rmem", "131072 4096 6291456") })
	}},

	{id: "link-down", on: "client", plant: shell("switch", "ip link set dev client-eth0 down")},
	{id: "mtu-below-minimum", on: "client", plant: shell("client", "ip link set dev eth0 mtu 1000"),
		beside: []string{"mtu-differs"}},
	{id: "mtu-differs", on: "server", plant: shell("server", "ip link set dev eth0 mtu 1400")},
	{id: "bridge-mtu-mixed", on: "switch", hosts: []string{"switch"},
		plant: shell("switch", "ip link set dev client-eth0 mtu 1400")},
	{id: "mtu-above-uplink", on: "server", hosts: []string{"server"}, plant: shell("server",
		"ip link add docker0 mtu 9000 type bridge && ip link add vethc mtu 9000 type veth peer name vethd && "+
			"ip link set dev vethc master docker0 && ip address add 172.17.0.1/16 dev docker0 && "+
			"ip link set dev docker0 up && ip link set dev vethc up && ip link set dev vethd up && "+
			"ip route replace default via 10.0.0.2 && sysctl -qw net.ipv4.ip_forward=1")},
	{id: "same-subnet-mtu", on: "server", hosts: []string{"server"}, plant: func(b *bench) {
		b.link("server", "eth1", 9)
		b.sh("server", "ip address add 10.0.0.9/24 dev eth1 && ip link set dev eth1 mtu 1400 up")
	}, beside: []string{"same-subnet-interfaces", "arp-flux"}},
	{id: "offload-off", on: "server", plant: func(b *bench) {
		b.disable("server", "eth0", "tx-tcp-segmentation", "tx-generic-segmentation")
	}},
	{id: "same-subnet-interfaces", on: "server", plant: func(b *bench) {
		b.link("server", "eth1", 9)
		b.sh("server", "ip address add 10.0.0.9/24 dev eth1 && ip link set dev eth1 up")
	}, beside: []string{"arp-flux"}},
	{id: "strict-rp-filter", on: "server", plant: func(b *bench) {
		b.link("server", "eth1", 9)
		b.sh("server", "ip address add 10.0.0.9/24 dev eth1 && ip link set dev eth1 up")
		b.in("server", func() error { return writeParameter("net.ipv4.conf.all.rp_filter", "1") })
	}, beside: []string{"same-subnet-interfaces", "arp-flux", "rp-filter-drop"}},
	{id: "mac-twice", on: "server", plant: func(b *bench) {
		b.link("server", "eth1", 9)
		b.sh("server",
			"ip link set dev eth1 address $(cat /sys/class/net/eth0/address) && ip address add 10.0.0.9/24 dev "+
				"eth1 && ip link set dev eth1 up")
	}, beside: []string{"same-subnet-interfaces", "arp-flux"}},
	{id: "address-twice", plant: shell("other", "ip address add 10.0.0.1/24 dev eth0"),
		beside: []string{"duplicate-address", "wrong-neighbour"}},
	{id: "mac-twice-in-subnet", plant: func(b *bench) {
		b.sh("other", "ip link set dev eth0 address 02:00:00:00:01:04")
	}, beside: []string{"wrong-neighbour", "duplicate-address"}},
	{id: "netmask-differs", plant: shell("client",
		"ip address del 10.0.0.2/24 dev eth0 && ip address add 10.0.0.2/16 dev eth0")},
	{id: "wrong-neighbour", on: "client",
		plant: shell("client", "ip neigh replace 10.0.0.1 lladdr 02:00:00:99:99:99 dev eth0 nud permanent")},
	{id: "gateway-unresolved", on: "client", plant: func(b *bench) {
		b.sh("client", "ip route add default via 10.0.0.77")
		b.connect("client", "192.0.2.1:80", 1)
		time.Sleep(3500 * time.Millisecond) // three requests, a second apart
	}, beside: []string{"syn-unanswered"}},
	{id: "gateway-off-link", on: "client",
		plant: shell("client",
			"ip route add default via 10.9.0.1 dev eth0 onlink; ip route del default; ip route add 10.9.0.1/32 dev "+
				"eth0 && ip route add default via 10.9.0.1 && ip route del 10.9.0.1/32")},
	{id: "blackhole-route", on: "client", plant: shell("client", "ip route add blackhole 198.51.100.0/24")},
	{id: "nexthop-dead", on: "client", plant: nexthopGroup("10.0.0.77"), beside: []string{"gateway-unresolved",
		"neighbour-failed"}},
	{id: "firewall-drop", on: "server", plant: firewall("7010"), act: toFirewall, beside: []string{"netfilter-drop"}},
	{id: "no-route", on: "client", act: func(b *bench) {
		for range 5 {
			_ = b.hosts["client"].Do(func() error {
				c, err := beginConnect(addr("203.0.113.1:80"))
				if err == nil {
					c.Close()
				}
				return nil
			})
		}
	}},
	{id: "not-for-us", on: "other", plant: shell("client", "ip route add 172.16.5.0/24 via 10.0.0.3"),
		act: func(b *bench) {
			send(b.udp("client", "", "172.16.5.1:9"), 40, 100)
		}},
	{id: "ttl-exceeded", plant: func(b *bench) {
		b.in("other", func() error { return writeParameter("net.ipv4.ip_forward", "1") })
		b.in("server", func() error { return writeParameter("net.ipv4.ip_forward", "1") })
		b.sh("other", "ip route add 172.16.6.0/24 via 10.0.0.1")
		b.sh("server", "ip route add 172.16.6.0/24 via 10.0.0.3")
		b.sh("client", "ip route add 172.16.6.0/24 via 10.0.0.3")
	}, act: func(b *bench) {
		send(b.udp("client", "", "172.16.6.1:9"), 40, 100)
	}, beside: []string{"time-exceeded-received", "redirects-sent", "redirects-received"}},

	{id: "udp-buffer-overflow", on: "server", plant: func(b *bench) { b.udp("server", "10.0.0.1:7010", "") },
		act: func(b *bench) {
			send(b.udp("client", "", "10.0.0.1:7010"), 3000, 1000)
		}, beside: []string{"udp-queue-full"}},
	{id: "udp-queue-full", on: "server", plant: func(b *bench) {
		b.udp("server", "10.0.0.1:7010", "")
		send(b.udp("client", "", "10.0.0.1:7010"), 100, 1000)
	}},
	{id: "udp-no-listener", on: "server", act: func(b *bench) { send(b.udp("client", "", "10.0.0.1:7999"), 60, 100) }},
	{id: "fragmentation", on: "client", plant: func(b *bench) {
		b.udp("server", "10.0.0.1:7010", "")
	}, act: func(b *bench) {
		send(b.udp("client", "", "10.0.0.1:7010"), 30, 4000)
	}, beside: []string{"udp-queue-full"}},
	{id: "reassembly-failed", on: "server", plant: func(b *bench) {
		b.in("server", func() error { return writeParameter("net.ipv4.ipfrag_time", "1") })
		b.in("client", func() error {
			for id := range 20 { // a first fragment, whose others do not follow
				packet := make([]byte, 20+64)
				packet[0], packet[8], packet[9] = 0x45, 64, 17
				binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
				binary.BigEndian.PutUint16(packet[4:], uint16(id+1))
				packet[6] = 0x20 // more fragments
				copy(packet[12:], []byte{10, 0, 0, 2, 10, 0, 0, 1})
				if err := rawSend(netip.MustParseAddr("10.0.0.1"), packet); err != nil {
					return err
				}
			}
			return nil
		})
	}, act: func(*bench) { time.Sleep(1200 * time.Millisecond) /* until they are given up */ }},
	{id: "fragmentation-needed", on: "other", plant: func(b *bench) {
		b.in("other", func() error { return writeParameter("net.ipv4.ip_forward", "1") })
		b.sh("other",
			"ip link add name narrow0 type veth peer name narrow1 && ip address add 10.1.0.1/24 dev narrow0 && ip "+
				"link set dev narrow0 mtu 1300 up && ip link set dev narrow1 up")
		b.sh("client", "ip route add 10.1.0.0/24 via 10.0.0.3")
	}, act: func(b *bench) {
		b.in("client", func() error { return sendDontFragment(addr("10.1.0.9:9"), 1400) })
	}},
	{id: "checksum-errors", on: "server", act: func(b *bench) {
		b.in("client", func() error {
			for range 5 {
				packet := make([]byte, 20+8+8)
				packet[0], packet[8], packet[9] = 0x45, 64, 17
				binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
				copy(packet[12:], []byte{10, 0, 0, 2, 10, 0, 0, 1})
				binary.BigEndian.PutUint16(packet[20:], 4000)
				binary.BigEndian.PutUint16(packet[22:], 7010)
				binary.BigEndian.PutUint16(packet[24:], 16)
				binary.BigEndian.PutUint16(packet[26:], 0xdead)
				if err := rawSend(netip.MustParseAddr("10.0.0.1"), packet); err != nil {
					return err
				}
			}
			return nil
		})
	}, plant: func(b *bench) { b.udp("server", "10.0.0.1:7010", "") }},
	{id: "qdisc-drop", on: "client", plant: func(b *bench) {
		b.udp("server", "10.0.0.1:7010", "")
		b.sh("client", "tc qdisc add dev eth0 root tbf rate 1mbit burst 2000 limit 5000")
	}, act: func(b *bench) {
		send(b.udp("client", "", "10.0.0.1:7010"), 400, 1000)
	}, beside: []string{"udp-queue-full", "udp-send-buffer", "ip-discards"}},

	{id: "tcp-retransmissions", on: "client",
		plant: shell("switch", "tc qdisc add dev server-eth0 root tbf rate 4mbit burst 3000 limit 4000"),
		act: func(b *bench) {
			l := b.listen("server", "10.0.0.1:7100")
			go func() {
				if c, err := l.Accept(); err == nil {
					_, _ = io.Copy(io.Discard, c)
				}
			}()
			c := b.dial("client", "10.0.0.1:7100")
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = c.Write(make([]byte, 1<<20))
		}, beside: []string{"unacknowledged"}},
	{id: "listen-overflow", on: "server", plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7020"), 2) })
	}, act: func(b *bench) {
		b.connect("client", "10.0.0.1:7020", 12)
	}, beside: []string{"accept-queue-full", "syn-unanswered", "tcp-retransmissions"}},
	{id: "accept-queue-full", on: "server", plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7020"), 9) })
		b.connect("client", "10.0.0.1:7020", 14)
		time.Sleep(200 * time.Millisecond)
	}, beside: []string{"listen-overflow", "syn-unanswered", "tcp-retransmissions"}},
	{id: "syn-unanswered", on: "client", plant: func(b *bench) {
		b.sh("other", "ip route add blackhole 10.0.0.2/32")
		b.opened("other", func() (io.Closer, error) { return listenOf(addr("10.0.0.3:7030"), 9) })
		b.connect("client", "10.0.0.3:7030", 3)
		time.Sleep(1200 * time.Millisecond)
	}, hosts: []string{"client"}, beside: []string{"tcp-retransmissions"}},
	{id: "unacknowledged", on: "client", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7040")
		c := b.dial("client", "10.0.0.1:7040")
		b.sh("switch",
			"tc qdisc add dev server-eth0 root tbf rate 8bit burst 1600 limit 1600; tc qdisc replace dev "+
				"server-eth0 root pfifo limit 1; ip link set dev server-eth0 nomaster")
		_, _ = c.Write(make([]byte, 20000))
		time.Sleep(1500 * time.Millisecond)
	}, hosts: []string{"client"}, beside: []string{"tcp-retransmissions"}},
	{id: "unread-data", on: "server", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7050") // which accepts nothing, and the kernel receives
		c := b.dial("client", "10.0.0.1:7050")
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write(make([]byte, 4<<20))
	}, beside: []string{"slow-reader", "peer-window-closed", "window-limited"}},
	{id: "close-wait", on: "client", plant: func(b *bench) {
		l := b.listen("server", "10.0.0.1:7060")
		for range 25 {
			b.dial("client", "10.0.0.1:7060")
			if c, err := l.Accept(); err == nil {
				c.Close()
			}
		}
		time.Sleep(200 * time.Millisecond)
	}, beside: []string{"fin-wait-many"}},
	{id: "connect-fails", on: "client", act: func(b *bench) {
		for range 20 {
			_ = b.hosts["client"].Do(func() error {
				c, err := beginConnect(addr("10.0.0.1:7999"))
				if err == nil {
					time.Sleep(5 * time.Millisecond)
					c.Close()
				}
				return nil
			})
		}
	}},
	{id: "half-open-many", on: "server", plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7070"), 500) })
		b.sh("server",
			"ip neigh replace 10.0.0.250 lladdr 02:00:00:99:99:99 dev eth0 nud permanent && ip route add "+
				"198.18.0.0/16 via 10.0.0.250")
		b.in("client", func() error { return sendSYNs(90) })
		time.Sleep(200 * time.Millisecond)
	}, hosts: []string{"server"}, beside: []string{"tcp-retransmissions"}},
	{id: "ports-in-time-wait", on: "client", plant: func(b *bench) {
		b.in("client", func() error { return writeParameter("net.ipv4.ip_local_port_range", "40000 40049") })
		b.in("client", func() error { return writeParameter("net.ipv4.tcp_tw_reuse", "0") })
		l := b.listen("server", "10.0.0.1:7080")
		for range 40 {
			c := b.dial("client", "10.0.0.1:7080")
			s, err := l.Accept()
			c.Close() // first, so that the client waits
			if err == nil {
				_, _ = io.Copy(io.Discard, s)
				s.Close()
			}
		}
	}, beside: []string{"port-range-small"}},
}
