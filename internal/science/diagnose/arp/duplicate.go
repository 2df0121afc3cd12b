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
	"linerate/internal/model/index"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// claim is a machine that answers for an address.
type claim struct {
	host *facts.Host
	macs []string
}

// claims groups the MAC addresses that were given for an address by machine. All MAC addresses of
// one host are one claim, and so are those of unknown machines that function one takes for the
// same. It leaves out MAC addresses that several hosts have, those of virtual routers, and those of
// hosts that answer without having the address (proxy ARP).
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

// given are the MAC addresses that were given for each address: in replies to the ARP requests of
// one interface, or in the neighbour tables of all hosts that sent no requests.
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

// addresses returns the addresses with at least one MAC address, sorted.
func (g given) addresses() []netip.Addr {
	return slices.SortedFunc(maps.Keys(g.macs), netip.Addr.Compare)
}

// answers is the set of addresses that each MAC address was given for.
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

// one reports whether two MAC addresses answer for at least two common addresses. The interfaces of
// one machine do so for all its addresses (arp_ignore=0).
func (a answers) one(x, y string) bool {
	both := 0
	for address := range a[x] {
		if a[y][address] {
			both++
		}
	}
	return both > 1
}

// only returns an address that x answers for and y does not; false: there is none.
func (a answers) only(x, y string) (netip.Addr, bool) {
	for _, address := range slices.SortedFunc(maps.Keys(a[x]), netip.Addr.Compare) {
		if !a[y][address] {
			return address, true
		}
	}
	return netip.Addr{}, false
}

// apart returns the evidence that two unknown machines are not one: an address that one of them
// answers for and the other does not. It is nil if there is none.
func (a answers) apart(list []claim) []any {
	list = list[:min(len(list), facts.MostAnswers)]
	for _, c := range list {
		for _, o := range list {
			if address, is := a.only(c.macs[0], o.macs[0]); is && c.host == nil && o.host == nil {
				return []any{fact.OnlySome{Address: address, MACs: c.macs, Not: o.macs}}
			}
		}
	}
	return nil
}

// oneMachine returns a function that reports whether two MAC addresses of no known host belong to
// one machine. With asked true it goes by replies to ARP requests. Otherwise it goes by neighbour
// tables, which may be of several networks: then two addresses belong together only if their
// numbers are close and one of them was given for several addresses, as in fluxElsewhere.
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

// assigned returns the replies to ARP requests, for each host and interface, and after them the
// entries in the neighbour tables of the hosts that sent no requests.
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

// detected finds IPv6 addresses that duplicate address detection found at another machine.
func detected(h *facts.Host) (findings []record.Finding) {
	for _, i := range h.Reading.Snapshot.Interfaces {
		for _, text := range i.Duplicates {
			prefix, _, _ := strings.Cut(text, "/")
			address := facts.Parse(prefix)
			finding := facts.Found(cause.DuplicateAddress, h, record.Certain,
				cause.Duplicate{How: cause.Detected, Addresses: []netip.Addr{address}})
			finding.About.Address = address
			finding.With(h.Name, fact.TentativeFailed{Address: text, Interface: i.Interface})
			findings = append(findings, *finding.Fixed(record.Advice(h.Name, hint.DetectAgain{})))
		}
	}
	return findings
}

// duplicateAddress finds addresses that two machines answer for, and those that duplicate address
// detection found.
func duplicateAddress(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		findings = append(findings, detected(h)...)
	}
	list := assigned(f)
	identity := func(f record.Finding) string { return cause.Identity(f.ID, f.About, f.Args) } // on any host
	made := index.First(findings, identity)
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
			same := []netip.Addr{address}
			if !g.asked && !slices.ContainsFunc(claims, func(c claim) bool { return c.host != nil }) {
				if same = alike[key(address)]; same[0] != address {
					continue
				}
			}
			finding := judge(f, g, claims, same, known)
			if i, is := made[identity(*finding)]; is {
				findings[i].Facts = record.Distinct(append(findings[i].Facts, finding.Facts...))
			} else {
				made[identity(*finding)] = len(findings)
				findings = append(findings, *finding)
			}
		}
	}
	return findings
}

// judge makes a finding of several claims to one address, or to several addresses with the same
// MAC addresses. The finding is certain if two known hosts answered requests for it. It is likely
// if at least one known host claims it, or if an address tells the claims apart, and otherwise
// possible.
func judge(f facts.Trial, g given, claims []claim, same []netip.Addr, known answers) *record.Finding {
	args := cause.Duplicate{Addresses: same, Asked: g.asked}
	var holders []*facts.Host
	for _, c := range claims {
		one := cause.Claim{MACs: c.macs}
		if c.host != nil {
			one.Host = c.host.Name
			holders = append(holders, c.host)
		}
		args.Claims = append(args.Claims, one)
	}
	macs := args.MACs()
	var apart []any
	asked, of := "", g.host
	if g.asked {
		asked = g.host.Name
	}
	if len(holders) > 0 {
		of = holders[0]
	} else if g.asked {
		apart = known.apart(claims)
	}
	finding := facts.Found(cause.DuplicateAddress, of, record.Likely, cause.Duplicate{})
	finding.With(asked, fact.Found{Addresses: same, MACs: macs})
	finding.Facts = append(finding.Facts, f.SwitchPorts(macs...)...)
	finding.With("", apart...)
	switch {
	case len(holders) > 1:
		if args.How = cause.Held; g.asked {
			finding.Confidence = record.Certain
		}
	case len(holders) == 1 || apart != nil:
		// Another machine than the holder may answer without holding the address (proxy ARP).
		args.How = cause.Answered
	default:
		if args.How, finding.Confidence = cause.Several, record.Possible; g.asked {
			finding.With("", fact.NotApart{})
		}
		if len(macs) == 2 && facts.Near(macs[0], macs[1]) {
			finding.With("", fact.Numbered{})
		}
	}
	finding.About.Address, finding.Args = same[0], args
	var places []record.Touch
	for _, a := range same[:min(len(same), facts.MostPlaces/2)] {
		places = append(places, record.Touch{Address: a}, record.Touch{Via: a})
	}
	return finding.At(places...)
}
