package path_test

import (
	"reflect"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestProbeUnanswered: a peer that answers ARP is not said to be off, and packets for another MAC
// address that arrive meanwhile may be its answers; otherwise they are harmless.
func TestProbeUnanswered(t *testing.T) {
	otherHost := netstate.KernelDrop{Reason: "OTHERHOST", Interface: "eth0", Direction: "rx", Protocol: "IPv4 TCP",
		Packets: 1}
	for _, test := range []struct {
		name        string
		probe       netstate.Probe
		drops       []netstate.KernelDrop
		confidence  string
		arp         string
		otherMAC    bool
		at, verdict string // whose neighbour entry is to be looked at
	}{
		{"off", netstate.Probe{Sent: []string{"1 ARP request"}}, nil, record.Certain, cause.ARPSilent, false, "", ""},
		{"off, and others are flooded", netstate.Probe{Sent: []string{"1 ARP request"}},
			[]netstate.KernelDrop{otherHost},
			record.Certain, cause.ARPSilent, false, "", facts.Unknown},
		{"firewall", netstate.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"}}, nil,
			record.Possible, cause.ARPAnswered, false, "192.0.2.9", ""},
		{"a drop", netstate.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"}},
			[]netstate.KernelDrop{otherHost}, record.Possible, cause.ARPAnswered, true, "192.0.2.9", facts.Unknown},
		{"each answer", netstate.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"},
			Echo: &netstate.EchoProbe{Sent: 24, OtherMAC: 24}}, nil, record.Likely, cause.ARPAnswered, true,
			"192.0.2.9",
			""},
		{"behind a router", netstate.Probe{Echo: &netstate.EchoProbe{Sent: 24, OtherMAC: 24}}, nil, record.Likely, "",
			true,
			"", ""},
		{"answered", netstate.Probe{Echo: &netstate.EchoProbe{Sent: 24, Received: 24, OtherMAC: 3},
			ARP: []string{"02:00:00:00:00:09"}}, []netstate.KernelDrop{otherHost}, "", "", false, "", facts.Harmless},
	} {
		s := diagnosetest.Dropping(test.drops...)
		p := test.probe
		if p.Address, p.Interface = "192.0.2.9", "eth0"; p.Echo == nil {
			p.Echo = &netstate.EchoProbe{Sent: 24}
		}
		s.State.Probes = []netstate.Probe{p}
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		var found record.Finding
		for _, f := range e.Findings {
			if f.ID == "probe-unanswered" {
				found = f
			}
		}
		var args any
		var steps []record.Step
		if test.confidence != "" {
			args = cause.NoEcho{Address: "192.0.2.9", Interface: "eth0", ARP: test.arp, OtherMAC: test.otherMAC}
		}
		if test.arp == cause.ARPAnswered || test.otherMAC {
			steps = []record.Step{record.Advice("", hint.OwnEntry{At: test.at, Address: "192.0.2.1",
				MAC: s.Reading.Snapshot.Interfaces[0].MAC, Interface: "eth0"})}
		}
		if found.Confidence != test.confidence || found.Args != args || !reflect.DeepEqual(found.Steps, steps) {
			t.Errorf("%s: %+v, steps %+v", test.name, found, steps)
		}
		for _, d := range e.Drops {
			if d.Counter == "OTHERHOST" && d.Verdict != test.verdict {
				t.Errorf("%s: %+v", test.name, d)
			}
		}
		if (test.verdict != "") != (len(e.Drops) > 0) {
			t.Errorf("%s: %+v", test.name, e.Drops)
		}
	}
}
