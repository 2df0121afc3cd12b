package drop_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestDrops: the table has the kernel's reasons, and marks counters of the same packets.
func TestDrops(t *testing.T) {
	s := diagnosetest.Dropping(
		netstate.KernelDrop{Reason: "UNHANDLED_PROTO", Interface: "eth0", Direction: "rx", Protocol: "LLDP",
			Place: "__netif_receive_skb_core", Packets: 50},
		netstate.KernelDrop{Reason: "SOCKET_RCVBUFF", Interface: "eth0", Direction: "rx", Protocol: "IPv4 UDP",
			Packets: 5},
		netstate.KernelDrop{Reason: "NO_SOCKET", Interface: "eth0", Direction: "rx", Protocol: "IPv6 UDP", Packets: 30},
	)
	s.State.KernelDrops.Lost, s.State.KernelDrops.Unspecified = 3, 4
	s.Reading.End.Interfaces[0].RxDropped, s.Reading.End.Interfaces[0].RxMissed = 50, 2
	s.Reading.End.SNMP["Udp.RcvbufErrors"], s.Reading.End.SNMP["Udp.NoPorts"] = 6, 30
	e := diagnose.Hosts([]netstate.HostSnapshot{s})
	var got []string
	for _, d := range e.Drops {
		got = append(got, fmt.Sprint(d.Where, " ", d.Direction, " ", d.Counter, " ", d.Protocol, " ", d.Packets, " ",
			d.Verdict, " ", d.By, " ", d.Again))
	}
	want := []string{
		"Udp  RcvbufErrors  6 harmful  false", // one more than were traced
		"eth0 rx SOCKET_RCVBUFF IPv4 UDP 5 harmful kfree_skb false",
		"eth0  rx_missed_errors  2 harmful  false", // the NIC's own
		"eth0  rx_dropped  50 unknown  true",
		"eth0 rx NO_SOCKET IPv6 UDP 30 unknown kfree_skb false",
		"Udp  NoPorts  30 unknown  false", // of IPv4
		"eth0 rx UNHANDLED_PROTO LLDP 50 harmless kfree_skb false",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if e.Drops[0].Verdict != facts.Harmful || e.Drops[len(e.Drops)-1].Verdict != facts.Harmless {
		t.Errorf("order: %+v", e.Drops)
	}
	if want := (record.DropSource{Host: "nas", By: record.ByTracepoint, Lost: 3, Unspecified: 4}); len(
		e.DropsBy) != 1 || e.DropsBy[0] != want {
		t.Errorf("%+v", e.DropsBy)
	}
	s.State.KernelDrops = nil
	s.State.Parts[len(s.State.Parts)-1].Missing = "no bpf"
	if e := diagnose.Hosts([]netstate.HostSnapshot{s}); e.DropsBy[0] != (record.DropSource{Host: "nas",
		By:  record.ByCounters,
		Why: "no bpf"}) ||
		!slices.ContainsFunc(e.Unevaluated, func(u record.Unevaluated) bool {
			return u.Rule == "netfilter-drop" &&
				u.Why == "kfree_skb: no bpf"
		}) {
		t.Errorf("%+v, %+v", e.DropsBy, e.Unevaluated)
	}
}

// TestFilterQdiscs: what ingress and clsact count as dropped, their filters dropped. It is no full
// queue, and hides none.
func TestFilterQdiscs(t *testing.T) {
	for _, kind := range []string{"ingress", "clsact"} {
		s := diagnosetest.Dropping(netstate.KernelDrop{Reason: "TC_INGRESS", Interface: "eth0", Direction: "rx",
			Protocol: "IPv4 UDP",
			Packets:  5000})
		for _, q := range []netstate.QdiscCounters{{Interface: "eth0", Kind: kind, Handle: "ffff:", Parent: "ingress",
			Drops: 5000}, {Interface: "eth0", Kind: "fq_codel", Handle: "8001:", Parent: "root", Drops: 20}} {
			s.Reading.End.Qdiscs = append(s.Reading.End.Qdiscs, q)
			q.Drops = 0
			s.Reading.Begin.Qdiscs = append(s.Reading.Begin.Qdiscs, q)
		}
		s.Reading.End.SNMP["Ip.FragFails"] = 50
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		if list := diagnosetest.FoundBy(e, "qdisc-drop"); len(list) != 1 ||
			list[0].Args != (cause.Qdisc{Kind: "fq_codel"}) {
			t.Errorf("%s: %+v", kind, list)
		}
		if len(diagnosetest.FoundBy(e, "tc-drop")) != 1 || len(diagnosetest.FoundBy(e, "fragmentation-needed")) != 1 {
			t.Errorf("%s: %+v", kind, e.Findings)
		}
		rows := 0
		for _, d := range e.Drops {
			switch d.Counter {
			case "qdisc " + kind + " dropped":
				if rows++; d.Verdict != facts.Unknown || !d.Again || d.Kind != record.DropFilter {
					t.Errorf("%+v", d)
				}
			case "qdisc fq_codel dropped":
				if rows++; d.Verdict != facts.Harmful || d.Packets != 20 {
					t.Errorf("%+v", d)
				}
			}
		}
		if rows != 2 {
			t.Errorf("%s: %+v", kind, e.Drops)
		}
	}
}

// TestFirstDrops: what a counter counted for the first time between the readings is listed.
func TestFirstDrops(t *testing.T) {
	s := diagnosetest.Dropping()
	s.Reading.End.Interfaces[0].RxMissed = 2
	if e := diagnose.Hosts([]netstate.HostSnapshot{s}); len(e.Drops) != 1 || e.Drops[0].Boot ||
		e.Drops[0].Packets != 2 {
		t.Errorf("%+v", e.Drops)
	}
}

// TestDropRules: findings that the kernel's reasons make, change and prevent.
func TestDropRules(t *testing.T) {
	row := func(reason, direction string, n int64) netstate.KernelDrop {
		return netstate.KernelDrop{Reason: reason, Interface: "eth0", Direction: direction, Protocol: "IPv4 UDP",
			Place: "nf_hook_slow", Packets: n}
	}
	for _, test := range []struct {
		rows           []netstate.KernelDrop
		rxDropped      uint64
		id, confidence string // empty: nothing is found
		evidence       string
	}{
		{rows: []netstate.KernelDrop{row("NETFILTER_DROP", "tx", 20)}, id: "netfilter-drop", confidence: record.Likely,
			evidence: `"direction":"tx","packets":20,"protocol":"IPv4 UDP","over_s":3,"reason":"NETFILTER_DROP","place":"nf_hook_slow"`},
		// of 1000
		{rows: []netstate.KernelDrop{row("NETFILTER_DROP", "rx", 20)}, id: "netfilter-drop", confidence: record.Likely},
		{rows: []netstate.KernelDrop{row("NETFILTER_DROP", "rx", 9)}, id: "netfilter-drop",
			confidence: record.Possible},
		{rows: []netstate.KernelDrop{{Reason: "NETFILTER_DROP", Packets: 9}}, id: "netfilter-drop",
			confidence: record.Possible, evidence: `{"packets":9,"over_s"`},
		{rows: []netstate.KernelDrop{row("TC_INGRESS", "rx", 500)}, id: "tc-drop", confidence: record.Likely},
		{rxDropped: 10, id: "rx-dropped", confidence: record.Possible, evidence: `"name":"rx_dropped","grew":10,`},
		// of 1050 that arrive, and nothing of unknown protocols
		{rxDropped: 50, id: "rx-dropped", confidence: record.Likely, evidence: `"name":"rx_dropped","grew":50,`},
		{rxDropped: 50, rows: []netstate.KernelDrop{row("UNHANDLED_PROTO", "rx", 50)}},
		{rxDropped: 500, rows: []netstate.KernelDrop{row("UNHANDLED_PROTO", "rx", 50)}, id: "rx-dropped",
			confidence: record.Likely, evidence: `"name":"rx_dropped","grew":450,`},
		{rxDropped: 50, rows: []netstate.KernelDrop{row("CPU_BACKLOG", "rx", 50)}, id: "rx-dropped",
			confidence: record.Likely, evidence: `"reason":"CPU_BACKLOG"`},
		{rows: []netstate.KernelDrop{row("OTHERHOST", "rx", 50), row("NETFILTER_DROP", "rx", -7)}},
	} {
		s := diagnosetest.Dropping(test.rows...)
		s.Reading.End.Interfaces[0].RxDropped = test.rxDropped
		found := slices.DeleteFunc(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings, func(f record.Finding) bool {
			return f.ExplainedBy != ""
		})
		switch {
		case test.id == "" && len(found) > 0:
			t.Errorf("%+v: found %+v", test, found)
		case test.id == "":
		case len(found) != 1 || found[0].ID != test.id || found[0].Confidence != test.confidence:
			t.Errorf("%+v: found %+v", test, found)
		case test.rxDropped > 10 && found[0].Args == any(cause.Unreceived{Known: cause.Few}):
			t.Errorf("%+v: %+v", test, found[0].Args)
		case !strings.Contains(diagnosetest.Facts(found[0]), test.evidence):
			t.Errorf("%+v: %s", test, diagnosetest.Facts(found[0]))
		}
	}
}

// TestFilterTraced: the kernel's reasons tell by which interface the reverse-path filter drops.
func TestFilterTraced(t *testing.T) {
	s := diagnosetest.Dropping(netstate.KernelDrop{Reason: "IP_RPFILTER", Interface: "eth1", Direction: "rx",
		Protocol: "IPv4 ICMP",
		Packets:  3})
	eth1 := s.Reading.Snapshot.Interfaces[0]
	eth1.Interface, eth1.MAC, eth1.Addresses = "eth1", "02:00:00:00:00:77", []string{"198.51.100.1/24"}
	s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces, eth1)
	s.Reading.Snapshot.Sysctls = map[string]string{"net.ipv4.conf.all.rp_filter": "1"}
	s.Reading.End.SNMP[facts.FilterCounter] = 3
	e := diagnose.Hosts([]netstate.HostSnapshot{s})
	i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "strict-rp-filter" })
	want := fact.Fact{Host: "nas", Is: fact.Dropped{Interface: "eth1", Direction: "rx", Packets: 3,
		Protocol: "IPv4 ICMP", OverS: 3, Reason: "IP_RPFILTER"}}
	if i < 0 || !reflect.DeepEqual(e.Findings[i].Args, cause.Filter{Interfaces: []string{"eth1"}}) ||
		!record.Within([]fact.Fact{want}, e.Findings[i].Facts) {
		t.Errorf("%+v", e.Findings)
	}
}

