package hostconfig

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"

	"linerate/internal/model/lists"
	"linerate/internal/model/setting"
)

// A run may come from another user, so its names and values are untrusted input. Check rejects what
// no kernel accepts. What a kernel does accept, such as an interface called $(reboot), is quoted
// for the shell in commands and scripts. The other formats only get plain names, because their
// programs pass names to a shell (ifupdown), match them as patterns, or expand them.

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Comment returns a text as one comment line that begins with #.
func Comment(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimRight("# "+strings.Join(strings.Fields(text), " "), ` \`)
}

// Check returns an error for the first name or value that no host can have: an interface name that
// the kernel rejects, an invalid address, a parameter that contains a line break.
func (h *Host) Check() error {
	if !printable(h.Name) || strings.Contains(h.Name, "/") {
		return fmt.Errorf("host name %q: expected printable characters without slashes", h.Name)
	}
	for _, i := range h.Interfaces {
		if why := wrongInterface(i.Name); why != "" {
			return fmt.Errorf("host %s: %s", h.Name, why)
		}
	}
	for _, s := range h.Settings {
		if why := wrong(s); why != "" {
			return fmt.Errorf("host %s: %s", h.Name, why)
		}
	}
	return nil
}

// wrong returns why a setting is impossible on any host. Empty: it is possible.
func wrong(s setting.Setting) string {
	for _, one := range s.Sysctl {
		switch {
		case !printable(one.Key) || strings.ContainsAny(one.Key, " =") || strings.Trim(one.Key[:1], alphanumeric) != "":
			return fmt.Sprintf("%q is not a kernel parameter: expected a name with dots such as net.ipv4.ip_forward",
				one.Key)
		case !printable(strings.ReplaceAll(one.Value, "\t", " ")):
			return fmt.Sprintf("%s = %q: expected a value on one line", one.Key, one.Value)
		}
	}
	for _, name := range interfaces(s) {
		if why := wrongInterface(name); why != "" {
			return why
		}
	}
	for _, text := range addresses(s) {
		_, ip := netip.ParseAddr(text)
		_, prefix := netip.ParsePrefix(text)
		_, mac := net.ParseMAC(text)
		if text != "default" && ip != nil && prefix != nil && mac != nil || strings.Contains(text, "%") {
			return fmt.Sprintf("%q is no address", text)
		}
	}
	if q := s.Qdisc; q != nil && !word(q.Kind, "_") {
		return fmt.Sprintf("%q is no queueing discipline", q.Kind)
	}
	if s.NIC != nil {
		if place, why := s.NIC.Check(); why != "" {
			return "nic " + place + ": " + why
		}
	}
	if s.NFT != nil {
		if place, why := s.NFT.Check(); why != "" {
			return "nft " + place + ": " + why
		}
	}
	if s.CPU != nil {
		return s.CPU.Check()
	}
	return ""
}

// interfaces returns the interface names in a setting.
func interfaces(s setting.Setting) (names []string) {
	add := func(name string) {
		if name != "" {
			names = append(names, name)
		}
	}
	switch {
	case s.Neighbour != nil:
		return []string{s.Neighbour.Interface}
	case s.Address != nil:
		return []string{s.Address.Interface}
	case s.Link != nil:
		return []string{s.Link.Interface}
	case s.Qdisc != nil:
		return []string{s.Qdisc.Interface}
	case s.NIC != nil:
		return []string{s.NIC.Interface}
	case s.Nexthop != nil:
		add(s.Nexthop.Interface)
	case s.Route != nil:
		add(s.Route.Interface)
		for _, n := range s.Route.Nexthops {
			add(n.Interface)
		}
	}
	return names
}

// Named lists the interface names in the settings and in what the files add, and the addresses,
// networks and MAC addresses. The lists may contain duplicates.
func (h *Host) Named() (ifaces, addrs []string) {
	for _, c := range changes(h) {
		names := interfaces(c.Setting)
		for _, one := range c.Sysctl {
			names = append(names, setting.InterfaceOf(one.Key))
		}
		if c.Kind() != "sysctl" {
			names = append(names, c.on)
		}
		ifaces = append(ifaces, lists.Where(names, func(name string) bool { return name != "" })...)
		addrs = append(addrs, addresses(c.Setting)...)
	}
	return ifaces, addrs
}

func addresses(s setting.Setting) (texts []string) {
	add := func(text string) {
		if text != "" {
			texts = append(texts, text)
		}
	}
	switch {
	case s.Neighbour != nil:
		return []string{s.Neighbour.Address.String(), s.Neighbour.LLAddr}
	case s.Address != nil:
		return []string{s.Address.Address.String()}
	case s.Link != nil:
		add(s.Link.MAC)
	case s.Nexthop != nil:
		add(gateway(s.Nexthop.Via))
	case s.Rule != nil:
		add(s.Rule.From)
		add(s.Rule.To)
	case s.Route != nil:
		texts = append(texts, s.Route.To)
		add(gateway(s.Route.Via))
		if s.Route.Source.IsValid() {
			add(s.Route.Source.String())
		}
		for _, n := range s.Route.Nexthops {
			add(gateway(n.Via))
		}
	}
	return texts
}

// wrongInterface applies the kernel's rule for interface names (dev_valid_name in net/core/dev.c),
// restricted to printable names.
func wrongInterface(name string) string {
	if len(name) > 15 || name == "." || name == ".." || !printable(name) || strings.ContainsAny(name, " /:") {
		return fmt.Sprintf(
			"interface name %q: expected 1 to 15 printable characters without spaces, slashes and colons", name)
	}
	return ""
}

// printable reports whether text is not empty and consists of printable ASCII characters.
func printable(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// word reports whether text consists of letters, digits and the characters in others, and begins
// with a letter or digit.
func word(text, others string) bool {
	return text != "" && strings.Trim(text, alphanumeric+others) == "" && strings.Trim(text[:1], alphanumeric) == ""
}

// plain reports whether no word of the change has a special meaning in any format.
func (c change) plain() bool {
	for _, one := range c.Sysctl {
		if !word(one.Key, "_./:@-") || strings.TrimSpace(one.Value) == "" ||
			strings.Trim(one.Value, alphanumeric+"_./:@-+,\t ") != "" {
			return false
		}
	}
	for _, name := range append(interfaces(c.Setting), c.on) {
		if name != "" && !word(name, "_.-") {
			return false
		}
	}
	return wrong(c.Setting) == ""
}
