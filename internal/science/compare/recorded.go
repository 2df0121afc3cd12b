package compare

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// recorded compares what trials of one treatment recorded of hosts that linerate did not create,
// and returns what was compared on each. What only one of the trials recorded is not compared.
func (l *list) recorded(from, to *record.Run) (hosts []record.ComparedHost) {
	a, b := sameTreatment(from, to)
	if a == nil {
		return nil
	}
	if mine, other := tcpOptions(a), tcpOptions(b); mine != "" && other != "" {
		l.add("TCP options of flows", mine, other)
	}
	for _, mine := range a.Hosts {
		other, known := b.Reading(mine.Host)
		if !known || !from.Real(mine.Host) || !to.Real(mine.Host) {
			continue
		}
		if before, _ := bothBefore(from, to, mine.Host); before != nil { // see snapshots
			hosts = append(hosts, record.ComparedHost{Host: mine.Host,
				Parts: []string{"network state before the first trial"}})
			continue
		}
		p := pair{list: l, host: record.ComparedHost{Host: mine.Host}}
		p.interfaces(mine, other, usedOf(a, mine), usedOf(b, other))
		p.parameters(mine.Snapshot.Sysctls, other.Snapshot.Sysctls)
		if len(p.host.Parts) > 0 {
			hosts = append(hosts, p.host)
		}
	}
	return hosts
}

// sameTreatment returns the first trials of a treatment that both runs have; nil if there is none.
func sameTreatment(from, to *record.Run) (a, b *record.Trial) {
	for _, t := range from.Split() {
		if trials := to.TrialsOf(t.Treatment); len(trials) > 0 {
			return t, trials[0]
		}
	}
	return nil, nil
}

// usedOf returns the interfaces of a host by which flows left or came in, or all of them if no path
// is known.
func usedOf(t *record.Trial, h netstate.HostReading) (names []string) {
	for _, f := range t.Flows {
		for _, text := range f.Path {
			if host, port, is := strings.Cut(text, "."); is && host == h.Host && !slices.Contains(names, port) {
				names = append(names, port)
			}
		}
	}
	if names == nil {
		for _, i := range h.Snapshot.Interfaces {
			names = append(names, i.Interface)
		}
	}
	slices.Sort(names)
	return names
}

// pair compares one host in two trials.
type pair struct {
	*list
	host record.ComparedHost
}

func (p *pair) part(name string) { p.host.Parts = append(p.host.Parts, name) }

// interfaces compares the interfaces that flows used, their qdiscs, and the routes by them.
func (p *pair) interfaces(a, b netstate.HostReading, used, others []string) {
	if len(a.Snapshot.Interfaces) == 0 || len(b.Snapshot.Interfaces) == 0 {
		return
	}
	p.part("interfaces")
	p.add("interfaces of "+p.host.Host, strings.Join(used, ", "), strings.Join(others, ", "))
	queues := len(a.End.Qdiscs) > 0 && len(b.End.Qdiscs) > 0
	for _, name := range used {
		named := func(i netstate.InterfaceSnapshot) bool { return i.Interface == name }
		i, j := slices.IndexFunc(a.Snapshot.Interfaces, named), slices.IndexFunc(b.Snapshot.Interfaces, named)
		if i < 0 || j < 0 || !slices.Contains(others, name) {
			continue
		}
		mine, other := a.Snapshot.Interfaces[i], b.Snapshot.Interfaces[j]
		for _, fact := range interfaceFacts {
			p.add(fact.name+" of "+p.host.Host+"."+name, fact.of(mine), fact.of(other))
		}
		if queues {
			p.add("qdiscs of "+p.host.Host+"."+name, qdiscs(a, name), qdiscs(b, name))
		}
	}
	if queues {
		p.part("qdiscs")
	}
	// Every host has rules and routes, so an empty list means that they were not read.
	if len(a.Snapshot.Rules) > 0 && len(b.Snapshot.Rules) > 0 {
		p.part("routes")
		p.part("rules")
		p.lines("route", routes(a.Snapshot, used), routes(b.Snapshot, others))
		p.lines("rule", rules(a.Snapshot), rules(b.Snapshot))
	}
}

