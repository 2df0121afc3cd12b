package record

import (
	"net/netip"
	"slices"
	"strings"
)

// AnyRoute is a place of a finding: the route, the gateway and the interface are not known.
const AnyRoute = "*"

// Shares reports whether a cause has every place of a finding, or else one of them. What is bound
// to no places may be at any. Peer: the cause is of the host to which the connections lead.
func (f Finding) Shares(cause Finding, peer, every bool) bool {
	theirs := slices.Concat(cause.places()...)
	has := func(places []string) bool {
		return slices.ContainsFunc(places, func(place string) bool {
			return slices.ContainsFunc(theirs, func(of string) bool { return placeIn(place, of, peer) })
		})
	}
	switch list := f.places(); {
	case len(list) == 0 || len(theirs) == 0:
		return true
	case every:
		return !slices.ContainsFunc(list, func(places []string) bool { return !has(places) })
	default:
		return slices.ContainsFunc(list, has)
	}
}

// places are those of a finding about an address as well, which may be a gateway's.
func (f Finding) places() (list [][]string) {
	if list = f.Spelled(); len(list) == 0 && f.Of() != "" {
		return [][]string{{f.Of(), "via " + f.Of()}}
	}
	return list
}

// Spelled are the places of a finding as texts.
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

// placeIn reports whether a place is another one, or an address in it. Of a peer addresses and
// ports count, and the networks to which its routes lead back ("from 192.0.2.0/24"); of the host
// itself interfaces, gateways and routes as well.
func placeIn(place, of string, peer bool) bool {
	addr, own := strings.CutPrefix(place, "from ")
	network, back := strings.CutPrefix(of, "from ")
	switch bound := strings.ContainsRune(of, ' ') && !back; { // to this host
	case peer && bound, !peer && back:
		return false
	case addr == network, place == AnyRoute && bound:
		return true
	case own != back:
		return false
	}
	p, err := netip.ParsePrefix(network)
	a, addrErr := netip.ParseAddr(addr)
	return err == nil && addrErr == nil && p.Contains(a)
}
