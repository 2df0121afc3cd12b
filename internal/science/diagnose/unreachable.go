package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

const unreachableReference = "Linux Documentation/networking/ip-sysctl.rst (arp_ignore, arp_filter, ip_forward); ip-neighbour(8), ip-route(8)"

// cause is why one flow could not connect, as far as records tell. Without a
// host it is not known.
type cause struct {
	host          *host
	summary       string
	evidence, fix []string
}

// unreachable: flows that could not connect, for a reason that no other rule
// has named. It follows the opener's packets: its route, its neighbour, the
// router, and the path back.
func unreachable(f observed, named []record.Finding) []record.Finding {
	var findings []record.Finding
	for _, fl := range f.trial.Flows {
		opener, acceptor := f.host(fl.From), f.host(fl.To)
		mine, target := fl.SourceAddr(), fl.DestinationAddr()
		if fl.OpenedBy == fl.To {
			opener, acceptor, mine, target = acceptor, opener, target, mine
		}
		if fl.Connected || fl.Exhausted != nil || opener == nil || acceptor == nil || explained(named, fl.ID, opener, acceptor) {
			continue
		}
		what := fmt.Sprintf("flow %s: %s does not reach %s of %s", fl.ID, opener.name, target, acceptor.name)
		if !target.IsValid() {
			what = fmt.Sprintf("flow %s: %s does not reach %s", fl.ID, opener.name, acceptor.name)
		}
		if fl.Error != "" {
			what += ": " + fl.Error
		}
		c := f.stopped(opener, acceptor, mine, target)
		finding := record.Finding{Host: opener.name, Confidence: record.Possible, Reference: unreachableReference,
			Summary: fmt.Sprintf("%s does not reach %s; the records do not show why", opener.name, acceptor.name)}
		if c.host != nil {
			finding.Host, finding.Confidence, finding.Summary = c.host.name, record.Likely, c.summary
		}
		finding.Evidence, finding.Fix = append([]string{what}, c.evidence...), c.fix
		i := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Host == finding.Host })
		if i < 0 {
			findings = append(findings, finding)
			continue
		}
		into := &findings[i]
		if surer(record.Finding{Confidence: finding.Confidence}, record.Finding{Confidence: into.Confidence}) {
			into.Confidence, into.Summary = finding.Confidence, finding.Summary
			into.Evidence, finding.Evidence = finding.Evidence, into.Evidence
			into.Fix, finding.Fix = finding.Fix, into.Fix
		}
		into.Evidence, into.Fix = union(into.Evidence, finding.Evidence), union(into.Fix, finding.Fix)
	}
	return findings
}

func union(a, b []string) []string {
	for _, line := range b {
		if !slices.Contains(a, line) {
			a = append(a, line)
		}
	}
	return a
}

// explained: a rule that stops flows has named one of the two hosts, or the flow.
func explained(named []record.Finding, flow string, ends ...*host) bool {
	return slices.ContainsFunc(named, func(n record.Finding) bool {
		if n.ID == "ecmp-dead-nexthop" {
			return slices.ContainsFunc(n.Evidence, func(line string) bool { return strings.HasPrefix(line, "flow "+flow+" to ") })
		}
		return ruleOf(n.ID).stops &&
			slices.ContainsFunc(ends, func(h *host) bool { return h.name == n.Host })
	})
}

func (f observed) host(name string) *host {
	for _, h := range f.hosts {
		if h.name == name {
			return h
		}
	}
	return nil
}

// stopped follows the opener's packets to where they cannot go on.
func (f observed) stopped(opener, acceptor *host, mine, target netip.Addr) cause {
	var seen []string
	for _, l := range opener.reading.Snapshot.Lookups {
		if l.Destination != target.String() || mine.IsValid() && l.Source != mine.String() {
			continue
		}
		if l.Error != "" {
			return cause{opener, fmt.Sprintf("%s has no route to %s of %s", opener.name, target, acceptor.name),
				[]string{fmt.Sprintf("route lookup on %s: %s", opener.name, l.Error)},
				[]string{fmt.Sprintf("on %s: give it a route to %s", opener.name, target)}}
		}
		egress, next := fmt.Sprintf("%s sends by %s (route lookup)", opener.name, l.Interface), target
		if l.Gateway != "" {
			egress, next = fmt.Sprintf("%s sends by %s to the router %s (route lookup)", opener.name, l.Interface, l.Gateway), parse(l.Gateway)
		}
		seen = union(seen, []string{egress})
		if c := f.unanswering(opener, l.Interface, next); c.host != nil {
			c.evidence = append(seen, c.evidence...)
			return c
		} else if len(c.evidence) > 0 {
			return cause{evidence: append(seen, c.evidence...), fix: c.fix}
		}
		for _, router := range f.hosts {
			if l.Gateway != "" && router.holder(next) != nil && next.Is4() && strings.TrimSpace(router.reading.Snapshot.Sysctls["net.ipv4.ip_forward"]) == "0" {
				return cause{router, fmt.Sprintf("%s is used as a router and does not forward", router.name),
					append(seen, router.name+": net.ipv4.ip_forward=0"), []string{"sysctl -w net.ipv4.ip_forward=1"}}
			}
		}
	}
	for _, l := range acceptor.reading.Snapshot.Lookups {
		back := parse(l.Destination)
		if l.Error != "" && l.Source == target.String() && (back == mine || opener.holder(back) != nil) {
			return cause{acceptor, fmt.Sprintf("%s has no route back to %s of %s", acceptor.name, back, opener.name),
				append(seen, fmt.Sprintf("route lookup on %s: %s", acceptor.name, l.Error)),
				[]string{fmt.Sprintf("on %s: give it a route to %s", acceptor.name, back)}}
		}
	}
	return cause{evidence: seen, fix: []string{fmt.Sprintf("not known: look along the path from %s for what drops packets to %s", opener.name, target)}}
}

