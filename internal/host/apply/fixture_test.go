//go:build linux && !portable

package apply

import (
	"context"
	"net/netip"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// scene is a host with a past: four interfaces in two cables, addresses of both
// families with a secondary, routes of several kinds, a rule, neighbours made by
// hand, a qdisc, parameters that are not the defaults.
func scene(t *testing.T) {
	t.Helper()
	for _, words := range []string{
		// Without duplicate address detection, to be quick; TestDuplicateAddresses
		// has it.
		"sysctl -qw net.ipv6.conf.default.dad_transmits=0",
		"ip link set dev lo up",
		"ip link add dev eth0 address 02:00:00:01:00:01 type veth peer name far0 address 02:00:00:02:00:01",
		"ip link add dev eth1 numrxqueues 3 numtxqueues 2 address 02:00:00:01:00:02 type veth peer name far1 " +
			"address 02:00:00:02:00:02",
		"ip link add dev top0 link eth0 type macvlan mode bridge",
		"ip link set dev eth0 up", "ip link set dev far0 up", "ip link set dev eth1 up", "ip link set dev far1 up",
		"ip link set dev top0 up",
		"ip addr add 10.1.0.1/24 dev eth0", "ip addr add 10.1.0.2/24 dev eth0", "ip addr add 10.2.0.1/24 dev eth1",
		"ip addr add 10.3.0.1/24 dev top0",
		"ip -6 addr add fd00:1::1/64 dev eth0 nodad", "ip -6 addr add fd00:3::1/64 dev top0 nodad",
		"ip neigh add 10.1.0.9 lladdr 02:00:00:02:00:01 dev eth0 nud permanent",
		"ip neigh add 10.1.0.8 lladdr 02:00:00:02:00:08 dev eth0 nud stale",
		"ip neigh add fd00:1::9 lladdr 02:00:00:02:00:01 dev eth0 nud permanent",
		"ip route add 10.9.0.0/16 via 10.1.0.9 metric 50",
		"ip route add 10.8.0.0/16 nexthop via 10.1.0.9 dev eth0 weight 2 nexthop via 10.2.0.9 dev eth1",
		"ip route add 10.7.0.0/16 via 10.1.0.9 src 10.1.0.2 mtu 1400 table 77",
		"ip route add 10.33.0.0/16 via 10.3.0.9 dev top0",
		"ip -6 route add fd00:9::/64 via fd00:1::9", "ip -6 route add default via fd00:1::9 proto ra",
		"ip rule add from 10.1.0.2 lookup 77 pref 1000",
		"tc qdisc replace dev eth1 root handle 5: pfifo limit 55",
		"sysctl -qw net.ipv4.conf.eth1.rp_filter=2 net.ipv4.conf.far0.forwarding=1 net.ipv6.conf.eth0.hop_limit=33 " +
			"net.ipv4.neigh.eth0.base_reachable_time_ms=1500",
	} {
		fields := strings.Fields(words)
		kerneltest.Do(t, fields[0], fields[1:]...)
	}
	// Link-local addresses follow the carrier, which the kernel updates up to a second late.
	await(func() bool {
		return strings.Count(kerneltest.Do(t, "ip", "-6", "-o", "addr", "show", "scope", "link"), "inet6") == 5
	})
	// Their routes follow from a work queue (addrconf_dad_work in net/ipv6/addrconf.c).
	last := ""
	await(func() bool {
		before := last
		last = kerneltest.Do(t, "ip", "-6", "addr") + kerneltest.Do(t, "ip", "-6", "route", "show", "table", "all")
		return last == before && !strings.Contains(last, "tentative")
	})
}

// await waits until a condition holds, for ten seconds at most.
func await(holds func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !holds() &&
		time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
	}
}

// carrier is what follows from an interface's carrier and operational state, which the
// kernel updates up to a second late (net/core/link_watch.c). No setting changes it alone.
var carrier = regexp.MustCompile(`NO-CARRIER,|,LOWER_UP|,M-DOWN| state [A-Z]+| linkdown`)

