package path

import (
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
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
		f := resolverDead(&facts.Host{Name: "nas", Alone: true}, record.Probe{Resolvers: test.servers})
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
