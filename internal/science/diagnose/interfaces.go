package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// Rules about the interfaces of a host: their links, drivers, queues and counters.
var interfaceRules = []rule{
	{id: "half-duplex", host: true, about: "A NIC with a link is half duplex.", parts: nicParts,
		find: eachNIC(halfDuplex), sameCause: sameSummary, explains: []string{"interface-errors", "collisions",
			"tcp-retransmissions"}},
	{id: "speed-below-best", host: true, about: "A NIC's negotiated speed is below the fastest that its port supports.",
		parts: nicParts, find: eachNIC(speedBelowBest), sameCause: sameSummary},
	{id: "autoneg-off", host: true,
		about: "A NIC for 1 Gbit/s or more, up to 10 Gbit/s, supports autonegotiation and does not negotiate its link.",
		parts: nicParts, find: eachNIC(autonegOff), sameCause: sameSummary,
		explains: []string{"half-duplex", "collisions"}},
	{id: "link-down", host: true, about: "An interface other than a bridge is up and has addresses, but no carrier.",
		parts: nicParts, find: eachNIC(linkDown), sameCause: sameSummary, explains: []string{"gateway-unresolved",
			"tx-dropped", "no-route", "syn-unanswered", "connect-fails"}, atPeers: []string{"syn-unanswered",
			"unacknowledged"}},
	{id: "carrier-flaps", host: true, about: "A NIC's carrier changed at least ten times for each day since the boot.",
		parts: nicParts, find: eachNIC(carrierFlaps), sameCause: sameSummary, explains: []string{"tx-carrier"}},
	{id: "pcie-narrow", host: true,
		about: "The PCIe link of a NIC has fewer lanes or a lower speed than the card can; certain if it carries less than 1.15 times the link's rate, or the port's where that is not known.",
		parts: nicParts, find: eachNIC(pcieNarrow), sameCause: sameSummary, explains: []string{"ring-overrun",
			"pcie-stalled", "nic-buffer-full"}},
	{id: "usb2-adapter", host: true, about: "An adapter of 1 Gbit/s or more is at a USB port of 480 Mbit/s or less.",
		parts: nicParts, find: eachNIC(usb2), sameCause: sameSummary},
	{id: "emulated-nic", host: true,
		about: "The driver is that of a NIC which hypervisors emulate register by register.", parts: nicParts,
		find: eachNIC(emulated), sameCause: sameSummary},
	{id: "one-queue", host: true,
		about: "A NIC has one receive queue, its driver can have more, and the host several CPUs.", parts: nicParts,
		find: eachNIC(oneQueue), sameCause: sameSummary, explains: []string{"softirq-one-core"}},
	{id: "one-cpu-for-interrupts", host: true, about: "Three or more interrupts of a NIC all have the same single CPU.",
		parts: nicParts, find: eachNIC(oneCPU), sameCause: sameSummary, explains: []string{"softirq-one-core"}},
	{id: "offload-off", host: true,
		about: "GRO, GSO, TSO or receive checksums of an interface are off and could be on; possible of GSO and TSO where scatter-gather is off, without which the kernel keeps them off.",
		parts: nicParts, find: eachNIC(offloadOff), sameCause: sameSummary},
	{id: "promiscuous", host: true, about: "An interface that is in no bridge has IFF_PROMISC.", parts: nicParts,
		find: eachNIC(promiscuous), sameCause: sameSummary, explains: []string{"other-host-frames"}},
	{id: "mtu-below-minimum", host: true,
		about: "The MTU of an interface with addresses is below 1280, which IPv6 needs; possible of a tunnel, whose path may leave no more.",
		find:  eachInterface(mtuBelowMinimum), sameCause: sameSummary, explains: []string{"fragmentation",
			"fragmentation-needed"}},
	{id: "bridge-mtu-mixed", host: true,
		about: "Ports of a bridge have different MTUs: a larger frame is dropped at the smaller port without a message.",
		find:  each(everyHost, bridgeMTU), sameCause: sameSummary, explains: []string{"fragmentation-needed",
			"tx-dropped"}},
}

// Rules about MAC addresses.
var macRules = []rule{
	{id: "mac-twice", host: true,
		about: "Two interfaces with addresses of one subnet have the same MAC address, and neither is made on the other.",
		find:  each(everyHost, macTwice), sameCause: sameSummary},
}

// Rules about queueing disciplines.
var queueRules = []rule{
	{id: "qdisc-drop", parts: []string{"qdiscs"}, host: true, load: true,
		about:  "A queueing discipline other than ingress and clsact dropped packets, at least one in 100,000; certain from ten on.",
		growth: true, find: eachQdisc, holds: queueHolds, sameCause: sameSummary,
		explains: []string{"tcp-retransmissions", "ip-discards", "udp-send-buffer", "retransmission-refused"}},
}