// look is everything about the host that other tools can see, without the carrier.
func look(t *testing.T) string {
	t.Helper()
	// Addresses in duplicate address detection are not themselves yet.
	await(func() bool {
		return !strings.Contains(kerneltest.Do(t, "ip", "-6", "addr", "show", "tentative"), "inet6")
	})
	// Some parameters cannot be read, which makes sysctl fail.
	text := kerneltest.Do(t, "sh", "-c", `
		for what in "-d link" "addr" "route show table all" "-6 route show table all" "rule" "-6 rule" "neigh show nud permanent"; do
			echo "# $what"; ip $what || exit 1
		done
		tc qdisc || exit 1
		if command -v nft >/dev/null; then nft list ruleset || exit 1; fi
		for nic in eth0 eth1; do ip link show dev $nic >/dev/null 2>&1 || continue; ethtool -k $nic || exit 1; ethtool -l $nic || exit 1; done
		sysctl -a --pattern '^net[.]' 2>/dev/null || true`)
	if !strings.Contains(text, "net.ipv4.ip_forward") {
		t.Fatalf("sysctl -a says next to nothing:\n%s", text)
	}
	text += inSysfs(t,
		"grep . */queues/*/[rx]ps_* */threaded */gro_flush_timeout */napi_defer_hard_irqs 2>/dev/null || true")
	return carrier.ReplaceAllString(text, "")
}

// inSysfs runs a script in class/net of a sysfs of the namespace.
func inSysfs(t *testing.T, script string) string {
	t.Helper()
	return kerneltest.Do(t, "unshare", "-m", "sh", "-c", "mount -t sysfs none /sys && cd /sys/class/net && { "+
		script+"; }")
}

// differences lists the lines by which two looks differ.
func differences(before, after string) string {
	count := map[string]int{}
	for line := range strings.Lines(before) {
		count[line]++
	}
	for line := range strings.Lines(after) {
		count[line]--
	}
	var b strings.Builder
	for line := range strings.Lines(before + after) {
		switch n := count[line]; {
		case n > 0:
			b.WriteString("before: " + line)
		case n < 0:
			b.WriteString("after:  " + line)
		}
		count[line] = 0
	}
	return b.String()
}

