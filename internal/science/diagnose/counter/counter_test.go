package counter_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/sciencetest"
)

// TestTracerouteThrough: a few packets a second whose time to live runs out are those of traceroute
// or mtr as well; many are a loop.
func TestTracerouteThrough(t *testing.T) {
	for n, want := range map[int64]string{60: record.Possible, 6000: record.Likely} {
		s := diagnosetest.HostNamed("router", 15)
		s.OverS = 60
		s.Reading.End.SNMP["Ip.InHdrErrors"] = n
		e := diagnose.Hosts([]record.HostSnapshot{s})
		if list := diagnosetest.FoundBy(e, "ttl-exceeded"); len(list) != 1 || list[0].Confidence != want ||
			!strings.Contains(list[0].Summary, "traceroute") {
			t.Errorf("%d in a minute: %+v", n, list)
		}
		if len(e.Drops) != 1 || e.Drops[0].Verdict != facts.Unknown {
			t.Errorf("%d in a minute: %+v", n, e.Drops)
		}
	}
}

// TestRouteless: a few packets of IPv6 without a route are those that come before an interface has
// its routes, and a host that reaches others by IPv6 alone counts IPv4 addresses of names.
func TestRouteless(t *testing.T) {
	route := func(to, text string) record.RouteEntry {
		return record.ParseRoute(facts.MainTable, to, text)
	}
	four, six := route("0.0.0.0/0", "default via 192.0.2.1 dev eth0"),
		route("::/0", "default via fe80::1 dev eth0 metric 1024")
	null := route("::/0", "unreachable default dev lo proto kernel metric 4294967295")
	for _, test := range []struct {
		name      string
		counter   string
		n         int64
		addresses []string // besides the loopback's and link-local ones
		routes    []record.RouteEntry
		found     bool
	}{
		{"three of IPv6", "Ip6.InNoRoutes", 3, []string{"192.0.2.15/24"}, nil, false},
		{"thirty of IPv6", "Ip6.InNoRoutes", 30, []string{"192.0.2.15/24"}, nil, true},
		{"a host without IPv4", "Ip.OutNoRoutes", 300, []string{"2001:db8::5/64"}, []record.RouteEntry{six}, false},
		{"a host without IPv4 or a router", "Ip.OutNoRoutes", 300, []string{"2001:db8::5/64"},
			[]record.RouteEntry{null}, false},
		{"it forwards IPv4", "IpExt.InNoRoutes", 3, []string{"2001:db8::5/64"}, []record.RouteEntry{six}, true},
		{"IPv4 on the link only", "Ip.OutNoRoutes", 300, []string{"192.0.2.15/24", "2001:db8::5/64"},
			[]record.RouteEntry{six}, false},
		{"a default route of each", "Ip.OutNoRoutes", 3, []string{"192.0.2.15/24", "2001:db8::5/64"},
			[]record.RouteEntry{four, six}, true},
		{"it lacks a default route", "Ip.OutNoRoutes", 3, []string{"192.0.2.15/24"}, []record.RouteEntry{null}, true},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.End.SNMP[test.counter] = test.n
		s.Reading.Snapshot.Interfaces[0].Addresses = append(test.addresses, "fe80::5/64", "169.254.7.7/16")
		s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces, record.InterfaceSnapshot{Interface: "lo",
			Up: true, MTU: 65536, Addresses: []string{"127.0.0.1/8"}})
		s.Reading.Snapshot.Routes = test.routes
		if found := slices.ContainsFunc(diagnose.Hosts([]record.HostSnapshot{s}).Findings, func(f record.Finding) bool {
			return f.ID == "no-route"
		}); found != test.found {
			t.Errorf("%s: found %v", test.name, found)
		}
	}
}

// TestGrowthBesideAnother: a count that is larger than what it is compared with is no share of it.
func TestGrowthBesideAnother(t *testing.T) {
	for n, want := range map[int64]string{30: "that is 50 % of Tcp.OutSegs, 60",
		294: "that is 4.9 for each of Tcp.OutSegs, 60"} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Begin.SNMP, s.Reading.End.SNMP = map[string]int64{}, map[string]int64{"TcpExt.TCPTimeouts": n,
			"Tcp.OutSegs": 60}
		e := diagnose.Hosts([]record.HostSnapshot{s})
		i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "tcp-timeouts" })
		if i < 0 || !slices.Contains(e.Findings[i].Evidence, want) {
			t.Errorf("%d timeouts: %+v", n, e.Findings)
		}
	}
}