// Rules about what interfaces count.
var counterRules = []rule{
	{id: "interface-errors", host: true,
		about:  "rx_errors grew, without those of length and of full rings, or rx_crc_errors; of a tunnel likely, for packets that it refuses.",
		growth: true, find: eachCounters(interfaceErrors), sameCause: sameSummary,
		explains: []string{"tcp-retransmissions", "reassembly-failed"}},
	{id: "frames-too-long", host: true,
		about:  "rx_length_errors of an interface other than a tunnel grew: a neighbour sends longer frames than the interface takes.",
		growth: true, find: eachCounters(framesTooLong), sameCause: sameSummary, explains: []string{"interface-errors",
			"rx-dropped", "tcp-retransmissions"}},
	{id: "rx-dropped", host: true,
		about:  "rx_dropped grew by at least ten packets and one in 10,000, without frames for other hosts and, where the kernel was traced (kfree_skb), those of protocols that nothing handles. Likely where that is a hundredth of what arrives and the kernel was traced, or names another reason.",
		growth: true, find: eachCounters(rxDropped), sameCause: samePlace, explains: []string{"tcp-retransmissions"}},
	{id: "tx-dropped", host: true, load: true, about: "tx_dropped grew by at least ten packets and one in 10,000.",
		growth: true, find: eachCounters(txDropped), sameCause: sameSummary, explains: []string{"tcp-retransmissions",
			"ip-discards", "udp-send-buffer", "retransmission-refused"}},
	{id: "tx-carrier", host: true,
		about:  "tx_carrier_errors grew; of a tunnel for want of a route to its other end, or of IPsec state.",
		growth: true, find: eachCounters(txCarrier), sameCause: sameSummary},
	{id: "collisions", host: true, about: "collisions grew; of a tunnel for packets that are routed into it again.",
		growth: true, find: eachCounters(collisions), sameCause: sameSummary},
	{id: "other-host-frames", host: true,
		about:  "rx_otherhost_dropped (Linux 5.19) grew by at least 100 packets and a tenth of those received.",
		growth: true, find: eachCounters(otherHostFrames), sameCause: sameSummary},
	{id: "standby-traffic", host: true,
		about: "rx_nohandler grew by at least 100 packets and a hundredth of those received.", growth: true,
		find: eachCounters(standbyTraffic), sameCause: sameSummary},
}

var nicParts = []string{"nics"}

const (
	ethtoolPage = "ethtool(8); Linux Documentation/networking/ethtool-netlink.rst"
	statistics  = "Linux Documentation/networking/statistics.rst"
)

