package topology

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
)

// BGP makes a host speak BGP (RFC 4271) to the hosts at the other end of its links, by their
// link-local addresses, so that links need no other addresses ("unnumbered", RFC 8950). It
// announces the networks of its addresses and, if it forwards, the networks that it has learned.
type BGP struct {
	AS         int      `yaml:"as,required" json:"as" doc:"the host's own autonomous system; no two hosts have the same"`
	Interfaces []string `yaml:"interfaces" json:"interfaces,omitempty" doc:"interfaces with a neighbour at the other end; absent: every one with a link to another host with bgp"`
}

// LearnedMetric is the metric of routes that BGP installs.
const LearnedMetric = 20

// Session is a host's end of a BGP session.
type Session struct {
	Interface string
	Peer      End
	AS        int // autonomous system of the neighbour
}

// Sessions returns the sessions of a host in the order of its interfaces.
func (t *Topology) Sessions(h *Host) (list []Session) {
	if h.BGP == nil {
		return nil
	}
	for _, p := range h.Interfaces {
		if !h.BGP.speaksAt(p.Name) {
			continue
		}
		far, ok := t.farEnd(h, p.Name)
		if !ok {
			continue
		}
		if n, ok := t.Host(far.Node); ok && n.BGP != nil && n != h && n.BGP.speaksAt(far.Interface) {
			list = append(list, Session{p.Name, far, n.BGP.AS})
		}
	}
	return list
}

func (b *BGP) speaksAt(iface string) bool {
	return len(b.Interfaces) == 0 || slices.Contains(b.Interfaces, iface)
}

// farEnd returns the other end of an interface's link.
func (t *Topology) farEnd(h *Host, iface string) (End, bool) {
	own := End{h.Name, iface}
	for _, l := range t.Links {
		switch from, to := t.complete(l.From), t.complete(l.To); own {
		case from:
			return to, true
		case to:
			return from, true
		}
	}
	return End{}, false
}

// Announced returns the networks that a host with BGP originates: those of its own addresses, except
// link-local ones.
func (h *Host) Announced() (list []netip.Prefix) {
	if h.BGP == nil {
		return nil
	}
	for _, a := range h.Addresses() {
		if a.First.IsLinkLocalUnicast() {
			continue
		}
		for _, prefix := range a.Prefixes() {
			if network := prefix.Masked(); !slices.Contains(list, network) {
				list = append(list, network)
			}
		}
	}
	return list
}

// learn adds the routes that BGP installs when all sessions are up, so that paths can be computed
// from routes regardless of their origin: to each network through every neighbour on a shortest AS
// path.
func (t *Topology) learn() {
	place := map[string]int{}
	sessions := make([][]Session, len(t.Hosts))
	origins := map[netip.Prefix][]int{}
	var networks []netip.Prefix
	for i := range t.Hosts {
		h := &t.Hosts[i]
		place[h.Name] = i
		sessions[i] = t.Sessions(h)
		h.Routes = slices.DeleteFunc(h.Routes, func(r setting.Route) bool { return r.Learned })
		for _, network := range h.Announced() {
			if origins[network] == nil {
				networks = append(networks, network)
			}
			origins[network] = append(origins[network], i)
		}
	}
	for _, network := range networks {
		away := t.away(origins[network], sessions, place)
		for i := range t.Hosts {
			if away[i] < 1 {
				continue
			}
			var hops []setting.Nexthop
			for _, s := range sessions[i] {
				if n := place[s.Peer.Node]; away[n] == away[i]-1 && (away[n] == 0 || t.Hosts[n].Forward) {
					hops = append(hops, setting.Nexthop{Via: s.Peer.String(), Interface: s.Interface})
				}
			}
			r := setting.Route{To: network.String(), Metric: LearnedMetric, Learned: true}
			if len(hops) == 1 {
				r.Via, r.Interface = hops[0].Via, hops[0].Interface
			} else {
				r.Nexthops = hops
			}
			t.Hosts[i].Routes = append(t.Hosts[i].Routes, r)
		}
	}
}

// away returns the number of sessions between each host and a network. -1: the host does not learn
// the network. Only hosts that forward announce learned networks.
func (t *Topology) away(origins []int, sessions [][]Session, place map[string]int) []int {
	list := make([]int, len(t.Hosts))
	for i := range list {
		list[i] = -1
	}
	for _, i := range origins {
		list[i] = 0
	}
	for queue := slices.Clone(origins); len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		if list[i] > 0 && !t.Hosts[i].Forward {
			continue
		}
		for _, s := range sessions[i] {
			if n := place[s.Peer.Node]; list[n] < 0 {
				list[n] = list[i] + 1
				queue = append(queue, n)
			}
		}
	}
	return list
}

// maxAS is the highest number of an autonomous system; 4294967295 is reserved (RFC 7300).
const maxAS = 1<<32 - 2

// bgp checks the BGP configuration of hosts and their sessions.
func (c *checker) bgp() {
	speaks := map[int]string{}
	for i := range c.t.Hosts {
		h, path := &c.t.Hosts[i], fmt.Sprintf("topology.hosts[%d].bgp", i)
		if h.BGP == nil {
			continue
		}
		if len(h.Via) > 0 {
			c.report(path,
				"host %q is reached by via: its own daemon maintains its routes, and linerate starts none there",
				h.Name)
		}
		switch other, taken := speaks[h.BGP.AS]; {
		case h.BGP.AS < 1 || h.BGP.AS > maxAS:
			c.report(path+".as", "AS %d: expected 1 to %d, such as 65001", h.BGP.AS, maxAS)
		case taken:
			c.report(path+".as",
				"AS %d is already that of host %q: a host ignores routes with its own AS in the path (RFC 4271, 9.1.2)",
				h.BGP.AS, other)
		}
		speaks[h.BGP.AS] = h.Name
		if h.BGP.Interfaces != nil && len(h.BGP.Interfaces) == 0 {
			c.report(path+".interfaces", "no interfaces: without the key every one with a BGP neighbour has a session")
		}
		for j, name := range h.BGP.Interfaces {
			at := fmt.Sprintf("%s.interfaces[%d]", path, j)
			if _, ok := h.Interface(name); !ok {
				c.report(at, "host %q has no interface %q%s", h.Name, name,
					source.DidYouMean(name, h.interfaceNames("")))
			} else if !slices.ContainsFunc(c.t.Sessions(h), func(s Session) bool { return s.Interface == name }) {
				c.report(at, "the link at %s.%s does not lead to an interface at which another host speaks BGP",
					h.Name, name)
			}
		}
		if len(h.BGP.Interfaces) == 0 && len(c.t.Sessions(h)) == 0 {
			c.report(path, "host %q has no BGP neighbour: none of its links leads to a host with bgp", h.Name)
		}
	}
}