func open(t *testing.T, journal string) *Manager {
	t.Helper()
	m, err := Open(journal, Lease)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// applySettings applies settings, without permission for machine-wide ones.
func applySettings(m *Manager, ctx context.Context, settings []setting.Setting, ifAbsent bool) ([]record.Applied,
	int, error) {
	reply, err := m.Apply(ctx, message.ApplyRequest{Settings: settings, IfAbsent: ifAbsent})
	return reply.Applied, reply.Mark, err
}

func parameter(key, value string) setting.Setting {
	return setting.Setting{Host: "nas", Sysctl: []setting.Sysctl{{Key: key, Value: value}}}
}

func up(v bool) *bool { return &v }

// everyKind is one case of each thing that can be changed, with the state it
// must read as before and after.
func everyKind() map[string]setting.Setting {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	rate := unit.BitRate(1e9)
	all := map[string]setting.Setting{
		"sysctl":                   parameter("net.ipv4.conf.all.arp_ignore", "1"),
		"sysctl of several values": parameter("net.ipv4.tcp_rmem", "4096 65536 1000000"),
		"sysctl's first values":    parameter("net.ipv4.tcp_wmem", "4096 65536"),
		"sysctls in order": {Sysctl: []setting.Sysctl{{Key: "net.ipv4.tcp_sack", Value: "0"},
			{Key: "net.ipv4.tcp_dsack", Value: "0"}}},
		"ip_forward":                 parameter("net.ipv4.ip_forward", "1"),
		"conf.all.forwarding":        parameter("net.ipv4.conf.all.forwarding", "1"),
		"conf.default.rp_filter":     parameter("net.ipv4.conf.default.rp_filter", "1"),
		"neighbour times in seconds": parameter("net.ipv4.neigh.eth0.base_reachable_time", "7"),
		"IPv6 forwarding":            parameter("net.ipv6.conf.all.forwarding", "1"),
		"IPv6 off on an interface":   parameter("net.ipv6.conf.eth0.disable_ipv6", "1"),
		"IPv6 off everywhere":        parameter("net.ipv6.conf.all.disable_ipv6", "1"),
		"neighbour, new": {Neighbour: &setting.Neighbour{Interface: "eth0", Address: addr("10.1.0.7"),
			LLAddr: "02:00:00:02:00:07"}},
		"neighbour, known": {Neighbour: &setting.Neighbour{Interface: "eth0", Address: addr("10.1.0.9"),
			LLAddr: "02:00:00:02:00:77"}},
		"neighbour, IPv6": {Neighbour: &setting.Neighbour{Interface: "eth0", Address: addr("fd00:1::7"),
			LLAddr: "02:00:00:02:00:07"}},
		"address":                   {Address: &setting.Address{Interface: "eth1", Address: prefix("10.2.0.20/24")}},
		"address of another subnet": {Address: &setting.Address{Interface: "eth1", Address: prefix("10.44.0.1/16")}},
		"addresses in a row": {Address: &setting.Address{Interface: "eth1", Address: prefix("10.2.0.20/24"),
			Count: 40}},
		"addresses of a new subnet": {Address: &setting.Address{Interface: "eth1", Address: prefix("10.45.0.250/16"),
			Count: 9}},
		"addresses, IPv6": {Address: &setting.Address{Interface: "eth1", Address: prefix("fd00:2::ff/64"),
			Count: 5}},
		"address, IPv6":         {Address: &setting.Address{Interface: "eth1", Address: prefix("fd00:2::1/64")}},
		"route, new":            {Route: &setting.Route{To: "10.66.0.0/16", Via: "10.1.0.9"}},
		"route, initial window": {Route: &setting.Route{To: "10.69.0.0/16", Via: "10.1.0.9", InitCwnd: 40}},
		"route, IPv6 initial window": {Route: &setting.Route{To: "fd00:77::/64", Via: "inet6 fe80::1",
			Interface: "eth1", InitCwnd: 40}},
		"route, replaced": {Route: &setting.Route{To: "10.9.0.0/16", Interface: "eth1", Metric: 50}},
		"route, multipath replaced": {Route: &setting.Route{To: "10.8.0.0/16", Via: "10.1.0.9",
			Source: addr("10.1.0.2")}},
		"route, multipath": {Route: &setting.Route{To: "10.67.0.0/16",
			Nexthops: []setting.Nexthop{{Via: "10.1.0.9", Weight: 3}, {Via: "10.2.0.9"}}}},
		"route via inet6": {Route: &setting.Route{To: "10.68.0.0/16", Via: "inet6 fe80::1",
			Interface: "eth1", Table: 300}},
		"route, table":          {Route: &setting.Route{To: "10.7.0.0/16", Interface: "eth1", Table: 77}},
		"route of the kernel's": {Route: &setting.Route{To: "10.2.0.0/24", Via: "10.1.0.9"}},
		"route, IPv6":           {Route: &setting.Route{To: "fd00:9::/64", Via: "fd00:1::8"}},
		"route, IPv6 default":   {Route: &setting.Route{To: "default", Via: "fe80::5", Interface: "eth1"}},
		"routes in a row":       {Route: &setting.Route{To: "10.70.0.0/28", Via: "10.1.0.9", Count: 500}},
		"routes, IPv6": {Route: &setting.Route{To: "fd00:aa::/64", Via: "fd00:1::9", Count: 300,
			Metric: 7, Table: 301}},
		"nft, filter": {NFT: &setting.NFT{Hook: "forward", Policy: "drop",
			Rules: []string{"ct state established,related accept",
				"ip saddr { 198.51.100.1, 198.51.100.7 } counter drop"}}},
		"nft, nat": {NFT: &setting.NFT{Hook: "postrouting", Type: "nat", Priority: -100,
			Rules: []string{`oifname "eth1" masquerade`}}},
		"rule": {Rule: &setting.Rule{From: "10.2.0.1", Table: 300}},
		"rule with everything": {Rule: &setting.Rule{From: "10.0.0.0/8", To: "10.9.0.0/16", Table: 254,
			Priority: 77}},
		"rule, IPv6":            {Rule: &setting.Rule{To: "fd00:9::/64", Table: 300}},
		"link mtu":              {Link: &setting.Link{Interface: "eth0", MTU: 1400}},
		"link mtu below IPv6's": {Link: &setting.Link{Interface: "eth0", MTU: 900}},
		"link mac":              {Link: &setting.Link{Interface: "eth0", MAC: "02:00:00:09:00:01"}},
		"link txqueuelen":       {Link: &setting.Link{Interface: "eth0", TxQueueLen: new(12)}},
		"link, BIG TCP": {Link: &setting.Link{Interface: "eth0", GSOMaxSize: 180_000,
			GROMaxSize: 170_000}},
		"link, small packets": {Link: &setting.Link{Interface: "eth0", GSOMaxSize: 30_000}},
		"link down":           {Link: &setting.Link{Interface: "eth0", Up: up(false)}},
		"link with everything": {Link: &setting.Link{Interface: "eth1", MTU: 9000, TxQueueLen: new(5),
			MAC: "02:00:00:09:00:02", Up: up(false)}},
		"qdisc in place of default": {Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "tbf", Rate: rate,
			Burst: 256 << 10}},
		"qdisc in place of another": {Qdisc: &setting.Qdisc{Interface: "eth1", Kind: "bfifo", Limit: 90000}},
		"qdisc of the same kind":    {Qdisc: &setting.Qdisc{Interface: "eth1", Kind: "pfifo", Limit: 7}},
		"qdisc without a limit":     {Qdisc: &setting.Qdisc{Interface: "far1", Kind: "pfifo"}},
		"nic features": {
			NIC: &setting.NIC{Interface: "eth0", Features: []setting.Option{{Key: "gro", Value: "on"},
				{Key: "tso", Value: "off"}}}},
		"nic feature of others": {
			NIC: &setting.NIC{Interface: "eth1", Features: []setting.Option{{Key: "tx", Value: "off"}}}},
		"nic channels": {
			NIC: &setting.NIC{Interface: "eth1", Channels: []setting.Option{{Key: "rx", Value: "1"},
				{Key: "tx", Value: "1"}}}},
	}
	if _, err := exec.LookPath("nft"); err != nil {
		delete(all, "nft, filter")
		delete(all, "nft, nat")
	}
	if bigTCP := "link, BIG TCP"; !sizesOfIPv4() {
		all[bigTCP] = all["link, small packets"]
	}
	return all
}

