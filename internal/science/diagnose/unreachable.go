package diagnose

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

const unreachableReference = "Linux Documentation/networking/ip-sysctl.rst (arp_ignore, arp_filter, ip_forward); ip-neighbour(8), ip-route(8)"

// unreachableRule is the rule for flows that could not connect for none of the reasons that others name.
var unreachableRule = rule{id: "unreachable", sameCause: sameSummary, after: unreachable}

// unreachable: flows that could not connect, for a reason that no other rule
// has named. It follows the opener's packets: its route, its neighbour, the
// router, and the path back.
func unreachable(f observed, named []record.Finding, stops func(id string) bool) []record.Finding {
	var findings []record.Finding
	for _, fl := range f.trial.Flows {
		opener, acceptor := f.host(fl.From), f.host(fl.To)
		mine, target := fl.SourceAddr(), fl.DestinationAddr()
		if fl.OpenedBy == fl.To {
			opener, acceptor, mine, target = acceptor, opener, target, mine
		}
		if fl.Connected || fl.OpenedFewer() || opener == nil || acceptor == nil ||
			explained(named, stops, fl.ID, opener, acceptor) {
			continue
		}
		what := fmt.Sprintf("flow %s: %s does not reach %s of %s", fl.ID, opener.name, target, acceptor.name)
		if !target.IsValid() {
			what = fmt.Sprintf("flow %s: %s does not reach %s", fl.ID, opener.name, acceptor.name)
		}
		if fl.Error != "" {
			what += ": " + fl.Error
		}
		finding := f.stopped(opener, acceptor, mine, target)
		finding.Confidence, finding.Reference = record.Likely, unreachableReference
		if finding.Host == "" {
			finding.Host, finding.Confidence = opener.name, record.Possible
			finding.Summary = fmt.Sprintf("%s does not reach %s; the records do not show why", opener.name,
				acceptor.name)
		}
		finding.Evidence = append([]string{what}, finding.Evidence...)
		i := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Host == finding.Host })
		if i < 0 {
			findings = append(findings, finding)
			continue
		}
		if rank(finding.Confidence) < rank(findings[i].Confidence) {
			findings[i], finding = finding, findings[i]
		}
		findings[i].Evidence = union(findings[i].Evidence, finding.Evidence...)
		findings[i].Fix = union(findings[i].Fix, finding.Fix...)
		for _, s := range finding.Settings {
			if !slices.ContainsFunc(findings[i].Settings, func(o setting.Setting) bool {
				return reflect.DeepEqual(o, s)
			}) {
				findings[i].Settings = append(findings[i].Settings, s)
			}
		}
	}
	return findings
}

// union appends to a what it does not have.
func union(a []string, more ...string) []string {
	for _, line := range more {
		if !slices.Contains(a, line) {
			a = append(a, line)
		}
	}
	return a
}

