package path

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Unreachable is the rule for flows that could not connect for a reason that no other rule has
// found.
var Unreachable = rule.Rule{ID: cause.Unreachable.Code, After: unreachable}

// unreachable follows the packets of the host that opened the flow: its route, the neighbour entry
// of the next hop, the router, and the path back.
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
		finding := (&record.Finding{ID: cause.Unreachable.Code, Confidence: record.Likely}).
			With(opener.Name, fact.Unreached{Flow: fl.ID, Other: acceptor.Name, Address: target, Error: fl.Error})
		if stopped(f, finding, opener, acceptor, mine, target); finding.Host == "" {
			finding.Host, finding.Confidence, finding.Args = opener.Name, record.Possible,
				cause.Cut{Other: acceptor.Name}
		}
		i := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Host == finding.Host })
		if i < 0 {
			findings = append(findings, *finding)
			continue
		}
		more := *finding
		if rule.Rank(more.Confidence) < rule.Rank(findings[i].Confidence) {
			findings[i], more = more, findings[i]
		}
		findings[i].Facts = record.Distinct(append(findings[i].Facts, more.Facts...))
		for _, s := range more.Steps {
			if !slices.ContainsFunc(findings[i].Steps, func(o record.Step) bool { return reflect.DeepEqual(o, s) }) {
				findings[i].Fixed(s)
			}
		}
	}
	return findings
}

// explained reports whether a rule that stops flows has found a cause at one of the two hosts, or
// for the flow.
func explained(named []record.Finding, stops func(id string) bool, flow string, ends ...*facts.Host) bool {
	return slices.ContainsFunc(named, func(n record.Finding) bool {
		if n.ID == cause.ECMPDeadNexthop.Code {
			return slices.ContainsFunc(n.Facts, func(f fact.Fact) bool {
				is, stopped := f.Is.(fact.StoppedFlow)
				return stopped && is.Flow == flow
			})
		}
		return stops(n.ID) &&
			slices.ContainsFunc(ends, func(h *facts.Host) bool { return h.Name == n.Host })
	})
}

// at sets the host and the reason of a finding.
func at(found *record.Finding, h *facts.Host, why cause.Cut) *record.Finding {
	found.Host, found.Args = h.Name, why
	return found
}

// stopped follows the opener's packets to where they stop, and adds what it finds. If the records
// do not show where that is, it leaves found.Host empty.
func stopped(f facts.Trial, found *record.Finding, opener, acceptor *facts.Host, mine, target netip.Addr) {
	for _, l := range opener.Reading.Snapshot.Lookups {
		if l.Destination != target.String() || mine.IsValid() && l.Source != mine.String() {
			continue
		}
		if l.Error != "" {
			found.Facts = found.Facts[:1]
			noRoute(found, opener, cause.Cut{Why: cause.NoWayThere, Address: target, Other: acceptor.Name}, l)
			return
		}
		next := target
		if l.Gateway != "" {
			next = facts.Parse(l.Gateway)
		}
		found.With(opener.Name, fact.SendsBy{Interface: l.Interface, Router: l.Gateway})
		found.Facts = record.Distinct(found.Facts)
		if unanswering(f, found, opener, l.Interface, next) {
			return
		}
		for _, router := range f.Hosts {
			if l.Gateway != "" && router.Holder(next) != nil && next.Is4() &&
				strings.TrimSpace(router.Reading.Snapshot.Sysctls["net.ipv4.ip_forward"]) == "0" {
				at(found, router, cause.Cut{Why: cause.NotForwarding}).With(router.Name, fact.NotForwarding{}).
					Fixed(fix.Parameter(router, "net.ipv4.ip_forward", "1")...)
				return
			}
		}
	}
	for _, l := range acceptor.Reading.Snapshot.Lookups {
		back := facts.Parse(l.Destination)
		if l.Error != "" && l.Source == target.String() && (back == mine || opener.Holder(back) != nil) {
			noRoute(found, acceptor, cause.Cut{Why: cause.NoWayBack, Address: back, Other: opener.Name}, l)
			return
		}
	}
	found.Fixed(record.Advice("", hint.FindDrop{From: opener.Name, To: target}))
}

// noRoute adds a failed route lookup of a host.
func noRoute(found *record.Finding, h *facts.Host, why cause.Cut, l netstate.RouteLookup) {
	at(found, h, why).With(h.Name, fact.NoRoute{Error: l.Error}).
		Fixed(record.Advice(h.Name, hint.LacksRoute{To: l.Destination}))
}

