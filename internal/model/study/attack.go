package study

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/attacks"
	"linerate/internal/model/flow"
	"linerate/internal/model/topology"
)

// PlannedAttack is an attack of a treatment with the addresses and ports that follow from the
// topology and the flows of the treatment.
type PlannedAttack struct {
	attacks.Spec // its Destination is an address of the host
	// Flow is the ID of the flow whose port is attacked, and Path the path in the URLs that the flow
	// requests. Empty: the port is Spec.Port, or the attack has no port.
	Flow, Path string
	// Network is the destination's network on its host.
	Network netip.Prefix
	// Claimed is the address of the host that Claims names.
	Claimed netip.Addr
}

// String returns a line for display: "attacker: syn-flood of server, 10000 frames per second".
func (a PlannedAttack) String() string {
	text := fmt.Sprintf("%s: %s of %s", a.From, a.Kind, a.To)
	if a.Port != 0 {
		text += fmt.Sprintf(" port %d", a.Port)
	}
	if n := a.AtATime(); n > 0 {
		return fmt.Sprintf("%s, %d connections, %d per second", text, n, a.PerSecond())
	}
	return fmt.Sprintf("%s, %d frames per second", text, a.PerSecond())
}

// NotMade returns a host or switch that linerate does not create, and the reason. Empty: it creates
// all of them. Attacks are only allowed in a topology for which it returns "" (docs/decisions/0047).
func NotMade(t *topology.Topology) (node, why string) {
	for _, h := range t.Hosts {
		if len(h.Via) > 0 {
			return h.Name, "it is reached by via"
		}
	}
	for _, s := range t.Switches {
		switch {
		case len(s.Via) > 0:
			return s.Name, "it is reached by via"
		case s.Unmanaged:
			return s.Name, "it is unmanaged"
		case s.Agentless():
			return s.Name, "it has an address of its own"
		}
	}
	return "", ""
}

// attacks checks the attacks of a workload, or those with which a level replaces them, without the
// flows. planAttacks checks them together with the flows of each treatment.
func (c *checker) attacks(path string, over *topology.Topology, list []attacks.Spec) {
	if len(list) == 0 {
		return
	}
	path += ".attacks"
	if node, why := NotMade(over); node != "" {
		c.report(path, "attacks are made in labs alone, and %s is not made by linerate: %s", node, why)
		return
	}
	if len(list) > attacks.MaxAttacks {
		c.report(path, "%d attacks: expected at most %d", len(list), attacks.MaxAttacks)
	}
	if c.Workload.LossFree != nil {
		c.report(path, "a search for the highest rate without loss has no attacks: leave out loss_free or the attacks")
	}
	for i, a := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		a.Check(func(key string) bool { return c.has(at + "." + key) }, func(key, format string, args ...any) {
			if key != "" {
				key = "." + key
			}
			c.report(at+key, format, args...)
		})
		_, fromKnown := over.FindHost(a.From, at+".from", c.report)
		_, toKnown := over.FindHost(a.To, at+".to", c.report)
		claimed := false
		if a.Claims != "" {
			_, claimed = over.FindHost(a.Claims, at+".claims", c.report)
		}
		switch {
		case !fromKnown || !toKnown:
		case a.From == a.To:
			c.report(at, "an attack of %q on itself never leaves the host", a.From)
		case claimed && (a.Claims == a.From || a.Claims == a.To):
			c.report(at+".claims", "claims %q: expected a host other than the two of the attack", a.Claims)
		}
	}
}

// plannedAttacks returns the workload's attacks with what follows from the treatment. It returns
// the error of the first one that is impossible, with its index in the list and the wrong key.
func (t *Treatment) plannedAttacks(over *topology.Topology) (list []PlannedAttack, at int, key string, err error) {
	for i, a := range t.Workload.Attacks {
		p, key, err := t.plannedAttack(over, a)
		if err != nil {
			return nil, i, key, err
		}
		list = append(list, p)
	}
	return list, 0, "", nil
}

