// Package nic has the rules about interfaces: their links, drivers, queues, offloads, VLANs and
// counters.
package nic

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/device"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Rules are about the links, drivers, queues and MTUs of a host's interfaces.
var Rules = []rule.Rule{
	{ID: cause.HalfDuplex.Code, Host: true, Parts: []string{"duplex"}, Find: rule.EachNIC(halfDuplex),
		Explains: []string{"interface-errors", "collisions", "tcp-retransmissions"}},
	{ID: cause.SpeedBelowBest.Code, Host: true, Parts: []string{"link modes"}, Find: rule.EachNIC(speedBelowBest)},
	{ID: cause.AutonegOff.Code, Host: true, Parts: []string{"autonegotiation"}, Find: rule.EachNIC(autonegOff),
		Explains: []string{"half-duplex", "collisions"}},
	{ID: cause.LinkDown.Code, Host: true, Parts: []string{"carrier", "addresses"}, Find: rule.EachNIC(linkDown),
		Explains: []string{"gateway-unresolved", "tx-dropped", "no-route", "syn-unanswered", "connect-fails"},
		AtPeers:  []string{"syn-unanswered", "unacknowledged"}},
	{ID: cause.CarrierFlaps.Code, Host: true, Parts: []string{"carrier changes", "hardware"},
		Find:     rule.EachNIC(carrierFlaps),
		Explains: []string{"tx-carrier"}},
	{ID: cause.PCIeNarrow.Code, Host: true, Parts: []string{"pcie"}, Find: rule.EachNIC(pcieNarrow),
		Explains: []string{"ring-overrun", "pcie-stalled", "nic-buffer-full"}},
	{ID: cause.USB2Adapter.Code, Host: true, Parts: []string{"usb"}, Find: rule.EachNIC(usb2)},
	{ID: cause.EmulatedNIC.Code, Host: true, Parts: []string{"driver"}, Find: rule.EachNIC(emulated)},
	{ID: cause.OneQueue.Code, Host: true, Parts: []string{"channels", "cpus", "hardware"}, Find: rule.EachNIC(oneQueue),
		Explains: []string{"softirq-one-core"}},
	{ID: cause.OneCPU.Code, Host: true, Parts: []string{"interrupts", "cpus"}, Find: rule.EachNIC(oneCPU),
		Explains: []string{"softirq-one-core"}},
	{ID: cause.OffloadOff.Code, Host: true, Parts: []string{"features", "hardware"}, Find: rule.EachNIC(offloadOff)},
	{ID: cause.OffloadsNotOffered.Code, Host: true, Parts: []string{"features", "driver"},
		Find: rule.EachNIC(offloadsNotOffered)},
	{ID: cause.Promiscuous.Code, Host: true, Parts: []string{"interface flags"}, Find: rule.EachNIC(promiscuous),
		Explains: []string{"other-host-frames"}},
	{ID: cause.MTUBelowMinimum.Code, Host: true, Parts: []string{"addresses", "mtus"},
		Find:     rule.EachInterface(mtuBelowMinimum),
		Explains: []string{"fragmentation", "fragmentation-needed"}},
	{ID: cause.BridgeMTUMixed.Code, Host: true, Parts: []string{"bridges"}, Find: rule.Each(rule.EveryHost, bridgeMTU),
		Explains: []string{"fragmentation-needed", "tx-dropped"}},
	{ID: cause.MTUAboveUplink.Code, Host: true, Parts: []string{"mtus", "routes"},
		Find: rule.Each(rule.EveryHost, mtuAboveUplink), Explains: []string{"fragmentation-needed", "fragmentation",
			"unreachable-sent"}},
}

// linkOf returns the state of a NIC's link as evidence.
func linkOf(p facts.Port) fact.Link {
	return fact.Link{Interface: p.Interface.Interface, Mbps: p.NIC.SpeedMbps, Duplex: p.NIC.Duplex,
		Autoneg: p.NIC.Autoneg}
}

func halfDuplex(p facts.Port) *record.Finding {
	if p.NIC.Duplex != "half" || !p.NIC.Carrier || !p.Hardware() {
		return nil
	}
	f := found(cause.HalfDuplex, p, record.Certain, cause.None{}, linkOf(p))
	if c, boot := p.CountedOrEver(); c.Collisions > 0 { // which follow from it
		is := p.Host.Counter("collisions", int64(c.Collisions))
		is.Interface, is.Packets = p.Interface.Interface, c.TxPackets
		if is.Boot = boot; boot {
			is.OverS = 0
		}
		f.With(p.Host.Name, is)
	}
	return f
}

