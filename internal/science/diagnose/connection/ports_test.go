package connection_test

import (
	"fmt"
	"net/netip"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestPortsExhausted: the kernel's word becomes a finding of the opener's with the
// addresses, the range and what was open; by bind and by connect are two causes, and
// neither is reported once more as a host that is not reached.
func TestPortsExhausted(t *testing.T) {
	flow := func(i int, bound bool) record.Flow {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}), 5202)
		return record.Flow{
			ID: fmt.Sprint("f", i), Protocol: flow.RR, From: "client", To: "server", OpenedBy: "client",
			Error: "no port",
			Exhausted: &record.PortsExhausted{Source: netip.MustParseAddr("10.0.0.1"), Destination: at, Bound: bound,
				FirstPort: 40000, LastPort: 40999, Open: 100 * i, Wanted: 1200},
		}
	}
	var trial record.Trial
	for i := range 9 {
		trial.Flows = append(trial.Flows, flow(i+1, i%3 == 2))
	}
	for _, host := range []string{"client", "server"} {
		trial.Hosts = append(trial.Hosts, netstate.HostReading{Host: host})
	}
	found := diagnose.Merge(diagnose.Diagnose(trial, &topology.Topology{}))
	if len(found) != 2 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	for _, f := range found {
		failed, of := fact.Failed{Call: "connect(2)", Error: "EADDRNOTAVAIL"}, byte(1)
		if f.Args == (cause.Ports{Bound: true}) {
			failed, of = fact.Failed{Call: "bind(2)", Error: "EADDRINUSE"}, 3
		}
		var want []fact.Fact
		for _, is := range []any{failed, fact.LocalPorts{First: 40000, Last: 40999},
			fact.NoPort{Source: netip.MustParseAddr("10.0.0.1"),
				Destination: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, of}), 5202), Open: 100 * int(of),
				Wanted: 1200}} {
			want = append(want, fact.Fact{Host: "client", Is: is})
		}
		if f.ID != "ports-exhausted" || f.Host != "client" || f.Confidence != record.Certain ||
			len(f.Facts) > 8 || !record.Within(want, f.Facts) || len(f.Changes()) != 1 {
			t.Errorf("%+v", f)
		}
	}
}

// TestDescriptorsExhausted: a process without descriptors is a finding of the opener's, once
// for all its flows, and no host that is not reached.
func TestDescriptorsExhausted(t *testing.T) {
	trial := record.Trial{Hosts: []netstate.HostReading{{Host: "client"}, {Host: "server"}}}
	for i := range 9 {
		trial.Flows = append(trial.Flows, record.Flow{
			ID: fmt.Sprint("f", i+1), Protocol: flow.HTTP, From: "client", To: "server", OpenedBy: "client",
			Error:         "no descriptor",
			NoDescriptors: &record.DescriptorsExhausted{Limit: 20000, Open: 2000 + i, Wanted: 12500},
		})
	}
	found := diagnose.Merge(diagnose.Diagnose(trial, &topology.Topology{}))
	if len(found) != 1 || found[0].ID != "descriptors-exhausted" || found[0].Host != "client" ||
		len(found[0].Facts) > 8 || !record.Within([]fact.Fact{
		{Host: "client", Is: fact.NoDescriptor{Flow: "f1", Open: 2000, Wanted: 12500}},
		{Host: "client", Is: fact.DescriptorLimit{Limit: 20000}}}, found[0].Facts) {
		t.Fatalf("%+v", found)
	}
	trial.Flows = []record.Flow{{ID: "f1", Protocol: flow.HTTP, From: "client", To: "server", OpenedBy: "client",
		Connected: true, Alive: true}}
	if found := diagnose.Merge(diagnose.Diagnose(trial, &topology.Topology{})); len(found) != 0 {
		t.Errorf("of flows that connected: %+v", found)
	}
}

// TestTimeWait: connections to one address and port need a local port each; those that a server
// closes first share its own.
func TestTimeWait(t *testing.T) {
	for _, test := range []struct {
		name           string
		all, between   int
		ports          string
		want, settings string
	}{
		{"a server that closes first", 15000, 1, "32768 60999", "", ""},
		{"a client of many servers", 15000, 3000, "32768 60999", "", ""},
		{"a client of one", 15000, 14900, "32768 60999", "ports-in-time-wait nas likely", "16384 65535"},
		{"a client with a wider range", 40000, 40000, "1024 65535", "ports-in-time-wait nas likely", ""},
		{"addresses are not known", 15000, 0, "32768 60999", "ports-in-time-wait nas possible", "16384 65535"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.State.TCP[netstate.TimeWait], s.State.TimeWaitBetween = test.all, test.between
		s.State.Parameters["net.ipv4.ip_local_port_range"] = test.ports
		list := diagnose.Hosts([]netstate.HostSnapshot{s}).Findings
		if got := diagnosetest.Names(list); got != test.want {
			t.Errorf("%s: found %q, want %q", test.name, got, test.want)
		}
		for _, f := range list {
			set := ""
			for _, s := range f.Changes()[0].Sysctl {
				if s.Key == "net.ipv4.ip_local_port_range" {
					set = s.Value
				}
			}
			if set != test.settings {
				t.Errorf("%s: %+v", test.name, f)
			}
		}
	}
}
