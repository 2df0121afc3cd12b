package diagnose

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestResolverDead: look-ups wait for a server that is silent, and not for one that cannot be
// asked.
func TestResolverDead(t *testing.T) {
	at := func(server, err string) record.ResolverProbe {
		return record.ResolverProbe{Server: server, Error: err, Ms: 1}
	}
	const unreachable, refused = "dial udp 192.0.2.9:53: connect: network is unreachable",
		"read udp 192.0.2.2:5->192.0.2.9:53: read: connection refused"
	for _, test := range []struct {
		servers             []record.ResolverProbe
		confidence, summary string
		waits               bool
	}{
		{[]record.ResolverProbe{at("a", record.ResolverSilent), at("b", "")}, record.Certain,
			"the name server a does not answer: each look-up waits for it", true},
		{[]record.ResolverProbe{at("a", unreachable), at("b", "")}, record.Possible,
			"the name server a cannot be asked: names are resolved by the next one, b", false},
		{[]record.ResolverProbe{at("a", refused), at("b", "")}, record.Possible,
			"the name server a cannot be asked: names are resolved by the next one, b", false},
		{[]record.ResolverProbe{at("a", unreachable), at("b", refused)}, record.Certain,
			"no name server answers, so that names are not resolved: look-ups fail at once", false},
		{[]record.ResolverProbe{at("a", unreachable), at("b", record.ResolverSilent)}, record.Certain,
			"no name server answers, so that names are not resolved: each look-up waits for b", true},
		{[]record.ResolverProbe{at("a", unreachable), at("b", record.ResolverSilent), at("c", "")}, record.Certain,
			"the name server b does not answer: each look-up waits for it", true},
		{[]record.ResolverProbe{at("a", ""), at("b", record.ResolverSilent)}, record.Possible,
			"the name server b does not answer: it does not help if a fails", false},
		{[]record.ResolverProbe{at("a", ""), at("b", "")}, "", "", false},
	} {
		f := resolverDead(&host{name: "nas", alone: true}, record.Probe{Resolvers: test.servers})
		switch {
		case f == nil && test.confidence == "":
		case f == nil:
			t.Errorf("%+v: nothing", test.servers)
		case f.Confidence != test.confidence || !strings.HasPrefix(f.Summary, test.summary) ||
			strings.Contains(f.Summary+strings.Join(f.Fix, " "), "timeout") != test.waits:
			t.Errorf("%+v: %+v", test.servers, f)
		}
	}
}

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
			record.Certain, "it is off", "", unknown},
		{"firewall", record.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"}}, nil,
			record.Possible, "answers ARP and no echo request: a firewall drops them, or its answers go elsewhere",
			"on 192.0.2.9: ip neighbour show 192.0.2.1", ""},
		{"a drop", record.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"}},
			[]record.KernelDrop{otherHost}, record.Possible, "wrong neighbour entry on 192.0.2.9",
			"on 192.0.2.9: ip neighbour show 192.0.2.1", unknown},
		{"each answer", record.Probe{Sent: []string{"1 ARP request"}, ARP: []string{"02:00:00:00:00:09"},
			Echo: &record.EchoProbe{Sent: 24, OtherMAC: 24}}, nil, record.Likely, "wrong neighbour entry on 192.0.2.9",
			"on 192.0.2.9: ip neighbour show 192.0.2.1", ""},
		{"behind a router", record.Probe{Echo: &record.EchoProbe{Sent: 24, OtherMAC: 24}}, nil, record.Likely,
			"wrong neighbour entry on the router", "on the router: ip neighbour show 192.0.2.1", ""},
		{"answered", record.Probe{Echo: &record.EchoProbe{Sent: 24, Received: 24, OtherMAC: 3},
			ARP: []string{"02:00:00:00:00:09"}}, []record.KernelDrop{otherHost}, "", "", "", harmless},
	} {
		s := dropping(test.drops...)
		p := test.probe
		if p.Address, p.Interface = "192.0.2.9", "eth0"; p.Echo == nil {
			p.Echo = &record.EchoProbe{Sent: 24}
		}
		s.State.Probes = []record.Probe{p}
		e := Hosts([]record.HostSnapshot{s})
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
