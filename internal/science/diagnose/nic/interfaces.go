// Package nic has the rules about interfaces: their links, drivers, queues, offloads, VLANs and counters.
package nic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about the interfaces of a host: their links, drivers, queues and counters.
var Rules = []rule.Rule{
	{ID: "half-duplex", Host: true, About: "A NIC with a link is half duplex.", Parts: nicParts,
		Find: rule.EachNIC(halfDuplex), SameCause: rule.SameSummary, Explains: []string{"interface-errors",
			"collisions",
			"tcp-retransmissions"}},
	{ID: "speed-below-best", Host: true, About: "A NIC's negotiated speed is below the fastest that its port supports.",
		Parts: nicParts, Find: rule.EachNIC(speedBelowBest), SameCause: rule.SameSummary},
	{ID: "autoneg-off", Host: true,
		About: "A NIC for 1 Gbit/s or more, up to 10 Gbit/s, supports autonegotiation and does not negotiate its link.",
		Parts: nicParts, Find: rule.EachNIC(autonegOff), SameCause: rule.SameSummary,
		Explains: []string{"half-duplex", "collisions"}},
	{ID: "link-down", Host: true, About: "An interface other than a bridge is up and has addresses, but no carrier.",
		Parts: nicParts, Find: rule.EachNIC(linkDown), SameCause: rule.SameSummary,
		Explains: []string{"gateway-unresolved",
			"tx-dropped", "no-route", "syn-unanswered", "connect-fails"}, AtPeers: []string{"syn-unanswered",
			"unacknowledged"}},
	{ID: "carrier-flaps", Host: true, About: "A NIC's carrier changed at least ten times for each day since the boot.",
		Parts: nicParts, Find: rule.EachNIC(carrierFlaps), SameCause: rule.SameSummary,
		Explains: []string{"tx-carrier"}},
	{ID: "pcie-narrow", Host: true,
		About: "The PCIe link of a NIC has fewer lanes or a lower speed than the card can; certain if it carries less than 1.15 times the link's rate, or the port's where that is not known.",
		Parts: nicParts, Find: rule.EachNIC(pcieNarrow), SameCause: rule.SameSummary, Explains: []string{"ring-overrun",
			"pcie-stalled", "nic-buffer-full"}},
	{ID: "usb2-adapter", Host: true, About: "An adapter of 1 Gbit/s or more is at a USB port of 480 Mbit/s or less.",
		Parts: nicParts, Find: rule.EachNIC(usb2), SameCause: rule.SameSummary},
	{ID: "emulated-nic", Host: true,
		About: "The driver is that of a NIC which hypervisors emulate register by register.", Parts: nicParts,
		Find: rule.EachNIC(emulated), SameCause: rule.SameSummary},
	{ID: "one-queue", Host: true,
		About: "A NIC has one receive queue, its driver can have more, and the host several CPUs.", Parts: nicParts,
		Find: rule.EachNIC(oneQueue), SameCause: rule.SameSummary, Explains: []string{"softirq-one-core"}},
	{ID: "one-cpu-for-interrupts", Host: true, About: "Three or more interrupts of a NIC all have the same single CPU.",
		Parts: nicParts, Find: rule.EachNIC(oneCPU), SameCause: rule.SameSummary,
		Explains: []string{"softirq-one-core"}},
	{ID: "offload-off", Host: true,
		About: "GRO, GSO, TSO or receive checksums of an interface are off and could be on; possible of GSO and TSO where scatter-gather is off, without which the kernel keeps them off.",
		Parts: nicParts, Find: rule.EachNIC(offloadOff), SameCause: rule.SameSummary},
	{ID: "promiscuous", Host: true, About: "An interface that is in no bridge has IFF_PROMISC.", Parts: nicParts,
		Find: rule.EachNIC(promiscuous), SameCause: rule.SameSummary, Explains: []string{"other-host-frames"}},
	{ID: "mtu-below-minimum", Host: true,
		About: "The MTU of an interface with addresses is below 1280, which IPv6 needs; possible of a tunnel, whose path may leave no more.",
		Find:  rule.EachInterface(mtuBelowMinimum), SameCause: rule.SameSummary, Explains: []string{"fragmentation",
			"fragmentation-needed"}},
	{ID: "bridge-mtu-mixed", Host: true,
		About: "Ports of a bridge have different MTUs: a larger frame is dropped at the smaller port without a message.",
		Find:  rule.Each(rule.EveryHost, bridgeMTU), SameCause: rule.SameSummary,
		Explains: []string{"fragmentation-needed",
			"tx-dropped"}},
}

var nicParts = []string{"nics"}

