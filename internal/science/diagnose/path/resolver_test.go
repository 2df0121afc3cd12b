package path

import (
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// TestResolverDead: look-ups wait for a server that is silent, and not for one that cannot be
// asked.
func TestResolverDead(t *testing.T) {
	at := func(server, err string) netstate.ResolverProbe {
		return netstate.ResolverProbe{Server: server, Error: err, Ms: 1}
	}
	const unreachable, refused = "dial udp 192.0.2.9:53: connect: network is unreachable",
		"read udp 192.0.2.2:5->192.0.2.9:53: read: connection refused"
	for _, test := range []struct {
		servers    []netstate.ResolverProbe
		confidence string
		want       cause.Resolver
		waits      bool
	}{
		{[]netstate.ResolverProbe{at("a", netstate.ResolverSilent), at("b", "")}, record.Certain,
			cause.Resolver{Server: "a", Silent: true, Others: "b", First: true}, true},
		{[]netstate.ResolverProbe{at("a", unreachable), at("b", "")}, record.Possible,
			cause.Resolver{Server: "a", Others: "b", First: true}, false},
		{[]netstate.ResolverProbe{at("a", refused), at("b", "")}, record.Possible,
			cause.Resolver{Server: "a", Others: "b", First: true}, false},
		{[]netstate.ResolverProbe{at("a", unreachable), at("b", refused)}, record.Certain,
			cause.Resolver{Server: "a"}, false},
		{[]netstate.ResolverProbe{at("a", unreachable), at("b", netstate.ResolverSilent)}, record.Certain,
			cause.Resolver{Server: "b", Silent: true}, true},
		{[]netstate.ResolverProbe{at("a", unreachable), at("b", netstate.ResolverSilent), at("c", "")}, record.Certain,
			cause.Resolver{Server: "b", Silent: true, Others: "c", First: true}, true},
		{[]netstate.ResolverProbe{at("a", ""), at("b", netstate.ResolverSilent)}, record.Possible,
			cause.Resolver{Server: "b", Silent: true, Others: "a"}, false},
		{[]netstate.ResolverProbe{at("a", ""), at("b", "")}, "", cause.Resolver{}, false},
	} {
		f := resolverDead(&facts.Host{Name: "nas"}, netstate.Probe{Resolvers: test.servers})
		switch {
		case f == nil && test.confidence == "":
		case f == nil:
			t.Errorf("%+v: nothing", test.servers)
		case f.Confidence != test.confidence || f.Args != test.want || test.want.Waits() != test.waits:
			t.Errorf("%+v: %+v", test.servers, f)
		}
	}
}
