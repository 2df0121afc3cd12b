package path_test

import (
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestProbeUnanswered: a peer that answers ARP is not said to be off, and packets for another MAC
// address that arrive meanwhile may be its answers; otherwise they are harmless.
func TestProbeUnanswered(t *testing.T) {
	otherHost := record.KernelDrop{Reason: "OTHERHOST", Interface: "eth0", Direction: "rx", Protocol: "IPv4 TCP",
		Packets: 1}
	for _, test := range []struct {
		name                     string
		probe                    record.Probe
		drops                    []record.KernelDrop
		confidence, summary, fix string
		verdict                  string
	}{
		{"off", record.Probe{Sent: []string{"1 ARP request"}}, nil, record.Certain, "it is off", "", ""},
		{"off, and others are flooded", record.Probe{Sent: []string{"1 ARP request"}}, []record.KernelDrop{otherHost},
			record.Certain, "it is off", "", facts.Unknown},
		{"firewall", record.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"}}, nil,
			record.Possible, "answers ARP and no echo request: a firewall drops them, or its answers go elsewhere",
			"on 192.0.2.9: ip neighbour show 192.0.2.1", ""},
		{"a drop", record.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"}},
			[]record.KernelDrop{otherHost}, record.Possible, "wrong neighbour entry on 192.0.2.9",
			"on 192.0.2.9: ip neighbour show 192.0.2.1", facts.Unknown},
		{"each answer", record.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"},
			Echo: &record.EchoProbe{Sent: 24, OtherMAC: 24}}, nil, record.Likely, "wrong neighbour entry on 192.0.2.9",
			"on 192.0.2.9: ip neighbour show 192.0.2.1", ""},
		{"behind a router", record.Probe{Echo: &record.EchoProbe{Sent: 24, OtherMAC: 24}}, nil, record.Likely,
			"wrong neighbour entry on the router", "on the router: ip neighbour show 192.0.2.1", ""},
		{"answered", record.Probe{Echo: &record.EchoProbe{Sent: 24, Received: 24, OtherMAC: 3},
			ARP: []string{"02:00:00:00:00:09"}}, []record.KernelDrop{otherHost}, "", "", "", facts.Harmless},
	} {
		s := diagnosetest.Dropping(test.drops...)
		p := test.probe
		if p.Address, p.Interface = "192.0.2.9", "eth0"; p.Echo == nil {
			p.Echo = &record.EchoProbe{Sent: 24}
		}
		s.State.Probes = []record.Probe{p}
		e := diagnose.Hosts([]record.HostSnapshot{s})
		var found record.Finding
		for _, f := range e.Findings {
			if f.ID == "probe-unanswered" {
				found = f
			}
		}
		if found.Confidence != test.confidence || !strings.Contains(found.Summary, test.summary) ||
			!strings.Contains(strings.Join(found.Fix, "\n"), test.fix) || len(p.ARP) > 0 &&
			strings.Contains(found.Summary, "is off") {
			t.Errorf("%s: %+v", test.name, found)
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
