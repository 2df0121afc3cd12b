// Package subnet has the rules about addresses and subnets, of one host and of several hosts
// compared with each other.
package subnet

import (
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Rules are about interfaces of one host that share a subnet.
var Rules = []rule.Rule{
	{ID: cause.SameSubnetInterfaces.Code, Host: true, Parts: []string{"addresses",
		facts.Parameters("net.ipv4.conf.all.arp_ignore")},
		Find: rule.Each(rule.EveryHost, sameSubnet), Explains: append(cause.Codes(cause.ARPFlux, cause.ARPWrongSource),
			"same-subnet-one-egress", "rp-filter-drop")},
	{ID: cause.SameSubnetMTU.Code, Host: true, Parts: []string{"addresses", "mtus"}, Find: rule.Each(rule.EveryHost,
		mtusHere),
		Explains: append(cause.Codes(cause.FragmentationNeeded, cause.TCPRetransmissions), "frames-too-long",
			"unacknowledged")},
}

// HostsRules are about two hosts in one subnet.
var HostsRules = []rule.Rule{
	{ID: cause.AddressTwice.Code, Host: true, Parts: []string{"addresses"}, Find: addressTwice,
		Explains: append(cause.Codes(cause.DuplicateAddress,
			cause.WrongNeighbour, cause.ConnectFails), "syn-unanswered", "other-host-frames")},
	{ID: cause.MACTwiceInSubnet.Code, Host: true, Parts: []string{"addresses", "macs"}, Find: macTwiceInSubnet},
	{ID: cause.NetmaskDiffers.Code, Host: true, Parts: []string{"addresses"}, Find: netmasks,
		Explains: append(cause.Codes(cause.NoRoute,
			cause.NeighbourFailed, cause.GatewayUnresolved), "syn-unanswered")},
	{ID: cause.MTUDiffers.Code, Host: true, Parts: []string{"addresses", "mtus"}, Find: mtus,
		Explains: append(cause.Codes(cause.FragmentationNeeded,
			cause.TCPRetransmissions), "frames-too-long", "rx-dropped", "unacknowledged")},
}

// sameSubnet finds hosts with several interfaces in one subnet that answer ARP requests for all of
// their addresses by any of them.
func sameSubnet(_ facts.Trial, h *facts.Host) *record.Finding {
	netifs := h.Interfaces[:min(len(h.Interfaces), facts.MostInterfaces)]
	for n, a := range netifs {
		for _, b := range netifs[n+1:] {
			if !a.Up || !b.Up || a.Member || b.Member || !facts.ShareSubnet(a, b) || h.Effective("arp_ignore", a) > 0 &&
				h.Effective("arp_ignore", b) > 0 ||
				h.Effective("arp_filter", a) > 0 && h.Effective("arp_filter", b) > 0 ||
				h.Effective("arp_ignore", a) < 0 {
				continue
			}
			return facts.Found(cause.SameSubnetInterfaces, h, record.Likely, cause.Two{First: a.Name, Second: b.Name}).
				With(h.Name, fact.Addressed{Ends: []fact.AddressedEnd{
					{End: fact.End{Interface: a.Name}, Prefixes: a.V4()},
					{End: fact.End{Interface: b.Name}, Prefixes: b.V4()}}}).
				With(h.Name, h.Scoped("arp_ignore", a)...).With(h.Name, h.Scoped("arp_announce", a)...).
				Fixed(fix.Parameter(h, "net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce", "2")...)
		}
	}
	return nil
}

func addressTwice(f facts.Trial) (findings []record.Finding) {
	for _, p := range f.Neighbouring() {
		for _, x := range facts.Prefixes(p.A) {
			others := facts.Prefixes(p.B)
			i := slices.IndexFunc(others, func(y netip.Prefix) bool { return y.Addr() == x.Addr() })
			if i < 0 {
				continue
			}
			finding := facts.Found(cause.AddressTwice, p.Other, record.Certain, p.Hosts()).
				With(p.H.Name, fact.SameAddress{Interface: p.A.Interface, Prefix: x, MAC: p.A.MAC}).
				With(p.Other.Name, fact.SameAddress{Interface: p.B.Interface, Prefix: others[i], MAC: p.B.MAC})
			finding.About.Address = x.Addr()
			findings = append(findings, *finding)
		}
	}
	return findings
}

func macTwiceInSubnet(f facts.Trial) (findings []record.Finding) {
	for _, p := range f.Neighbouring() {
		if p.A.MAC == "" || p.A.MAC != p.B.MAC {
			continue
		}
		a, b := p.Ends()
		findings = append(findings, *facts.Found(cause.MACTwiceInSubnet, p.Other, record.Certain, p.Hosts()).
			With("", fact.SameMAC{Ends: []fact.End{a, b}, MAC: p.A.MAC}))
	}
	return findings
}

func netmasks(f facts.Trial) (findings []record.Finding) {
	for _, p := range f.Neighbouring() {
		for _, x := range facts.Prefixes(p.A) {
			for _, y := range facts.Prefixes(p.B) {
				if x.Bits() == y.Bits() || !x.Overlaps(y) || x.IsSingleIP() || y.IsSingleIP() ||
					x.Addr().Is4() != y.Addr().Is4() {
					continue
				}
				longer, host := x, p.H
				if y.Bits() > x.Bits() {
					longer, host = y, p.Other
				}
				confidence := record.Likely
				other := x.Addr()
				if other == longer.Addr() {
					other = y.Addr()
				}
				if !longer.Contains(other) {
					confidence = record.Certain // which the longer one sends to a gateway, if to anywhere
				}
				a, b := p.Ends()
				findings = append(findings, *facts.Found(cause.NetmaskDiffers, host, confidence, p.Hosts()).
					With("", fact.Addressed{Ends: []fact.AddressedEnd{{End: a, Prefixes: []netip.Prefix{x}},
						{End: b, Prefixes: []netip.Prefix{y}}}}).
					At(record.Touch{Network: x.Masked()}, record.Touch{Network: y.Masked()}))
			}
		}
	}
	return findings
}

func mtus(f facts.Trial) (findings []record.Finding) {
	for _, p := range f.Neighbouring() {
		if p.A.MTU == p.B.MTU || p.A.MTU == 0 || p.B.MTU == 0 || device.TunnelKind(p.A.Kind) ||
			device.TunnelKind(p.B.Kind) {
			continue
		}
		small, large, low, high := p.H, p.Other, p.A, p.B
		if low.MTU > high.MTU {
			small, large, low, high = large, small, high, low
		}
		changed, at, mtu := large, high.Interface, low.MTU
		if low.MTU < 1280 { // which IPv6 needs
			changed, at, mtu = small, low.Interface, high.MTU
		}
		a, b := p.Ends()
		findings = append(findings, *facts.Found(cause.MTUDiffers, small, record.Certain,
			cause.MTUs{Two: p.Hosts(), Least: low.MTU, Most: high.MTU}).
			With("", fact.MTUs{Ends: []fact.MTUEnd{{End: a, MTU: p.A.MTU}, {End: b, MTU: p.B.MTU}}}).
			At(small.Devices(low.Interface)...).Fixed(record.Settings(fix.MTU(changed, at, mtu))...))
	}
	return findings
}

// mtusHere finds two interfaces of one host on one subnet with different MTUs. Frames that the larger
// one sends are dropped at what takes only the smaller ones, and no router says so.
func mtusHere(_ facts.Trial, h *facts.Host) *record.Finding {
	netifs := h.Interfaces[:min(len(h.Interfaces), facts.MostInterfaces)]
	for n, a := range netifs {
		for _, b := range netifs[n+1:] {
			if a.MTU > b.MTU {
				a, b = b, a
			}
			if a.MTU == b.MTU || a.MTU == 0 || !a.Up || !b.Up || a.Member || b.Member || !facts.ShareSubnet(a, b) {
				continue
			}
			return facts.Found(cause.SameSubnetMTU, h, record.Likely,
				cause.MTUs{Two: cause.Two{First: a.Name, Second: b.Name}, Least: a.MTU, Most: b.MTU}).
				With(h.Name, fact.MTU{Interface: a.Name, Bytes: a.MTU}, fact.MTU{Interface: b.Name, Bytes: b.MTU}).
				Fixed(record.Settings(fix.MTU(h, b.Name, a.MTU))...)
		}
	}
	return nil
}

// MACRules are about MAC addresses of one host.
var MACRules = []rule.Rule{
	{ID: cause.MACTwice.Code, Host: true, Parts: []string{"macs"}, Find: rule.Each(rule.EveryHost, macTwice)},
}

// macTwice finds two interfaces in one subnet with the same MAC address, neither of which is made
// on the other. A switch would learn the address at one port, then at the other.
func macTwice(_ facts.Trial, h *facts.Host) *record.Finding {
	list := h.Attachments()
	for n, x := range list {
		for _, y := range list[n+1:] {
			a, b := x.I, y.I
			if a.MAC == "" || a.MAC != b.MAC || facts.Stacked(a) || facts.Stacked(b) || a.Master != "" ||
				b.Master != "" ||
				!x.Meets(y) {
				continue
			}
			return facts.Found(cause.MACTwice, h, record.Certain, cause.Two{First: a.Interface, Second: b.Interface}).
				With(h.Name, fact.SameMAC{MAC: a.MAC,
					Ends: []fact.End{{Interface: a.Interface}, {Interface: b.Interface}}})
		}
	}
	return nil
}

// OverlapRules are about subnets of one host that overlap.
var OverlapRules = []rule.Rule{
	{ID: cause.SubnetsOverlap.Code, Host: true, Parts: []string{"addresses"},
		Find: rule.Each(rule.EveryHost, subnetsOverlap)},
}

func subnetsOverlap(_ facts.Trial, h *facts.Host) *record.Finding {
	list := h.Attachments()
	for n, a := range list {
		for _, b := range list[n+1:] {
			for _, x := range a.Networks {
				for _, y := range b.Networks {
					if x == y || !x.Overlaps(y) || a.Vrf != b.Vrf {
						continue
					}
					wide, narrow := a.I.Interface, b.I.Interface
					if y.Bits() < x.Bits() {
						wide, narrow, x, y = narrow, wide, y, x
					}
					return facts.Found(cause.SubnetsOverlap, h, record.Possible,
						cause.Two{First: wide, Second: narrow}).
						With(h.Name, fact.Addressed{Ends: []fact.AddressedEnd{
							{End: fact.End{Interface: wide}, Prefixes: []netip.Prefix{x}},
							{End: fact.End{Interface: narrow}, Prefixes: []netip.Prefix{y}}}})
				}
			}
		}
	}
	return nil
}
