package hostconfig

import (
	"fmt"
	"strings"
)

// nmcli collects commands for the connection of each interface (nm-settings-nmcli(5)).
type nmcli struct {
	names []string
	lines map[string][]string
	rules int
}

func newNMCLI(*Host) writer { return &nmcli{lines: map[string][]string{}} }

const nmcliPath = "usr/local/sbin/linerate-nmcli"

func (n *nmcli) modify(on, property, value string) bool {
	if on == "" {
		return false
	}
	if n.lines[on] == nil {
		n.names = append(n.names, on)
	}
	n.lines[on] = append(n.lines[on], fmt.Sprintf(`nmcli connection modify "$connection" %s %s`, property,
		Quote(value)))
	return true
}

func family(six bool) string {
	if six {
		return "ipv6"
	}
	return "ipv4"
}

func (n *nmcli) add(c change) bool {
	switch {
	case c.Address != nil:
		return n.modify(c.on, "+"+family(c.Address.Address.Addr().Is6())+".addresses", c.Address.Address.String())
	case c.Link != nil && c.Link.MTU != 0:
		return n.modify(c.on, "802-3-ethernet.mtu", number(c.Link.MTU))
	case c.Link != nil && c.Link.MAC != "":
		return n.modify(c.on, "802-3-ethernet.cloned-mac-address", c.Link.MAC)
	case c.Link != nil && c.Link.XmitHashPolicy != "":
		return n.modify(c.on, "+bond.options", "xmit_hash_policy="+c.Link.XmitHashPolicy)
	case c.NIC != nil:
		return n.nic(c.on, *c.NIC)
	case c.Rule != nil:
		r := *c.Rule
		if r.Priority == 0 { // NetworkManager requires one; the kernel would count down from here
			r.Priority = 32765 - n.rules
			n.rules++
		}
		words := []string{"priority", number(r.Priority)}
		for _, pair := range [][2]string{{"from", r.From}, {"to", r.To}, {"table", number(r.Table)}} {
			if pair[1] != "" {
				words = append(words, pair[:]...)
			}
		}
		return n.modify(c.on, "+"+family(six(r.From, r.To))+".routing-rules", strings.Join(words, " "))
	case c.Route != nil:
		r := *c.Route
		if len(r.Nexthops) > 0 || r.Object != 0 || strings.HasPrefix(r.Via, "inet6 ") {
			return false
		}
		to := destination(r)
		if to == "default" {
			if to = "0.0.0.0/0"; r.IPv6() {
				to = "::/0"
			}
		}
		words := []string{to}
		for _, word := range []string{r.Via, number(r.Metric)} {
			if word != "" {
				words = append(words, word)
			}
		}
		for _, pair := range [][2]string{{"src", valid(r.Source)}, {"table", number(r.Table)},
			{"initcwnd", number(r.InitCwnd)}} {
			if pair[1] != "" {
				words = append(words, pair[0]+"="+pair[1])
			}
		}
		return n.modify(c.on, "+"+family(r.IPv6())+".routes", strings.Join(words, " "))
	}
	return false
}

func (n *nmcli) files(head []string) []File {
	text := "#!/bin/sh\n" + comments(
		append(head, "Run it once: NetworkManager stores these settings, and running it again would add them twice.")) +
		"set -e\n"
	for _, name := range n.names {
		text += fmt.Sprintf(
			"\nconnection=$(nmcli -g GENERAL.CONNECTION device show %s)\n%s\nnmcli connection up \"$connection\"\n",
			Quote(name), strings.Join(n.lines[name], "\n"))
	}
	return []File{{nmcliPath, 0o755, text}}
}

func (n *nmcli) apply() []string { return []string{"/" + nmcliPath} }