// unanswering checks the opener's neighbour entry for the next hop on one of its interfaces. It
// returns false if the entry is right or missing. If the entry is unresolved for an unknown reason,
// the finding gets evidence but no host.
func unanswering(f facts.Trial, found *record.Finding, opener *facts.Host, name string, next netip.Addr) bool {
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
		if facts.Resolved(n) {
			if misled(f, found, opener, n, right) {
				return true
			}
			continue
		}
		if !facts.Failed(n) {
			continue
		}
		link := opener.Name + "." + name
		found.With(opener.Name, fact.NoReply{Neighbour: entry(n)})
		if holder == nil {
			found.With("", fact.NoHolder{Address: next}).
				Fixed(record.Advice("", hint.SeeHolder{Address: next, Link: link}))
		} else if !silent(found, holder, right, next) {
			found.Fixed(record.Advice("", hint.SameLink{First: holder.End(right), Second: link}))
		}
		return true
	}
	return false
}

// entry returns an entry of a neighbour table as evidence.
func entry(n netstate.Neighbour) fact.Neighbour {
	return fact.Neighbour{Address: n.Address, Interface: n.Interface, MAC: n.MAC, State: n.State}
}

// misled reports whether an entry has a MAC address that does not belong to the host with the
// address, and adds it to the finding.
func misled(f facts.Trial, found *record.Finding, opener *facts.Host, n netstate.Neighbour,
	right *facts.Interface) bool {
	if right == nil || right.MAC == "" || strings.EqualFold(n.MAC, right.MAC) {
		return false
	}
	whose := ""
	for _, h := range f.Hosts {
		for _, p := range h.Interfaces {
			if strings.EqualFold(p.MAC, n.MAC) {
				if h.Holder(facts.Parse(n.Address)) != nil {
					return false // another interface of the same host takes it, too
				}
				whose = h.End(p)
			}
		}
	}
	address := facts.Parse(n.Address)
	at(found, opener, cause.Cut{Why: cause.WrongMAC, Address: address}).
		With(opener.Name, fact.MisledBy{Neighbour: entry(n), Whose: whose, Right: right.MAC})
	if n.State == "PERMANENT" {
		found.Fixed(record.Settings(setting.Setting{Host: opener.Name, Neighbour: &setting.Neighbour{
			Interface: n.Interface, Address: address, LLAddr: right.MAC}})...)
	}
	found.Fixed(record.Step{Host: opener.Name, Instead: n.State == "PERMANENT",
		Command: []string{"ip", "neigh", "del", n.Address, "dev", n.Interface}})
	return true
}

// silent looks for the reason why a host does not answer for one of its own addresses, and reports
// whether it found one.
func silent(found *record.Finding, h *facts.Host, p *facts.Interface, addr netip.Addr) bool {
	if !p.Up {
		up := true
		at(found, h, cause.Cut{Why: cause.IsDown, Interface: p.Name}).
			With(h.Name, fact.HolderDown{Interface: p.Name}).
			Fixed(record.Settings(setting.Setting{Host: h.Name, Link: &setting.Link{Interface: p.Name, Up: &up}})...)
		return true
	}
	if !addr.Is4() {
		return false
	}
	ignore := h.Effective("arp_ignore", p)
	if ignore >= 8 {
		at(found, h, cause.Cut{Why: cause.NoneAnswers, Address: addr}).With(h.Name, h.Scoped("arp_ignore", p)...)
		for _, scope := range h.Scopes("arp_ignore", ignore) {
			found.Fixed(fix.Parameter(h, "net.ipv4.conf."+scope+".arp_ignore", "1")...)
		}
		return true
	}
	if !facts.OwnOnly(ignore) || h.Effective("arp_filter", p) < 1 || len(h.Scopes("arp_filter", 1)) == 0 {
		return false
	}
	list := slices.DeleteFunc(h.Asymmetries(), func(a facts.Asymmetry) bool { return a.Source != addr })
	if len(list) == 0 {
		return false
	}
	at(found, h, cause.Cut{Why: cause.NoneMay, Address: addr, Interface: p.Name, Out: list[0].Out.Name}).
		With(h.Name, facts.Leaving(list)...).With(h.Name, h.Scoped("arp_filter", p)...).
		With(h.Name, h.Scoped("arp_ignore", p)...).Fixed(record.Settings(fix.RouteBySource(h, list)...)...).
		Fixed(fix.Without(fix.FilterOff(h)))
	return true
}
