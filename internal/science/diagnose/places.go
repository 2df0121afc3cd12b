package diagnose

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/record"
)

// explain marks findings that follow from others that are at least as sure; of two such causes
// with the one that explains the other.
func (s *set) explain(findings []record.Finding) {
	for i, f := range findings {
		for _, cause := range findings {
			if s.explainedBy(f, cause) && rank(cause.Confidence) <= rank(f.Confidence) &&
				(findings[i].ExplainedBy == "" || slices.Contains(s.ruleOf(cause.ID).explains, findings[i].ExplainedBy)) {
				findings[i].ExplainedBy = cause.ID
			}
		}
	}
}

// explainedBy reports whether a finding follows from another one about the same, or of the host to
// which its connections lead, of the same places and at the same time. Of two rules that explain
// each other neither does.
func (s *set) explainedBy(f, cause record.Finding) bool {
	r := s.ruleOf(cause.ID)
	counter := s.ruleOf(f.ID).growth
	if r.growth && counter && f.Boot != cause.Boot {
		return false
	}
	every := !counter // which counts other connections as well
	if f.Toward == cause.Host && slices.Contains(r.atPeers, f.ID) {
		return f.Shares(cause, true, every)
	}
	return cause.About(f) && cause.ID != f.ID && slices.Contains(r.explains, f.ID) &&
		!slices.Contains(s.ruleOf(f.ID).explains, cause.ID) && f.Shares(cause, false, every)
}

// samePlace reports whether two findings are about one thing.
func samePlace(a, b record.Finding) bool {
	return len(a.Places) > 0 && len(b.Places) > 0 && a.Places[0][0] == b.Places[0][0]
}

// mostPlaces bounds the places of a finding: a snapshot may be from elsewhere.
const mostPlaces = 256

// onePlace are the places of a finding about one thing.
func onePlace(places ...string) [][]string {
	if len(places) == 0 {
		return nil
	}
	return [][]string{places[:min(len(places), mostPlaces)]}
}

// device are the places of an interface: itself, and those that it is made of or on.
func (h *host) device(name string) (places []string) {
	if name == "" {
		return nil
	}
	places = []string{"dev " + name}
	nic := h.port(record.InterfaceSnapshot{Interface: name}).nic
	for _, i := range h.reading.Snapshot.Interfaces {
		if i.Master == name || nic.VLAN != 0 && i.Index != 0 && i.Index == nic.Peer {
			places = append(places, "dev "+i.Interface)
		}
	}
	return places
}

// link are the places of what happens on an interface, neighbours there included.
func (h *host) link(name string) []string { return append(h.device(name), "on "+name) }

// path are the places of a connection: its ends, and the route by which it leaves.
func (h *host) path(c record.Connection) (places []string) {
	local, err := netip.ParseAddrPort(c.Local)
	remote, remoteErr := netip.ParseAddrPort(c.Remote)
	if err != nil || remoteErr != nil {
		return []string{record.AnyRoute}
	}
	for _, end := range []netip.AddrPort{remote, local} {
		places = append(places, netip.AddrPortFrom(end.Addr().Unmap(), end.Port()).String(), anyPort(end.Port()))
	}
	to := remote.Addr().Unmap().WithZone("")
	places = append(places, to.String(), "from "+local.Addr().Unmap().WithZone("").String())
	r, found := h.back(to)
	if !found || h.otherRoutes() {
		return append(places, record.AnyRoute)
	}
	places = append(places, "route "+r.To)
	for _, hop := range hopsOf(r) {
		places = append(places, h.device(hop.Interface)...)
		if hop.Via != "" {
			places = append(places, "via "+hop.Via)
		}
	}
	return places
}

// paths are the places of connections of which a condition holds.
func (h *host) paths(where func(record.Connection) bool) (list [][]string) {
	for _, c := range h.state.Notable {
		if where(c) && len(list) < mostPlaces {
			list = append(list, h.path(c))
		}
	}
	return list
}

// listenerAt is the place of a listener: its address and port, or the port of all addresses.
func listenerAt(local string) string {
	if end, err := netip.ParseAddrPort(local); err == nil && end.Addr().IsUnspecified() {
		return anyPort(end.Port())
	}
	return local
}

func anyPort(port uint16) string { return fmt.Sprintf("*:%d", port) }

// byGateway are the places of what leaves by a gateway.
func (h *host) byGateway(gateway netip.Addr, name string) [][]string {
	if h.gatewayed == nil {
		h.gatewayed = map[netip.Addr][]string{}
		for _, r := range h.reading.Snapshot.Routes {
			hops := hopsOf(r)
			for _, hop := range hops[:min(len(hops), mostPlaces)] {
				if g := parse(hop.Via); g.IsValid() && len(h.gatewayed[g]) < mostPlaces {
					h.gatewayed[g] = append(h.gatewayed[g], backs(r)...)
				}
			}
		}
	}
	return onePlace(append([]string{"via " + gateway.String(), gateway.String(), "on " + name},
		h.gatewayed[gateway]...)...)
}

// backs are the places of answers that leave by routes: their destinations.
func backs(routes ...record.RouteEntry) (places []string) {
	for _, r := range routes {
		for _, v4 := range []bool{true, false} {
			if to, is := destination(r, v4); is {
				places = append(places, "from "+to.Masked().String())
			}
		}
	}
	return places
}