func speedBelowBest(p facts.Port) *record.Finding {
	n := p.NIC
	if n.SpeedMbps <= 0 || n.BestMbps <= n.SpeedMbps || !p.Hardware() {
		return nil
	}
	args := cause.Speed{Mbps: n.SpeedMbps, BestMbps: n.BestMbps,
		NoMore: n.OfferedMbps > 0 && n.OfferedMbps <= n.SpeedMbps}
	f := found(cause.SpeedBelowBest, p, record.Likely, args, fact.Negotiated{Interface: p.Interface.Interface,
		Mbps: n.SpeedMbps, OfferedMbps: n.OfferedMbps, BestMbps: n.BestMbps, Autoneg: n.Autoneg})
	if args.NoMore {
		f.At(record.Touch{Advertised: p.Interface.Interface}) // which no cause at the other end has
	}
	return f
}

func autonegOff(p facts.Port) *record.Finding {
	n := p.NIC
	if n.Autoneg == nil || *n.Autoneg || n.BestMbps < 1000 || !p.Hardware() || n.SpeedMbps > 10000 {
		return nil
	}
	is := linkOf(p)
	is.Duplex = ""
	// parallel detection finds the speed and not the duplex
	return found(cause.AutonegOff, p, record.Possible,
		cause.Negotiation{HalfDuplex: n.SpeedMbps > 0 && n.SpeedMbps <= 100}, is)
}

func linkDown(p facts.Port) *record.Finding {
	// a bridge without ports has no carrier
	if p.NIC.Carrier || len(p.GlobalAddresses()) == 0 || p.Interface.Kind == "bridge" {
		return nil
	}
	f := found(cause.LinkDown, p, record.Certain, cause.None{}, fact.NoCarrier{Interface: p.Interface.Interface,
		OperState: p.NIC.OperState, Addresses: p.GlobalAddresses()})
	touches := f.Touches[0]
	for _, x := range facts.Prefixes(p.Interface) {
		touches = append(touches, record.Touch{Address: x.Addr()}, record.Touch{Network: x.Masked()},
			record.Touch{Back: x.Masked()})
	}
	for _, r := range p.Host.Reading.Snapshot.Routes {
		if !facts.RouteVia(r, p.Interface.Interface) {
			continue
		}
		if len(f.Facts) < 4 {
			f.With(p.Host.Name, fact.RouteBy{Interface: p.Interface.Interface, Route: r.Text})
		}
		if len(touches) < facts.MostPlaces {
			touches = append(touches, facts.BackBy(r)...)
		}
	}
	f.Touches[0] = touches
	return f
}

func carrierFlaps(p facts.Port) *record.Finding {
	const often = 10 // per day, of a link that is up
	days := p.Host.State.UptimeS / 86400
	if !p.Hardware() || float64(p.NIC.CarrierChanges) < often*max(1, days) {
		return nil
	}
	return found(cause.CarrierFlaps, p, record.Possible, cause.None{},
		fact.CarrierChanges{Interface: p.Interface.Interface, Changes: p.NIC.CarrierChanges, Days: days})
}

// pcieGbps returns the data rate of a PCIe link in one direction, in Gbit/s, without the headers of
// its packets: with 8b/10b coding up to 5 GT/s, 128b/130b above (PCI Express Base Specification).
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
	is := fact.PCIe{Interface: p.Interface.Interface, Bus: p.NIC.Bus, Width: l.Width, GTps: l.GTps,
		MostWidth: l.MostWidth, MostGTps: l.MostGTps, CarriesGbps: pcieGbps(l.Width, l.GTps),
		NeededGbps: float64(p.NIC.SpeedMbps) / 1e3}
	if is.Port = is.NeededGbps == 0; is.Port {
		is.NeededGbps = float64(p.NIC.BestMbps) / 1e3
	}
	confidence := record.Possible
	if is.NeededGbps > 0 && is.CarriesGbps < 1.15*is.NeededGbps { // transaction-layer headers take about a tenth
		confidence = record.Certain
	}
	return found(cause.PCIeNarrow, p, confidence, cause.None{}, is)
}