// unanswering judges an opener's neighbour entry of the next hop by one of its
// interfaces. A cause without a host: the entry is wrong, for an unknown reason. An
// empty cause: the entry is right, or there is none.
func (f observed) unanswering(opener *host, name string, next netip.Addr) cause {
	var holder *host
	var right *netif
	for _, h := range f.hosts {
		if p := h.holder(next); p != nil && h != opener {
			holder, right = h, p
		}
	}
	for _, n := range opener.neighbours(next) {
		if n.Interface != name {
			continue
		}
		end := opener.name + "." + name
		if resolved(n) {
			if c := f.misled(opener, n, right); c.host != nil {
				return c
			}
			continue
		}
		if n.State != "FAILED" && n.State != "INCOMPLETE" {
			continue
		}
		entry := fmt.Sprintf("%s is %s on %s: no answer to ARP or neighbour discovery", next, n.State, end)
		if holder == nil {
			return cause{evidence: []string{entry, fmt.Sprintf("no host that was read holds %s", next)},
				fix: []string{fmt.Sprintf("see that the holder of %s is up and on the link of %s", next, end)}}
		}
		c := holder.silent(right, next)
		if c.host == nil {
			c.fix = []string{fmt.Sprintf("see that %s is on the same link as %s and lets ARP or neighbour discovery pass", holder.end(right), end)}
		}
		c.evidence = append([]string{entry}, c.evidence...)
		return c
	}
	return cause{}
}

// misled: the entry has a MAC address that is not of the host which holds the
// address.
func (f observed) misled(opener *host, n record.Neighbour, right *netif) cause {
	if right == nil || right.mac == "" || strings.EqualFold(n.MAC, right.mac) {
		return cause{}
	}
	whose := "no interface that is known"
	for _, h := range f.hosts {
		for _, p := range h.netifs {
			if strings.EqualFold(p.mac, n.MAC) {
				if h.holder(parse(n.Address)) != nil {
					return cause{} // another interface of the same host takes it, too
				}
				whose = h.end(p)
			}
		}
	}
	fix := fmt.Sprintf("on %s: ip neigh del %s dev %s", opener.name, n.Address, n.Interface)
	if n.State == "PERMANENT" {
		fix = fmt.Sprintf("on %s: ip neigh replace %s lladdr %s dev %s nud permanent, or ip neigh del %s dev %s", opener.name, n.Address, right.mac, n.Interface, n.Address, n.Interface)
	}
	return cause{opener, fmt.Sprintf("%s sends what is for %s to a MAC address that is not its holder's", opener.name, n.Address),
		[]string{fmt.Sprintf("%s holds %s at %s (%s), which belongs to %s; the address is at %s", opener.name, n.Address, n.MAC, n.State, whose, right.mac)},
		[]string{fix}}
}

// silent looks for what keeps a host from answering for an address of its own.
func (h *host) silent(p *netif, addr netip.Addr) cause {
	if !p.up {
		return cause{h, fmt.Sprintf("%s is down", h.end(p)), []string{h.end(p) + " holds the address, and is down"},
			[]string{fmt.Sprintf("on %s: ip link set %s up", h.name, p.name)}}
	}
	if !addr.Is4() {
		return cause{}
	}
	ignore := h.effective("arp_ignore", p)
	if ignore >= 8 {
		c := cause{host: h, summary: fmt.Sprintf("%s answers no ARP request for %s", h.name, addr), evidence: []string{h.setting("arp_ignore", p)}}
		for _, scope := range h.scopes("arp_ignore", ignore) {
			c.fix = append(c.fix, "sysctl -w net.ipv4.conf."+scope+".arp_ignore=1")
		}
		return c
	}
	if !ownOnly(ignore) || h.effective("arp_filter", p) < 1 || len(h.scopes("arp_filter", 1)) == 0 {
		return cause{}
	}
	list := slices.DeleteFunc(h.asymmetries(), func(a asymmetry) bool { return a.source != addr })
	if len(list) == 0 {
		return cause{}
	}
	return cause{host: h,
		summary:  fmt.Sprintf("%s answers ARP for %s from no interface: arp_ignore allows it only to %s, and arp_filter only to %s", h.name, addr, p.name, list[0].out.name),
		evidence: append(h.egressLines(list), h.setting("arp_filter", p), h.setting("arp_ignore", p)),
		fix:      append(h.routeBySource(list), h.filterOff(true)...)}
}
