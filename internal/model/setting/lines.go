package setting

import (
	"fmt"
	"strings"
)

// Lines formats a setting, one line for each change: "server: sysctl
// net.ipv4.conf.all.arp_ignore=1".
func (s Setting) Lines() []string {
	var list []string
	add := func(words ...string) { list = append(list, s.Host+": "+strings.Join(words, " ")) }
	for _, c := range s.Sysctl {
		add("sysctl", c.Key+"="+c.Value)
	}
	if n := s.Neighbour; n != nil {
		add("neighbour", n.Address.String(), "at", n.LLAddr, "on", n.Interface)
	}
	if a := s.Address; a != nil {
		add("address", a.String(), "on", a.Interface)
	}
	if s.Nexthop != nil {
		add("nexthop", s.Nexthop.String())
	}
	if s.Route != nil {
		add("route", s.Route.String())
	}
	if s.Rule != nil {
		add("rule", s.Rule.String())
	}
	if s.Link != nil {
		add("link", s.Link.String())
	}
	if s.NFT != nil {
		add("nft", s.NFT.String())
	}
	if s.Qdisc != nil {
		add("qdisc", s.Qdisc.String())
	}
	if s.NIC != nil {
		for _, o := range s.NIC.Options() {
			add("nic", s.NIC.Interface, o.Group, o.Key, o.Value)
		}
	}
	if s.CPU != nil {
		add(CPUGovernor, s.CPU.Governor)
	}
	return list
}

// phrase joins names and values. Pairs with a zero value are left out.
func phrase(start string, pairs ...any) string {
	for i := 0; i < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" && value != "0" && value != "0s" {
			start += fmt.Sprintf(" %s %s", pairs[i], value)
		}
	}
	return start
}

// String formats the route similarly to ip-route(8).
func (r Route) String() string {
	source := ""
	if r.Source.IsValid() {
		source = r.Source.String()
	}
	to := r.To
	if r.Number() > 1 {
		to += " to " + r.Last().String()
	}
	text := phrase(to, "by nexthop", r.Object, "via", r.Via, "on", r.Interface, "from", source, "metric", r.Metric,
		"initcwnd", r.InitCwnd)
	for _, n := range r.Nexthops {
		text += phrase(" nexthop", "via", n.Via, "on", n.Interface, "weight", n.Weight)
	}
	return phrase(text, "in table", r.Table)
}

// String formats the object similarly to ip-nexthop(8).
func (n NexthopObject) String() string {
	text := phrase(fmt.Sprint(n.ID), "via", n.Via, "on", n.Interface)
	for i, m := range n.Group {
		if i == 0 {
			text += " group of"
		}
		text += phrase(fmt.Sprintf(" %d", m.ID), "weight", m.Weight)
	}
	if r := n.Resilient; r != nil {
		text += phrase(" resilient", "buckets", r.Buckets, "idle_timer", r.IdleTimer.String(), "unbalanced_timer",
			r.UnbalancedTimer.String())
	}
	return text
}

// String formats the rule similarly to ip-rule(8).
func (r Rule) String() string {
	return strings.TrimSpace(phrase("", "from", r.From, "to", r.To, "look in table", r.Table, "priority", r.Priority))
}

func (l Link) String() string {
	up, queue := "", ""
	if l.Up != nil {
		up = map[bool]string{true: "up", false: "down"}[*l.Up]
	}
	if l.TxQueueLen != nil {
		queue = fmt.Sprintf(" txqueuelen %d", *l.TxQueueLen)
	}
	return phrase(phrase(l.Interface, "mtu", l.MTU)+queue, "mac", l.MAC, "gso_max_size", l.GSOMaxSize,
		"gro_max_size", l.GROMaxSize, "xmit_hash_policy", l.XmitHashPolicy, "xdp", l.XDP, "state", up)
}
