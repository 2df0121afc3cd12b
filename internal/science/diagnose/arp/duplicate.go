package arp

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// claim is a machine that answers for an address: a host of the trial, or, where none
// has its MAC addresses, those.
type claim struct {
	host *facts.Host
	macs []string
}

func (c claim) String() string {
	switch {
	case c.host != nil:
		return c.host.Name + " (" + facts.Join(c.macs) + ")"
	case len(c.macs) > 1:
		return "a machine with the MAC addresses " + facts.Join(c.macs)
	}
	return "a machine with the MAC address " + c.macs[0]
}

// claims are the machines behind MAC addresses that were given for an address. Several
// MAC addresses of one host are one machine, as are two of no host that are one; a MAC address
// of several hosts, or a virtual router's, names none; and a host that answers for an
// address without holding it is a proxy.
func claims(f facts.Trial, address netip.Addr, macs []string, one func(a, b string) bool) (list []claim) {
	for _, mac := range macs {
		c, owners := claim{macs: []string{mac}}, 0
		for _, h := range f.Hosts {
			if slices.ContainsFunc(h.Interfaces, func(p *facts.Interface) bool { return p.MAC == mac }) {
				c.host, owners = h, owners+1
			}
		}
		if owners > 1 || facts.Virtual(mac) || c.host != nil && c.host.Holder(address) == nil {
			continue
		}
		i := slices.IndexFunc(list, func(o claim) bool {
			return o.host == c.host && (c.host != nil || slices.ContainsFunc(o.macs, func(m string) bool {
				return one(m, mac)
			}))
		})
		if i < 0 {
			list = append(list, c)
		} else {
			list[i].macs = append(list[i].macs, mac)
		}
	}
	return list
}

// given are the MAC addresses that were given for each address: to a host's ARP
// requests by one interface, or, of hosts that could not ask, in all their tables.
type given struct {
	host  *facts.Host // that asked; of tables the first
	asked bool
	macs  map[netip.Addr][]string
}

func (g given) add(address, mac string) {
	if at, mac := facts.Parse(address), strings.ToLower(mac); at.Is4() && mac != "" &&
		!slices.Contains(g.macs[at], mac) {
		g.macs[at] = append(g.macs[at], mac)
		slices.Sort(g.macs[at])
	}
}

// addresses are those for which there are MAC addresses, in order.
func (g given) addresses() []netip.Addr {
	return slices.SortedFunc(maps.Keys(g.macs), netip.Addr.Compare)
}

// answers are the addresses that each MAC address was given for.
type answers map[string]map[netip.Addr]bool

func (a answers) add(g given) answers {
	for address, macs := range g.macs {
		for _, m := range macs {
			if a[m] == nil {
				a[m] = map[netip.Addr]bool{}
			}
			a[m][address] = true
		}
	}
	return a
}

// one: both answer for several of the same addresses, as each interface of one machine does
// for all its addresses (arp_ignore=0).
func (a answers) one(x, y string) bool {
	both := 0
	for address := range a[x] {
		if a[y][address] {
			both++
		}
	}
	return both > 1
}

// only is an address that x answers for and y does not.
func (a answers) only(x, y string) (netip.Addr, bool) {
	for _, address := range slices.SortedFunc(maps.Keys(a[x]), netip.Addr.Compare) {
		if !a[y][address] {
			return address, true
		}
	}
	return netip.Addr{}, false
}

// apart says why two machines of no host are not one: one answers for an address that the
// other does not answer for. Empty: nothing tells.
func (a answers) apart(list []claim) string {
	list = list[:min(len(list), facts.MostAnswers)]
	for _, c := range list {
		for _, o := range list {
			if address, is := a.only(c.macs[0], o.macs[0]); is && c.host == nil && o.host == nil {
				answer := "answers"
				if len(c.macs) > 1 {
					answer = "answer"
				}
				return fmt.Sprintf(
					"%s %s for %s as well, and %s not: the interfaces of one machine answer for the same addresses (arp_ignore=0)",
					facts.Join(c.macs), answer, address, facts.Join(o.macs))
			}
		}
	}
	return ""
}

