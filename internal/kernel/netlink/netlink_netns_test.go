//go:build linux && !portable

package netlink

import (
	"errors"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
	"linerate/internal/model/setting"
)

// scene is one host with two cabled ports and a bridge behind one of them:
// a0—a1 with addresses on both ends, b0—b1 with b1 in bridge br.
func scene(t *testing.T) *Conn {
	t.Helper()
	for _, words := range []string{
		"link set lo up",
		"link add dev a0 type veth peer name a1",
		"link add dev b0 type veth peer name b1",
		"link add dev br type bridge",
		"link set dev b1 master br",
		"link set dev a0 up", "link set dev a1 up", "link set dev b0 up", "link set dev b1 up", "link set dev br up",
		"addr add 10.1.0.1/24 dev a0",
		"addr add fd00:1::1/64 dev a0 nodad",
	} {
		kerneltest.Do(t, "ip", strings.Fields(words)...)
	}
	return dial(t)
}

func dial(t *testing.T) *Conn {
	t.Helper()
	c, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestLinksAndAddresses(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		c := scene(t)
		links, err := c.Links()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]Link{}
		for _, l := range links {
			found[l.Name] = l
		}
		if len(links) != 6 || !found["lo"].Loopback || found["a0"].Kind != "veth" || found["br"].Kind != "bridge" ||
			found["b1"].Master != "br" || found["a0"].Master != "" || !found["a0"].Up || found["a0"].MTU != 1500 {
			t.Errorf("links: %+v", links)
		}
		inside, err := net.InterfaceByName("a0")
		if err != nil || inside.HardwareAddr.String() != found["a0"].MAC || inside.Index != found["a0"].Index {
			t.Errorf("a0 is %+v, package net says %+v, %v", found["a0"], inside, err)
		}

		mtu, queue, mac, down := 1400, 77, "02:00:00:00:00:77", false
		if err := c.ChangeLink("a0", LinkChange{MTU: &mtu, TxQueueLen: &queue, MAC: &mac}); err != nil {
			t.Fatal(err)
		}
		if err := c.ChangeLink("a0", LinkChange{Up: &down}); err != nil {
			t.Fatal(err)
		}
		changed, err := c.LinkByName("a0")
		if err != nil || changed.MTU != mtu || changed.TxQueueLen != queue || changed.MAC != mac || changed.Up {
			t.Errorf("changed link: %+v, %v", changed, err)
		}
		sizes := PacketSizes{GSO: 180_000, GRO: 170_000, GSOIPv4: 160_000, GROIPv4: 150_000}
		if err := c.ChangeLink("a0", LinkChange{Packets: sizes}); err != nil {
			t.Fatal(err)
		}
		if found["a0"].Packets.GSOIPv4 == 0 { // before Linux 6.3
			sizes.GSOIPv4, sizes.GROIPv4 = 0, 0
		}
		if changed, err := c.LinkByName("a0"); err != nil || changed.Packets != sizes {
			t.Errorf("packet sizes: %+v, %v; want %+v", changed.Packets, err, sizes)
		}
		if err := c.ChangeLink("nowhere", LinkChange{MTU: &mtu}); !errors.Is(err, syscall.ENODEV) {
			t.Errorf("an interface that is not there: %v", err)
		}

		if err := c.AddAddresses("b0", []netip.Prefix{netip.MustParsePrefix("10.2.0.1/16")}); err != nil {
			t.Fatal(err)
		}
		addresses, err := c.Addresses()
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, a := range addresses {
			texts[a.Prefix.String()] = a.Interface
		}
		if texts["10.1.0.1/24"] != "a0" || texts["10.2.0.1/16"] != "b0" || texts["127.0.0.1/8"] != "lo" {
			t.Errorf("addresses: %v", texts)
		}
		if err := c.AddAddresses("b0", []netip.Prefix{netip.MustParsePrefix("10.2.0.1/16")}); !errors.Is(err,
			syscall.EEXIST) {
			t.Errorf("adding an address twice: %v", err)
		}
		for range 2 { // the second finds nothing and is content
			if err := c.DeleteAddresses("b0", []netip.Prefix{netip.MustParsePrefix("10.2.0.1/16")}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Counters must agree with what was sent, and frames for another MAC address
// must be counted separately.
func TestPortCounters(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		c := scene(t)
		names := map[int]string{}
		read := func() (a0, a1 uint64, tx uint64) {
			ports, err := c.InterfaceCounters(names)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range ports {
				if p.AtNs == 0 || p.AtNs > sched.Now() {
					t.Errorf("%s was read at %d", p.Interface, p.AtNs)
				}
				switch p.Interface {
				case "a0":
					tx = p.TxPackets
				case "a1":
					a0, a1 = p.RxPackets, p.RxOtherhost
				}
			}
			return
		}
		rx0, other0, tx0 := read()
		// A neighbour at a MAC address that no interface has: its frames reach a1, which
		// drops them as another host's.
		if err := c.SetNeighbour("a0", netip.MustParseAddr("10.1.0.9"), "02:00:00:00:00:99"); err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "ip", "link", "set", "dev", "br", "down") // keep it quiet
		conn, err := net.Dial("udp", "10.1.0.9:9")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range 50 {
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		rx1, other1, tx1 := read()
		for until := time.Now().Add(10 * time.Second); other1-other0 < 50 && time.Now().Before(until); rx1, other1,
			tx1 = read() {
			time.Sleep(10 * time.Millisecond) // a softirq drops them
		}
		if rx1-rx0 < 50 || tx1-tx0 < 50 {
			t.Errorf("50 datagrams: sent %d, received %d", tx1-tx0, rx1-rx0)
		}
		if other1-other0 < 50 {
			t.Errorf("50 frames for another host: rx_otherhost_dropped rose by %d", other1-other0)
		}
		// The fallback for kernels without RTM_GETSTATS must say the same.
		slow, err := c.statsOfLinks()
		if err != nil || len(slow) != len(names) {
			t.Fatalf("%d interfaces from the link dump, %d names, %v", len(slow), len(names), err)
		}
		for _, s := range slow {
			if names[s.index] == "a1" && s.counters.RxOtherhost != other1 {
				t.Errorf("link dump: rx_otherhost_dropped %d, statistics dump: %d", s.counters.RxOtherhost, other1)
			}
		}
	})
}

func TestRoutesRulesLookups(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		c := scene(t)
		addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
		specs := []RouteSpec{
			{To: prefix("10.8.0.0/16"), Metric: 7, Source: addr("10.1.0.1"),
				Nexthops: []Nexthop{{Via: addr("10.1.0.2"), Interface: "a0"}}},
			{To: prefix("10.9.0.0/16"), Nexthops: []Nexthop{{Via: addr("10.1.0.2")},
				{Via: addr("10.1.0.3"), Weight: 3}}},
			{To: prefix("10.7.0.0/16"), Nexthops: []Nexthop{{Via: addr("fe80::7"), Interface: "a0"}}},
			{To: prefix("10.6.0.0/16"), Table: 1000, Nexthops: []Nexthop{{Interface: "b0"}}},
			{To: prefix("fd00:9::/64"), Nexthops: []Nexthop{{Via: addr("fd00:1::2")}, {Via: addr("fd00:1::3")}}},
			{To: prefix("::/0"), Table: 100, Nexthops: []Nexthop{{Via: addr("fe80::1"), Interface: "a0"}}},
		}
		for _, s := range specs {
			if err := c.ReplaceRoute(s); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"10.8.0.0/16 via 10.1.0.2 dev a0 proto static src 10.1.0.1 metric 7",
			"10.9.0.0/16 proto static nexthop via 10.1.0.2 dev a0 weight 1 nexthop via 10.1.0.3 dev a0 weight 3",
			"10.7.0.0/16 via inet6 fe80::7 dev a0 proto static",
			"10.6.0.0/16 dev b0 proto static scope link",
			"fd00:9::/64 proto static metric 1024 nexthop via fd00:1::2 dev a0 weight 1 nexthop via fd00:1::3 dev " +
				"a0 weight 1",
			"default via fe80::1 dev a0 proto static metric 1024",
		}
		byText := func() map[string]Route {
			routes, err := c.Routes()
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]Route{}
			for _, r := range routes {
				found[r.Text] = r
				parsed := netstate.ParseRoute(r.Table, r.To.String(), r.Text)
				parsed.Nexthops, parsed.Dead = r.Entry.Nexthops, r.Entry.Dead // which the text does not have
				if !reflect.DeepEqual(parsed, r.Entry) {
					t.Errorf("%+v is read as %+v", r.Entry, parsed)
				}
			}
			return found
		}
		before := byText()
		for i, text := range want {
			r, found := before[text]
			if !found {
				t.Fatalf("no route %q in %v", text, before)
			}
			if table := max(specs[i].Table, 0); table != 0 && r.Table != table {
				t.Errorf("%q is in table %d", text, r.Table)
			}
			// Away and back again, exactly as it was.
			if err := c.DeleteRoute(r.Object); err != nil {
				t.Fatal(err)
			}
			if _, found := byText()[text]; found {
				t.Fatalf("%q is still there", text)
			}
			if err := c.RestoreRoute(r.Object, false); err != nil {
				t.Fatal(err)
			}
		}
		after := byText()
		for text := range after {
			// The kernel adds routes when duplicate address detection of an IPv6 address
			// has finished.
			if _, found := before[text]; !found && !strings.Contains(text, "proto kernel") {
				t.Errorf("%q was not there before", text)
			}
		}
		for text := range before {
			if _, found := after[text]; !found {
				t.Errorf("%q was not restored", text)
			}
		}

		lookup, err := c.LookupRoute(netstate.RouteLookup{Source: "10.1.0.1", Destination: "10.8.1.1"}, nil)
		if err != nil || lookup.Interface != "a0" || lookup.Gateway != "10.1.0.2" || lookup.ChosenSource != "" {
			t.Errorf("lookup: %+v, %v", lookup, err)
		}
		if lookup, err := c.LookupRoute(netstate.RouteLookup{Destination: "10.8.1.1"}, map[int]string{}); err != nil ||
			lookup.Interface != "a0" || lookup.ChosenSource != "10.1.0.1" {
			t.Errorf("lookup without a source: %+v, %v", lookup, err)
		}
		_, err = c.LookupRoute(netstate.RouteLookup{Destination: "192.0.2.1"}, nil)
		if !errors.Is(err, syscall.ENETUNREACH) || !strings.Contains(err.Error(), "192.0.2.1") {
			t.Errorf("lookup of an unreachable address: %v", err)
		}

		rule := Rule{Family: 4, Priority: 500, From: prefix("10.1.0.1/32"), Table: 1000, Plain: true}
		if err := c.AddRule(rule); err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "ip", "rule", "add", "pref", "501", "fwmark", "7", "lookup", "1000")
		rules, err := c.Rules()
		if err != nil {
			t.Fatal(err)
		}
		plain := map[int]bool{}
		for _, r := range rules {
			plain[r.Priority] = r.Plain
		}
		if !plain[500] || plain[501] || !plain[32766] {
			t.Errorf("which rules are plain: %v", plain)
		}
		lookup, err = c.LookupRoute(netstate.RouteLookup{Source: "10.1.0.1", Destination: "10.6.1.1"}, nil)
		if err != nil || lookup.Interface != "b0" {
			t.Errorf("lookup by source rule: %+v, %v", lookup, err)
		}
		if text := kerneltest.Do(t, "ip", "rule"); !strings.Contains(text, "500:\tfrom 10.1.0.1 lookup 1000") {
			t.Errorf("ip rule says:\n%s", text)
		}
		for range 2 {
			if err := c.DeleteRule(rule); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestNeighboursAndForwardingTable(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		c := scene(t)
		peer := netip.MustParseAddr("10.1.0.2")
		if err := c.SetNeighbour("a0", peer, "02:00:00:00:00:02"); err != nil {
			t.Fatal(err)
		}
		find := func() *Neighbour {
			list, err := c.Neighbours()
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range list {
				if n.Address == peer && n.Interface == "a0" {
					return &n
				}
			}
			return nil
		}
		n := find()
		if n == nil || n.State != "PERMANENT" || n.MAC != "02:00:00:00:00:02" {
			t.Fatalf("permanent neighbour: %+v", n)
		}
		for range 2 {
			if err := c.DeleteNeighbour("a0", peer); err != nil {
				t.Fatal(err)
			}
		}
		if n := find(); n != nil && n.MAC != "" {
			t.Errorf("deleted neighbour: %+v", n)
		}
		if err := c.RestoreNeighbour(n.Object); err != nil {
			t.Fatal(err)
		}
		if again := find(); again == nil || again.State != n.State || again.MAC != n.MAC {
			t.Errorf("restored neighbour: %+v", again)
		}

		kerneltest.Forwards(t, "b1")
		kerneltest.Do(t, "bridge", "fdb", "add", "02:00:00:00:00:55", "dev", "b1", "master", "dynamic")
		fdb, err := c.FDB()
		if err != nil {
			t.Fatal(err)
		}
		learned, local := 0, 0
		for _, e := range fdb {
			if e.MAC == "02:00:00:00:00:55" && e.Interface == "b1" && !e.Local {
				learned++
			}
			if e.Local && e.Interface == "b1" {
				local++
			}
			if strings.HasPrefix(e.MAC, "33:33") || strings.HasPrefix(e.MAC, "01:00") {
				t.Errorf("a multicast filter is listed: %+v", e)
			}
		}
		if learned != 1 || local != 1 {
			t.Errorf("forwarding table: %+v", fdb)
		}
	})
}

