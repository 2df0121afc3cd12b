package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// How Linux answers and asks. A host owns its addresses as a whole, so by
// default any of its interfaces answers an ARP request for any of them
// (arp_ignore=0), and its own requests may carry any of them as sender
// (arp_announce=0). A peer believes the latest ARP packet that it has seen.
const (
	arpReference    = "Linux Documentation/networking/ip-sysctl.rst (arp_ignore, arp_announce, arp_filter); RFC 826"
	sourceReference = "Linux Documentation/networking/ip-sysctl.rst (arp_announce); RFC 826"
)

var arpRules = []rule{
	{id: "arp-flux", parts: []string{"neighbours"}, about: "A peer's neighbour table has one of a host's addresses at the MAC address of another of its interfaces, and arp_ignore does not forbid it; certain when that interface receives more than was addressed to it.", find: func(f observed) []record.Finding { return append(each(everyHost, arpFlux)(f), fluxElsewhere(f)...) }, sameCause: sameRemedy, explains: []string{"several-arp-answers"}},
	{id: "arp-wrong-source", about: "A peer's neighbour table is wrong although arp_ignore keeps replies right, or a neighbour does not answer requests from another subnet's address: arp_announce is 0.", find: each(everyHost, arpWrongSource), stops: true},
	{id: "duplicate-address", parts: []string{"neighbours"}, about: "More than one machine answers ARP requests for one address; certain if two of them are known to hold it. Without the right to send requests, neighbour tables decide.", find: duplicateAddress, stops: true, sameCause: sameSummary, explains: []string{"several-arp-answers"}},
}

// sameRemedy reports whether two findings of ARP flux ask for the same fix: with
// arp_filter it is another than without.
func sameRemedy(a, b record.Finding) bool {
	return len(a.Settings) == 0 || len(b.Settings) == 0 || remedy(a) == remedy(b)
}

// remedy is what a finding's settings begin with: the kind, and whether it is arp_filter.
func remedy(f record.Finding) string {
	first := f.Settings[0]
	return first.Kind() + fmt.Sprint(len(first.Sysctl) > 0 && strings.HasSuffix(first.Sysctl[0].Key, ".arp_filter"))
}

// ownOnly: these values of arp_ignore keep an interface from answering for another
// interface's address. 3 looks at the address's scope only and does not.
func ownOnly(arpIgnore int) bool {
	return arpIgnore == 1 || arpIgnore == 2 || arpIgnore == 8
}

// excess beyond which an interface took in more than was addressed to it.
const excess = 0.1

// arpFlux: peers send to one interface what is meant for another, because the host
// answered ARP requests for all its addresses from that interface.
func arpFlux(f observed, h *host) *record.Finding {
	list := slices.DeleteFunc(f.misdirections(h), func(m misdirected) bool {
		return ownOnly(h.effective("arp_ignore", m.wrong))
	})
	var wrong *netif
	confidence := record.Likely
	var evidence []string
	if len(list) > 0 {
		evidence = h.rows(list)
		wrong = list[0].wrong
		for _, m := range list {
			if line, ok := f.takesMore(h, m.wrong); ok {
				wrong = m.wrong
				evidence = append(evidence, line)
				if h.effective("arp_ignore", m.wrong) == 0 {
					confidence = record.Certain
				}
				break
			}
		}
	} else if wrong, evidence = f.fluxUnseen(h); wrong == nil {
		return nil
	}
	for _, name := range []string{"arp_ignore", "arp_filter"} {
		if line := h.setting(name, wrong); line != "" {
			evidence = append(evidence, line)
		}
	}
	lines, settings := h.answerRightly()
	return &record.Finding{
		Host: h.name, Confidence: confidence,
		Summary:   fmt.Sprintf("%s answers ARP for all its addresses from %s, so its peers send traffic for its other interfaces to that one", h.name, wrong.name),
		Evidence:  evidence,
		Fix:       append(lines, forget(list)...),
		Settings:  settings,
		Reference: arpReference,
	}
}

// answerRightly makes each interface answer for its own address alone. Where
// arp_filter is on, an interface answers only for addresses that the host would send
// from by that interface; together with arp_ignore=1 no interface would answer for an
// address that is sent from by another one.
func (h *host) answerRightly() (lines []string, settings []setting.Setting) {
	own := h.set("net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce", "2")
	if len(h.scopes("arp_filter", 1)) == 0 {
		return h.commands(own), own
	}
	fix := h.routeBySource(slices.DeleteFunc(h.asymmetries(), func(a asymmetry) bool { return !a.source.Is4() }))
	off := h.filterOff()
	if len(fix) == 0 {
		settings = append(off, own...)
		return h.commands(settings), settings
	}
	return slices.Concat(h.commands(fix), h.instead(off), h.commands(own)), append(fix, own...)
}

