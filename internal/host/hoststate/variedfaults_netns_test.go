//go:build linux && !portable

package hoststate

import (
	"io"
	"net"
	"slices"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// twoSubnets has the server and the client joined by 10.1.0.0/24 as well, on eth1, each
// interface answering for its own addresses.
func twoSubnets(b *bench) {
	for i, host := range []string{"server", "client"} {
		b.link(host, "eth1", 9+i)
		b.sh(host, "ip address add 10.1.0."+string(rune('1'+i))+"/24 dev eth1 && ip link set dev eth1 up")
		b.in(host, func() error { return writeParameter("net.ipv4.conf.all.arp_ignore", "1") })
	}
}

// sendFrom sends datagrams from one of the client's addresses.
func (b *bench) sendFrom(source, to string, n int) {
	b.t.Helper()
	c := b.opened("client", func() (io.Closer, error) {
		d := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(addr(source))}
		return d.Dial("udp4", to)
	}).(*net.UDPConn)
	send(c, n, 100)
}

// variedFaults are faults of other lists, planted differently.
var variedFaults = []fault{
	{id: "strict-rp-filter", as: "on one interface", on: "server", plant: func(b *bench) {
		twoSubnets(b)
		b.sendFrom("10.1.0.2:0", "10.1.0.1:9", 1) // resolves it
		time.Sleep(100 * time.Millisecond)
		b.in("server", func() error { return writeParameter("net.ipv4.conf.eth1.rp_filter", "1") })
	}, act: func(b *bench) { b.sendFrom("10.0.0.2:0", "10.1.0.1:9", 200) }},
	{id: "strict-rp-filter", as: "no route back", on: "server", plant: func(b *bench) {
		b.in("server", func() error { return writeParameter("net.ipv4.conf.all.rp_filter", "1") })
		b.sh("client", "ip address add 172.20.0.2/32 dev lo")
	}, act: func(b *bench) { b.sendFrom("172.20.0.2:0", "10.0.0.1:9", 100) }},
	{id: "loose-rp-filter", on: "server", plant: func(b *bench) {
		b.sendFrom("10.0.0.2:0", "10.0.0.1:9", 1)
		time.Sleep(100 * time.Millisecond)
		b.in("server", func() error { return writeParameter("net.ipv4.conf.all.rp_filter", "2") })
		b.sh("client", "ip address add 172.20.0.2/32 dev lo")
	}, act: func(b *bench) { b.sendFrom("172.20.0.2:0", "10.0.0.1:9", 100) }},
	{id: "loose-rp-filter", as: "of ARP requests", on: "server", plant: func(b *bench) {
		b.in("server", func() error { return writeParameter("net.ipv4.conf.all.rp_filter", "2") })
		b.sh("client", "ip address add 172.20.0.2/32 dev lo")
	}, act: func(b *bench) { b.sendFrom("172.20.0.2:0", "10.0.0.1:9", 100) }},
	{id: "mtu-differs", as: "jumbo frames on one host", plant: shell("client", "ip link set dev eth0 mtu 9000")},
	{id: "mtu-differs", as: "on a bridge of the host", on: "client", plant: func(b *bench) {
		bridged(b, "client")
		b.sh("client", "ip link set dev eth0 mtu 1400 && ip link set dev br0 mtu 1400")
	}, act: exchange},
	{id: "bridge-mtu-mixed", as: "the server's port", on: "switch", hosts: []string{"switch"},
		plant: shell("switch", "ip link set dev server-eth0 mtu 1400")},
	{id: "netmask-differs", as: "too long", on: "client",
		plant: shell("client", "ip address del 10.0.0.2/24 dev eth0 && ip address add 10.0.0.200/25 dev eth0")},
	{id: "netmask-differs", as: "on a bridge of the host", plant: func(b *bench) {
		bridged(b, "client")
		b.sh("client", "ip address del 10.0.0.2/24 dev br0 && ip address add 10.0.0.2/16 dev br0")
	}, act: exchange},
	{id: "duplicate-address", as: "seen by a third host", plant: shell("other", "ip address add 10.0.0.1/24 dev eth0"),
		act: func(b *bench) {
			send(b.udp("client", "", "10.0.0.1:9"), 2, 100)
			send(b.udp("client", "", "10.0.0.3:9"), 2, 100) // for which one of the two answers alone
		}, hosts: []string{"client"}},
	{id: "wrong-neighbour", as: "without the neighbour's snapshot", on: "client",
		plant: shell("client", "ip neigh replace 10.0.0.1 lladdr 02:00:00:99:99:99 dev eth0 nud permanent"),
		hosts: []string{"client"}},
	{id: "gateway-unresolved", as: "of the route back", on: "server", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7200")
		b.sh("server", "ip route add 172.20.0.0/16 via 10.0.0.77")
		b.sh("client", "ip address add 172.20.0.2/32 dev lo && ip route replace 10.0.0.0/24 dev eth0 src 172.20.0.2")
		b.connect("client", "10.0.0.1:7200", 2)
		time.Sleep(3500 * time.Millisecond)
	}, beside: []string{"syn-unanswered", "tcp-retransmissions"}},
	{id: "return-route-missing", as: "a blackhole", on: "server", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7200")
		b.sh("server", "ip route add blackhole 172.20.0.0/16")
		b.sh("client", "ip address add 172.20.0.2/32 dev lo && ip route replace 10.0.0.0/24 dev eth0 src 172.20.0.2")
		b.connect("client", "10.0.0.1:7200", 2)
		time.Sleep(1200 * time.Millisecond)
	}, beside: []string{"syn-unanswered", "no-route", "tcp-retransmissions", "connect-fails"}},
	{id: "resolver-unresolved", on: "client", plant: func(b *bench) {
		b.resolver("client", "10.0.0.99", "10.0.0.3")
		asksName(b, "10.0.0.99:53")
	}},
	{id: "qdisc-drop", as: "of what TCP answers", on: "server",
		plant: shell("server", "tc qdisc add dev eth0 root tbf rate 4mbit burst 3000 limit 4000"), act: func(b *bench) {
			l := b.listen("server", "10.0.0.1:7100")
			go func() {
				if c, err := l.Accept(); err == nil {
					_ = c.SetWriteDeadline(time.Now().Add(time.Second))
					_, _ = c.Write(make([]byte, 1<<20))
				}
			}()
			c := b.dial("client", "10.0.0.1:7100")
			go func() { _, _ = io.Copy(io.Discard, c) }()
			time.Sleep(time.Second)
		}, beside: []string{"unacknowledged"}},
	{id: "qdisc-drop", as: "a class of htb", on: "client", plant: func(b *bench) {
		b.udp("server", "10.0.0.1:7010", "")
		b.sh("client",
			"tc qdisc add dev eth0 root handle 1: htb default 1 && tc class add dev eth0 parent 1: classid 1:1 htb "+
				"rate 1mbit && tc qdisc add dev eth0 parent 1:1 pfifo limit 5")
	}, act: func(b *bench) {
		send(b.udp("client", "", "10.0.0.1:7010"), 400, 1000)
	}, beside: []string{"udp-queue-full"}},
	{id: "qdisc-drop", as: "at a switch", on: "switch", hosts: []string{"switch"}, plant: func(b *bench) {
		b.udp("server", "10.0.0.1:7010", "")
		b.sh("switch", "tc qdisc add dev server-eth0 root tbf rate 1mbit burst 2000 limit 5000")
	}, act: func(b *bench) { send(b.udp("client", "", "10.0.0.1:7010"), 400, 1000) }},
	{id: "window-limited", as: "a window of the route", on: "client", plant: func(b *bench) {
		b.sh("server", "ip route replace 10.0.0.0/24 dev eth0 window 4096")
		b.trickle(b.listen("server", "10.0.0.1:7240"))
	}, beside: []string{"unread-data", "peer-window-closed"}},
	{id: "window-limited", as: "a steady reader", on: "client", plant: func(b *bench) {
		l := b.listen("server", "10.0.0.1:7240")
		b.smallReceiveBuffer(l)
		c := b.dial("client", "10.0.0.1:7240")
		go func() {
			if r, err := l.Accept(); err == nil {
				readSteadily(r)
			}
		}()
		go func() { _, _ = io.Copy(c, zeros{}) }()
	}, act: func(*bench) { time.Sleep(time.Second) }, beside: []string{"unread-data"}},
	{id: "receive-buffer-small", as: "of the host that receives", on: "client", plant: func(b *bench) {
		b.in("client", func() error { return writeParameter("net.ipv4.tcp_rmem", "4096 8192 8192") })
		l := b.listen("server", "10.0.0.1:7241")
		c := b.dial("client", "10.0.0.1:7241")
		go func() {
			if r, err := l.Accept(); err == nil {
				_, _ = io.Copy(r, zeros{})
			}
		}()
		go readSteadily(c)
	}, act: func(*bench) { time.Sleep(time.Second) }, beside: []string{"window-limited", "unread-data"}},
	{id: "duplicate-address", as: "seen by one that holds it",
		plant: shell("other", "ip address add 10.0.0.1/24 dev eth0"), hosts: []string{"server"}},
	{id: "unacknowledged", as: "a segment with a smaller MTU", on: "client", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7040")
		b.disable("client", "eth0", "tx-tcp-segmentation", "tx-generic-segmentation")
		c := b.dial("client", "10.0.0.1:7040")
		b.sh("switch", "ip link set dev server-eth0 mtu 1400")
		_, _ = c.Write(make([]byte, 20000))
		time.Sleep(1500 * time.Millisecond)
	}, beside: []string{"tcp-retransmissions", "offload-off"}},
	{id: "wrong-neighbour", as: "the gateway's old address", on: "client", plant: func(b *bench) {
		b.sh("client",
			"ip route add default via 10.0.0.3 && ip neigh replace 10.0.0.3 lladdr 02:00:00:99:99:99 dev eth0 nud "+
				"permanent")
		b.connect("client", "192.0.2.1:80", 2)
		time.Sleep(1200 * time.Millisecond)
	}, hosts: []string{"client"}},
	{id: "udp-buffer-overflow", as: "bursts for a small buffer", on: "server", plant: func(b *bench) {
		c := b.udp("server", "10.0.0.1:7010", "")
		if err := c.SetReadBuffer(4096); err != nil {
			b.t.Fatal(err)
		}
		go func() {
			for buffer := make([]byte, 2048); ; {
				if _, err := c.Read(buffer); err != nil {
					return
				}
			}
		}()
	}, act: func(b *bench) {
		c := b.udp("client", "", "10.0.0.1:7010")
		for range 20 {
			send(c, 50, 1000)
			time.Sleep(10 * time.Millisecond)
		}
	}},
	{id: "syn-queue-full", on: "server", plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7070"), 20) })
		b.sh("server",
			"ip neigh replace 10.0.0.250 lladdr 02:00:00:99:99:99 dev eth0 nud permanent && ip route add "+
				"198.18.0.0/16 via 10.0.0.250")
	}, act: func(b *bench) { b.in("client", func() error { return sendSYNs(90) }) }, hosts: []string{"server"},
		beside: []string{"tcp-retransmissions"}},
	{id: "syn-queue-full", as: "without cookies", on: "server", plant: func(b *bench) {
		b.in("server", func() error { return writeParameter("net.ipv4.tcp_syncookies", "0") })
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7070"), 20) })
		b.sh("server",
			"ip neigh replace 10.0.0.250 lladdr 02:00:00:99:99:99 dev eth0 nud permanent && ip route add "+
				"198.18.0.0/16 via 10.0.0.250")
	}, act: func(b *bench) { b.in("client", func() error { return sendSYNs(90) }) }, hosts: []string{"server"},
		beside: []string{"tcp-retransmissions"}},
	{id: "conntrack-full", on: "server", plant: func(b *bench) {
		why := ""
		b.in("server", func() (err error) { why, err = fillConntrack(); return err })
		if why != "" {
			kerneltest.Without(b.t, why)
		}
	}},
}