func usb2(p facts.Port) *record.Finding {
	if p.NIC.USBMbps <= 0 || p.NIC.USBMbps > 480 || max(p.NIC.SpeedMbps, p.NIC.BestMbps) < 1000 {
		return nil
	}
	return found(cause.USB2Adapter, p, record.Certain, cause.None{}, fact.USB{Interface: p.Interface.Interface,
		Mbps: p.NIC.USBMbps, EthernetMbps: max(p.NIC.SpeedMbps, p.NIC.BestMbps)})
}

// emulatedDrivers are drivers of NICs that are mostly emulated by virtual machines.
var emulatedDrivers = []string{"e1000", "8139cp", "8139too", "pcnet32", "ne2k-pci"}

func emulated(p facts.Port) *record.Finding {
	if !slices.Contains(emulatedDrivers, p.NIC.Driver) {
		return nil
	}
	return found(cause.EmulatedNIC, p, record.Possible, cause.None{},
		fact.Driver{Interface: p.Interface.Interface, Driver: p.NIC.Driver})
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
	kind := map[bool]string{true: "combined", false: "rx"}[c.MostCombined == most]
	return found(cause.OneQueue, p, record.Likely, cause.Queues{Most: most},
		fact.Queues{Interface: p.Interface.Interface, Channels: have, Most: most, CPUs: p.Host.CPUs}).
		Fixed(optionsOf(p,
			setting.NIC{Channels: []setting.Option{{Key: kind, Value: strconv.Itoa(min(most, p.Host.CPUs))}}})...)
}

// servedByOne is about a NIC whose interrupts were nearly all served by one CPU since the boot, whatever others may
// serve them.
func servedByOne(p facts.Port) *record.Finding {
	const share, least = 0.95, 1_000_000
	first, last, all := p.NIC.IRQs[0].IRQ, p.NIC.IRQs[len(p.NIC.IRQs)-1].IRQ, int64(0)
	by := map[int]int64{}
	for _, i := range p.NIC.IRQs {
		for _, c := range i.ByCPU {
			by[c.CPU] += c.Count
			all += c.Count
		}
	}
	for cpu, n := range by {
		if all >= least && float64(n) >= share*float64(all) {
			return found(cause.OneCPU, p, record.Possible, cause.Interrupts{CPU: strconv.Itoa(cpu)},
				fact.ServedInterrupts{First: first, Last: last, CPU: cpu, Count: n, Of: all})
		}
	}
	return nil
}

func oneCPU(p facts.Port) *record.Finding {
	if len(p.NIC.IRQs) < 3 || p.Host.CPUs < 2 { // two are often a queue and the link
		return nil
	}
	first := p.NIC.IRQs[0].Affinity
	if first == "" || strings.ContainsAny(first, "-,") || slices.ContainsFunc(p.NIC.IRQs, func(i netstate.IRQ) bool {
		return i.Affinity != first
	}) {
		return servedByOne(p)
	}
	return found(cause.OneCPU, p, record.Likely, cause.Interrupts{Count: len(p.NIC.IRQs), CPU: first},
		fact.Interrupts{First: p.NIC.IRQs[0].IRQ, Last: p.NIC.IRQs[len(p.NIC.IRQs)-1].IRQ, CPUs: first}).
		Fixed(optionsOf(p, setting.NIC{IRQs: []setting.Option{{Key: "smp_affinity_list", Value: "spread"}}})...)
}

func promiscuous(p facts.Port) *record.Finding {
	if !p.NIC.Promiscuous || p.Interface.Master != "" || p.Interface.Kind == "bridge" {
		return nil
	}
	return found(cause.Promiscuous, p, record.Possible, cause.None{},
		fact.Promiscuous{Interface: p.Interface.Interface})
}

// mtuBelowMinimum checks the MTU alone: the kernel removes the IPv6 addresses of an interface when
// its MTU falls below 1280 (addrconf_notify). The MTU of a tunnel may have to be that small,
// because it is limited by the path that carries the tunnel's packets.
func mtuBelowMinimum(p facts.Port) *record.Finding {
	const minimum6 = 1280 // RFC 8200, section 5
	i := p.Interface
	if !i.Up || i.MTU >= minimum6 || i.MTU == 0 || len(i.Addresses) == 0 {
		return nil
	}
	args := cause.MTU{Bytes: i.MTU, Tunnel: device.TunnelKind(i.Kind)}
	f := found(cause.MTUBelowMinimum, p, record.Likely, args, fact.MTU{Interface: i.Interface, Bytes: i.MTU})
	if args.Tunnel {
		f.Confidence = record.Possible
		return f
	}
	return f.Fixed(record.Settings(fix.MTU(p.Host, i.Interface, 1500))...)
}