// TestNeighbourFailedNow: neighbours that do not answer are a likely cause while packets for them
// are dropped, and possible otherwise.
func TestNeighbourFailedNow(t *testing.T) {
	for packets, want := range map[int64]string{0: record.Possible, 3: record.Possible, 200: record.Likely} {
		s := diagnosetest.HostNamed("nas", 1)
		s.Reading.Snapshot.Neighbours = append(s.Reading.Snapshot.Neighbours, netstate.Neighbour{Address: "10.78.0.99",
			Interface: "eth0", State: "FAILED"})
		s.State.KernelDrops = &netstate.KernelDrops{
			Rows: []netstate.KernelDrop{{Reason: "NEIGH_FAILED", Interface: "eth0", Direction: "tx",
				Protocol: "IPv4 UDP",
				Packets:  packets}}}
		got := ""
		for _, f := range diagnose.Hosts([]netstate.HostSnapshot{s}).Findings {
			if f.ID == "neighbour-failed" {
				got = f.Confidence
			}
		}
		if got != want {
			t.Errorf("%d packets: %q, want %q", packets, got, want)
		}
	}
}

// TestSharedBacklog: drops of softnet_stat are not the host's where most packets that the CPUs
// took were not.
func TestSharedBacklog(t *testing.T) {
	for processed, verdict := range map[uint64]string{1000: facts.Harmful, 100_000: facts.Unknown} {
		s := diagnosetest.HostNamed("lab", 1)
		s.Reading.End.Softnet[0] = netstate.SoftnetCounters{Processed: processed, Dropped: 9, Squeezed: 500}
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		if i := slices.IndexFunc(e.Drops, func(d record.Drop) bool {
			return d.Counter == "softnet_stat dropped"
		}); i < 0 || e.Drops[i].Verdict != verdict {
			t.Errorf("%d packets: %+v", processed, e.Drops)
		}
		for _, f := range e.Findings {
			of := strings.Contains(diagnosetest.Facts(f), `"whole_machine":`)
			if of != (verdict == facts.Unknown) {
				t.Errorf("%d packets: %+v", processed, f)
			}
		}
	}
}