func TestQdiscs(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		c := scene(t)
		root := func() Qdisc {
			list, err := c.Qdiscs(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range list {
				if q.Interface == "a0" && q.IsRoot() {
					return q
				}
			}
			t.Fatal("a0 has no root qdisc")
			return Qdisc{}
		}
		for _, s := range []QdiscSpec{
			{Handle: 0x10000, Qdisc: setting.Qdisc{Kind: "pfifo", Limit: 10}},
			{Handle: 0x20000, Qdisc: setting.Qdisc{Kind: "bfifo", Limit: 30000}},
			{Handle: 0x30000, Qdisc: setting.Qdisc{Kind: "tbf", Limit: 1 << 20, Rate: 1e9, Burst: 256 << 10}},
			{Handle: 0x40000, Qdisc: setting.Qdisc{Kind: "tbf", Limit: 1 << 22, Rate: 100e9, Burst: 4 << 20}},
		} {
			if err := c.ReplaceQdisc("a0", s); err != nil {
				if errors.Is(err, syscall.ENOENT) {
					kerneltest.Skip(t, err.Error())
				}
				t.Fatal(err)
			}
			q := root()
			got := q.Spec()
			if got.Kind != s.Kind || got.Handle != s.Handle || got.Limit != s.Limit || got.Rate != s.Rate {
				t.Errorf("set %+v, got %+v", s, got)
			}
			// The kernel keeps the burst as a time in ticks of 64 ns.
			if difference := got.Burst - s.Burst; difference < -2000 || difference > 2000 {
				t.Errorf("set a burst of %d, got %d", s.Burst, got.Burst)
			}
			if err := c.DeleteRootQdisc("a0"); err != nil {
				t.Fatal(err)
			}
			if err := c.RestoreQdisc("a0", q.Spec(), q.Options); err != nil {
				t.Fatal(err)
			}
			if again := root().Spec(); !reflect.DeepEqual(again, got) {
				t.Errorf("restored %+v as %+v", got, again)
			}
		}
		tc := kerneltest.Do(t, "tc", "qdisc", "show", "dev", "a0")
		if !strings.Contains(tc, "tbf 4: root") || !strings.Contains(tc, "rate 100Gbit burst 4") {
			t.Errorf("tc says: %s", tc)
		}
		for range 2 {
			if err := c.DeleteRootQdisc("a0"); err != nil {
				t.Fatal(err)
			}
		}
		if q := root(); q.Handle != 0 {
			t.Errorf("after deletion: %+v", q)
		}
		if err := c.ReplaceQdisc("a0", QdiscSpec{Qdisc: setting.Qdisc{Kind: "tbf", Limit: 1, Rate: 8}}); err == nil {
			t.Error("tbf without a burst was accepted")
		}
	})
}

