package arp

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/said"
)

// fluxElsewhere finds ARP flux of a machine that was not read, by the neighbour tables of
// others and the forwarding tables of switches: several addresses at one MAC address, although
// the machine has others, which a table or a switch's port shows. Addresses of aliases, a
// proxy or a bond are at one MAC address as well; then there is no other one.
func fluxElsewhere(f facts.Trial) (findings []record.Finding) {
	tables := strangers(f)
	var wrong []string
	for m, entries := range tables {
		if len(addressesOf(entries)) > 1 && !facts.Virtual(m) {
			wrong = append(wrong, m)
		}
	}
	// The one with the most entries of its family comes first.
	slices.SortFunc(wrong, func(a, b string) int {
		return cmp.Or(len(tables[b])-len(tables[a]), cmp.Compare(a, b))
	})
	seen := map[string]bool{}
	for _, m := range wrong {
		family := family(f, m, tables)
		if len(family) < 2 || seen[family[0]] {
			continue
		}
		seen[family[0]] = true
		if finding := fluxOf(f, m, family, tables); finding != nil {
			findings = append(findings, *finding)
		}
	}
	return findings
}

// entry is one of a host's neighbour table.
type entry struct {
	host    string
	address netip.Addr
}

// strangers are the learned IPv4 entries of all hosts by MAC address, without those of
// machines that were read.
func strangers(f facts.Trial) map[string][]entry {
	tables := map[string][]entry{}
	for _, h := range f.Hosts {
		for _, n := range h.Entries() {
			address, m := facts.Parse(n.Address), strings.ToLower(n.MAC)
			if !address.Is4() || !facts.Learned(n) || f.HolderOf(address) != nil ||
				slices.ContainsFunc(f.Hosts, func(o *facts.Host) bool { return o.Owner(m) != nil }) {
				continue
			}
			if t := (entry{h.Name, address}); !slices.Contains(tables[m], t) {
				tables[m] = append(tables[m], t)
			}
		}
	}
	return tables
}

func addressesOf(entries []entry) (list []netip.Addr) {
	for _, t := range entries {
		if !slices.Contains(list, t.address) {
			list = append(list, t.address)
		}
	}
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}