// queueKinds are settings of files that only root of the initial user namespace may write.
func queueKinds() map[string]setting.Setting {
	return map[string]setting.Setting{
		"queues": {NIC: &setting.NIC{Interface: "eth1", Queues: []setting.Option{{Key: "rps_cpus", Value: "3"},
			{Key: "rps_flow_cnt", Value: "128"}, {Key: "xps_cpus", Value: "1"}}}},
		"queue": {NIC: &setting.NIC{Interface: "eth1", Queues: []setting.Option{{Key: "rx-1/rps_cpus", Value: "2"}}}},
		"napi": {NIC: &setting.NIC{Interface: "eth1",
			NAPI: []setting.Option{{Key: "gro_flush_timeout", Value: "20000"},
				{Key: "napi_defer_hard_irqs", Value: "2"}}}},
	}
}

// sizesOfIPv4: this kernel has sizes of packets of IPv4, and of more than 64 KiB (Linux 6.3).
func sizesOfIPv4() bool {
	sizes, err := packetSizes("lo")
	return err != nil || sizes.GSOIPv4 != 0
}

func packetSizes(name string) (netlink.PacketSizes, error) {
	conn, err := netlink.Dial()
	if err != nil {
		return netlink.PacketSizes{}, err
	}
	defer conn.Close()
	l, err := conn.LinkByName(name)
	return l.Packets, err
}