// oneMachine reports, of answers or else of tables, whether two MAC addresses of no host are
// one machine's. What hosts' tables have may be of several networks, so that only MAC
// addresses that are numbered next to each other are, of which one has several addresses, as
// for fluxElsewhere.
func oneMachine(list []given, asked bool) func(x, y string) bool {
	all := answers{}
	for _, g := range list {
		if g.asked == asked {
			all.add(g)
		}
	}
	if asked {
		return all.one
	}
	return func(x, y string) bool { return facts.Near(x, y) && max(len(all[x]), len(all[y])) > 1 }
}

// assigned is what was answered to each host by each interface, and after it what is in the tables
// of those that could not ask.
func assigned(f facts.Trial) (list []given) {
	tables := given{macs: map[netip.Addr][]string{}}
	subject := map[netip.Addr]bool{} // of the flows: elsewhere other machines may well have the same address
	for _, fl := range f.Trial.Flows {
		subject[fl.SourceAddr()], subject[fl.DestinationAddr()] = true, true
	}
	for _, h := range f.Hosts {
		by := map[string]given{}
		for _, a := range h.Answered() {
			if _, there := by[a.Interface]; !there {
				by[a.Interface] = given{h, true, map[netip.Addr][]string{}}
				list = append(list, by[a.Interface])
			}
			by[a.Interface].add(a.Address, a.MAC)
		}
		for _, p := range h.Interfaces {
			for _, prefix := range p.V4() {
				if g, there := by[p.Name]; there && p.MAC != "" && len(g.macs[prefix.Addr()]) > 0 {
					g.add(prefix.Addr().String(), p.MAC) // its own requests do not reach it
				}
			}
		}
		if len(by) > 0 {
			continue
		}
		for _, n := range slices.Concat(h.Reading.Before.Neighbours, h.Reading.Snapshot.Neighbours) {
			at := facts.Parse(n.Address)
			holder := f.HolderOf(at)
			// Tables that were pasted together are of one network.
			together := len(h.Pasted) > 0 && !facts.OfContainers(n.Interface)
			if !facts.Learned(n) || holder == nil && !subject[at] && !together {
				continue
			}
			if tables.add(n.Address, n.MAC); holder != nil {
				tables.add(n.Address, holder.MAC)
			}
			tables.host = cmp.Or(tables.host, h)
		}
	}
	return append(list, tables)
}

// detected finds IPv6 addresses for which another machine answered duplicate address detection.
func detected(h *facts.Host) (findings []record.Finding) {
	for _, i := range h.Reading.Snapshot.Interfaces {
		for _, text := range i.Duplicates {
			address, _, _ := strings.Cut(text, "/")
			findings = append(findings, record.Finding{
				Host: h.Name, Subject: address, Confidence: record.Certain,
				Summary:  fmt.Sprintf("another machine holds %s, so %s does not use it", address, h.Name),
				Evidence: []string{fmt.Sprintf("%s on %s: dadfailed", text, i.Interface)},
				Fix: said.On(h.Name, h.Alone,
					"another address, or one for the other machine; then ip address del and add, which detects again"),
				Reference: "RFC 4862, section 5.4; ip-address(8)",
			})
		}
	}
	return findings
}