func halfDuplex(p facts.Port) *record.Finding {
	if p.NIC.Duplex != "half" || !p.NIC.Carrier || !p.Hardware() {
		return nil
	}
	return rule.Found(p, record.Certain, p.Interface.Interface+
		" is half duplex: it cannot send and receive at the same time",
		said.EthtoolPage+"; IEEE 802.3, clause 28",
		[]string{fmt.Sprintf("%s: %d Mbit/s, half duplex%s", p.Interface.Interface, p.NIC.SpeedMbps,
			negotiates(p.NIC))},
		"ethtool -s "+p.Interface.Interface+
			" autoneg on, and the same at the switch's port: an end without autonegotiation makes the other half duplex")
}

func negotiates(n record.NIC) string {
	switch {
	case n.Autoneg == nil:
		return ""
	case *n.Autoneg:
		return ", autonegotiation on"
	}
	return ", autonegotiation off"
}

func speedBelowBest(p facts.Port) *record.Finding {
	n := p.NIC
	if n.SpeedMbps <= 0 || n.BestMbps <= n.SpeedMbps || !p.Hardware() {
		return nil
	}
	cause, offers := "cable, transceiver or the other end", n.OfferedMbps <= 0 || n.OfferedMbps > n.SpeedMbps
	if !offers {
		cause = "this end offers no more"
	}
	f := rule.Found(p, record.Likely, fmt.Sprintf("%s runs at %s, and its port can do %s", p.Interface.Interface,
		mbps(n.SpeedMbps),
		mbps(n.BestMbps)), said.EthtoolPage,
		[]string{fmt.Sprintf("%s: negotiated %s, advertises up to %s, supports %s%s", p.Interface.Interface,
			mbps(n.SpeedMbps),
			mbps(n.OfferedMbps), mbps(n.BestMbps), negotiates(n))},
		cause+": ethtool "+p.Interface.Interface+" lists what each end offers; ethtool -s "+p.Interface.Interface+
			" autoneg on")
	if !offers {
		// which no cause at the other end has
		f.Places = append(f.Places, []string{"advertised by " + p.Interface.Interface})
	}
	return f
}

func mbps(n int64) string { return unit.FormatRate(float64(n) * 1e6) }

func autonegOff(p facts.Port) *record.Finding {
	n := p.NIC
	if n.Autoneg == nil || *n.Autoneg || n.BestMbps < 1000 || !p.Hardware() || n.SpeedMbps > 10000 {
		return nil
	}
	becomes := "it may have no link"
	if n.SpeedMbps > 0 && n.SpeedMbps <= 100 { // parallel detection finds the speed and not the duplex
		becomes = "that becomes half duplex"
	}
	return rule.Found(p, record.Possible, p.Interface.Interface+" does not negotiate its link: if the other end does, "+
		becomes,
		"IEEE 802.3, clause 28; "+said.EthtoolPage,
		[]string{fmt.Sprintf("%s: %s%s", p.Interface.Interface, mbps(n.SpeedMbps), negotiates(n))}, "ethtool -s "+
			p.Interface.Interface+
			" autoneg on, at both ends")
}

func linkDown(p facts.Port) *record.Finding {
	// a bridge without ports has no carrier
	if p.NIC.Carrier || len(p.GlobalAddresses()) == 0 || p.Interface.Kind == "bridge" {
		return nil
	}
	evidence := []string{fmt.Sprintf("%s: up, no carrier (operstate %s), addresses %s", p.Interface.Interface,
		p.NIC.OperState,
		strings.Join(p.GlobalAddresses(), ", "))}
	for _, r := range p.Host.Reading.Snapshot.Routes {
		if facts.RouteVia(r, p.Interface.Interface) && len(evidence) < 4 {
			evidence = append(evidence, "route by it: "+r.Text)
		}
	}
	f := rule.Found(p, record.Certain, p.Interface.Interface+" has addresses and routes, but no link",
		"Linux Documentation/networking/operstates.rst", evidence,
		"check the cable, the transceiver and the port at the other end; or ip link set dev "+p.Interface.Interface+
			" down, so that routes go elsewhere")
	for _, x := range facts.Prefixes(p.Interface) {
		f.Places[0] = append(f.Places[0], x.Addr().String(), x.Masked().String(), "from "+x.Masked().String())
	}
	for _, r := range p.Host.Reading.Snapshot.Routes {
		if len(f.Places[0]) < facts.MostPlaces && facts.RouteVia(r, p.Interface.Interface) {
			f.Places[0] = append(f.Places[0], facts.Backs(r)...)
		}
	}
	return f
}

