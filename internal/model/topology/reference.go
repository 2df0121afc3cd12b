package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/setting"
)

// Resolve replaces references to interfaces in settings (host.interface) by the MAC address in a
// neighbour's lladdr, and by the address in the via of a route or nexthop. Mac returns the MAC
// address of an interface.
func (t *Topology) Resolve(settings []setting.Setting, mac func(End) (string, error)) ([]setting.Setting, error) {
	resolved := make([]setting.Setting, len(settings))
	for i, s := range settings {
		if s.Neighbour != nil {
			n := *s.Neighbour
			if end, ok := t.EndOf(n.LLAddr); ok {
				address, err := mac(end)
				if err != nil {
					return nil, err
				}
				n.LLAddr = address
			}
			s.Neighbour = &n
		}
		var err error
		if s.Route != nil {
			r, six := *s.Route, t.ipv6(s.Host, *s.Route)
			r.Nexthops = slices.Clone(r.Nexthops)
			vias := []*string{&r.Via}
			for k := range r.Nexthops {
				vias = append(vias, &r.Nexthops[k].Via)
			}
			for _, via := range vias {
				if *via, err = t.via(s.Host, *via, six, mac); err != nil {
					return nil, err
				}
			}
			s.Route = &r
		}
		if s.Nexthop != nil {
			n := *s.Nexthop
			// A nexthop object has no destination: an IPv4 address if both hosts have one.
			if n.Via, err = t.via(s.Host, n.Via, false, mac); err != nil {
				return nil, err
			}
			s.Nexthop = &n
		}
		resolved[i] = s
	}
	return resolved, nil
}

// EndOf parses "host.interface" and returns false if there is no such interface.
func (t *Topology) EndOf(text string) (End, bool) {
	for _, h := range t.Hosts {
		if iface, found := strings.CutPrefix(text, h.Name+"."); found {
			if _, exists := h.Interface(iface); exists {
				return End{Node: h.Name, Interface: iface}, true
			}
		}
	}
	return End{}, false
}

// ipv6 reports whether a host's route is an IPv6 route: by setting.Route.IPv6, or, for default with
// references to interfaces, if these have IPv6 but no IPv4 addresses towards the host. If they have
// neither, and thus link-local addresses, default is an IPv4 route (RFC 8950).
func (t *Topology) ipv6(host string, r setting.Route) bool {
	if r.IPv6() || r.To != "default" {
		return r.IPv6()
	}
	six := false
	for _, hop := range append([]setting.Nexthop{{Via: r.Via}}, r.Nexthops...) {
		end, ok := t.EndOf(hop.Via)
		if !ok {
			if hop.Via != "" {
				return false // an address, and none of IPv6
			}
			continue
		}
		if _, four := t.AddressToward(host, end, false); four {
			return false
		}
		addr, ok := t.AddressToward(host, end, true)
		six = six || ok && !addr.IsLinkLocalUnicast()
	}
	return six
}

// via converts "host.interface" to an address that the host can reach: one in the route's family if
// the far interface has one, otherwise its link-local address (RFC 4291, derived from the MAC
// address).
func (t *Topology) via(host, text string, wantIPv6 bool, mac func(End) (string, error)) (string, error) {
	end, ok := t.EndOf(text)
	if !ok {
		return text, nil
	}
	if addr, ok := t.AddressToward(host, end, wantIPv6); ok {
		return addr.String(), nil
	}
	link, err := mac(end)
	if err != nil {
		return "", err
	}
	local, err := LinkLocal(link)
	if err != nil {
		return "", err
	}
	if wantIPv6 {
		return local.String(), nil
	}
	return "inet6 " + local.String(), nil
}

// AddressToward returns an address of a far interface, in one family, that a host reaches directly
// because it has an interface with the same prefix.
func (t *Topology) AddressToward(host string, far End, six bool) (netip.Addr, bool) {
	h, _ := t.Host(host)
	there, _ := t.Host(far.Node)
	iface, _ := there.Interface(far.Interface)
	for _, a := range iface.Addresses {
		if a.First.Is6() != six {
			continue
		}
		for _, own := range h.Addresses() {
			if own.Prefix().Contains(a.First) {
				return a.First, true
			}
		}
	}
	return netip.Addr{}, false
}

// LinkLocal returns the address in fe80::/64 with the modified EUI-64 of a MAC address
// (RFC 4291, appendix A).
func LinkLocal(mac string) (netip.Addr, error) {
	var m [6]byte
	if _, err := fmt.Sscanf(mac, "%02x:%02x:%02x:%02x:%02x:%02x", &m[0], &m[1], &m[2], &m[3], &m[4],
		&m[5]); err != nil {
		return netip.Addr{}, fmt.Errorf("MAC address %q: %w", mac, err)
	}
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xff, 12: 0xfe, 13: m[3], 14: m[4],
		15: m[5]}), nil
}
