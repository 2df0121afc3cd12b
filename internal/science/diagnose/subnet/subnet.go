// Package subnet has the rules about addresses and subnets: of one host, and of several against each other.
package subnet

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/device"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about subnets of one host.
var Rules = []rule.Rule{
	{ID: "same-subnet-interfaces", Host: true,
		About: "Two interfaces, not of different VRFs, have addresses of one subnet, and arp_ignore and arp_filter let either answer for the other: the mechanism of arp-flux.",
		Parts: []string{"interfaces", "parameters"}, Find: rule.Each(rule.EveryHost, sameSubnet),
		Explains: []string{"arp-flux", "arp-wrong-source", "same-subnet-one-egress", "rp-filter-drop"}},
}

// Rules about two hosts on one subnet.
var HostsRules = []rule.Rule{
	{ID: "address-twice", Host: true, About: "Two hosts have one address. Needs the snapshots of both.",
		Find: addressTwice, SameCause: rule.SameSummary, Explains: []string{"duplicate-address", "wrong-neighbour",
			"syn-unanswered", "other-host-frames", "connect-fails"}},
	{ID: "mac-twice-in-subnet", Host: true,
		About: "Two hosts have one MAC address on one subnet. Needs the snapshots of both.", Find: macTwiceInSubnet,
		SameCause: rule.SameSummary},
	{ID: "netmask-differs", Host: true,
		About: "Two hosts have addresses of one subnet with different prefix lengths; certain where the longer prefix leaves the other host out. Needs the snapshots of both.",
		Find:  netmasks, SameCause: rule.SameSummary, Explains: []string{"no-route", "syn-unanswered",
			"neighbour-failed",
			"gateway-unresolved"}},
	{ID: "mtu-differs", Host: true,
		About: "Two hosts have different MTUs on one subnet that is no tunnel. Needs the snapshots of both.",
		Find:  mtus, SameCause: rule.SameSummary, Explains: []string{"frames-too-long", "rx-dropped",
			"fragmentation-needed",
			"tcp-retransmissions", "unacknowledged"}},
}

// sameSubnet finds hosts with several interfaces on one subnet that answer ARP requests for
// all of their addresses, by any interface.
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
			settings := fix.Set(h, "net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce", "2")
			return &record.Finding{
				Host: h.Name, Confidence: record.Likely,
				Summary: fmt.Sprintf(
					"%s and %s are on one subnet, and either answers ARP requests for the addresses of both: peers may send all traffic to one of them", a.Name, b.Name),
				Evidence: slices.DeleteFunc([]string{fmt.Sprintf("%s: %s; %s: %s", a.Name, facts.Texts(a.V4()), b.Name,
					facts.Texts(b.V4())), said.Setting(h, "arp_ignore", a), said.Setting(h, "arp_announce", a)},
					func(s string) bool {
						return s == ""
					}),
				Fix: append(fix.Commands(h, settings),
					said.On(h.Name, h.Alone,
						"and a rule and a table for each address, so that answers leave by its interface: linerate new nas, linerate run nas.yaml proves it; or one subnet for each interface, or a bond")...),
				Settings: settings, Reference: said.IPSysctl + "; RFC 826; RFC 3704, section 4.3",
			}
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
			findings = append(findings, record.Finding{
				Host: p.Other.Name, Subject: x.Addr().String(), Confidence: record.Certain,
				Summary: fmt.Sprintf("%s is the address of %s and of %s", x.Addr(), p.H.Name, p.Other.Name),
				Evidence: []string{fmt.Sprintf("%s.%s: %s, %s", p.H.Name, p.A.Interface, x, p.A.MAC),
					fmt.Sprintf("%s.%s: %s, %s", p.Other.Name, p.B.Interface, others[i], p.B.MAC)},
				Fix: []string{
					"another address for one of the two; none if it is an anycast or shared address on purpose"},
				Reference: "RFC 5227",
			})
		}
	}
	return findings
}