// filterOff switches arp_filter off wherever it is on.
func (h *host) filterOff() (off []setting.Setting) {
	for _, scope := range h.scopes("arp_filter", 1) {
		off = append(off, h.set("net.ipv4.conf."+scope+".arp_filter", "0")...)
	}
	return off
}

// fluxUnseen judges without the peers' tables: by the settings and, where flows
// ran, by one interface that takes in most of what was addressed to others.
func (f observed) fluxUnseen(h *host) (*netif, []string) {
	for _, p := range h.netifs {
		for _, prefix := range p.v4() {
			peers := h.onSubnet(prefix.Addr())
			if p.member || !p.up || len(peers) < 2 || sharedMAC(peers) || f.seen(h) {
				continue
			}
			if h.effective("arp_ignore", p) != 0 || h.effective("arp_filter", p) != 0 {
				continue
			}
			var names []string
			for _, o := range peers {
				names = append(names, h.end(o))
			}
			subnet := fmt.Sprintf("%s are on one subnet, %s", join(names), prefix.Masked())
			if len(f.trial.Flows) == 0 {
				return p, []string{subnet}
			}
			if line, ok := f.takesMore(h, p); ok {
				return p, []string{subnet, line}
			}
		}
	}
	return nil, nil
}

// seen: some peer's table shows where it sends, rightly or wrongly. Then the
// tables decide, and not the settings.
func (f observed) seen(h *host) bool {
	for _, peer := range f.hosts {
		if peer == h {
			continue
		}
		for _, p := range h.netifs {
			for _, prefix := range p.v4() {
				if slices.ContainsFunc(peer.neighbours(prefix.Addr()), resolved) {
					return true
				}
			}
		}
	}
	return false
}

func sharedMAC(netifs []*netif) bool {
	for i, p := range netifs {
		for _, o := range netifs[i+1:] {
			if p.mac == o.mac {
				return true
			}
		}
	}
	return false
}

// takesMore reports whether an interface took in clearly more of its host's traffic than
// was addressed to it.
func (f observed) takesMore(h *host, p *netif) (string, bool) {
	meant := f.meant(h, true)
	var among []*netif
	for _, o := range h.netifs {
		if meant[o] > 0 || o == p {
			among = append(among, o)
		}
	}
	took := h.share(p, among, func(d record.InterfaceDelta) float64 { return d.RxBytes })
	if took < meant[p]+excess {
		return "", false
	}
	return fmt.Sprintf("%s took in %s of what reached %s, but %s was for its own address", h.end(p), percent(took), h.name, percent(meant[p])), true
}

// meant is each interface's fair part of a host's incoming or outgoing traffic, by
// the addresses of the flows. Where no data flows in that direction, acknowledgements do,
// in proportion to the data they answer.
func (f observed) meant(h *host, incoming bool) map[*netif]float64 {
	data, answers := map[*netif]float64{}, map[*netif]float64{}
	for _, fl := range f.trial.Flows {
		if !fl.Connected {
			continue
		}
		for _, end := range []struct {
			host     string
			address  netip.Addr
			receives bool
		}{{fl.To, fl.DestinationAddr(), true}, {fl.From, fl.SourceAddr(), false}} {
			p, to := h.holder(end.address), data
			if end.receives != incoming {
				to = answers
			}
			if end.host == h.name && p != nil {
				to[p] += float64(fl.ReceivedBytes)
			}
		}
	}
	if len(data) == 0 {
		data = answers
	}
	total := 0.0
	for _, bytes := range data {
		total += bytes
	}
	for p := range data {
		if total > 0 {
			data[p] /= total
		}
	}
	return data
}

// arpWrongSource: peers were misled by the host's own ARP requests. Its replies
// cannot have done it where arp_ignore holds them to each interface's own address.
func arpWrongSource(f observed, h *host) *record.Finding {
	list := slices.DeleteFunc(f.misdirections(h), func(m misdirected) bool {
		announce := h.effective("arp_announce", m.wrong)
		return !ownOnly(h.effective("arp_ignore", m.wrong)) || announce < 0 || announce >= 2
	})
	finding := record.Finding{Host: h.name, Confidence: record.Likely, Reference: sourceReference}
	if len(list) > 0 {
		m := list[0]
		finding.Evidence = h.rows(list)
		for _, o := range list {
			if asked(h, o) {
				m, finding.Confidence = o, record.Certain
				finding.Evidence = append(finding.Evidence,
					fmt.Sprintf("%s asked for %s from %s, with sender address %s of %s", h.name, o.peer.name, h.end(o.wrong), o.addr, o.right.name))
				break
			}
		}
		finding.Summary = fmt.Sprintf("%s sends ARP requests from %s with other interfaces' addresses as sender, so its peers learn the wrong MAC address", h.name, m.wrong.name)
		finding.Evidence = append(finding.Evidence, h.setting("arp_announce", m.wrong),
			h.setting("arp_ignore", m.wrong)+": its replies name the right interface")
	} else if line, p := f.unanswered(h); p != nil {
		finding.Summary = fmt.Sprintf("%s sends ARP requests from %s with a sender address of another subnet, and gets no answer", h.name, p.name)
		finding.Evidence = []string{line, h.setting("arp_announce", p)}
	} else {
		return nil
	}
	finding.Settings = h.set("net.ipv4.conf.all.arp_announce", "2")
	finding.Fix = append(h.commands(finding.Settings), forget(list)...)
	return &finding
}

