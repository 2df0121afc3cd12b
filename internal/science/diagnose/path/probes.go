package path

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// ProbeRules are about the results of probing a peer (linerate doctor --probe).
var ProbeRules = []rule.Rule{
	{ID: cause.ResolverDead.Code, Host: true, Parts: []string{"lookups"}, Find: eachProbe(resolverDead)},
	{ID: cause.ResolverSlow.Code, Host: true, Parts: []string{"lookups"}, Find: eachProbe(resolverSlow)},
	{ID: cause.ProbeUnanswered.Code, Host: true, Parts: []string{"echo"}, Find: eachProbe(probeUnanswered)},
	{ID: cause.ProbeLost.Code, Host: true, Parts: []string{"echo"}, Find: eachProbe(probeLost),
		Explains: cause.Codes(cause.TCPRetransmissions)},
	{ID: cause.ProbeDuplicated.Code, Host: true, Parts: []string{"echo"}, Find: eachProbe(probeDuplicated),
		Explains: cause.Codes(cause.TCPRetransmissions)},
	{ID: cause.MTUBlackhole.Code, Host: true, Parts: []string{"path mtu"}, Find: eachProbe(mtuBlackhole),
		Explains: cause.Codes(cause.Unacknowledged, cause.TCPRetransmissions)},
	{ID: cause.PathMTUSmaller.Code, Host: true, Parts: []string{"path mtu"}, Find: eachProbe(pathMTUSmaller)},
	{ID: cause.ConnectUnanswered.Code, Host: true, Parts: []string{"connects"}, Find: eachProbe(connectUnanswered),
		Explains: cause.Codes(cause.SYNUnanswered)},
}

