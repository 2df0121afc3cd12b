package lab

import (
	"net/netip"
	"strings"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// bridgeName is what a lab's switches call their bridge.
const bridgeName = "br0"

// plan is what the keeper is told to make.
type plan struct {
	Nodes []planNode `json:"nodes"`
	Links []planLink `json:"cables"`

	carried string // who makes delay and loss
}

type planNode struct {
	Name   string `json:"name"`
	Switch bool   `json:"switch,omitempty"`
	// IPv6 is on only where the topology uses it: a host that announces itself
	// puts frames on links that are being measured.
	IPv6 bool `json:"ipv6,omitempty"`
}

type planLink struct {
	Ends [2]planEnd `json:"ends"`
}

// planEnd is an interface and what it does to the frames it sends.
type planEnd struct {
	Node      int             `json:"node"` // index into Nodes
	Interface string          `json:"interface"`
	MAC       string          `json:"mac"`
	MTU       int             `json:"mtu"`
	Shape     netlink.Shaping `json:"shape"`
	// Mark is how many bytes may wait before frames get a congestion mark; 0: none
	// gets one.
	Mark int64 `json:"mark_bytes,omitempty"`
}

// planOf lists what has to be made of a topology: all that is not reached by a
// `via` and is not an unmanaged switch.
func planOf(t *topology.Topology) plan {
	var p plan
	index := map[string]int{}
	six := withIPv6(t)
	for _, h := range t.Hosts {
		if len(h.Via) == 0 {
			index[h.Name] = len(p.Nodes)
			p.Nodes = append(p.Nodes, planNode{Name: h.Name, IPv6: six[h.Name]})
		}
	}
	for _, s := range t.Switches {
		if len(s.Via) == 0 && !s.Unmanaged {
			index[s.Name] = len(p.Nodes)
			p.Nodes = append(p.Nodes, planNode{Name: s.Name, Switch: true})
		}
	}
	for _, l := range t.Links {
		from, made := index[l.From.Node]
		to, madeToo := index[l.To.Node]
		if !made || !madeToo {
			continue // a cable between real hosts is there already
		}
		end := func(node int, e topology.End) planEnd {
			s := l.Towards(e)
			return planEnd{Node: node, Interface: e.Interface, MAC: t.MAC(e), MTU: s.MTU, Shape: netlink.Shaping{
				RateBps:    float64(s.Rate),
				BurstBytes: int64(s.BurstSize()),
				QueueBytes: int64(s.QueueSize()),
				DelayUs:    time.Duration(s.Delay).Microseconds(),
				JitterUs:   time.Duration(s.Jitter).Microseconds(),
				Loss:       float64(s.Loss),
				Reorder:    float64(s.Reorder),
				MTU:        s.MTU,
			}, Mark: int64(s.ECN.At(s.Rate))}
		}
		p.Links = append(p.Links, planLink{[2]planEnd{end(from, l.From), end(to, l.To)}})
	}
	return p
}

// withIPv6 names the hosts that need IPv6: those that use it, and those between
// which a route leads that can only go by a link-local address (see Lab.via).
func withIPv6(t *topology.Topology) map[string]bool {
	need := map[string]bool{}
	by := func(host, to, via string) {
		if far, ok := endOf(t, via); ok {
			if _, ok := addressOf(t, host, far, strings.Contains(to, ":")); !ok {
				need[host], need[far.Node] = true, true
			}
		}
	}
	for _, h := range t.Hosts {
		if usesIPv6(h) || h.BGP != nil { // which speaks by link-local addresses
			need[h.Name] = true
		}
		for _, r := range h.Routes {
			for _, hop := range append([]setting.Nexthop{{Via: r.Via}}, r.Nexthops...) {
				by(h.Name, r.To, hop.Via)
			}
		}
		for _, n := range h.Nexthops {
			by(h.Name, "", n.Via)
		}
	}
	return need
}

func usesIPv6(h topology.Host) bool {
	for _, port := range h.Interfaces {
		for _, a := range port.Addresses {
			if a.First.Is6() {
				return true
			}
		}
	}
	six := func(text string) bool {
		if strings.HasPrefix(text, "inet6") {
			return true
		}
		if prefix, err := netip.ParsePrefix(text); err == nil {
			return prefix.Addr().Is6()
		}
		addr, err := netip.ParseAddr(text)
		return err == nil && addr.Is6()
	}
	for _, r := range h.Routes {
		if six(r.To) || six(r.Via) {
			return true
		}
		for _, hop := range r.Nexthops {
			if six(hop.Via) {
				return true
			}
		}
	}
	return false
}