func macTwiceInSubnet(f facts.Trial) (findings []record.Finding) {
	for _, p := range f.Neighbouring() {
		if p.A.MAC == "" || p.A.MAC != p.B.MAC {
			continue
		}
		findings = append(findings, record.Finding{
			Host: p.Other.Name, Confidence: record.Certain,
			Summary: fmt.Sprintf("%s and %s have the same MAC address on one subnet", p.H.Name, p.Other.Name),
			Evidence: []string{fmt.Sprintf("%s.%s and %s.%s: %s", p.H.Name, p.A.Interface, p.Other.Name,
				p.B.Interface, p.A.MAC)},
			Fix: []string{
				"another MAC address for one of the two: a cloned virtual machine keeps that of its original"},
			Reference: "IEEE 802.1D; ip-link(8)",
		})
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
				findings = append(findings, record.Finding{
					Host: host.Name, Places: facts.OnePlace(x.Masked().String(), y.Masked().String()),
					Confidence: confidence,
					Summary: fmt.Sprintf("%s and %s have different prefix lengths on one subnet", p.H.Name,
						p.Other.Name),
					Evidence: []string{fmt.Sprintf("%s.%s: %s; %s.%s: %s", p.H.Name, p.A.Interface, x, p.Other.Name,
						p.B.Interface, y)},
					Fix:       []string{"the same prefix length on all hosts of the subnet"},
					Reference: "RFC 1122, section 3.3.1; RFC 4632",
				})
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
		finding := record.Finding{
			Host: small.Name, Places: facts.OnePlace(small.Device(low.Interface)...), Confidence: record.Certain,
			Summary: fmt.Sprintf(
				"%s and %s have different MTUs on one subnet: packets of more than %d bytes are dropped, and no router says so",
				p.H.Name, p.Other.Name, low.MTU),
			Evidence: []string{fmt.Sprintf("%s.%s: MTU %d; %s.%s: MTU %d", p.H.Name, p.A.Interface, p.A.MTU,
				p.Other.Name, p.B.Interface, p.B.MTU)},
			Reference: "RFC 894; RFC 2923, section 2.1",
		}
		finding.Fix, finding.Settings = fix.FixedBy(changed, nil, fix.MTU(changed, at, mtu))
		finding.Fix = append(finding.Fix,
			fmt.Sprintf("or, if every host and switch of the subnet takes packets of %d bytes, an MTU of %d on all of them", high.MTU, high.MTU))
		findings = append(findings, finding)
	}
	return findings
}

// Rules about MAC addresses.
var MACRules = []rule.Rule{
	{ID: "mac-twice", Host: true,
		About: "Two interfaces with addresses of one subnet have the same MAC address, and neither is made on the other.",
		Find:  rule.Each(rule.EveryHost, macTwice), SameCause: rule.SameSummary},
}

// macTwice finds two interfaces with one MAC address that are not parts of one another and
// have addresses of one subnet: a switch learns the address at one port, then at the other.
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
			return &record.Finding{
				Host: h.Name, Confidence: record.Certain,
				Summary: fmt.Sprintf("%s and %s have the same MAC address on one subnet: switches move it to and fro",
					a.Interface, b.Interface),
				Evidence: []string{fmt.Sprintf("%s and %s: %s", a.Interface, b.Interface, a.MAC)},
				Fix: said.On(h.Name, h.Alone,
					fmt.Sprintf("ip link set dev %s address with another one, such as with the first byte 02",
						b.Interface)),
				Reference: "IEEE 802.1D; ip-link(8)",
			}
		}
	}
	return nil
}

// Rules about subnets that overlap.
var OverlapRules = []rule.Rule{
	{ID: "subnets-overlap", Host: true,
		About: "Two interfaces, not of different VRFs, have addresses of subnets of which one contains the other.",
		Parts: []string{"interfaces"}, Find: rule.Each(rule.EveryHost, subnetsOverlap)},
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
					wide, narrow := a, b
					if y.Bits() < x.Bits() {
						wide, narrow, x, y = b, a, y, x
					}
					return &record.Finding{Host: h.Name, Confidence: record.Possible,
						Summary: fmt.Sprintf(
							"the subnet of %s contains that of %s: its hosts with these addresses are not reached by %s",
							wide.I.Interface, narrow.I.Interface, wide.I.Interface),
						Evidence:  []string{fmt.Sprintf("%s: %s; %s: %s", wide.I.Interface, x, narrow.I.Interface, y)},
						Reference: "RFC 4632; ip-route(8)",
						Fix: said.On(h.Name, h.Alone,
							"none if that is meant; otherwise subnets apart, or the right prefix lengths")}
				}
			}
		}
	}
	return nil
}
