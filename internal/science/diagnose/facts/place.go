package facts

import (
	"net/netip"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// MostPlaces bounds the places of a finding. A snapshot may come from elsewhere and be of any size.
const MostPlaces = 256

// ByGateway returns what a finding about packets sent by a gateway depends on.
func (h *Host) ByGateway(gateway netip.Addr, name string) []record.Touch {
	if h.gatewayed == nil {
		h.gatewayed = map[netip.Addr][]record.Touch{}
		for _, r := range h.Reading.Snapshot.Routes {
			hops := hopsOf(r)
			for _, hop := range hops[:min(len(hops), MostPlaces)] {
				if g := Parse(hop.Via); g.IsValid() && len(h.gatewayed[g]) < MostPlaces {
					h.gatewayed[g] = append(h.gatewayed[g], BackBy(r)...)
				}
			}
		}
	}
	return OneTouch(append([]record.Touch{{Via: gateway}, {Address: gateway}, {OnLink: name}},
		h.gatewayed[gateway]...)...)
}

// OneTouch returns what a finding about one thing depends on, at most MostPlaces.
func OneTouch(touches ...record.Touch) []record.Touch { return touches[:min(len(touches), MostPlaces)] }

// BackBy returns the destinations of a route as networks to which answers leave by it.
func BackBy(r netstate.RouteEntry) (touches []record.Touch) {
	for _, v4 := range []bool{true, false} {
		if to, is := destination(r, v4); is {
			touches = append(touches, record.Touch{Back: to.Masked()})
		}
	}
	return touches
}