// asked: the host has resolved the peer by the interface whose MAC address the peer
// now holds, so that interface did send requests.
func asked(h *host, m misdirected) bool {
	return slices.ContainsFunc(h.entries(), func(n record.Neighbour) bool {
		address := parse(n.Address)
		return n.Interface == m.wrong.name && address.Is4() && m.peer.holder(address) != nil
	})
}

// unanswered finds a neighbour that did not answer requests with a sender
// address that is on no prefix of the asking interface.
func (f observed) unanswered(h *host) (string, *netif) {
	for _, l := range h.reading.Snapshot.Lookups {
		source, destination := parse(l.Source), parse(l.Destination)
		holder, out := h.holder(source), h.lookup(source, destination)
		if !source.Is4() || holder == nil || out == nil || out == holder || l.Gateway != "" {
			continue
		}
		announce := h.effective("arp_announce", out)
		if announce < 0 || announce >= 2 || slices.Contains(h.onSubnet(source), out) || !slices.Contains(h.onSubnet(destination), out) {
			continue
		}
		for _, n := range h.neighbours(destination) {
			if n.Interface == out.name && failed(n) {
				return fmt.Sprintf("%s is %s on %s, asked with sender address %s of %s", destination, n.State, h.end(out), source, holder.name), out
			}
		}
	}
	return "", nil
}