// plannedAttack determines the address, port and network of an attack. If there is an error, key is
// the wrong key.
func (t *Treatment) plannedAttack(over *topology.Topology, a attacks.Spec) (p PlannedAttack, key string, err error) {
	k, known := attacks.Find(a.Kind)
	from, fromKnown := over.Host(a.From)
	to, toKnown := over.Host(a.To)
	if !known || !fromKnown || !toKnown {
		return p, "", fmt.Errorf("an attack of %s from %s to %s cannot be", a.Kind, a.From, a.To)
	}
	p = PlannedAttack{Spec: a}
	if k.Transport != "" && a.Port == 0 {
		f, found := t.attackedFlow(k, a)
		if !found {
			what := flow.Of(k.Transport).Name
			if k.HTTP {
				what = flow.HTTP
			}
			return p, "", fmt.Errorf("no flow over %s connects to %s in treatment %q: give the port to attack", what,
				a.To, t.Name)
		}
		p.Flow, p.Path = f.ID, f.Asked().Path
		p.Destination = f.Destination
	}
	p.Path = cmp.Or(p.Path, "/")
	if !p.Destination.IsValid() {
		p.Destination = addressOf(from, to, k.Family)
	}
	if !p.Destination.IsValid() {
		kind := "address"
		if k.Family != 0 {
			kind = fmt.Sprintf("IPv%d address", k.Family)
		}
		return p, "to", fmt.Errorf("host %q has no %s to attack", a.To, kind)
	}
	for _, own := range to.Addresses() {
		for _, prefix := range own.Prefixes() {
			if prefix.Addr() == p.Destination {
				p.Network = own.Prefix().Masked()
			}
		}
	}
	if !p.Network.IsValid() {
		return p, "destination", fmt.Errorf("%s is not an address of %q%s", p.Destination, a.To, addressesOf(to))
	}
	six := p.Destination.Is6()
	near := onNetwork(from, netip.Addr{}, p.Network)
	switch sources := p.SourcesOf(six); {
	case k.Family == 4 && six || k.Family == 6 && !six:
		return p, "destination", fmt.Errorf("%s is of IPv%d alone, and %s is not", k.Name, k.Family, p.Destination)
	case sources.IsValid() && sources.Addr().Is6() != six:
		return p, "sources", fmt.Errorf("sources %s and the destination %s: one is IPv4, the other IPv6", sources,
			p.Destination)
	case k.Family == 4 && !near:
		return p, "to", fmt.Errorf("%s is not on a network of %s: ARP does not pass a router", p.Destination, a.From)
	case k.Family == 6 && near:
		return p, "to", fmt.Errorf("%s is on a network of %s: %s needs a router between them", p.Destination,
			a.From, k.Name)
	case k.Family == 6 && p.Network.Bits() > 112:
		return p, "to", fmt.Errorf("the network %s has too few addresses: expected a /64, or a /112 at most", p.Network)
	case k.Family == 4 && p.Network.Bits() > 30:
		return p, "to", fmt.Errorf("the network %s has no other addresses", p.Network)
	default:
		if network, wide := neighbourly(over, sources); wide {
			return p, "sources", fmt.Errorf(
				"sources %s are of %s, which hosts of the lab are connected to: more than %d would fill the "+
					"neighbour table, which is one for the machine",
				sources, network, attacks.MaxNeighbours)
		}
	}
	if a.Claims != "" {
		host, _ := over.Host(a.Claims)
		if host != nil {
			p.Claimed = addressOf(to, host, 4)
		}
		if !p.Claimed.IsValid() || !p.Network.Contains(p.Claimed) {
			return p, "claims", fmt.Errorf("host %q has no address in %s that could be claimed", a.Claims, p.Network)
		}
	}
	source := likelySource(over, a.From, p.Destination)
	if _, err := over.Paths(a.From, source, p.Destination); err != nil {
		return p, "to", fmt.Errorf("unreachable: %w", err)
	}
	return p, "", nil
}

// attackedFlow returns the first flow that connects to the attacked host, and to the destination of
// the attack, over the transport of its kind.
func (t *Treatment) attackedFlow(k attacks.Kind, a attacks.Spec) (PlannedFlow, bool) {
	i := slices.IndexFunc(t.Flows, func(f PlannedFlow) bool {
		return f.Acceptor == a.To && f.Process == "" && flow.Of(f.Protocol).Transport == k.Transport &&
			(!k.HTTP || f.Protocol == flow.HTTP && (f.TLS == "" || f.TLS == flow.TLSOff)) &&
			(!a.Destination.IsValid() || a.Destination == f.Destination)
	})
	if i < 0 {
		return PlannedFlow{}, false
	}
	return t.Flows[i], true
}

// addressOf returns the first address of host to in a family (0: any), preferably in a network of
// host from. It is invalid if there is none.
func addressOf(from, to *topology.Host, family int) (first netip.Addr) {
	for _, a := range to.Addresses() {
		if family == 4 && !a.First.Is4() || family == 6 && a.First.Is4() || a.First.Is6() &&
			a.First.IsLinkLocalUnicast() {
			continue
		}
		if onNetwork(from, netip.Addr{}, a.Prefix()) {
			return a.First
		}
		first = cmp.Or(first, a.First)
	}
	return first
}

// neighbourly returns a network that a host of the lab is connected to and that contains more than
// attacks.MaxNeighbours of the sources. It returns false if there is none.
func neighbourly(t *topology.Topology, sources netip.Prefix) (network netip.Prefix, wide bool) {
	if !sources.IsValid() {
		return network, false
	}
	const few = 8 // log₂ of MaxNeighbours
	for i := range t.Hosts {
		for _, a := range t.Hosts[i].Addresses() {
			own := a.Prefix().Masked()
			if own.Overlaps(sources) && own.Addr().BitLen()-max(own.Bits(), sources.Bits()) > few {
				return own, true
			}
		}
	}
	return network, false
}

// planAttacks checks the attacks of every treatment with its flows and its topology.
func (c *checker) planAttacks(p *Plan) {
	for _, t := range p.Treatments {
		if len(t.Workload.Attacks) == 0 {
			continue
		}
		over := c.Topology.With(t.Settings)
		if node, _ := NotMade(over); node != "" {
			continue // which has been reported
		}
		if _, i, key, err := t.plannedAttacks(over); err != nil {
			path := fmt.Sprintf("%s[%d]", c.attacksPath(t), i)
			if key != "" && c.has(path+"."+key) {
				path += "." + key
			}
			c.report(path, "%v", err)
			return
		}
	}
}

// attacksPath returns the path in the file at which a treatment's attacks are written.
func (c *checker) attacksPath(t Treatment) string {
	for _, l := range slices.Backward(c.chosen(t)) {
		if l.Workload != nil && l.Workload.Attacks != nil {
			return l.path + ".workload.attacks"
		}
	}
	return "workload.attacks"
}