// duplicateAddress finds addresses for which two machines answer ARP requests, whichever
// answer a peer believes, and those that duplicate address detection found.
func duplicateAddress(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		findings = append(findings, detected(h)...)
	}
	list := assigned(f)
	for _, g := range list {
		one, known := oneMachine(list, g.asked), answers{}.add(g)
		alike := map[string][]netip.Addr{} // addresses that tables have at the same MAC addresses
		key := func(address netip.Addr) string { return strings.Join(g.macs[address], " ") }
		for _, address := range g.addresses() {
			alike[key(address)] = append(alike[key(address)], address)
		}
		for _, address := range g.addresses() {
			claims := claims(f, address, g.macs[address], one)
			if len(claims) < 2 || len(findings) == rule.MostFindings {
				continue
			}
			where, places := address.String(), []string{address.String(), "via " + address.String()}
			if !g.asked && !slices.ContainsFunc(claims, func(c claim) bool { return c.host != nil }) {
				same := alike[key(address)]
				if same[0] != address {
					continue
				}
				where = facts.Texts(same)
				for _, a := range same[1:] {
					places = append(places, a.String(), "via "+a.String())
				}
			}
			finding := record.Finding{Host: g.host.Name, Subject: address.String(), Places: facts.OnePlace(places...),
				Confidence: record.Likely, Reference: "RFC 5227; RFC 826"}
			judge(f, &finding, g, claims, where, known)
			if i := slices.IndexFunc(findings, func(o record.Finding) bool {
				return o.Summary == finding.Summary
			}); i >= 0 {
				findings[i].Evidence = facts.Union(findings[i].Evidence, finding.Evidence...)
			} else {
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

// judge says of the claims to an address, or to several at the same MAC addresses, whether they
// are of several machines, and what to do.
func judge(f facts.Trial, finding *record.Finding, g given, claims []claim, at string, known answers) {
	var names, macs []string
	var holders []claim
	for _, c := range claims {
		names, macs = append(names, c.String()), append(macs, c.macs...)
		if c.host != nil {
			holders = append(holders, c)
		}
	}
	slices.Sort(macs)
	finding.Evidence = []string{fmt.Sprintf("the hosts' tables and interfaces have %s at %s", at, facts.Join(macs))}
	if g.asked {
		finding.Evidence[0] = fmt.Sprintf("%s asked who holds %s, and was answered by %s", g.host.Name, at,
			facts.Join(macs))
	}
	finding.Evidence = append(finding.Evidence, f.SwitchPorts(macs)...)
	apart := ""
	if g.asked && len(holders) == 0 {
		apart = known.apart(claims)
	}
	if apart != "" {
		finding.Evidence = append(finding.Evidence, apart)
	}
	if len(holders) > 0 {
		finding.Host = holders[0].host.Name
	}
	const where = "find a machine by its MAC address: bridge fdb show, or the switch's forwarding table"
	another := fmt.Sprintf("give one of them another address: %s", facts.Join(names))
	const proxy = "if a router or host answers there for others (proxy ARP), turn that off: sysctl -w net.ipv4.conf.IFACE.proxy_arp=0"
	switch {
	case len(holders) > 1:
		if g.asked {
			finding.Confidence = record.Certain
		}
		finding.Summary = fmt.Sprintf("%s machines hold %s: %s", said.Number(len(claims)), at, facts.Join(names))
		finding.Fix = []string{another, where}
	case len(holders) == 1 || apart != "":
		// Another machine than the holder may answer without holding the address (proxy ARP).
		finding.Summary = fmt.Sprintf("%s machines answer for %s: %s", said.Number(len(claims)), at, facts.Join(names))
		finding.Fix = []string{another, where, proxy}
	default:
		finding.Confidence = record.Possible
		n := said.Number(len(macs))
		fact := fmt.Sprintf("%s MAC addresses answer for %s", n, at)
		if !g.asked {
			fact = fmt.Sprintf("neighbour tables have %s MAC addresses for %s", n, at)
		}
		finding.Summary = fmt.Sprintf(
			"%s: one machine with %s interfaces in this subnet (arp-flux), or %s machines with one address", fact, n, n)
		finding.Fix = []string{
			fmt.Sprintf("to tell which: ip address, on the machine, shows whether it has %s", facts.Join(macs)),
			"or ask from here for the addresses next to it: linerate doctor --probe " + finding.Subject,
			"one machine: on it sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, so that each interface answers for its own address",
			"two machines: " + another, where, proxy,
		}
		if g.asked {
			finding.Evidence = append(finding.Evidence,
				"nothing else is known that one of them answers for and another does not, or that several do")
		} else {
			finding.Fix = append(finding.Fix, "nothing to do if the tables are of different networks")
		}
		if len(macs) == 2 && facts.Near(macs[0], macs[1]) {
			finding.Evidence = append(finding.Evidence,
				"they are numbered next to each other, as the ports of one card are")
		}
	}
}
