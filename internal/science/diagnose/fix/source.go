package fix

import (
	"net/netip"
	"slices"

	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
)

// FilterOff returns the settings that switch arp_filter off wherever it is on.
func FilterOff(h *facts.Host) (off []setting.Setting) {
	for _, scope := range h.Scopes("arp_filter", 1) {
		off = append(off, Set(h, "net.ipv4.conf."+scope+".arp_filter", "0")...)
	}
	return off
}

// RouteBySource returns the settings after which packets leave by the interface that has their
// source address. It uses routing tables that the host does not use yet.
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
