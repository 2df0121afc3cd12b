package facts

import (
	"net/netip"

	"linerate/internal/model/record"
)

// MostPlaces bounds the places of a finding: a snapshot may be from elsewhere.
const MostPlaces = 256

// OnePlace are the places of a finding about one thing.
func OnePlace(places ...string) [][]string {
	if len(places) == 0 {
		return nil
	}
	return [][]string{places[:min(len(places), MostPlaces)]}
}

// Device are the places of an interface: itself, and those that it is made of or on.
func (h *Host) Device(name string) (places []string) {
	for _, t := range h.Devices(name) {
		places = append(places, t.Place())
	}
	return places
}

// Link are the places of what happens on an interface, neighbours there included.
func (h *Host) Link(name string) []string { return append(h.Device(name), "on "+name) }

// ByGateway is what a finding about what leaves by a gateway depends on.
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

// OneTouch is what a finding about one thing depends on.
func OneTouch(touches ...record.Touch) []record.Touch { return touches[:min(len(touches), MostPlaces)] }

// BackBy are the destinations of answers that leave by a route.
func BackBy(r record.RouteEntry) (touches []record.Touch) {
	for _, v4 := range []bool{true, false} {
		if to, is := destination(r, v4); is {
			touches = append(touches, record.Touch{Back: to.Masked()})
		}
	}
	return touches
}

// Backs are the places of answers that leave by routes: their destinations.
func Backs(routes ...record.RouteEntry) (places []string) {
	for _, r := range routes {
		for _, v4 := range []bool{true, false} {
			if to, is := destination(r, v4); is {
				places = append(places, "from "+to.Masked().String())
			}
		}
	}
	return places
}
