package record

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
)

// AnyRoute is the place of a finding whose route, gateway and interface are unknown.
const AnyRoute = "*"

// Shares reports whether cause has touches in common with f: with each list of f.Touches if every
// is true, otherwise with at least one. If f or cause has no touches, it returns true. The argument
// peer says that cause is on the host at the other end of the connections.
func (f Finding) Shares(cause Finding, peer, every bool) bool {
	theirs := slices.Concat(cause.touches()...)
	has := func(touches []Touch) bool {
		return slices.ContainsFunc(touches, func(t Touch) bool {
			return slices.ContainsFunc(theirs, func(of Touch) bool { return t.within(of, peer) })
		})
	}
	switch list := f.touches(); {
	case len(list) == 0 || len(theirs) == 0:
		return true
	case every:
		return !slices.ContainsFunc(list, func(touches []Touch) bool { return !has(touches) })
	default:
		return slices.ContainsFunc(list, has)
	}
}

// touches returns the touches of a finding, without kernel parameters. A finding about an address
// that has no others touches that address, as the address of a host and of a gateway.
func (f Finding) touches() (list [][]Touch) {
	for _, touches := range f.Touches {
		if bound := slices.DeleteFunc(slices.Clone(touches), func(t Touch) bool {
			return t.Parameter != ""
		}); len(bound) > 0 {
			list = append(list, bound)
		}
	}
	if f.Touches == nil {
		for _, places := range f.Places {
			touches := lists.Map(places, touchAt)
			list = append(list, touches)
		}
	}
	if a, err := netip.ParseAddr(f.Of()); len(list) == 0 && err == nil {
		return [][]Touch{{{Address: a}, {Via: a}}}
	}
	return list
}

// Spelled returns the touches of a finding as text (Touch.Place), without kernel parameters.
func (f Finding) Spelled() (list [][]string) {
	for _, touches := range f.Touches {
		var places []string
		for _, t := range touches {
			if place := t.Place(); place != "" {
				places = append(places, place)
			}
		}
		if places != nil {
			list = append(list, places)
		}
	}
	if f.Touches == nil {
		return f.Places
	}
	return list
}

// within reports whether a touch is equal to of, or is an address within its network. If of belongs
// to the peer, only addresses, ports and the networks to which its routes lead back count; if it
// belongs to the host itself, interfaces, gateways and routes count as well.
func (t Touch) within(of Touch, peer bool) bool {
	own, back := t.Back.IsValid(), of.Back.IsValid()
	bound := of.Device != "" || of.OnLink != "" || of.Advertised != "" || of.Via.IsValid() || of.Route.IsValid()
	switch {
	case peer && bound, !peer && back:
		return false
	case t.end() == of.end(), t.AnyRoute && bound:
		return true
	case own != back:
		return false
	}
	network, a := of.end().Network, t.end().Address
	return network.IsValid() && a.IsValid() && network.Contains(a)
}

// end returns Back as an address or a network. A touch without Back is returned unchanged.
func (t Touch) end() Touch {
	switch {
	case !t.Back.IsValid():
		return t
	case t.Back.IsSingleIP():
		return Touch{Address: t.Back.Addr()}
	}
	return Touch{Network: t.Back}
}

// touchAt parses a place of a finding that has only words: the inverse of Touch.Place.
func touchAt(place string) (t Touch) {
	kind, rest, _ := strings.Cut(place, " ")
	prefix := func(text string) netip.Prefix {
		p, err := netip.ParsePrefix(text)
		if a, isAddress := netip.ParseAddr(text); err != nil && isAddress == nil {
			p = netip.PrefixFrom(a, a.BitLen())
		}
		return p
	}
	switch kind {
	case "dev":
		return Touch{Device: rest}
	case "on":
		return Touch{OnLink: rest}
	case "advertised":
		return Touch{Advertised: strings.TrimPrefix(rest, "by ")}
	case "via":
		t.Via, _ = netip.ParseAddr(rest)
		return t
	case "route":
		return Touch{Route: prefix(rest)}
	case "from":
		return Touch{Back: prefix(rest)}
	case AnyRoute:
		return Touch{AnyRoute: true}
	}
	if port, is := strings.CutPrefix(place, "*:"); is {
		n, _ := strconv.ParseUint(port, 10, 16)
		return Touch{Port: uint16(n)}
	}
	if t.Network, _ = netip.ParsePrefix(place); !t.Network.IsValid() {
		if t.Address, _ = netip.ParseAddr(place); !t.Address.IsValid() {
			t.Socket, _ = netip.ParseAddrPort(place)
		}
	}
	return t
}