func carrierFlaps(p facts.Port) *record.Finding {
	const often = 10 // per day, of a link that is up
	days := p.Host.State.UptimeS / 86400
	if !p.Hardware() || float64(p.NIC.CarrierChanges) < often*max(1, days) {
		return nil
	}
	return rule.Found(p, record.Possible, p.Interface.Interface+" has lost its link often",
		"Linux Documentation/ABI/testing/sysfs-class-net",
		[]string{fmt.Sprintf("%s: %d changes of the carrier in the %.1f days since the machine was booted",
			p.Interface.Interface, p.NIC.CarrierChanges, days)},
		"cable, transceiver, or energy-efficient Ethernet (ethtool --show-eee "+p.Interface.Interface+")")
}

// pcieGbps is what a PCIe link carries of data in one direction, in Gbit/s: 8b/10b coding to
// 5 GT/s, 128b/130b above (PCI Express Base Specification), without the headers of packets.
func pcieGbps(width int, gtps float64) float64 {
	coded := 0.8
	if gtps > 5 {
		coded = 128.0 / 130
	}
	return float64(width) * gtps * coded
}

func pcieNarrow(p facts.Port) *record.Finding {
	l := p.NIC.PCIe
	if l == nil || l.MostWidth <= l.Width && l.MostGTps <= l.GTps {
		return nil
	}
	carries := pcieGbps(l.Width, l.GTps)
	need, of := float64(p.NIC.SpeedMbps)/1e3, "the link is"
	if need == 0 {
		need, of = float64(p.NIC.BestMbps)/1e3, "the port can do"
	}
	confidence := record.Possible
	if need > 0 && carries < 1.15*need { // transaction-layer headers take about a tenth
		confidence = record.Certain
	}
	return rule.Found(p, confidence, fmt.Sprintf("%s sits in a PCIe slot that is narrower or slower than the card",
		p.Interface.Interface), "Linux Documentation/ABI/testing/sysfs-bus-pci",
		[]string{fmt.Sprintf("%s at %s: x%d at %g GT/s of x%d at %g GT/s, at most %.3g Gbit/s each way; %s %.3g Gbit/s",
			p.Interface.Interface, p.NIC.Bus, l.Width, l.GTps, l.MostWidth, l.MostGTps, carries, of, need)},
		"another slot (lspci -vv, LnkSta), or the firmware's setting of the slot")
}

func usb2(p facts.Port) *record.Finding {
	if p.NIC.USBMbps <= 0 || p.NIC.USBMbps > 480 || max(p.NIC.SpeedMbps, p.NIC.BestMbps) < 1000 {
		return nil
	}
	return rule.Found(p, record.Certain, p.Interface.Interface+" is a gigabit adapter at a USB 2 port",
		"Linux Documentation/ABI/stable/sysfs-bus-usb",
		[]string{fmt.Sprintf("%s: USB at %.0f Mbit/s, Ethernet at %s", p.Interface.Interface, p.NIC.USBMbps,
			mbps(max(p.NIC.SpeedMbps, p.NIC.BestMbps)))}, "plug it into a USB 3 port, or use a PCIe card")
}

// emulatedDrivers drive NICs that are mostly seen in virtual machines.
var emulatedDrivers = []string{"e1000", "8139cp", "8139too", "pcnet32", "ne2k-pci"}

func emulated(p facts.Port) *record.Finding {
	if !slices.Contains(emulatedDrivers, p.NIC.Driver) {
		return nil
	}
	return rule.Found(p, record.Possible,
		fmt.Sprintf("%s is a NIC of the kind that hypervisors emulate, at a high cost for each packet",
			p.Interface.Interface),
		"Linux Documentation/networking/device_drivers/ethernet",
		[]string{p.Interface.Interface + ": driver " + p.NIC.Driver},
		"in a virtual machine: virtio-net, vmxnet3 or the cloud's own device")
}

func oneQueue(p facts.Port) *record.Finding {
	c := p.NIC.Channels
	if c == nil || p.Host.CPUs < 2 || !p.Hardware() {
		return nil
	}
	have, most := max(c.Rx, c.Combined), max(c.MostRx, c.MostCombined)
	if have != 1 || most < 2 {
		return nil
	}
	finding := rule.Found(p, record.Likely,
		fmt.Sprintf("%s receives by one queue, which one CPU serves, and can have %d",
			p.Interface.Interface, most), "Linux Documentation/networking/scaling.rst",
		[]string{fmt.Sprintf("%s: %d of %d channels; the host has %d CPUs", p.Interface.Interface, have, most,
			p.Host.CPUs)})
	kind := map[bool]string{true: "combined", false: "rx"}[c.MostCombined == most]
	return rule.Fixed(p, finding, nil,
		setting.NIC{Channels: []setting.Option{{Key: kind, Value: strconv.Itoa(min(most, p.Host.CPUs))}}})
}

