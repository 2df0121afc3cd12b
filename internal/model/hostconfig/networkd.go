package hostconfig

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/setting"
)

// networkd collects the sections of the drop-in of each interface (systemd.network(5)). It writes
// no .link files: such a file would replace 99-default.link, which gives the interface its name.
type networkd struct {
	host     *Host
	names    []string
	sections map[string][]string
}

func newNetworkd(h *Host) writer { return &networkd{host: h, sections: map[string][]string{}} }

func (n *networkd) section(on, name string, pairs ...string) bool {
	if on == "" {
		return false
	}
	if n.sections[on] == nil {
		n.names = append(n.names, on)
	}
	text := "[" + name + "]\n"
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			text += pairs[i] + "=" + pairs[i+1] + "\n"
		}
	}
	n.sections[on] = append(n.sections[on], text)
	return true
}

func (n *networkd) add(c change) bool {
	switch {
	case c.Neighbour != nil:
		return n.section(c.on, "Neighbor", "Address", c.Neighbour.Address.String(), "LinkLayerAddress",
			c.Neighbour.LLAddr)
	case c.Address != nil:
		return n.section(c.on, "Address", "Address", c.Address.Address.String())
	case c.Rule != nil:
		r := c.Rule
		return n.section(c.on, "RoutingPolicyRule", "From", r.From, "To", r.To, "Table", number(r.Table), "Priority",
			number(r.Priority))
	case c.Route != nil:
		return n.route(c.on, *c.Route)
	case c.Nexthop != nil && c.Nexthop.Resilient == nil:
		h := c.Nexthop
		family := ""
		if len(h.Group) == 0 && h.Via == "" {
			family = "ipv4"
		}
		return n.section(c.on, "NextHop", "Id", number(h.ID), "Gateway", gateway(h.Via), "Family", family, "Group",
			members(h.Group, ":", " "))
	case c.Link != nil && c.Link.MTU != 0:
		return n.section(c.on, "Link", "MTUBytes", number(c.Link.MTU))
	case c.Link != nil && c.Link.MAC != "":
		return n.section(c.on, "Link", "MACAddress", c.Link.MAC)
	case c.Link != nil && c.Link.Up != nil:
		return n.section(c.on, "Link", "ActivationPolicy", map[bool]string{true: "up", false: "down"}[*c.Link.Up])
	case c.Qdisc != nil:
		return n.qdisc(c.on, *c.Qdisc)
	}
	return false
}

func (n *networkd) route(on string, r setting.Route) bool {
	to := destination(r)
	if to == "default" {
		if to = "0.0.0.0/0"; r.IPv6() {
			to = "::/0"
		}
	}
	scope := ""
	if r.Via == "" && len(r.Nexthops) == 0 && r.Object == 0 && !r.IPv6() {
		scope = "link"
	}
	pairs := []string{"Destination", to, "Gateway", gateway(r.Via), "NextHop", number(r.Object), "PreferredSource",
		valid(r.Source),
		"Table", number(r.Table), "Metric", number(r.Metric), "Scope", scope, "InitialCongestionWindow",
		number(r.InitCwnd)}
	for _, hop := range r.Nexthops {
		if hop.Via == "" {
			return false // MultiPathRoute= needs an address
		}
		text := gateway(hop.Via)
		// Without this networkd looks for the address on the interface of the section.
		if dev := cmp.Or(hop.Interface, n.host.toward(address(text))); dev != "" {
			text += "@" + dev
		}
		if hop.Weight > 1 {
			text += " " + fmt.Sprint(hop.Weight)
		}
		pairs = append(pairs, "MultiPathRoute", text)
	}
	return n.section(on, "Route", pairs...)
}

func (n *networkd) files(head []string) (list []File) {
	for _, name := range n.names {
		list = append(list, File{"etc/systemd/network/" + name + ".network.d/90-linerate.conf", 0o644,
			comments(head) + "\n" + strings.Join(n.sections[name], "\n")})
	}
	return list
}

func (n *networkd) apply() []string { return []string{"networkctl reload"} }