// family are the MAC addresses, sorted, that are numbered next to one: those of tables for
// addresses that are also given for it, and those behind a port of a switch.
func family(f facts.Trial, m string, tables map[string][]entry) (list []string) {
	add := func(other string) {
		if facts.Near(m, other) && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	add(m)
	for other := range tables {
		add(other)
	}
	for _, s := range f.Trial.ForwardingTables() {
		for _, e := range s.Entries {
			if !e.Local {
				add(strings.ToLower(e.MAC))
			}
		}
	}
	slices.Sort(list)
	return list
}

// fluxAnswered finds ARP flux of machines that were not read, by the answers to a host's
// requests: several MAC addresses, of one machine, answer for the same addresses.
func fluxAnswered(f facts.Trial) (findings []record.Finding) {
	list := assigned(f)
	one := oneMachine(list, true)
	for _, g := range list {
		if !g.asked {
			continue
		}
		machines := map[string][]netip.Addr{} // by their MAC addresses
		for _, address := range g.addresses() {
			for _, c := range claims(f, address, g.macs[address], one) {
				if c.host == nil && len(c.macs) > 1 {
					macs := facts.Join(c.macs)
					machines[macs] = append(machines[macs], address)
				}
			}
		}
		for _, macs := range slices.Sorted(maps.Keys(machines)) {
			addresses := machines[macs]
			name := addresses[0].String()
			findings = append(findings, record.Finding{
				Host: name, Confidence: record.Likely, Reference: said.ArpReference,
				Summary: fmt.Sprintf(
					"the machine that holds %s answers ARP for each by several interfaces, %s: it is by chance which one a peer sends to",
					facts.Texts(addresses), macs),
				Evidence: []string{fmt.Sprintf("%s asked who holds %s, and was answered by %s, each time", g.host.Name,
					facts.Texts(addresses), macs),
					"machines that have an address twice would answer for that one, not for each other's addresses as well"},
				Fix: ownAnswers(name),
			})
		}
	}
	return findings
}

// ownAnswers is the fix for a machine that was not read.
func ownAnswers(name string) []string {
	return append(said.On(name, false, hostconfig.Commands(fix.Parameters(name, "net.ipv4.conf.all.arp_ignore", "1",
		"net.ipv4.conf.all.arp_announce", "2"))...),
		"on "+
			name+": a rule and a table for each address, so that answers leave by its interface: linerate new nas, linerate run nas.yaml proves it")
}

func fluxOf(f facts.Trial, m string, family []string, tables map[string][]entry) *record.Finding {
	// Tables that disagree show that the machine answers for an address by several interfaces;
	// otherwise it may be another machine that has the MAC address next to it.
	disagree, all, here := false, 0, 0
	byHost := map[string][]netip.Addr{}
	for _, other := range family {
		all += len(tables[other])
		for _, t := range tables[other] {
			if other == m {
				here++
				byHost[t.host] = append(byHost[t.host], t.address)
			} else if slices.Contains(addressesOf(tables[m]), t.address) {
				disagree = true
			}
		}
	}
	if 2*here <= all && !disagree {
		return nil // other interfaces have as many
	}
	addresses := addressesOf(tables[m])
	name, port := addresses[0].String(), ""
	finding := &record.Finding{Host: name, Confidence: record.Possible, Reference: said.ArpReference}
	if disagree {
		finding.Confidence = record.Likely
	}
	for _, h := range f.Hosts {
		if list := byHost[h.Name]; len(list) > 0 {
			slices.SortFunc(list, netip.Addr.Compare)
			var texts []string
			for _, a := range list {
				texts = append(texts, a.String())
			}
			finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s holds %s at %s", h.Name, facts.Join(texts), m))
		}
	}
	finding.Evidence = append(finding.Evidence, fmt.Sprintf("%d of %d entries for it are at %s", here, all, m))
	var idle []string
	what := "everything"
	if 2*here <= all {
		what = "a part of it"
	}
	for _, s := range f.Trial.ForwardingTables() {
		for _, e := range s.Entries {
			switch at := strings.ToLower(e.MAC); {
			case e.Local || !slices.Contains(family, at):
			case at == m:
				port = fmt.Sprintf("port %s of %s", e.Interface, s.Switch)
				finding.Evidence = append(finding.Evidence,
					fmt.Sprintf("%s has %s behind port %s: that is where %s goes", s.Switch, m, e.Interface, what))
			default:
				idle = append(idle, fmt.Sprintf("%s (%s)", e.Interface, at))
			}
		}
	}
	where := m
	if port != "" {
		where += ", " + port
	}
	if len(idle) > 0 {
		finding.Evidence = append(finding.Evidence, "its other ports: "+facts.Join(idle))
	}
	finding.Summary = fmt.Sprintf(
		"the machine answers ARP for %d addresses by several of its %d interfaces: it is by chance which one a peer sends to",
		len(addresses), len(family))
	if 2*here > all {
		finding.Summary = fmt.Sprintf(
			"the machine answers ARP for %d addresses by one interface, %s, although it has %d: its peers send all traffic there",
			len(addresses), where, len(family))
	}
	finding.Fix = ownAnswers(name)
	for _, h := range f.Hosts { // which otherwise go on until their entries age
		var list []string
		for _, a := range byHost[h.Name] {
			list = append(list, a.String())
		}
		if len(list) > 0 {
			finding.Fix = append(finding.Fix, said.On(h.Name, false, "for a in "+strings.Join(list, " ")+
				"; do ip neigh flush to $a; done")...)
		}
	}
	return finding
}
