//go:build linux && !portable

package hoststate

import (
	"io"
	"time"
)

// ipv6 is a fault of another list, planted in IPv6.
func ipv6(f fault) fault {
	f.as = "IPv6"
	plant := f.plant
	f.plant = func(b *bench) {
		b.needsIPv6()
		if plant != nil {
			plant(b)
		}
	}
	return f
}

var ipv6Faults = []fault{
	ipv6(fault{id: "address-twice", plant: shell("other", "ip address add fd00::1/64 dev eth0"),
		beside: []string{"duplicate-address", "wrong-neighbour"}}),
	ipv6(fault{id: "duplicate-address", on: "other", plant: func(b *bench) {
		b.in("other", func() error { return writeParameter("net.ipv6.conf.eth0.accept_dad", "1") })
		b.sh("other", "ip address add fd00::1/64 dev eth0")
		time.Sleep(2 * time.Second) // one solicitation, after a delay of up to a second
	}, hosts: []string{"other"}}),
	ipv6(fault{id: "netmask-differs",
		plant: shell("client", "ip address del fd00::2/64 dev eth0 && ip address add fd00::2/48 dev eth0")}),
	ipv6(fault{id: "wrong-neighbour", on: "client",
		plant: shell("client", "ip neigh replace fd00::1 lladdr 02:00:00:99:99:99 dev eth0 nud permanent")}),
	ipv6(fault{id: "gateway-unresolved", on: "client", plant: func(b *bench) {
		b.sh("client", "ip -6 route add default via fd00::77")
		b.connect("client", "[2001:db8::1]:80", 1)
		time.Sleep(3500 * time.Millisecond)
	}, beside: []string{"syn-unanswered"}}),
	ipv6(fault{id: "blackhole-route", on: "client", plant: shell("client", "ip -6 route add blackhole 2001:db8::/32")}),
	ipv6(fault{id: "return-route-missing", on: "server", plant: func(b *bench) {
		b.listen("server", "[fd00::1]:7200")
		b.sh("client",
			"ip address add fd00:20::2/128 dev lo nodad && ip -6 route add fd00::1/128 dev eth0 src fd00:20::2")
		b.connect("client", "[fd00::1]:7200", 2)
		time.Sleep(1200 * time.Millisecond)
	}, beside: []string{"syn-unanswered", "no-route", "tcp-retransmissions", "connect-fails"}}),
	ipv6(fault{id: "syn-unanswered", on: "client", plant: func(b *bench) {
		b.sh("other", "ip -6 route add blackhole fd00::2/128")
		b.opened("other", func() (io.Closer, error) { return listenOf(addr("[fd00::3]:7030"), 9) })
		b.connect("client", "[fd00::3]:7030", 3)
		time.Sleep(1200 * time.Millisecond)
	}, hosts: []string{"client"}, beside: []string{"tcp-retransmissions"}}),
	ipv6(fault{id: "udp-buffer-overflow", on: "server", plant: func(b *bench) { b.udp("server", "[fd00::1]:7010", "") },
		act: func(b *bench) {
			send(b.udp("client", "", "[fd00::1]:7010"), 3000, 1000)
		}, beside: []string{"udp-queue-full"}}),
	ipv6(fault{id: "udp-no-listener", on: "server", act: func(b *bench) {
		send(b.udp("client", "", "[fd00::1]:7999"), 60, 100)
	}}),
	ipv6(fault{id: "listen-overflow", on: "server", plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("[::]:7020"), 2) })
	}, act: func(b *bench) {
		b.connect("client", "[fd00::1]:7020", 12)
	}, beside: []string{"accept-queue-full", "syn-unanswered", "tcp-retransmissions"}}),
	ipv6(fault{id: "fragmentation", on: "client", plant: func(b *bench) {
		b.udp("server", "[fd00::1]:7010", "")
	}, act: func(b *bench) {
		send(b.udp("client", "", "[fd00::1]:7010"), 30, 4000)
	}, beside: []string{"udp-queue-full"}}),
	ipv6(fault{id: "fragmentation-needed", on: "other", plant: func(b *bench) {
		b.in("other", func() error { return writeParameter("net.ipv6.conf.all.forwarding", "1") })
		b.sh("other",
			"ip link add name narrow0 type veth peer name narrow1 && ip address add fd01::1/64 dev narrow0 && ip "+
				"link set dev narrow0 mtu 1300 up && ip link set dev narrow1 up && ip neigh add fd01::9 lladdr "+
				"02:00:00:99:99:99 dev narrow0 nud permanent")
		b.sh("client", "ip -6 route add fd01::/64 via fd00::3")
	}, act: func(b *bench) {
		b.in("client", func() error { return sendDontFragment(addr("[fd01::9]:9"), 1400) })
	}}),
	ipv6(fault{id: "not-for-us", on: "other", plant: func(b *bench) {
		b.sh("client", "ip -6 route add 2001:db8:5::/48 via fd00::3")
		b.sh("other", "ip -6 route add default via fd00::1")
	}, act: func(b *bench) { send(b.udp("client", "", "[2001:db8:5::1]:9"), 40, 100) }}),
	ipv6(fault{id: "no-route", on: "other", plant: shell("client", "ip -6 route add 2001:db8:5::/48 via fd00::3"),
		act: func(b *bench) {
			send(b.udp("client", "", "[2001:db8:5::1]:9"), 40, 100)
		}}),
	ipv6(fault{id: "ttl-exceeded", plant: func(b *bench) {
		for _, router := range []string{"other", "server"} {
			b.in(router, func() error { return writeParameter("net.ipv6.conf.all.forwarding", "1") })
		}
		b.sh("other", "ip -6 route add 2001:db8:6::/48 via fd00::1")
		b.sh("server", "ip -6 route add 2001:db8:6::/48 via fd00::3")
		b.sh("client", "ip -6 route add 2001:db8:6::/48 via fd00::3")
	}, act: func(b *bench) {
		send(b.udp("client", "", "[2001:db8:6::1]:9"), 40, 100)
	}, beside: []string{"time-exceeded-received", "redirects-sent", "redirects-received"}}),
	ipv6(fault{id: "resolver-unresolved", on: "client", plant: func(b *bench) {
		b.resolver("client", "fd00::99", "fd00::3")
		asksName(b, "[fd00::99]:53")
	}}),
	ipv6(fault{id: "mtu-blackhole", on: "client", plant: func(b *bench) {
		b.sh("switch", "ip link set dev server-eth0 mtu 1400")
		b.probes("fd00::1", 0)
	}}),
}

// asksName has the client ask a name server that does not answer, until its neighbour entry has
// failed.
func asksName(b *bench, server string) {
	send(b.udp("client", "", server), 2, 40)
	time.Sleep(3500 * time.Millisecond) // three requests, a second apart
}
