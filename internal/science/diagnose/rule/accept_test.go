package rule_test

import (
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestAccept: an accepted finding is apart until its last day has passed, on its host alone,
// and what it explained is a finding by itself.
func TestAccept(t *testing.T) {
	full := func(name string, n int) netstate.HostSnapshot {
		s := diagnosetest.HostNamed(name, n)
		s.State.Listeners = []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 17, Backlog: 16}}
		s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 5
		return s
	}
	evaluated := func(day string, accepted ...record.AcceptedRule) (found, apart string) {
		e := diagnose.Hosts([]netstate.HostSnapshot{full("nas", 15), full("client", 16)})
		diagnose.Accept(&e, accepted, day)
		for _, f := range e.Findings {
			found += f.ID + " " + f.Host + " " + f.ExplainedBy + "; "
		}
		for _, f := range e.Accepted {
			apart += f.ID + " " + f.Host + " " + f.Until + "; "
		}
		return found, apart
	}
	queue := record.AcceptedRule{Rule: "accept-queue-full", Host: "nas", Until: "2027-01-31", Because: "a test"}
	all, none := evaluated("2027-01-31")
	if none != "" ||
		all != "accept-queue-full nas ; accept-queue-full client ; listen-overflow nas accept-queue-full; "+
			"listen-overflow client accept-queue-full; " {
		t.Fatal(all, none)
	}
	for _, c := range []struct {
		day          string
		accepted     []record.AcceptedRule
		found, apart string
	}{
		{"2027-01-31", []record.AcceptedRule{queue},
			"accept-queue-full client ; listen-overflow nas ; listen-overflow client accept-queue-full; ",
			"accept-queue-full nas 2027-01-31; "},
		{"2027-02-01", []record.AcceptedRule{queue}, all, ""},
		{"2027-01-01", []record.AcceptedRule{{Rule: "listen-overflow", Until: "2028-01-01"}},
			"accept-queue-full nas ; accept-queue-full client ; ",
			"listen-overflow nas 2028-01-01; listen-overflow client 2028-01-01; "},
		{"2027-01-01", []record.AcceptedRule{{Rule: "accept-queue-full", Until: "2029-01-01"}, queue},
			"listen-overflow nas ; listen-overflow client ; ",
			"accept-queue-full nas 2027-01-31; accept-queue-full client 2029-01-01; "},
		{"2027-01-01", []record.AcceptedRule{{Rule: "accept-queue-full", Host: "other", Until: "2028-01-01"}}, all, ""},
	} {
		if found, apart := evaluated(c.day, c.accepted...); found != c.found || apart != c.apart {
			t.Errorf("%s %v:\n%s\n%s", c.day, c.accepted, found, apart)
		}
	}
}

// TestAcceptRestated: what names the fact of an accepted cause again is accepted with it, on
// whichever host it is found; a further fact is not, although it follows from the cause.
func TestAcceptRestated(t *testing.T) {
	filter := func(x, _ *netstate.HostSnapshot) { x.Reading.End.SNMP[facts.FilterCounter] = 769 }
	gateway := func(x, _ *netstate.HostSnapshot) {
		x.Reading.Snapshot.Routes = []netstate.RouteEntry{
			netstate.ParseRoute(facts.MainTable, "0.0.0.0/0", "default via 10.72.0.9 dev eth0")}
		x.Reading.Snapshot.Neighbours = []netstate.Neighbour{{Interface: "eth0", Address: "10.72.0.9", State: "FAILED"}}
		x.State.KernelDrops.Rows = []netstate.KernelDrop{{Reason: "NEIGH_FAILED", Interface: "eth0", Direction: "tx",
			Packets: 40}}
	}
	twice := func(x, y *netstate.HostSnapshot) {
		y.Reading.Snapshot.Interfaces[0].Addresses = []string{"10.72.0.1/24"}
		for _, s := range []*netstate.HostSnapshot{x, y} {
			x.Reading.Snapshot.Answers = append(x.Reading.Snapshot.Answers, netstate.Neighbour{Interface: "eth0",
				Address: "10.72.0.1", MAC: s.Reading.Snapshot.Interfaces[0].MAC})
		}
	}
	datagrams := func(x, _ *netstate.HostSnapshot) {
		x.Reading.End.SNMP["Udp.RcvbufErrors"] = 50
		x.State.Listeners = []netstate.Listener{{Protocol: "udp", Local: "0.0.0.0:514", Drops: 50}}
	}
	and := func(changes ...func(x, y *netstate.HostSnapshot)) func(x, y *netstate.HostSnapshot) {
		return func(x, y *netstate.HostSnapshot) {
			for _, change := range changes {
				change(x, y)
			}
		}
	}
	for _, c := range []struct {
		accepted    string
		change      func(x, y *netstate.HostSnapshot)
		apart, rest string
	}{
		{"strict-rp-filter", filter, "strict-rp-filter rp-filter-drop", ""},
		{"rp-filter-drop", filter, "rp-filter-drop", "strict-rp-filter"},
		{"strict-rp-filter", and(filter, func(x, _ *netstate.HostSnapshot) { // connections stall as well
			x.State.Notable = []netstate.Connection{{Local: "10.72.0.1:9", Remote: "10.72.0.2:9", State: "SYN-SENT",
				Info: &netstate.TCPInfo{Retransmits: 2}}}
		}), "strict-rp-filter rp-filter-drop", "syn-unanswered"},
		{"gateway-unresolved", gateway, "gateway-unresolved neighbour-failed", ""},
		{"gateway-unresolved", and(gateway, func(x, _ *netstate.HostSnapshot) { // another one fails as well
			x.Reading.Snapshot.Neighbours = append(x.Reading.Snapshot.Neighbours, netstate.Neighbour{Interface: "eth1",
				Address: "10.73.0.9", State: "FAILED"})
		}), "gateway-unresolved", "neighbour-failed"},
		{"address-twice", twice, "address-twice duplicate-address", ""},
		{"address-twice", and(twice, func(x, _ *netstate.HostSnapshot) {
			x.State.Probes = []netstate.Probe{{Address: "10.72.0.1", Interface: "eth0",
				ARP: []string{"02:00:00:00:00:01",
					"02:00:00:00:00:02"}}}
		}), "address-twice duplicate-address", ""},
		{"udp-buffer-overflow", datagrams, "udp-buffer-overflow udp-socket-dropped", ""},
	} {
		x, y := diagnosetest.TwoHosts()
		x.Reading.Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "1"
		y.Reading.Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "1"
		c.change(&x, &y)
		e := diagnose.Hosts([]netstate.HostSnapshot{x, y})
		diagnose.Accept(&e, []record.AcceptedRule{{Rule: c.accepted, Until: "2027-01-31", Because: "known"}},
			"2027-01-01")
		var apart, rest []string
		for _, f := range e.Accepted {
			apart = append(apart, f.ID)
			if f.Because != "known" || (f.ExplainedBy == "") != (f.ID == c.accepted) {
				t.Errorf("%s: %+v", c.accepted, f)
			}
		}
		for _, f := range e.Findings {
			rest = append(rest, f.ID)
		}
		if strings.Join(apart, " ") != c.apart || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s: accepted %v, left %v; want %s, %s", c.accepted, apart, rest, c.apart, c.rest)
		}
	}
}