// explained: a rule that stops flows has named one of the two hosts, or the flow.
func explained(named []record.Finding, stops func(id string) bool, flow string, ends ...*host) bool {
	return slices.ContainsFunc(named, func(n record.Finding) bool {
		if n.ID == "ecmp-dead-nexthop" {
			return slices.ContainsFunc(n.Evidence, func(line string) bool {
				return strings.HasPrefix(line, "flow "+flow+" to ")
			})
		}
		return stops(n.ID) &&
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

// stopped follows the opener's packets to where they cannot go on. The finding has no
// Host where the records do not show that, and no Confidence and Reference.
func (f observed) stopped(opener, acceptor *host, mine, target netip.Addr) record.Finding {
	var seen []string
	for _, l := range opener.reading.Snapshot.Lookups {
		if l.Destination != target.String() || mine.IsValid() && l.Source != mine.String() {
			continue
		}
		if l.Error != "" {
			return noRoute(opener, fmt.Sprintf("to %s of %s", target, acceptor.name), nil, l)
		}
		egress, next := fmt.Sprintf("%s sends by %s (route lookup)", opener.name, l.Interface), target
		if l.Gateway != "" {
			egress, next = fmt.Sprintf("%s sends by %s to the router %s (route lookup)", opener.name, l.Interface,
				l.Gateway), parse(l.Gateway)
		}
		seen = union(seen, egress)
		if found := f.unanswering(opener, l.Interface, next); len(found.Evidence) > 0 {
			found.Evidence = append(seen, found.Evidence...)
			return found
		}
		for _, router := range f.hosts {
			if l.Gateway != "" && router.holder(next) != nil && next.Is4() &&
				strings.TrimSpace(router.reading.Snapshot.Sysctls["net.ipv4.ip_forward"]) == "0" {
				return record.Finding{
					Host: router.name, Summary: fmt.Sprintf("%s is used as a router, but does not forward",
						router.name),
					Evidence: append(seen, router.name+": net.ipv4.ip_forward=0"),
					Fix:      router.commands(router.set("net.ipv4.ip_forward", "1")),
					Settings: router.set("net.ipv4.ip_forward", "1"),
				}
			}
		}
	}
	for _, l := range acceptor.reading.Snapshot.Lookups {
		back := parse(l.Destination)
		if l.Error != "" && l.Source == target.String() && (back == mine || opener.holder(back) != nil) {
			return noRoute(acceptor, fmt.Sprintf("back to %s of %s", back, opener.name), seen, l)
		}
	}
	return record.Finding{Evidence: seen,
		Fix: []string{fmt.Sprintf("not known: find where on the path from %s packets to %s are dropped",
			opener.name, target)}}
}

// noRoute is the finding of a failed route lookup of a host.
func noRoute(h *host, where string, seen []string, l record.RouteLookup) record.Finding {
	return record.Finding{
		Host: h.name, Summary: fmt.Sprintf("%s has no route %s", h.name, where),
		Evidence: append(seen, fmt.Sprintf("route lookup on %s: %s", h.name, l.Error)),
		Fix:      on(h.name, h.alone, "add a route to "+l.Destination),
	}
}

// unanswering judges an opener's neighbour entry of the next hop by one of its
// interfaces. A finding without a host: the entry is wrong, for an unknown reason. An
// empty one: the entry is right, or there is none.
func (f observed) unanswering(opener *host, name string, next netip.Addr) record.Finding {
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
			if found := f.misled(opener, n, right); found.Host != "" {
				return found
			}
			continue
		}
		if !failed(n) {
			continue
		}
		entry := fmt.Sprintf("%s is %s on %s: no answer to ARP or neighbour discovery", next, n.State, end)
		if holder == nil {
			return record.Finding{Evidence: []string{entry, fmt.Sprintf("no host that was read holds %s", next)},
				Fix: []string{fmt.Sprintf("see that the holder of %s is up and on the link of %s", next, end)}}
		}
		found := holder.silent(right, next)
		if found.Host == "" {
			found.Fix = []string{fmt.Sprintf(
				"see that %s is on the same link as %s and lets ARP or neighbour discovery pass",
				holder.end(right), end)}
		}
		found.Evidence = append([]string{entry}, found.Evidence...)
		return found
	}
	return record.Finding{}
}

// misled: the entry has a MAC address that is not of the host which holds the
// address.
func (f observed) misled(opener *host, n record.Neighbour, right *netif) (found record.Finding) {
	if right == nil || right.mac == "" || strings.EqualFold(n.MAC, right.mac) {
		return found
	}
	whose := "no interface that is known"
	for _, h := range f.hosts {
		for _, p := range h.netifs {
			if strings.EqualFold(p.mac, n.MAC) {
				if h.holder(parse(n.Address)) != nil {
					return found // another interface of the same host takes it, too
				}
				whose = h.end(p)
			}
		}
	}
	forget := hostconfig.Command("ip", "neigh", "del", n.Address, "dev", n.Interface)
	fix := on(opener.name, opener.alone, forget)
	var settings []setting.Setting
	if n.State == "PERMANENT" {
		settings = []setting.Setting{{Host: opener.name, Neighbour: &setting.Neighbour{Interface: n.Interface,
			Address: parse(n.Address), LLAddr: right.mac}}}
		fix = append(opener.commands(settings), "or, instead: "+fix[0])
	}
	return record.Finding{
		Host: opener.name, Summary: fmt.Sprintf("%s sends packets for %s to a wrong MAC address", opener.name,
			n.Address),
		Evidence: []string{fmt.Sprintf("%s holds %s at %s (%s), which belongs to %s; the address is at %s", opener.name,
			n.Address, n.MAC, n.State, whose, right.mac)},
		Fix: fix, Settings: settings,
	}
}

// silent looks for what keeps a host from answering for an address of its own.
func (h *host) silent(p *netif, addr netip.Addr) (found record.Finding) {
	if !p.up {
		up := true
		settings := []setting.Setting{{Host: h.name, Link: &setting.Link{Interface: p.name, Up: &up}}}
		return record.Finding{
			Host: h.name, Summary: fmt.Sprintf("%s is down", h.end(p)),
			Evidence: []string{h.end(p) + " holds the address, and is down"},
			Fix:      h.commands(settings), Settings: settings,
		}
	}
	if !addr.Is4() {
		return found
	}
	ignore := h.effective("arp_ignore", p)
	if ignore >= 8 {
		found = record.Finding{Host: h.name, Summary: fmt.Sprintf("%s answers no ARP request for %s", h.name, addr),
			Evidence: []string{h.setting("arp_ignore", p)}}
		for _, scope := range h.scopes("arp_ignore", ignore) {
			found.Settings = append(found.Settings, h.set("net.ipv4.conf."+scope+".arp_ignore", "1")...)
		}
		found.Fix = h.commands(found.Settings)
		return found
	}
	if !ownOnly(ignore) || h.effective("arp_filter", p) < 1 || len(h.scopes("arp_filter", 1)) == 0 {
		return found
	}
	list := slices.DeleteFunc(h.asymmetries(), func(a asymmetry) bool { return a.source != addr })
	if len(list) == 0 {
		return found
	}
	return record.Finding{
		Host: h.name,
		Summary: fmt.Sprintf(
			"%s answers ARP for %s from no interface: arp_ignore allows it only to %s, and arp_filter only to %s",
			h.name, addr, p.name, list[0].out.name),
		Evidence: append(h.egressLines(list), h.setting("arp_filter", p), h.setting("arp_ignore", p)),
		Fix:      append(h.commands(h.routeBySource(list)), h.instead(h.filterOff())...),
		Settings: h.routeBySource(list),
	}
}