var interfaceFacts = []struct {
	name string
	of   func(netstate.InterfaceSnapshot) string
}{
	{"MTU", func(i netstate.InterfaceSnapshot) string { return fmt.Sprint(i.MTU) }},
	{"speed", func(i netstate.InterfaceSnapshot) string { return rate(i.SpeedBps) }},
	{"shaper", func(i netstate.InterfaceSnapshot) string {
		if !i.Shaper.Bounds() {
			return ""
		}
		return i.Shaper.Kind + " " + rate(i.Shaper.RateBps)
	}},
	{"addresses", func(i netstate.InterfaceSnapshot) string {
		// A link-local address follows from the MAC address or is random.
		return strings.Join(slices.DeleteFunc(slices.Clone(i.Addresses), func(text string) bool {
			prefix, err := netip.ParsePrefix(text)
			return err == nil && prefix.Addr().IsLinkLocalUnicast()
		}), ", ")
	}},
	{"kind", func(i netstate.InterfaceSnapshot) string { return i.Kind }},
	{"driver", func(i netstate.InterfaceSnapshot) string { return i.Driver }},
	{"master", func(i netstate.InterfaceSnapshot) string { return i.Master }},
}

func rate(bps float64) string {
	if bps <= 0 {
		return ""
	}
	return unit.FormatRate(bps)
}

// qdiscs lists the kinds of an interface's qdiscs, each with its number if there are several.
func qdiscs(h netstate.HostReading, port string) string {
	var kinds []string
	n := map[string]int{}
	for _, q := range h.End.Qdiscs {
		if q.Interface != port {
			continue
		}
		if n[q.Kind]++; n[q.Kind] == 1 {
			kinds = append(kinds, q.Kind)
		}
	}
	for i, kind := range kinds {
		if n[kind] > 1 {
			kinds[i] = fmt.Sprintf("%d × %s", n[kind], kind)
		}
	}
	return strings.Join(kinds, ", ")
}

// routes returns the routes by interfaces that flows used, and those that name no interface.
func routes(s netstate.Snapshot, used []string) (list []string) {
	for _, r := range s.Routes {
		elsewhere := (r.Interface != "" || len(r.Nexthops) > 0) && !slices.ContainsFunc(used, r.By)
		if !elsewhere && !isLinkLocal(r) {
			list = append(list, strings.Join(strings.Fields(r.Text), " "))
		}
	}
	return list
}

// isLinkLocal reports whether a route's destination, gateway or source is a link-local IPv6
// address.
func isLinkLocal(r netstate.RouteEntry) bool {
	is := func(address string) bool { return strings.HasPrefix(address, "fe80:") }
	return is(r.To) || is(r.Via) || is(r.Source) || slices.ContainsFunc(r.Nexthops, func(n netstate.RouteNexthop) bool {
		return is(n.Via)
	})
}

func rules(s netstate.Snapshot) (list []string) {
	for _, r := range s.Rules {
		text := fmt.Sprintf("%d: lookup %d", r.Priority, r.Table)
		if r.From != "" {
			text += " from " + r.From
		}
		if r.To != "" {
			text += " to " + r.To
		}
		if r.Other {
			text += " by more"
		}
		list = append(list, text)
	}
	return list
}

// lines adds a difference for each line that only one of two lists has.
func (p *pair) lines(what string, from, to []string) {
	for _, text := range from {
		if !slices.Contains(to, text) {
			p.add(what+" of "+p.host.Host, text, "")
		}
	}
	for _, text := range to {
		if !slices.Contains(from, text) {
			p.add(what+" of "+p.host.Host, "", text)
		}
	}
}

// parameters compares the kernel parameters that both runs read: another version may read more, and
// interfaces come and go.
func (p *pair) parameters(from, to map[string]string) {
	n := 0
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if other, both := to[key]; both {
			n++
			p.add(key+" of "+p.host.Host, strings.Join(strings.Fields(from[key]), " "),
				strings.Join(strings.Fields(other), " "))
		}
	}
	if n > 0 {
		p.part(unit.Plural(n, "kernel parameter"))
	}
}

// tcpOptions returns the TCP options that the two ends of a trial's first TCP flow agreed on.
// Empty: unknown.
func tcpOptions(t *record.Trial) string {
	for _, f := range t.Flows {
		if f.SenderInfo == nil || f.SenderInfo.Lacking("options") != "" {
			continue
		}
		var names []string
		for i, name := range []string{"timestamps", "SACK", "window scaling", "ECN"} {
			if f.SenderInfo.Options>>i&1 != 0 {
				names = append(names, name)
			}
		}
		if names == nil {
			return "none"
		}
		return strings.Join(names, ", ")
	}
	return ""
}
