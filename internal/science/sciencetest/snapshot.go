package sciencetest

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

func (w *world) mac(node, port string) string {
	return w.top.MAC(topology.End{Node: node, Interface: port})
}

// snapshot returns the state that a host's agent would have read.
func (w *world) snapshot(node string) netstate.Snapshot {
	s := netstate.Snapshot{Host: node}
	if node == "switch" {
		w.bridge(&s)
		return s
	}
	h, _ := w.top.Host(node)
	s.Sysctls = map[string]string{}
	for i, p := range h.Interfaces {
		port := netstate.InterfaceSnapshot{Interface: p.Name, Index: i + 2, MAC: w.mac(node, p.Name), MTU: 1500,
			Up:   true,
			Kind: "veth"}
		for _, a := range p.Addresses {
			port.Addresses = append(port.Addresses, fmt.Sprintf("%s/%d", a.First, a.Bits))
			s.Routes = append(s.Routes,
				netstate.ParseRoute(254, "", fmt.Sprintf("192.168.1.0/24 dev %s proto kernel scope link src %s",
					p.Name, a.First)))
		}
		s.Interfaces = append(s.Interfaces, port)
		w.sysctls(&s, p.Name, 0, 0, 0)
	}
	if node == "server" {
		w.sysctls(&s, "all", w.fix.ignore, w.fix.announce, w.fix.rpFilter)
		w.server(&s)
	} else {
		w.sysctls(&s, "all", 0, 0, 0)
		n, _ := strconv.Atoi(strings.TrimPrefix(node, "client"))
		w.client(&s, n-1)
	}
	return s
}

func (w *world) sysctls(s *netstate.Snapshot, scope string, ignore, announce, rpFilter int) {
	for name, value := range map[string]int{"arp_ignore": ignore, "arp_announce": announce, "arp_filter": 0,
		"rp_filter": rpFilter} {
		s.Sysctls["net.ipv4.conf."+scope+"."+name] = strconv.Itoa(value)
	}
}

func (w *world) server(s *netstate.Snapshot) {
	s.Rules = []netstate.RuleEntry{{Priority: 0, Table: 255}, {Priority: 32766, Table: 254},
		{Priority: 32767, Table: 253}}
	seen := map[string]bool{}
	for p := range w.Ports {
		if w.fix.sourceRouting {
			s.Rules = append(s.Rules, netstate.RuleEntry{Priority: 32765 - p, From: serverIP(p) + "/32",
				Table: 100 + p})
			s.Routes = append(s.Routes,
				netstate.ParseRoute(100+p, "", fmt.Sprintf("192.168.1.0/24 dev %s src %s", eth(p),
					serverIP(p))))
		}
		for c := range w.Clients {
			s.Lookups = append(s.Lookups, netstate.RouteLookup{Source: serverIP(p), Destination: w.clientIP(c),
				Interface: eth(w.leave[p])})
			if key := eth(w.leave[p]) + w.clientIP(c); !seen[key] {
				seen[key] = true
				s.Neighbours = append(s.Neighbours, netstate.Neighbour{Interface: eth(w.leave[p]),
					Address: w.clientIP(c),
					MAC:     w.mac(client(c), "eth0"), State: "REACHABLE"})
			}
		}
	}
}

func (w *world) client(s *netstate.Snapshot, c int) {
	s.Rules = []netstate.RuleEntry{{Priority: 0, Table: 255}, {Priority: 32766, Table: 254},
		{Priority: 32767, Table: 253}}
	for p := range w.Ports {
		s.Lookups = append(s.Lookups, netstate.RouteLookup{Source: w.clientIP(c), Destination: serverIP(p),
			Interface: "eth0"})
		n := netstate.Neighbour{Interface: "eth0", Address: serverIP(p), State: "REACHABLE"}
		switch {
		case w.arrive[c][p] < 0:
			n.State = "FAILED"
		default:
			n.MAC = w.mac("server", eth(w.arrive[c][p]))
			if w.fix.static {
				n.State = "PERMANENT"
			}
		}
		s.Neighbours = append(s.Neighbours, n)
	}
}

func (w *world) bridge(s *netstate.Snapshot) {
	for i, l := range w.top.Links {
		s.Interfaces = append(s.Interfaces, netstate.InterfaceSnapshot{
			Interface: l.To.Interface, Index: i + 2, MAC: w.top.MAC(l.To), MTU: 1500, Up: true, Master: "br",
			Kind: "veth"})
		s.FDB = append(s.FDB,
			netstate.FDBEntry{MAC: w.top.MAC(l.From), Interface: l.To.Interface, Peer: l.From.String()},
			netstate.FDBEntry{MAC: w.top.MAC(l.To), Interface: l.To.Interface, Local: true})
	}
}
