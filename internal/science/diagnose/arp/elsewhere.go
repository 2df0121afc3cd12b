package arp

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// fluxElsewhere finds ARP flux of a machine that was not read itself, by the neighbour tables of
// hosts and the forwarding tables of switches: several addresses have one MAC address, although a
// table or a switch shows that the machine has further ones. Aliases, proxies and bonds also have
// several addresses at one MAC address, but no further MAC address.
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

// entry is an address in the neighbour table of a host.
type entry struct {
	host    string
	address netip.Addr
}

// strangers returns the learned IPv4 neighbour entries of all hosts by MAC address, without those
// of machines that were read themselves.
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

// family returns the MAC addresses, sorted, whose numbers are close to m, from neighbour tables and
// from the forwarding tables of switches, with m itself.
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

// fluxAnswered finds ARP flux of machines that were not read, by the replies to a host's ARP
// requests: several MAC addresses of one machine answer for the same addresses.
func fluxAnswered(f facts.Trial) (findings []record.Finding) {
	list := assigned(f)
	one := oneMachine(list, true)
	for _, g := range list {
		if !g.asked {
			continue
		}
		machines := map[string]*cause.Machine{} // by their MAC addresses
		for _, address := range g.addresses() {
			for _, c := range claims(f, address, g.macs[address], one) {
				if c.host != nil || len(c.macs) < 2 {
					continue
				}
				macs := strings.Join(c.macs, " ")
				if machines[macs] == nil {
					machines[macs] = &cause.Machine{MACs: c.macs, Asked: true}
				}
				machines[macs].Addresses = append(machines[macs].Addresses, address)
			}
		}
		for _, macs := range slices.Sorted(maps.Keys(machines)) {
			m := *machines[macs]
			findings = append(findings, *unread(m, record.Likely).
				With(g.host.Name, fact.Found{Addresses: m.Addresses, MACs: m.MACs, Each: true}).
				With("", fact.ForEachOther{}))
		}
	}
	return findings
}

// unread begins a finding about a machine that was not read. Its first address is used as the name
// of the host.
func unread(m cause.Machine, confidence string) *record.Finding {
	name := m.Addresses[0].String()
	finding := &record.Finding{ID: cause.ARPFlux.Code, Host: name, Confidence: confidence,
		Args: cause.Flux{Machine: &m}}
	for i := 0; i < len(ignoreAndAnnounce); i += 2 {
		finding.Fixed(record.Step{Host: name, Command: []string{"sysctl", "-w",
			ignoreAndAnnounce[i] + "=" + ignoreAndAnnounce[i+1]}})
	}
	return finding.Fixed(record.Advice(name, hint.AddressRules{}))
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
	machine := cause.Machine{Addresses: addressesOf(tables[m]), MACs: family}
	confidence, takes := record.Possible, fact.Some
	if disagree {
		confidence = record.Likely
	}
	if 2*here > all {
		machine.At, takes = m, fact.Everything
	}
	var evidence []fact.Fact
	for _, h := range f.Hosts {
		if list := byHost[h.Name]; len(list) > 0 {
			slices.SortFunc(list, netip.Addr.Compare)
			evidence = append(evidence, fact.Fact{Host: h.Name, Is: fact.AtMAC{Addresses: list, MAC: m}})
		}
	}
	evidence = append(evidence, fact.Fact{Is: fact.EntriesAt{Entries: here, Of: all, MAC: m}})
	var idle []fact.SwitchPort
	for _, s := range f.Trial.ForwardingTables() {
		for _, e := range s.Entries {
			switch at := strings.ToLower(e.MAC); {
			case e.Local || !slices.Contains(family, at):
			case at == m:
				if machine.At != "" {
					machine.Switch, machine.Port = s.Switch, e.Interface
				}
				evidence = append(evidence, fact.Fact{Host: s.Switch,
					Is: fact.SwitchPort{MAC: m, Port: e.Interface, Takes: takes}})
			default:
				idle = append(idle, fact.SwitchPort{MAC: at, Port: e.Interface})
			}
		}
	}
	if len(idle) > 0 {
		evidence = append(evidence, fact.Fact{Is: fact.OtherPorts{Ports: idle}})
	}
	finding := unread(machine, confidence)
	finding.Facts = evidence
	for _, h := range f.Hosts { // which otherwise go on until their entries age
		if list := byHost[h.Name]; len(list) > 0 {
			finding.Fixed(record.Advice(h.Name, hint.FlushAddresses{Addresses: list}))
		}
	}
	return finding
}