// bridgeMTU finds bridges whose ports have different MTUs. A frame that one port takes and another
// does not is dropped without a message to the sender, because no router is involved.
func bridgeMTU(_ facts.Trial, h *facts.Host) *record.Finding {
	ports := map[string][]netstate.InterfaceSnapshot{}
	for _, i := range h.Reading.Snapshot.Interfaces {
		if i.Master != "" && i.Up && i.MTU > 0 { // 0: not known
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
		finding := facts.Found(cause.BridgeMTUMixed, h, record.Certain, cause.None{}).With(h.Name, fact.PortMTUs{
			Larger:  fact.MTU{Interface: most.Interface, Bytes: most.MTU},
			Smaller: fact.MTU{Interface: least.Interface, Bytes: least.MTU}}).
			Fixed(record.Settings(fix.MTU(h, least.Interface, most.MTU))...)
		finding.About.Interface = bridge.Interface
		return finding
	}
	return nil
}

// uplinksOf returns the interfaces by which a host forwards what containers or virtual machines send: that of the
// default route, and those of overlays (VXLAN, Geneve) to which a route leads.
func uplinksOf(h *facts.Host) (list []netstate.InterfaceSnapshot) {
	for _, r := range h.Reading.Snapshot.Routes {
		to, err := netip.ParsePrefix(r.To)
		i, read := h.Snapshot(r.Interface)
		overlay := slices.Contains([]string{"vxlan", "geneve"}, i.Kind)
		if err == nil && read && i.MTU > 0 && r.Table == facts.MainTable &&
			(overlay || to.Bits() == 0 && !device.TunnelKind(i.Kind)) && !slices.ContainsFunc(list,
			func(o netstate.InterfaceSnapshot) bool { return o.Interface == i.Interface }) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b netstate.InterfaceSnapshot) int { return a.MTU - b.MTU })
	return list
}

// mtuAboveUplink finds bridges, and veths of containers, with an MTU above that of the interface by which the host
// forwards what is sent there. Larger packets than that interface takes are refused with an ICMP message, which
// not every sender gets or heeds.
func mtuAboveUplink(_ facts.Trial, h *facts.Host) *record.Finding {
	s, uplinks := h.Reading.Snapshot, uplinksOf(h)
	if len(uplinks) == 0 {
		return nil
	}
	uplink := uplinks[0]
	forwards := h.Number("net.ipv4.ip_forward", 0) > 0
	// ip link prints no addresses.
	addressed := slices.ContainsFunc(s.Interfaces, func(i netstate.InterfaceSnapshot) bool {
		return len(i.Addresses) > 0
	})
	for _, i := range s.Interfaces {
		ports := slices.ContainsFunc(s.Interfaces, func(p netstate.InterfaceSnapshot) bool {
			return p.Up && p.Master == i.Interface && p.Interface != uplink.Interface
		})
		container := i.Kind == "veth" && i.Master == "" && uplink.Kind != ""
		leadsOut := slices.ContainsFunc(uplinks, func(u netstate.InterfaceSnapshot) bool {
			return u.Interface == i.Interface || u.Master == i.Interface
		})
		if !(i.Kind == "bridge" && ports || container) || !i.Up || i.MTU <= uplink.MTU || leadsOut ||
			addressed && len(i.Addresses) == 0 && !forwards && h.Reading.End.SNMP["Ip.FragFails"] == 0 {
			continue
		}
		f := facts.Found(cause.MTUAboveUplink, h, record.Possible,
			cause.Uplink{Interface: uplink.Interface, MTU: uplink.MTU}).
			With(h.Name, fact.MTU{Interface: i.Interface, Bytes: i.MTU},
				fact.MTU{Interface: uplink.Interface, Bytes: uplink.MTU})
		if n := h.Reading.End.SNMP["Ip.FragFails"]; n > 0 {
			f.Confidence = record.Likely
			f.With(h.Name, fact.Counter{Name: "Ip.FragFails", Grew: uint64(n), Boot: true})
		} else if forwards {
			f.Confidence = record.Likely
			f.With(h.Name, h.Parameter("net.ipv4.ip_forward"))
		}
		f.About.Interface = i.Interface
		return f
	}
	return nil
}