func TestNamespacedSysctl(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		before, err := CurrentNetNS()
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]bool{
			"net.ipv4.ip_forward": true, "net.ipv4.conf.a0.rp_filter": true, "net.ipv4.conf.all.arp_ignore": true,
			"net.ipv6.neigh.a0.base_reachable_time_ms": true, "net.ipv4.tcp_rmem": true,
			"net.ipv4.tcp_congestion_control": true,
			"net.core.rmem_max":               false, "net.core.netdev_max_backlog": false, "net.ipv4.tcp_mem": false,
			"vm.swappiness": false, "kernel.hostname": false, "net.no.such_key": false,
		} {
			got, err := NamespacedSysctl(key)
			if err != nil || got != want {
				t.Errorf("%s: namespaced %v, want %v; %v", key, got, want, err)
			}
		}
		if after, err := CurrentNetNS(); err != nil || !after.Equal(before) {
			t.Errorf("looking moved us from %v to %v, %v", before, after, err)
		}
	})
}

func TestErrorsCarryTheKernelsWords(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		c := scene(t)
		err := c.ReplaceRoute(RouteSpec{To: netip.MustParsePrefix("10.99.0.0/16"),
			Nexthops: []Nexthop{{Via: netip.MustParseAddr("172.16.0.1"), Interface: "a0"}}})
		for _, part := range []string{"replace route", "10.99.0.0/16 via 172.16.0.1 dev a0", "unreachable",
			"invalid gateway"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error lacks %q: %v", part, err)
			}
		}
		if _, err := (proc.Sysctls{}).Read("net.ipv4.no_such"); !errors.Is(err, syscall.ENOENT) ||
			!strings.Contains(err.Error(), "net.ipv4.no_such") {
			t.Errorf("unknown sysctl: %v", err)
		}
	})
}