func halfDuplex(p port) *record.Finding {
	if p.nic.Duplex != "half" || !p.nic.Carrier || !p.hardware() {
		return nil
	}
	return p.found(record.Certain, p.i.Interface+" is half duplex: it cannot send and receive at the same time",
		ethtoolPage+"; IEEE 802.3, clause 28",
		[]string{fmt.Sprintf("%s: %d Mbit/s, half duplex%s", p.i.Interface, p.nic.SpeedMbps, negotiates(p.nic))},
		"ethtool -s "+p.i.Interface+
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

func speedBelowBest(p port) *record.Finding {
	n := p.nic
	if n.SpeedMbps <= 0 || n.BestMbps <= n.SpeedMbps || !p.hardware() {
		return nil
	}
	cause, offers := "cable, transceiver or the other end", n.OfferedMbps <= 0 || n.OfferedMbps > n.SpeedMbps
	if !offers {
		cause = "this end offers no more"
	}
	f := p.found(record.Likely, fmt.Sprintf("%s runs at %s, and its port can do %s", p.i.Interface, mbps(n.SpeedMbps),
		mbps(n.BestMbps)), ethtoolPage,
		[]string{fmt.Sprintf("%s: negotiated %s, advertises up to %s, supports %s%s", p.i.Interface, mbps(n.SpeedMbps),
			mbps(n.OfferedMbps), mbps(n.BestMbps), negotiates(n))},
		cause+": ethtool "+p.i.Interface+" lists what each end offers; ethtool -s "+p.i.Interface+" autoneg on")
	if !offers {
		f.Places = append(f.Places, []string{"advertised by " + p.i.Interface}) // which no cause at the other end has
	}
	return f
}

func mbps(n int64) string { return unit.FormatRate(float64(n) * 1e6) }

func autonegOff(p port) *record.Finding {
	n := p.nic
	if n.Autoneg == nil || *n.Autoneg || n.BestMbps < 1000 || !p.hardware() || n.SpeedMbps > 10000 {
		return nil
	}
	becomes := "it may have no link"
	if n.SpeedMbps > 0 && n.SpeedMbps <= 100 { // parallel detection finds the speed and not the duplex
		becomes = "that becomes half duplex"
	}
	return p.found(record.Possible, p.i.Interface+" does not negotiate its link: if the other end does, "+becomes,
		"IEEE 802.3, clause 28; "+ethtoolPage,
		[]string{fmt.Sprintf("%s: %s%s", p.i.Interface, mbps(n.SpeedMbps), negotiates(n))}, "ethtool -s "+p.i.Interface+
			" autoneg on, at both ends")
}

func linkDown(p port) *record.Finding {
	if p.nic.Carrier || len(p.globalAddresses()) == 0 || p.i.Kind == "bridge" { // a bridge without ports has no carrier
		return nil
	}
	evidence := []string{fmt.Sprintf("%s: up, no carrier (operstate %s), addresses %s", p.i.Interface, p.nic.OperState,
		strings.Join(p.globalAddresses(), ", "))}
	for _, r := range p.h.reading.Snapshot.Routes {
		if routeVia(r, p.i.Interface) && len(evidence) < 4 {
			evidence = append(evidence, "route by it: "+r.Text)
		}
	}
	f := p.found(record.Certain, p.i.Interface+" has addresses and routes, but no link",
		"Linux Documentation/networking/operstates.rst", evidence,
		"check the cable, the transceiver and the port at the other end; or ip link set dev "+p.i.Interface+
			" down, so that routes go elsewhere")
	for _, x := range prefixes(p.i) {
		f.Places[0] = append(f.Places[0], x.Addr().String(), x.Masked().String(), "from "+x.Masked().String())
	}
	for _, r := range p.h.reading.Snapshot.Routes {
		if len(f.Places[0]) < mostPlaces && routeVia(r, p.i.Interface) {
			f.Places[0] = append(f.Places[0], backs(r)...)
		}
	}
	return f
}

// globalAddresses are those but link-local ones.
func (p port) globalAddresses() []string {
	return slices.DeleteFunc(slices.Clone(p.i.Addresses), func(a string) bool { return strings.HasPrefix(a, "fe80:") })
}

// routeVia reports whether a route of a user's leaves by an interface; those that the kernel
// makes for its own addresses are in table 255.
func routeVia(r record.RouteEntry, name string) bool {
	if r.Table == 255 || strings.HasPrefix(r.To, "fe80:") || strings.HasPrefix(r.To, "ff00:") {
		return false
	}
	return r.By(name)
}

func carrierFlaps(p port) *record.Finding {
	const often = 10 // per day, of a link that is up
	days := p.h.state.UptimeS / 86400
	if !p.hardware() || float64(p.nic.CarrierChanges) < often*max(1, days) {
		return nil
	}
	return p.found(record.Possible, p.i.Interface+" has lost its link often",
		"Linux Documentation/ABI/testing/sysfs-class-net",
		[]string{fmt.Sprintf("%s: %d changes of the carrier in the %.1f days since the machine was booted",
			p.i.Interface, p.nic.CarrierChanges, days)},
		"cable, transceiver, or energy-efficient Ethernet (ethtool --show-eee "+p.i.Interface+")")
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

func pcieNarrow(p port) *record.Finding {
	l := p.nic.PCIe
	if l == nil || l.MostWidth <= l.Width && l.MostGTps <= l.GTps {
		return nil
	}
	carries := pcieGbps(l.Width, l.GTps)
	need, of := float64(p.nic.SpeedMbps)/1e3, "the link is"
	if need == 0 {
		need, of = float64(p.nic.BestMbps)/1e3, "the port can do"
	}
	confidence := record.Possible
	if need > 0 && carries < 1.15*need { // transaction-layer headers take about a tenth
		confidence = record.Certain
	}
	return p.found(confidence, fmt.Sprintf("%s sits in a PCIe slot that is narrower or slower than the card",
		p.i.Interface), "Linux Documentation/ABI/testing/sysfs-bus-pci",
		[]string{fmt.Sprintf("%s at %s: x%d at %g GT/s of x%d at %g GT/s, at most %.3g Gbit/s each way; %s %.3g Gbit/s",
			p.i.Interface, p.nic.Bus, l.Width, l.GTps, l.MostWidth, l.MostGTps, carries, of, need)},
		"another slot (lspci -vv, LnkSta), or the firmware's setting of the slot")
}

func usb2(p port) *record.Finding {
	if p.nic.USBMbps <= 0 || p.nic.USBMbps > 480 || max(p.nic.SpeedMbps, p.nic.BestMbps) < 1000 {
		return nil
	}
	return p.found(record.Certain, p.i.Interface+" is a gigabit adapter at a USB 2 port",
		"Linux Documentation/ABI/stable/sysfs-bus-usb",
		[]string{fmt.Sprintf("%s: USB at %.0f Mbit/s, Ethernet at %s", p.i.Interface, p.nic.USBMbps,
			mbps(max(p.nic.SpeedMbps, p.nic.BestMbps)))}, "plug it into a USB 3 port, or use a PCIe card")
}

// emulatedDrivers drive NICs that are mostly seen in virtual machines.
var emulatedDrivers = []string{"e1000", "8139cp", "8139too", "pcnet32", "ne2k-pci"}

func emulated(p port) *record.Finding {
	if !slices.Contains(emulatedDrivers, p.nic.Driver) {
		return nil
	}
	return p.found(record.Possible,
		fmt.Sprintf("%s is a NIC of the kind that hypervisors emulate, at a high cost for each packet", p.i.Interface),
		"Linux Documentation/networking/device_drivers/ethernet",
		[]string{p.i.Interface + ": driver " + p.nic.Driver},
		"in a virtual machine: virtio-net, vmxnet3 or the cloud's own device")
}

func oneQueue(p port) *record.Finding {
	c := p.nic.Channels
	if c == nil || p.h.cpus < 2 || !p.hardware() {
		return nil
	}
	have, most := max(c.Rx, c.Combined), max(c.MostRx, c.MostCombined)
	if have != 1 || most < 2 {
		return nil
	}
	finding := p.found(record.Likely, fmt.Sprintf("%s receives by one queue, which one CPU serves, and can have %d",
		p.i.Interface, most), "Linux Documentation/networking/scaling.rst",
		[]string{fmt.Sprintf("%s: %d of %d channels; the host has %d CPUs", p.i.Interface, have, most, p.h.cpus)})
	kind := map[bool]string{true: "combined", false: "rx"}[c.MostCombined == most]
	return p.fixed(finding, nil,
		setting.NIC{Channels: []setting.Option{{Key: kind, Value: strconv.Itoa(min(most, p.h.cpus))}}})
}

func oneCPU(p port) *record.Finding {
	if len(p.nic.IRQs) < 3 || p.h.cpus < 2 { // two are often a queue and the link
		return nil
	}
	first := p.nic.IRQs[0].Affinity
	if first == "" || strings.ContainsAny(first, "-,") || slices.ContainsFunc(p.nic.IRQs, func(i record.IRQ) bool {
		return i.Affinity != first
	}) {
		return nil
	}
	finding := p.found(record.Likely, fmt.Sprintf("all %d interrupts of %s go to CPU %s", len(p.nic.IRQs),
		p.i.Interface, first), "Linux Documentation/core-api/irq/irq-affinity.rst",
		[]string{fmt.Sprintf("smp_affinity_list of interrupts %d to %d: %s", p.nic.IRQs[0].IRQ,
			p.nic.IRQs[len(p.nic.IRQs)-1].IRQ, first)})
	return p.fixed(finding, []string{"run irqbalance; or:"},
		setting.NIC{IRQs: []setting.Option{{Key: "smp_affinity_list", Value: "spread"}}})
}

func promiscuous(p port) *record.Finding {
	if !p.nic.Promiscuous || p.i.Master != "" || p.i.Kind == "bridge" {
		return nil
	}
	return p.found(record.Possible, p.i.Interface+" takes all frames, also those for other hosts (promiscuous mode)",
		"packet(7)",
		[]string{p.i.Interface + ": IFF_PROMISC is set, and it is in no bridge"},
		"end what captures packets; ip link set dev "+p.i.Interface+" promisc off")
}

// mtuBelowMinimum goes by the MTU alone: the kernel removes an interface's IPv6 addresses when its
// MTU falls below 1280 (addrconf_notify). What a tunnel's path leaves may be less, and is no more
// than what carries its packets takes.
func mtuBelowMinimum(p port) *record.Finding {
	const minimum6 = 1280 // RFC 8200, section 5
	if !p.i.Up || p.i.MTU >= minimum6 || p.i.MTU == 0 || len(p.i.Addresses) == 0 {
		return nil
	}
	const what = "IPv6 needs 1280, and small packets cost a processor more for each byte"
	finding := p.found(record.Likely, fmt.Sprintf("the MTU of %s is %d: %s", p.i.Interface, p.i.MTU, what),
		"RFC 8200, section 5",
		[]string{fmt.Sprintf("%s: MTU %d", p.i.Interface, p.i.MTU)})
	if device.TunnelKind(p.i.Kind) {
		finding.Confidence = record.Possible
		finding.Fix = on(p.h.name, p.h.alone,
			fmt.Sprintf(
				"none if its path takes no more; at most ip link set dev %s mtu %d, if IPv6 is to pass and the path takes that beside the tunnel's headers",
				p.i.Interface, minimum6))
		return finding
	}
	finding.Fix, finding.Settings = p.h.fixedBy([]string{"the MTU of its link, such as:"}, p.h.mtu(p.i.Interface, 1500))
	return finding
}

// bridgeMTU finds bridges whose ports have different MTUs: a frame that one takes and another
// does not is dropped without a message to its sender, since no router is between.
func bridgeMTU(_ observed, h *host) *record.Finding {
	ports := map[string][]record.InterfaceSnapshot{}
	for _, i := range h.reading.Snapshot.Interfaces {
		if i.Master != "" && i.Up {
			ports[i.Master] = append(ports[i.Master], i)
		}
	}
	for _, bridge := range h.reading.Snapshot.Interfaces {
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
			Host: h.name, Confidence: record.Certain,
			Summary: fmt.Sprintf(
				"ports of %s have different MTUs: larger frames are dropped at the smaller one, without an ICMP message", bridge.Interface),
			Evidence: []string{fmt.Sprintf("%s: MTU %d; %s: MTU %d", most.Interface, most.MTU, least.Interface,
				least.MTU)},
			Reference: "RFC 894; RFC 2923, section 2.1; bridge(8)",
		}
		finding.Fix, finding.Settings = h.fixedBy([]string{"the same MTU at the port and at the host behind it:"},
			h.mtu(least.Interface, most.MTU))
		return finding
	}
	return nil
}

// macTwice finds two interfaces with one MAC address that are not parts of one another and
// have addresses of one subnet: a switch learns the address at one port, then at the other.
func macTwice(_ observed, h *host) *record.Finding {
	list := h.attachments()
	for n, x := range list {
		for _, y := range list[n+1:] {
			a, b := x.i, y.i
			if a.MAC == "" || a.MAC != b.MAC || stacked(a) || stacked(b) || a.Master != "" || b.Master != "" ||
				!x.meets(y) {
				continue
			}
			return &record.Finding{
				Host: h.name, Confidence: record.Certain,
				Summary: fmt.Sprintf("%s and %s have the same MAC address on one subnet: switches move it to and fro",
					a.Interface, b.Interface),
				Evidence: []string{fmt.Sprintf("%s and %s: %s", a.Interface, b.Interface, a.MAC)},
				Fix: on(h.name, h.alone,
					fmt.Sprintf("ip link set dev %s address with another one, such as with the first byte 02",
						b.Interface)),
				Reference: "IEEE 802.1D; ip-link(8)",
			}
		}
	}
	return nil
}

// stacked interfaces share the address of the one that they are made on.
func stacked(i record.InterfaceSnapshot) bool {
	return slices.Contains([]string{"vlan", "macvlan", "ipvlan", "bond", "bridge", "vrf", "team"}, i.Kind)
}

// tunnel is the kind of an interface that sends its packets inside others; "": it does not. What it
// counts as errors of a link is of those packets (net/ipv4/ip_tunnel.c, drivers/net/vxlan). Its kind
// tells, and not that no MAC address is known: one is masked in many pasted texts, and IPoIB has a
// longer one.
func (h *host) tunnel(name string) (kind string) {
	for _, i := range h.reading.Snapshot.Interfaces {
		if i.Interface == name && device.TunnelKind(i.Kind) {
			kind = i.Kind
		}
	}
	return kind
}

// ipsec are the kinds of tunnels whose packets need a state of IPsec (net/ipv4/ip_vti.c,
// net/xfrm/xfrm_interface_core.c).
var ipsec = []string{"vti", "vti6", "xfrm"}

// damaged are the frames that a link damaged, and the counter that has them: rx_errors without those
// of length and those that were missed, which some drivers count there and most do not
// (linux/if_link.h); or rx_crc_errors where that is more, as some drivers count it apart.
func damaged(c record.InterfaceCounters) (counter string, n uint64) {
	n = c.RxErrors - min(c.RxErrors, c.RxLength+c.RxMissed)
	if c.RxCRC > n {
		return "rx_crc_errors", c.RxCRC
	}
	return "rx_errors", n
}