func oneCPU(p facts.Port) *record.Finding {
	if len(p.NIC.IRQs) < 3 || p.Host.CPUs < 2 { // two are often a queue and the link
		return nil
	}
	first := p.NIC.IRQs[0].Affinity
	if first == "" || strings.ContainsAny(first, "-,") || slices.ContainsFunc(p.NIC.IRQs, func(i record.IRQ) bool {
		return i.Affinity != first
	}) {
		return nil
	}
	finding := rule.Found(p, record.Likely, fmt.Sprintf("all %d interrupts of %s go to CPU %s", len(p.NIC.IRQs),
		p.Interface.Interface, first), "Linux Documentation/core-api/irq/irq-affinity.rst",
		[]string{fmt.Sprintf("smp_affinity_list of interrupts %d to %d: %s", p.NIC.IRQs[0].IRQ,
			p.NIC.IRQs[len(p.NIC.IRQs)-1].IRQ, first)})
	return rule.Fixed(p, finding, []string{"run irqbalance; or:"},
		setting.NIC{IRQs: []setting.Option{{Key: "smp_affinity_list", Value: "spread"}}})
}

func promiscuous(p facts.Port) *record.Finding {
	if !p.NIC.Promiscuous || p.Interface.Master != "" || p.Interface.Kind == "bridge" {
		return nil
	}
	return rule.Found(p, record.Possible, p.Interface.Interface+
		" takes all frames, also those for other hosts (promiscuous mode)",
		"packet(7)",
		[]string{p.Interface.Interface + ": IFF_PROMISC is set, and it is in no bridge"},
		"end what captures packets; ip link set dev "+p.Interface.Interface+" promisc off")
}

// mtuBelowMinimum goes by the MTU alone: the kernel removes an interface's IPv6 addresses when its
// MTU falls below 1280 (addrconf_notify). What a tunnel's path leaves may be less, and is no more
// than what carries its packets takes.
func mtuBelowMinimum(p facts.Port) *record.Finding {
	const minimum6 = 1280 // RFC 8200, section 5
	if !p.Interface.Up || p.Interface.MTU >= minimum6 || p.Interface.MTU == 0 || len(p.Interface.Addresses) == 0 {
		return nil
	}
	const what = "IPv6 needs 1280, and small packets cost a processor more for each byte"
	finding := rule.Found(p, record.Likely, fmt.Sprintf("the MTU of %s is %d: %s", p.Interface.Interface,
		p.Interface.MTU, what),
		"RFC 8200, section 5",
		[]string{fmt.Sprintf("%s: MTU %d", p.Interface.Interface, p.Interface.MTU)})
	if device.TunnelKind(p.Interface.Kind) {
		finding.Confidence = record.Possible
		finding.Fix = said.On(p.Host.Name, p.Host.Alone,
			fmt.Sprintf(
				"none if its path takes no more; at most ip link set dev %s mtu %d, if IPv6 is to pass and the path takes that beside the tunnel's headers",
				p.Interface.Interface, minimum6))
		return finding
	}
	finding.Fix, finding.Settings = fix.FixedBy(p.Host, []string{"the MTU of its link, such as:"},
		fix.MTU(p.Host, p.Interface.Interface, 1500))
	return finding
}

// bridgeMTU finds bridges whose ports have different MTUs: a frame that one takes and another
// does not is dropped without a message to its sender, since no router is between.
func bridgeMTU(_ facts.Trial, h *facts.Host) *record.Finding {
	ports := map[string][]record.InterfaceSnapshot{}
	for _, i := range h.Reading.Snapshot.Interfaces {
		if i.Master != "" && i.Up {
			ports[i.Master] = append(ports[i.Master], i)
		}
	}
	for _, bridge := range h.Reading.Snapshot.Interfaces {
		list := ports[bridge.Interface]
		if bridge.Kind != "bridge" || len(list) < 2 {
			continue
		}
		least, most := list[0], list[0]
		for _, i := range list {
			if i.MTU < least.MTU {
				least = i
			}
			if i.MTU > most.MTU {
				most = i
			}
		}
		if least.MTU == most.MTU {
			continue
		}
		finding := &record.Finding{
			Host: h.Name, Confidence: record.Certain,
			Summary: fmt.Sprintf(
				"ports of %s have different MTUs: larger frames are dropped at the smaller one, without an ICMP message", bridge.Interface),
			Evidence: []string{fmt.Sprintf("%s: MTU %d; %s: MTU %d", most.Interface, most.MTU, least.Interface,
				least.MTU)},
			Reference: "RFC 894; RFC 2923, section 2.1; bridge(8)",
		}
		finding.Fix, finding.Settings = fix.FixedBy(h, []string{"the same MTU at the port and at the host behind it:"},
			fix.MTU(h, least.Interface, most.MTU))
		return finding
	}
	return nil
}