// pairedFaults are two faults in one lab, neither of which hides the other.
var pairedFaults = []fault{
	both("strict-rp-filter", "mtu-differs", "same-subnet-mtu"),
	both("listen-overflow", "udp-buffer-overflow"),
	both("qdisc-drop", "wrong-neighbour"),
	both("netmask-differs", "window-limited"),
	both("return-route-missing", "address-twice"),
	both("gateway-unresolved", "tcp-retransmissions"),
	both("blackhole-route", "connect-fails"),
	both("not-for-us", "close-wait"),
	both("unread-data", "receive-buffer-small"),
	both("mtu-below-minimum", "no-route"),
}

// both plants two faults of other lists, which together make those beside them.
func both(one, other string, beside ...string) fault {
	find := func(id, beside string) fault {
		list := slices.Concat(oneHostFaults, peerFaults)
		f := list[slices.IndexFunc(list, func(f fault) bool { return f.id == id })]
		f.as, f.parameter = "with "+beside, false
		return f
	}
	f := find(one, other)
	f.beside = slices.Concat(f.beside, beside)
	f.and = []fault{find(other, one)}
	return f
}

// bridged has a host hold its address on a bridge over eth0, as hosts of virtual machines do.
func bridged(b *bench, host string) {
	b.sh(host, `ip link add name br0 address $(cat /sys/class/net/eth0/address) type bridge && ip link set dev br0 up
		for a in $(ip -o address show dev eth0 scope global | awk '{print $4}'); do ip address del $a dev eth0 && ip address add $a dev br0; done
		ip link set dev eth0 master br0`)
}
