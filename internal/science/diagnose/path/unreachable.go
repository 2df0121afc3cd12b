package path

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

const unreachableReference = "Linux Documentation/networking/ip-sysctl.rst (arp_ignore, arp_filter, ip_forward); ip-neighbour(8), ip-route(8)"

// Unreachable is the rule for flows that could not connect for none of the reasons that others name.
var Unreachable = rule.Rule{ID: "unreachable", SameCause: rule.SameSummary, After: unreachable}

// unreachable: flows that could not connect, for a reason that no other rule
// has named. It follows the opener's packets: its route, its neighbour, the
// router, and the path back.
func unreachable(f facts.Trial, named []record.Finding, stops func(id string) bool) []record.Finding {
	var findings []record.Finding
	for _, fl := range f.Trial.Flows {
		opener, acceptor := f.Host(fl.From), f.Host(fl.To)
		mine, target := fl.SourceAddr(), fl.DestinationAddr()
		if fl.OpenedBy == fl.To {
			opener, acceptor, mine, target = acceptor, opener, target, mine
		}
		if fl.Connected || fl.OpenedFewer() || opener == nil || acceptor == nil ||
			explained(named, stops, fl.ID, opener, acceptor) {
			continue
		}
		what := fmt.Sprintf("flow %s: %s does not reach %s of %s", fl.ID, opener.Name, target, acceptor.Name)
		if !target.IsValid() {
			what = fmt.Sprintf("flow %s: %s does not reach %s", fl.ID, opener.Name, acceptor.Name)
		}
		if fl.Error != "" {
			what += ": " + fl.Error
		}
		finding := stopped(f, opener, acceptor, mine, target)
		finding.Confidence, finding.Reference = record.Likely, unreachableReference
		if finding.Host == "" {
			finding.Host, finding.Confidence = opener.Name, record.Possible
			finding.Summary = fmt.Sprintf("%s does not reach %s; the records do not show why", opener.Name,
				acceptor.Name)
		}
		finding.Evidence = append([]string{what}, finding.Evidence...)
		i := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Host == finding.Host })
		if i < 0 {
			findings = append(findings, finding)
			continue
		}
		if rule.Rank(finding.Confidence) < rule.Rank(findings[i].Confidence) {
			findings[i], finding = finding, findings[i]
		}
		findings[i].Evidence = facts.Union(findings[i].Evidence, finding.Evidence...)
		findings[i].Fix = facts.Union(findings[i].Fix, finding.Fix...)
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

// explained: a rule that stops flows has named one of the two hosts, or the flow.
func explained(named []record.Finding, stops func(id string) bool, flow string, ends ...*facts.Host) bool {
	return slices.ContainsFunc(named, func(n record.Finding) bool {
		if n.ID == "ecmp-dead-nexthop" {
			return slices.ContainsFunc(n.Evidence, func(line string) bool {
				return strings.HasPrefix(line, "flow "+flow+" to ")
			})
		}
		return stops(n.ID) &&
			slices.ContainsFunc(ends, func(h *facts.Host) bool { return h.Name == n.Host })
	})
}

// stopped follows the opener's packets to where they cannot go on. The finding has no
// Host where the records do not show that, and no Confidence and Reference.
func stopped(f facts.Trial, opener, acceptor *facts.Host, mine, target netip.Addr) record.Finding {
	var seen []string
	for _, l := range opener.Reading.Snapshot.Lookups {
		if l.Destination != target.String() || mine.IsValid() && l.Source != mine.String() {
			continue
		}
		if l.Error != "" {
			return noRoute(opener, fmt.Sprintf("to %s of %s", target, acceptor.Name), nil, l)
		}
		egress, next := fmt.Sprintf("%s sends by %s (route lookup)", opener.Name, l.Interface), target
		if l.Gateway != "" {
			egress, next = fmt.Sprintf("%s sends by %s to the router %s (route lookup)", opener.Name, l.Interface,
				l.Gateway), facts.Parse(l.Gateway)
		}
		seen = facts.Union(seen, egress)
		if found := unanswering(f, opener, l.Interface, next); len(found.Evidence) > 0 {
			found.Evidence = append(seen, found.Evidence...)
			return found
		}
		for _, router := range f.Hosts {
			if l.Gateway != "" && router.Holder(next) != nil && next.Is4() &&
				strings.TrimSpace(router.Reading.Snapshot.Sysctls["net.ipv4.ip_forward"]) == "0" {
				return record.Finding{
					Host: router.Name, Summary: fmt.Sprintf("%s is used as a router, but does not forward",
						router.Name),
					Evidence: append(seen, router.Name+": net.ipv4.ip_forward=0"),
					Fix:      fix.Commands(router, fix.Set(router, "net.ipv4.ip_forward", "1")),
					Settings: fix.Set(router, "net.ipv4.ip_forward", "1"),
				}
			}
		}
	}
	for _, l := range acceptor.Reading.Snapshot.Lookups {
		back := facts.Parse(l.Destination)
		if l.Error != "" && l.Source == target.String() && (back == mine || opener.Holder(back) != nil) {
			return noRoute(acceptor, fmt.Sprintf("back to %s of %s", back, opener.Name), seen, l)
		}
	}
	return record.Finding{Evidence: seen,
		Fix: []string{fmt.Sprintf("not known: find where on the path from %s packets to %s are dropped",
			opener.Name, target)}}
}