// TestSharedLog: the kernel's log is the whole machine's, also where it is read in another network
// namespace than the first one.
func TestSharedLog(t *testing.T) {
	for _, first := range []bool{true, false} {
		s := diagnosetest.HostNamed("lab", 1)
		s.State.FirstNamespace = first
		s.State.Log = &netstate.KernelLog{
			Lines: []netstate.LogLine{{Text: "nf_conntrack: nf_conntrack: table full, dropping packet"}}}
		for _, f := range diagnose.Hosts([]netstate.HostSnapshot{s}).Findings {
			if f.ID == "fault-logged" &&
				strings.Contains(diagnosetest.Facts(f), `"machine_log":`) == first {
				t.Errorf("first namespace %t: %+v", first, f.Facts)
			}
		}
	}
}

// TestShaped: what active queue management drops behind a shaper is harmless and names the shaper; what a shaper's
// own queue drops, or much of it, is not.
func TestShaped(t *testing.T) {
	const packets, harmful = 100000, "qdisc-drop nas certain"
	root := func(kind string, drops, overlimits uint64) netstate.QdiscCounters {
		return netstate.QdiscCounters{Interface: "eth0", Kind: kind, Handle: "1:", Parent: "root", Packets: packets,
			Drops: drops, Overlimits: overlimits}
	}
	leaf := func(kind string, drops uint64) netstate.QdiscCounters {
		return netstate.QdiscCounters{Interface: "eth0", Kind: kind, Handle: "110:", Parent: "1:10", Packets: packets,
			Drops: drops}
	}
	for _, c := range []struct {
		name, want string
		qdiscs     []netstate.QdiscCounters
	}{
		{"cake with a rate", "shaped nas likely", []netstate.QdiscCounters{root("cake", 90, 4000)}},
		{"cake without a rate", harmful, []netstate.QdiscCounters{root("cake", 90, 0)}},
		{"fq_codel in htb", "shaped nas likely", []netstate.QdiscCounters{root("htb", 90, 4000), leaf("fq_codel", 90)}},
		{"pfifo in htb", harmful, []netstate.QdiscCounters{root("htb", 90, 4000), leaf("pfifo", 90)}},
		{"both in htb", harmful,
			[]netstate.QdiscCounters{root("htb", 90, 4000), leaf("fq_codel", 40), leaf("pfifo", 50)}},
		{"more than TCP needs", harmful, []netstate.QdiscCounters{root("cake", packets/10, 4000)}},
		{"fq_codel without a shaper", harmful, []netstate.QdiscCounters{root("fq_codel", 90, 0)}},
		{"a shaper's own queue", harmful, []netstate.QdiscCounters{root("tbf", 90, 4000)}},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		for _, q := range c.qdiscs {
			s.Reading.End.Qdiscs = append(s.Reading.End.Qdiscs, q)
			q.Drops, q.Packets, q.Overlimits = 0, 0, 0
			s.Reading.Begin.Qdiscs = append(s.Reading.Begin.Qdiscs, q)
		}
		verdict := facts.Harmless
		if c.want == harmful {
			verdict = facts.Harmful
		}
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		if got := diagnosetest.Names(e.Findings); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
		if len(e.Drops) != 1 || e.Drops[0].Verdict != verdict {
			t.Errorf("%s: %+v, want one row that is %s", c.name, e.Drops, verdict)
		}
	}
}
