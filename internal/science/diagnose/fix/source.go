package fix

import (
	"net/netip"
	"slices"

	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
)

// AnswerRightly makes each interface answer for its own address alone. Where
// arp_filter is on, an interface answers only for addresses that the host would send
// from by that interface; together with arp_ignore=1 no interface would answer for an
// address that is sent from by another one.
func AnswerRightly(h *facts.Host) (lines []string, settings []setting.Setting) {
	own := Set(h, "net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce", "2")
	if len(h.Scopes("arp_filter", 1)) == 0 {
		return Commands(h, own), own
	}
	fix := RouteBySource(h, slices.DeleteFunc(h.Asymmetries(), func(a facts.Asymmetry) bool { return !a.Source.Is4() }))
	off := FilterOff(h)
	if len(fix) == 0 {
		settings = append(off, own...)
		return Commands(h, settings), settings
	}
	return slices.Concat(Commands(h, fix), Instead(h, off), Commands(h, own)), append(fix, own...)
}

// FilterOff switches arp_filter off wherever it is on.
func FilterOff(h *facts.Host) (off []setting.Setting) {
	for _, scope := range h.Scopes("arp_filter", 1) {
		off = append(off, Set(h, "net.ipv4.conf."+scope+".arp_filter", "0")...)
	}
	return off
}

// RouteBySource are the settings that make packets leave by the interface that
// holds their source address, with tables that the host does not use yet.
func RouteBySource(h *facts.Host, list []facts.Asymmetry) (settings []setting.Setting) {
	table := 100
	var done []netip.Addr
	for _, d := range list {
		if slices.Contains(done, d.Source) {
			continue
		}
		done = append(done, d.Source)
		for table++; h.UsesTable(table); table++ {
		}
		route := func(r setting.Route) { settings = append(settings, setting.Setting{Host: h.Name, Route: &r}) }
		for _, prefix := range d.Holder.Prefixes {
			if prefix.Addr() != d.Source {
				continue
			}
			route(setting.Route{To: prefix.Masked().String(), Interface: d.Holder.Name, Source: d.Source, Table: table})
			if gateway := h.Gateway(d.Source.Is6()); prefix.Contains(gateway) || gateway.IsLinkLocalUnicast() &&
				len(h.OnSubnet(d.Destination, d.Holder.VRF)) > 1 {
				route(setting.Route{To: "default", Via: gateway.String(), Interface: d.Holder.Name, Table: table})
			}
		}
		settings = append(settings, setting.Setting{Host: h.Name, Rule: &setting.Rule{From: d.Source.String(),
			Table: table}})
	}
	return settings
}