// eachProbe returns a rule's Find that calls find for each probe of each host.
func eachProbe(find func(*facts.Host, netstate.Probe) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, p := range h.State.Probes {
				if finding := find(h, p); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// resolverDead follows getaddrinfo(3), which waits for a server that is silent, but asks the next
// one at once if a server cannot be reached or refuses.
func resolverDead(h *facts.Host, p netstate.Probe) *record.Finding {
	dead := slices.IndexFunc(p.Resolvers, func(r netstate.ResolverProbe) bool { return r.Error != "" })
	if dead < 0 {
		return nil
	}
	answers := slices.IndexFunc(p.Resolvers, func(r netstate.ResolverProbe) bool { return r.Error == "" })
	before := p.Resolvers // asked before one answers
	if answers >= 0 {
		before = before[:answers]
	}
	silent := slices.IndexFunc(before,
		func(r netstate.ResolverProbe) bool { return r.Error == netstate.ResolverSilent })
	if silent >= 0 {
		dead = silent
	}
	args := cause.Resolver{Server: p.Resolvers[dead].Server, Silent: p.Resolvers[dead].Error == netstate.ResolverSilent}
	if answers >= 0 {
		args.Others, args.First = p.Resolvers[answers].Server, dead < answers
	}
	confidence := record.Possible
	if silent >= 0 || answers < 0 {
		confidence = record.Certain
	}
	finding := facts.Found(cause.ResolverDead, h, confidence, args)
	for _, r := range p.Resolvers {
		finding.With(h.Name, fact.Resolver{Server: r.Server, Ms: r.Ms, Error: r.Error})
	}
	return finding
}

func resolverSlow(h *facts.Host, p netstate.Probe) *record.Finding {
	const slow = 500 // ms; a cache in the same network takes less than 5, a root server 100
	if len(p.Resolvers) == 0 || p.Resolvers[0].Error != "" || p.Resolvers[0].Ms < slow {
		return nil
	}
	r := p.Resolvers[0]
	return facts.Found(cause.ResolverSlow, h, record.Likely, cause.Server{Server: r.Server}).
		With(h.Name, fact.LookedUp{Server: r.Server, Ms: r.Ms, Address: cmp.Or(p.Address, p.Peer)})
}

func probeUnanswered(h *facts.Host, p netstate.Probe) *record.Finding {
	if !facts.EchoUnanswered(p) {
		return nil
	}
	args, confidence := cause.NoEcho{Address: p.Address, Interface: p.Interface}, record.Possible
	evidence := []any{fact.Echo{Sent: p.Echo.Sent}}
	asked := slices.ContainsFunc(p.Sent, func(s string) bool { return strings.Contains(s, "ARP") })
	switch {
	case len(p.ARP) > 0:
		args.ARP, evidence = cause.ARPAnswered, append(evidence, fact.ARPAnswers{Interface: p.Interface, MACs: p.ARP})
	case asked:
		args.ARP, evidence = cause.ARPSilent, append(evidence, fact.ARPAnswers{Interface: p.Interface})
		confidence = record.Certain
	}
	if args.ARP != cause.ARPSilent {
		others := forOtherMACs(h, p)
		if args.OtherMAC = len(others) > 0; args.OtherMAC && 2*p.Echo.OtherMAC >= uint64(p.Echo.Sent) {
			confidence = record.Likely
		}
		evidence = append(evidence, others...)
	}
	finding := facts.Found(cause.ProbeUnanswered, h, confidence, args).With(h.Name, evidence...)
	if args.OtherMAC || args.ARP == cause.ARPAnswered {
		finding.Fixed(record.Advice("", ownEntry(h, p)))
	}
	return finding
}

// forOtherMACs returns packets for other MAC addresses that arrived during or after a probe, as
// evidence.
func forOtherMACs(h *facts.Host, p netstate.Probe) (list []any) {
	if p.Echo.OtherMAC > 0 {
		list = append(list, fact.OtherMAC{Interface: p.Interface, Packets: p.Echo.OtherMAC})
	}
	return append(list, h.Dropped(func(d netstate.KernelDrop) bool {
		return d.Reason == facts.OtherHost && d.Interface == p.Interface
	})...)
}

// ownEntry returns this host's address as it should be in the neighbour table of the probed peer,
// or of a router.
func ownEntry(h *facts.Host, p netstate.Probe) hint.OwnEntry {
	entry := hint.OwnEntry{Interface: p.Interface}
	if len(p.ARP) > 0 {
		entry.At = p.Address
	}
	n, peer := h.Interface(p.Interface), facts.Parse(p.Address)
	if n == nil {
		return entry
	}
	own := slices.IndexFunc(n.Prefixes, func(own netip.Prefix) bool { return own.Contains(peer) })
	if own < 0 { // towards a router
		own = slices.IndexFunc(n.Prefixes, func(own netip.Prefix) bool { return own.Addr().Is4() == peer.Is4() })
	}
	if entry.MAC = n.MAC; own >= 0 {
		entry.Address = n.Prefixes[own].Addr().String()
	}
	return entry
}

func probeLost(h *facts.Host, p netstate.Probe) *record.Finding {
	e := p.Echo
	if e == nil || e.Received == 0 || e.Sent-e.Received < 2 || 20*(e.Sent-e.Received) < e.Sent {
		return nil
	}
	return facts.Found(cause.ProbeLost, h, record.Likely, cause.Probed{Address: p.Address}).
		With(h.Name, fact.Echo{Sent: e.Sent, Received: e.Received, MinMs: e.MinMs, MedianMs: e.MedianMs,
			MaxMs: e.MaxMs})
}

// probeDuplicated finds requests that were answered more than once.
func probeDuplicated(h *facts.Host, p netstate.Probe) *record.Finding {
	e := p.Echo
	if e == nil || e.Duplicates == 0 || facts.Parse(p.Address).IsMulticast() {
		return nil
	}
	return facts.Found(cause.ProbeDuplicated, h, record.Likely, cause.Probed{Address: p.Address}).
		With(h.Name, fact.Echo{Sent: e.Sent, Received: e.Received, Duplicates: e.Duplicates})
}

// largestPacket returns the largest packet that a probe's interface can send. IPv4 has 16 bits for
// the length, and the MTU of lo is 65536.
func largestPacket(p netstate.Probe) int {
	if facts.Parse(p.Address).Is6() {
		return p.InterfaceMTU
	}
	return min(p.InterfaceMTU, 1<<16-1)
}

func mtuBlackhole(h *facts.Host, p netstate.Probe) *record.Finding {
	m := p.PathMTU
	if m == nil || m.Reported || m.MTU == 0 || m.MTU >= largestPacket(p) && m.Below == 0 {
		return nil
	}
	confidence := record.Certain
	if m.Below > 0 { // a host that drops large requests alone does the same
		confidence = record.Likely
	}
	return probedMTU(cause.MTUBlackhole, h, confidence, p).At(record.Touch{Address: facts.Parse(p.Address)})
}

func pathMTUSmaller(h *facts.Host, p netstate.Probe) *record.Finding {
	if p.PathMTU == nil || !p.PathMTU.Reported || p.PathMTU.MTU >= largestPacket(p) {
		return nil
	}
	return probedMTU(cause.PathMTUSmaller, h, record.Possible, p)
}

func probedMTU(c cause.Of[cause.ProbedMTU], h *facts.Host, confidence string, p netstate.Probe) *record.Finding {
	m := p.PathMTU
	return facts.Found(c, h, confidence, cause.ProbedMTU{Address: p.Address, MTU: m.MTU, Below: m.Below,
		Interface: p.Interface}).
		With(h.Name, fact.PathMTU{Interface: p.Interface, InterfaceMTU: p.InterfaceMTU, MTU: m.MTU,
			Below: m.Below, Reported: m.Reported})
}

func connectUnanswered(h *facts.Host, p netstate.Probe) *record.Finding {
	if p.Echo == nil || p.Echo.Received == 0 || len(p.Connects) == 0 ||
		slices.ContainsFunc(p.Connects, func(c netstate.ConnectProbe) bool {
			return c.Outcome != netstate.ConnectUnanswered
		}) {
		return nil
	}
	c := p.Connects[0]
	return facts.Found(cause.ConnectUnanswered, h, record.Likely, cause.ProbedPort{Address: p.Address, Port: c.Port}).
		With(h.Name, fact.NoConnection{Sent: p.Echo.Sent, Received: p.Echo.Received, Port: c.Port, Ms: c.Ms}).
		At(record.Touch{Socket: netip.AddrPortFrom(facts.Parse(p.Address), uint16(c.Port))})
}