// noRoute is the finding of a failed route lookup of a host.
func noRoute(h *facts.Host, where string, seen []string, l record.RouteLookup) record.Finding {
	return record.Finding{
		Host: h.Name, Summary: fmt.Sprintf("%s has no route %s", h.Name, where),
		Evidence: append(seen, fmt.Sprintf("route lookup on %s: %s", h.Name, l.Error)),
		Fix:      said.On(h.Name, h.Alone, "add a route to "+l.Destination),
	}
}

// unanswering judges an opener's neighbour entry of the next hop by one of its
// interfaces. A finding without a host: the entry is wrong, for an unknown reason. An
// empty one: the entry is right, or there is none.
func unanswering(f facts.Trial, opener *facts.Host, name string, next netip.Addr) record.Finding {
	var holder *facts.Host
	var right *facts.Interface
	for _, h := range f.Hosts {
		if p := h.Holder(next); p != nil && h != opener {
			holder, right = h, p
		}
	}
	for _, n := range opener.Neighbours(next) {
		if n.Interface != name {
			continue
		}
		end := opener.Name + "." + name
		if facts.Resolved(n) {
			if found := misled(f, opener, n, right); found.Host != "" {
				return found
			}
			continue
		}
		if !facts.Failed(n) {
			continue
		}
		entry := fmt.Sprintf("%s is %s on %s: no answer to ARP or neighbour discovery", next, n.State, end)
		if holder == nil {
			return record.Finding{Evidence: []string{entry, fmt.Sprintf("no host that was read holds %s", next)},
				Fix: []string{fmt.Sprintf("see that the holder of %s is up and on the link of %s", next, end)}}
		}
		found := silent(holder, right, next)
		if found.Host == "" {
			found.Fix = []string{fmt.Sprintf(
				"see that %s is on the same link as %s and lets ARP or neighbour discovery pass",
				holder.End(right), end)}
		}
		found.Evidence = append([]string{entry}, found.Evidence...)
		return found
	}
	return record.Finding{}
}

// misled: the entry has a MAC address that is not of the host which holds the
// address.
func misled(f facts.Trial, opener *facts.Host, n record.Neighbour, right *facts.Interface) (found record.Finding) {
	if right == nil || right.MAC == "" || strings.EqualFold(n.MAC, right.MAC) {
		return found
	}
	whose := "no interface that is known"
	for _, h := range f.Hosts {
		for _, p := range h.Interfaces {
			if strings.EqualFold(p.MAC, n.MAC) {
				if h.Holder(facts.Parse(n.Address)) != nil {
					return found // another interface of the same host takes it, too
				}
				whose = h.End(p)
			}
		}
	}
	forget := hostconfig.Command("ip", "neigh", "del", n.Address, "dev", n.Interface)
	how := said.On(opener.Name, opener.Alone, forget)
	var settings []setting.Setting
	if n.State == "PERMANENT" {
		settings = []setting.Setting{{Host: opener.Name, Neighbour: &setting.Neighbour{Interface: n.Interface,
			Address: facts.Parse(n.Address), LLAddr: right.MAC}}}
		how = append(fix.Commands(opener, settings), "or, instead: "+how[0])
	}
	return record.Finding{
		Host: opener.Name, Summary: fmt.Sprintf("%s sends packets for %s to a wrong MAC address", opener.Name,
			n.Address),
		Evidence: []string{fmt.Sprintf("%s holds %s at %s (%s), which belongs to %s; the address is at %s", opener.Name,
			n.Address, n.MAC, n.State, whose, right.MAC)},
		Fix: how, Settings: settings,
	}
}

// silent looks for what keeps a host from answering for an address of its own.
func silent(h *facts.Host, p *facts.Interface, addr netip.Addr) (found record.Finding) {
	if !p.Up {
		up := true
		settings := []setting.Setting{{Host: h.Name, Link: &setting.Link{Interface: p.Name, Up: &up}}}
		return record.Finding{
			Host: h.Name, Summary: fmt.Sprintf("%s is down", h.End(p)),
			Evidence: []string{h.End(p) + " holds the address, and is down"},
			Fix:      fix.Commands(h, settings), Settings: settings,
		}
	}
	if !addr.Is4() {
		return found
	}
	ignore := h.Effective("arp_ignore", p)
	if ignore >= 8 {
		found = record.Finding{Host: h.Name, Summary: fmt.Sprintf("%s answers no ARP request for %s", h.Name, addr),
			Evidence: []string{said.Setting(h, "arp_ignore", p)}}
		for _, scope := range h.Scopes("arp_ignore", ignore) {
			found.Settings = append(found.Settings, fix.Set(h, "net.ipv4.conf."+scope+".arp_ignore", "1")...)
		}
		found.Fix = fix.Commands(h, found.Settings)
		return found
	}
	if !facts.OwnOnly(ignore) || h.Effective("arp_filter", p) < 1 || len(h.Scopes("arp_filter", 1)) == 0 {
		return found
	}
	list := slices.DeleteFunc(h.Asymmetries(), func(a facts.Asymmetry) bool { return a.Source != addr })
	if len(list) == 0 {
		return found
	}
	return record.Finding{
		Host: h.Name,
		Summary: fmt.Sprintf(
			"%s answers ARP for %s from no interface: arp_ignore allows it only to %s, and arp_filter only to %s",
			h.Name, addr, p.Name, list[0].Out.Name),
		Evidence: append(said.EgressLines(h, list), said.Setting(h, "arp_filter", p), said.Setting(h, "arp_ignore", p)),
		Fix:      append(fix.Commands(h, fix.RouteBySource(h, list)), fix.Instead(h, fix.FilterOff(h))...),
		Settings: fix.RouteBySource(h, list),
	}
}