// forget makes peers drop what they have wrongly learned: they would otherwise
// believe it until it ages.
func forget(list []misdirected) []string {
	var lines []string
	for _, m := range list {
		for _, p := range m.peer.netifs {
			for _, prefix := range p.v4() {
				if prefix.Contains(m.addr) {
					lines = append(lines, fmt.Sprintf("on %s: ip neigh flush to %s dev %s", m.peer.name, prefix.Masked(), p.name))
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// claim is a machine that answers for an address: a host of the trial, or, where none
// has the MAC address, that.
type claim struct {
	mac  string
	host *host
}

func (c claim) String() string {
	if c.host == nil {
		return "a machine with the MAC address " + c.mac
	}
	return c.host.name + " (" + c.mac + ")"
}

// virtualMACs begin the MAC addresses that several routers share (RFC 9568, HSRP, GLBP).
var virtualMACs = []string{"00:00:5e:00:01:", "00:00:5e:00:02:", "00:00:0c:07:ac:", "00:00:0c:9f:f", "00:07:b4:00:"}

// claims are the machines behind MAC addresses that were given for an address. Several
// MAC addresses of one host are one machine; a MAC address of several hosts, or a
// virtual router's, names none; and a host that answers for an address without holding
// it is a proxy.
func (f observed) claims(address netip.Addr, macs []string) (list []claim) {
	for _, mac := range macs {
		c, owners := claim{mac: mac}, 0
		for _, h := range f.hosts {
			if slices.ContainsFunc(h.netifs, func(p *netif) bool { return p.mac == mac }) {
				c.host, owners = h, owners+1
			}
		}
		known := slices.ContainsFunc(list, func(o claim) bool { return o.host != nil && o.host == c.host })
		if owners < 2 && !virtual(mac) && !known && (c.host == nil || c.host.holder(address) != nil) {
			list = append(list, c)
		}
	}
	return list
}

// given are the MAC addresses that were given for each address: to a host's ARP
// requests by one interface, or, of hosts that could not ask, in all their tables.
type given struct {
	host  *host // that asked; of tables the first
	asked bool
	macs  map[netip.Addr][]string
}

func (g given) add(address, mac string) {
	if at, mac := parse(address), strings.ToLower(mac); at.Is4() && !slices.Contains(g.macs[at], mac) {
		g.macs[at] = append(g.macs[at], mac)
	}
}

func (f observed) given() (list []given) {
	tables := given{macs: map[netip.Addr][]string{}}
	subject := map[netip.Addr]bool{} // of the flows: elsewhere other machines may well have the same address
	for _, fl := range f.trial.Flows {
		subject[fl.SourceAddr()], subject[fl.DestinationAddr()] = true, true
	}
	for _, h := range f.hosts {
		by := map[string]given{}
		for _, a := range h.reading.Snapshot.Answers {
			if _, there := by[a.Interface]; !there {
				by[a.Interface] = given{h, true, map[netip.Addr][]string{}}
				list = append(list, by[a.Interface])
			}
			by[a.Interface].add(a.Address, a.MAC)
		}
		for _, p := range h.netifs {
			for _, prefix := range p.v4() {
				if g, there := by[p.name]; there && p.mac != "" && len(g.macs[prefix.Addr()]) > 0 {
					g.add(prefix.Addr().String(), p.mac) // its own requests do not reach it
				}
			}
		}
		if len(by) > 0 {
			continue
		}
		for _, n := range slices.Concat(h.reading.Before.Neighbours, h.reading.Snapshot.Neighbours) {
			at := parse(n.Address)
			holder := f.holderOf(at)
			if !learned(n) || holder == nil && !subject[at] {
				continue
			}
			if tables.add(n.Address, n.MAC); holder != nil {
				tables.add(n.Address, holder.mac)
			}
			tables.host = cmp.Or(tables.host, h)
		}
	}
	return append(list, tables)
}

// holderOf is an interface, of any host, that holds an address.
func (f observed) holderOf(address netip.Addr) *netif {
	for _, h := range f.hosts {
		if p := h.holder(address); p != nil && p.up && p.mac != "" {
			return p
		}
	}
	return nil
}

// duplicateAddress finds addresses for which two machines answer ARP requests, whichever
// answer a peer believes.
func duplicateAddress(f observed) (findings []record.Finding) {
	for _, g := range f.given() {
		unknown := map[string]int{} // by pair of MAC addresses of no host: for how many addresses both answer
		all := map[netip.Addr][]claim{}
		pair := func(list []claim) string { return list[0].mac + list[1].mac }
		for address, macs := range g.macs {
			slices.Sort(macs)
			if list := f.claims(address, macs); len(list) > 1 {
				all[address] = list
				unknown[pair(list)]++
			}
		}
		for _, address := range slices.SortedFunc(maps.Keys(all), netip.Addr.Compare) {
			list := all[address]
			i := slices.IndexFunc(list, func(c claim) bool { return c.host != nil })
			if i < 0 && unknown[pair(list)] > 1 {
				continue // one machine with several interfaces: flux
			}
			finding := record.Finding{Host: g.host.name, Subject: address.String(), Confidence: record.Likely, Reference: "RFC 5227; RFC 826"}
			evidence := fmt.Sprintf("the hosts' tables and interfaces have %s at %s", address, join(g.macs[address]))
			if g.asked {
				evidence = fmt.Sprintf("%s asked who holds %s, and was answered by %s", g.host.name, address, join(g.macs[address]))
			}
			// A host among the claims holds the address; another machine may answer for it
			// without holding it (proxy ARP), or be one machine with two interfaces.
			holders := len(slices.DeleteFunc(slices.Clone(list), func(c claim) bool { return c.host == nil }))
			switch {
			case holders > 1 && g.asked:
				finding.Confidence = record.Certain
			case holders == 0 && !g.asked:
				finding.Confidence = record.Possible
			}
			var names []string
			for _, c := range list {
				names = append(names, c.String())
			}
			if i >= 0 {
				finding.Host = list[i].host.name
			}
			finding.Summary = fmt.Sprintf("two machines answer for %s: %s", address, join(names))
			if holders > 1 {
				finding.Summary = fmt.Sprintf("two machines hold %s: %s", address, join(names))
			}
			finding.Evidence = append([]string{evidence}, f.switchPorts(list)...)
			finding.Fix = []string{fmt.Sprintf("give one of them another address: %s", join(names)), "find a machine by its MAC address: bridge fdb show, or the switch's forwarding table"}
			if holders < 2 {
				finding.Fix = append(finding.Fix, "if a router or host answers there for others (proxy ARP), turn that off: sysctl -w net.ipv4.conf.IFACE.proxy_arp=0")
			}
			if at := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Summary == finding.Summary }); at >= 0 {
				findings[at].Evidence = union(findings[at].Evidence, finding.Evidence...)
			} else {
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

// switchPorts lists by which port a switch reaches each machine.
func (f observed) switchPorts(list []claim) (lines []string) {
	for _, s := range f.trial.Hosts {
		for _, e := range s.Snapshot.FDB {
			if !e.Local && slices.ContainsFunc(list, func(c claim) bool { return c.mac == strings.ToLower(e.MAC) }) {
				lines = append(lines, fmt.Sprintf("%s has %s behind port %s", s.Host, e.MAC, e.Interface))
			}
		}
	}
	return lines
}
