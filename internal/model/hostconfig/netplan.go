package hostconfig

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
)

// netplan collects the keys of each interface (netplan(5)).
type netplan struct {
	names []string
	keys  map[string]*netplanKeys
	rules int
}

// firstPriority is given to rules without a priority, which netplan requires when NetworkManager is
// its renderer. It is below 32766, the priority of the kernel's first rule after that for local
// addresses.
const firstPriority = 1000

type netplanKeys struct{ scalars, addresses, routes, rules []string }

func newNetplan(*Host) writer { return &netplan{keys: map[string]*netplanKeys{}} }

func (n *netplan) at(name string) *netplanKeys {
	if n.keys[name] == nil {
		n.names, n.keys[name] = append(n.names, name), &netplanKeys{}
	}
	return n.keys[name]
}

func (n *netplan) add(c change) bool {
	if c.on == "" {
		return false
	}
	switch {
	case c.Address != nil:
		k := n.at(c.on)
		k.addresses = append(k.addresses, fmt.Sprintf("- %q", c.Address.Address))
	case c.Link != nil && c.Link.MTU != 0:
		k := n.at(c.on)
		k.scalars = append(k.scalars, fmt.Sprintf("mtu: %d", c.Link.MTU))
	case c.Link != nil && c.Link.MAC != "":
		k := n.at(c.on)
		k.scalars = append(k.scalars, fmt.Sprintf("macaddress: %q", c.Link.MAC))
	case c.Rule != nil && (c.Rule.From != "" || c.Rule.To != ""): // it requires one of them
		k, r := n.at(c.on), c.Rule
		n.rules++
		k.rules = append(k.rules, item("from", r.From, "to", r.To, "table", number(r.Table), "priority",
			number(cmp.Or(r.Priority, firstPriority+n.rules))))
	case c.Route != nil:
		r := *c.Route
		direct := r.Via == ""
		if len(r.Nexthops) > 0 || r.Object != 0 || strings.HasPrefix(r.Via, "inet6 ") || direct && r.IPv6() {
			return false // netplan has no key
		}
		scope := ""
		if direct {
			scope = "link"
		}
		k := n.at(c.on)
		k.routes = append(k.routes, item("to", destination(r), "via", r.Via, "scope", scope, "from", valid(r.Source),
			"table", number(r.Table), "metric", number(r.Metric), "congestion-window", number(r.InitCwnd)))
	default:
		return false
	}
	return true
}

// item formats an entry of a list from pairs of a key and a value. Pairs with an empty value are
// left out.
func item(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		if value := pairs[i+1]; value != "" {
			if strings.Trim(value, "0123456789") != "" {
				value = fmt.Sprintf("%q", value)
			}
			list = append(list, pairs[i]+": "+value)
		}
	}
	return "- {" + strings.Join(list, ", ") + "}"
}

// number formats n. It returns "" for 0, which means absent.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// valid formats addr. It returns "" for the zero Addr.
func valid(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

func (n *netplan) files(head []string) []File {
	text := comments(head) + "network:\n  version: 2\n  ethernets:\n"
	for _, name := range n.names {
		text += fmt.Sprintf("    %q:\n", name)
		k := n.keys[name]
		for _, s := range k.scalars {
			text += "      " + s + "\n"
		}
		for _, list := range []struct {
			key   string
			items []string
		}{{"addresses", k.addresses}, {"routes", k.routes}, {"routing-policy", k.rules}} {
			if len(list.items) > 0 {
				text += "      " + list.key + ":\n        " + strings.Join(list.items, "\n        ") + "\n"
			}
		}
	}
	return []File{{"etc/netplan/90-linerate.yaml", 0o600, text}} // netplan warns about files that others can read
}

func (n *netplan) apply() []string { return []string{"netplan try"} }