// TestRefusedFragments: the kernel counts a fragment that a full queue of the host dropped in
// FragFails as well. As many are no evidence for a smaller MTU, nor in the table of drops.
func TestRefusedFragments(t *testing.T) {
	for _, test := range []struct {
		name              string
		fails, drops, udp int64
		traced            int64 // as too big
		found             bool
		why               string // of the table of drops
	}{
		{"a smaller MTU", 50, 0, 0, 0, true, "packets were larger than the next link takes"},
		{"the sender's shaper", 160_140, 605_030, 605_029, 0, false, "a queue of this host was full"},
		{"a queue below a socket that asks for errors", 50, 60, 0, 0, false, "a queue of this host was full"},
		{"a queue of an interface that counts no drops", 50, 0, 50, 0, false, "a queue of this host was full"},
		{"a router with a full queue, whose kernel says which were too big", 50, 600, 0, 20, true,
			"; up to 30: a queue of this host was full"},
		{"more than the queue dropped", 50, 20, 10, 0, true, "; up to 20: a queue of this host was full"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		q := record.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		s.Reading.Begin.Qdiscs = []record.QdiscCounters{q}
		q.Drops = uint64(test.drops)
		s.Reading.End.Qdiscs = []record.QdiscCounters{q}
		s.Reading.End.SNMP["Ip.FragFails"], s.Reading.End.SNMP["Udp.SndbufErrors"] = test.fails, test.udp
		s.State.KernelDrops = &record.KernelDrops{
			Rows: []record.KernelDrop{{Reason: "PKT_TOO_BIG", Interface: "eth0", Packets: test.traced}}}
		e := diagnose.Hosts([]record.HostSnapshot{s})
		i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "fragmentation-needed" })
		if found := i >= 0; found != test.found || found && e.Findings[i].Confidence == record.Certain {
			t.Errorf("%s: %+v", test.name, e.Findings)
		}
		if d := e.Drops[slices.IndexFunc(e.Drops, func(d record.Drop) bool {
			return d.Counter == "FragFails"
		})]; !strings.Contains(d.Why, test.why) {
			t.Errorf("%s: %s, want %q", test.name, d.Why, test.why)
		}
	}
}

// TestUDPBufferFix: net.core.rmem_max is the fix where it can bound the buffer that was full.
func TestUDPBufferFix(t *testing.T) {
	for _, test := range []struct {
		name     string
		most     string // rmem_max
		buffer   int64  // as the kernel counts it
		settings bool
		says     string
	}{
		{"bounded by it", "212992", 425984, true, "sysctl -w net.core.rmem_max=26214400"},
		{"not known", "", 33554432, true, "sysctl -w net.core.rmem_max=26214400"},
		{"of no socket that is known", "4194304", 0, true, "the largest that it can set"},
		{"above it, as root sets it", "4194304", 33554432, false,
			"its buffer is 33.55 MB, and net.core.rmem_max, 4194304, which bounds only SO_RCVBUF, does not bound it"},
		{"far below it", "4194304", 32768, false, "up to net.core.rmem_max, 4194304"},
		{"raised before", "67108864", 425984, false, "up to net.core.rmem_max, 67108864"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Snapshot.Sysctls = map[string]string{"net.core.rmem_max": test.most}
		s.Reading.End.SNMP["Udp.RcvbufErrors"] = 500
		run := &record.Run{Snapshots: []record.HostSnapshots{{Host: "nas", After: &s}}}
		trial := record.Trial{WindowS: 3, Hosts: []record.HostReading{s.Reading},
			Flows: []record.Flow{{To: "nas", Datagrams: &record.Datagrams{LostInBuffer: 500,
				BufferBytes: test.buffer}}}}
		run.Trials = []record.Trial{trial}
		run.Topology.Hosts = []topology.Host{{Name: "nas", Via: []string{"ssh"}}}
		s.State.Listeners = []record.Listener{{Protocol: "udp", Local: "0.0.0.0:5202", Drops: 500,
			ReceiveBuffer: test.buffer}}
		for where, findings := range map[string][]record.Finding{
			"snapshot": diagnose.Hosts([]record.HostSnapshot{s}).Findings,
			"run":      diagnose.Around(run, nil)} {
			i := slices.IndexFunc(findings, func(f record.Finding) bool { return f.ID == "udp-buffer-overflow" })
			if i < 0 {
				t.Errorf("%s, %s: %+v", test.name, where, findings)
				continue
			}
			if f := findings[i]; len(f.Settings) > 0 != test.settings ||
				!strings.Contains(strings.Join(f.Fix, "\n"), test.says) {
				t.Errorf("%s, %s: %q, %+v", test.name, where, f.Fix, f.Settings)
			}
		}
	}
}

// TestMultiQueueDrops: a queue of mq is a finding for what it dropped between the readings.
func TestMultiQueueDrops(t *testing.T) {
	for _, drops := range []uint64{0, 50} {
		s := diagnosetest.HostNamed("nas", 15)
		sciencetest.MultiQueue(&s.Reading.Begin, &s.Reading.End, "eth0", drops)
		list := diagnose.Hosts([]record.HostSnapshot{s}).Findings
		i := slices.IndexFunc(list, func(f record.Finding) bool {
			return f.ID == "qdisc-drop" && f.Confidence == record.Certain
		})
		if (i >= 0) != (drops > 0) || i >= 0 && !strings.Contains(list[i].Evidence[0], ": 50 dropped") {
			t.Errorf("%d drops: %+v", drops, list)
		}
	}
}
