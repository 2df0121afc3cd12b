package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

const offloadDocument = "Linux Documentation/networking/segmentation-offloads.rst; ethtool(8)"

var _ = later(func() {
	say(cause.PCIeNarrow, words[cause.None]{
		summary: about("DEV sits in a PCIe slot that is narrower or slower than the card"),
		fix:     []string{"another slot (lspci -vv, LnkSta), or the firmware's setting of the slot"},
		read:    "Linux Documentation/ABI/testing/sysfs-bus-pci",
		found: "The PCIe link of a NIC has fewer lanes or a lower speed than the card can; certain if it carries " +
			"less than 1.15 times the link's rate, or the port's where that is not known.",
	})
	say(cause.USB2Adapter, words[cause.None]{
		summary: about("DEV is a gigabit adapter at a USB 2 port"),
		fix:     []string{"plug it into a USB 3 port, or use a PCIe card"},
		read:    "Linux Documentation/ABI/stable/sysfs-bus-usb",
		found:   "An adapter of 1 Gbit/s or more is at a USB port of 480 Mbit/s or less.",
	})
	say(cause.EmulatedNIC, words[cause.None]{
		summary: about("DEV is a NIC of the kind that hypervisors emulate, at a high cost for each packet"),
		fix:     []string{"in a virtual machine: virtio-net, vmxnet3 or the cloud's own device"},
		read:    "Linux Documentation/networking/device_drivers/ethernet",
		found:   "The driver is that of a NIC which hypervisors emulate register by register.",
	})
	say(cause.OneQueue, words[cause.Queues]{
		summary: inFull(func(a cause.Queues) string {
			return fmt.Sprintf("DEV receives by one queue, which one CPU serves, and can have %d", a.Most)
		}),
		read:  "Linux Documentation/networking/scaling.rst",
		found: "A NIC has one receive queue, its driver can have more, and the host several CPUs.",
	})
	say(cause.OneCPU, words[cause.Interrupts]{
		summary: inFull(func(a cause.Interrupts) string {
			if a.Count == 0 {
				return fmt.Sprintf("nearly all interrupts of DEV were served by CPU %s", a.CPU)
			}
			return fmt.Sprintf("all %d interrupts of DEV go to CPU %s", a.Count, a.CPU)
		}),
		fixed: func(f record.Finding, _ cause.Interrupts) []string {
			if len(f.Steps) == 0 {
				return []string{"run irqbalance, or distribute them: /proc/irq/N/smp_affinity_list; if one queue has " +
					"nearly all, see how the NIC distributes flows: ethtool -x DEV, ethtool -n DEV rx-flow-hash tcp4"}
			}
			return []string{"run irqbalance; or:", theSteps}
		},
		read: "Linux Documentation/core-api/irq/irq-affinity.rst",
		found: "Three or more interrupts of a NIC all have the same single CPU; possible if one CPU served 95 % of " +
			"a million interrupts since boot.",
	})
	say(cause.OffloadOff, words[cause.Offload]{
		summary: inFull(func(a cause.Offload) string {
			if a.NoGather {
				return "scatter-gather of DEV is off, and segmentation offloads with it, which save processor time " +
					"for each packet"
			}
			return "offloads of DEV are off that save processor time for each packet"
		}),
		fixed: func(_ record.Finding, a cause.Offload) []string {
			switch {
			case a.Requested:
				return []string{"it is requested: see whether transmit checksums are off, without which the kernel " +
					"keeps it off: ethtool -k DEV"}
			case a.NoGather: // r8169 has it off, since transmit queues of some of its chips stall with it
				return []string{"none if the driver has it off for a reason, as r8169 has for timeouts of transmit " +
					"queues; to try it: ethtool -K DEV sg on, then gso on tso on, and look for \"transmit queue … " +
					"timed out\" in the kernel's log"}
			}
			return nil
		},
		read: offloadDocument,
		found: "GRO, GSO, TSO or receive checksums of an interface are off and could be on; possible of GSO and " +
			"TSO where scatter-gather is off, without which the kernel keeps them off.",
	})
	say(cause.OffloadsNotOffered, words[cause.None]{
		summary: about("the hypervisor offers DEV no segmentation offload: each segment is a packet of its own for " +
			"the virtual machine and its host"),
		fix: []string{"enable transmit checksum offload and TSO in the hypervisor; the guest cannot (fixed). QEMU: " +
			"csum=on, host_tso4=on and host_tso6=on of virtio-net, and a tap or vhost-net backend with vnet_hdr"},
		read:  "Virtual I/O Device (VIRTIO), Network Device, Feature bits; " + offloadDocument,
		found: "TSO of a paravirtual interface (virtio_net, vmxnet3, hv_netvsc, xen_netfront) is off and fixed.",
	})
	say(cause.Promiscuous, words[cause.None]{
		summary: about("DEV takes all frames, also those for other hosts (promiscuous mode)"),
		fix:     []string{"end what captures packets; ip link set dev DEV promisc off"},
		read:    "packet(7)",
		found:   "An interface that is in no bridge has IFF_PROMISC.",
	})
	say(cause.MTUBelowMinimum, words[cause.MTU]{
		summary: inFull(func(a cause.MTU) string {
			return fmt.Sprintf("the MTU of DEV is %d: IPv6 needs 1280, and small packets cost a processor more for "+
				"each byte",
				a.Bytes)
		}),
		fixed: func(_ record.Finding, a cause.MTU) []string {
			if a.Tunnel {
				return []string{"none if its path takes no more; at most ip link set dev DEV mtu 1280, if IPv6 is " +
					"to pass and the path takes that beside the tunnel's headers"}
			}
			return []string{"the MTU of its link, such as:", theSteps}
		},
		read: "RFC 8200, section 5",
		found: "The MTU of an interface with addresses is below 1280, which IPv6 needs; possible of a tunnel, " +
			"whose path may leave no more.",
	})
	say(cause.BridgeMTUMixed, words[cause.None]{
		summary: about("ports of DEV have different MTUs: larger frames are dropped at the smaller one, without an " +
			"ICMP message"),
		fix:  []string{"the same MTU at the port and at the host behind it:", theSteps},
		read: "RFC 894; RFC 2923, section 2.1; bridge(8)",
		found: "Ports of a bridge have different MTUs: a larger frame is dropped at the smaller port without a " +
			"message.",
	})
	say(cause.MTUAboveUplink, words[cause.Uplink]{
		summary: func(f record.Finding, u cause.Uplink) string {
			return fmt.Sprintf("%s has a larger MTU than %s, by which the host forwards: what containers or virtual "+
				"machines send is refused beyond %d bytes, and hangs where the ICMP message is lost", f.About.Interface,
				u.Interface, u.MTU)
		},
		fixed: func(_ record.Finding, u cause.Uplink) []string {
			return []string{fmt.Sprintf("an MTU of %d for the bridge and what is on it: for Docker \"mtu\": %[1]d in "+
				"/etc/docker/daemon.json, for its networks the option com.docker.network.driver.mtu", u.MTU),
				"or segments that fit: iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS " +
					"--clamp-mss-to-pmtu"}
		},
		read: "RFC 1191; RFC 2923, section 2.1; iptables-extensions(8) (TCPMSS)",
		found: "A bridge with ports has a larger MTU than the interface of the default route, which is none of its " +
			"ports, or this or a container's veth a larger one than a VXLAN or Geneve interface with a route. " +
			"Likely if the host forwards (ip_forward) or counts IpFragFails.",
	})
	say(cause.RingSmall, words[cause.None]{
		summary: about("the receive ring of DEV is short, and it has missed packets"),
		read:    ethtoolPage,
		found: "A NIC's receive ring has at most 512 descriptors and a quarter of what it can have, and " +
			"rx_missed_errors grew.",
	})
	say(cause.InterruptsDelayed, words[cause.Delay]{
		summary: inFull(func(a cause.Delay) string {
			return fmt.Sprintf("DEV holds each packet back for up to %d µs, so that it interrupts less often", a.Us)
		}),
		fix:   []string{"ethtool -C DEV adaptive-rx on, or rx-usecs 20 for short answers"},
		read:  ethtoolPage + "; Linux Documentation/networking/napi.rst",
		found: "A NIC waits 200 µs and longer for more packets before it interrupts, and does not adapt.",
	})
	say(cause.LROWhileForwarding, words[cause.None]{
		summary: about("DEV merges received segments into ones that cannot be forwarded as they were (LRO)"),
		fix:     []string{"ethtool -K DEV lro off"},
		read:    offloadDocument,
		found:   "Large receive offload is on, and the host forwards packets.",
	})
	say(cause.Wireless, words[cause.None]{
		summary: about("DEV is wireless: its rate and delay depend on the air"),
		fix:     []string{"a cable for what is to be measured; iw dev DEV link shows signal and rate"},
		read:    "IEEE 802.11; iw(8)",
		found:   "An interface with addresses is wireless.",
	})
	say(cause.WirelessWeak, words[cause.None]{
		summary: about("the wireless link of DEV is weak: its frames carry few bits, or are sent again"),
		fix: []string{"move nearer to the access point, or add one; 5 or 6 GHz where many share 2.4 GHz; or a cable",
			"iw dev DEV station dump while data is sent: signal, tx retries and bitrates"},
		read: "IEEE 802.11; iw(8)",
		found: "The signal of a wireless link is -75 dBm or less, or its bitrate below 30 Mbit/s: likely if both, or " +
			"if half as many frames were sent again as there were packets, or 2 % failed, of at least 1000.",
	})
	spell(func(_ string, w fact.WirelessLink) string {
		var parts []string
		if w.SignalDBm < 0 {
			parts = append(parts, fmt.Sprintf("signal %d dBm", w.SignalDBm))
		}
		if w.RxMbps > 0 {
			parts = append(parts, fmt.Sprintf("received at %g Mbit/s", w.RxMbps))
		}
		if w.TxMbps > 0 {
			parts = append(parts, fmt.Sprintf("sent at %g Mbit/s", w.TxMbps))
		}
		if w.TxPackets > 0 {
			parts = append(parts, fmt.Sprintf("%d frames sent again and %d given up, for %d packets", w.TxRetries,
				w.TxFailed, w.TxPackets))
		}
		if w.FrequencyMHz > 0 {
			parts = append(parts, fmt.Sprintf("%d MHz", w.FrequencyMHz))
		}
		return w.Interface + ": " + strings.Join(parts, ", ")
	})
	say(cause.TransmitQueueShort, words[cause.None]{
		summary: about("the transmit queue of DEV is short: bursts of several programs are dropped"),
		fix:     []string{"ip link set dev DEV txqueuelen 1000, or the qdisc fq"},
		read:    "ip-link(8); tc-pfifo_fast(8)",
		found:   "A NIC of 1 Gbit/s or more has a txqueuelen below 100, without being 0.",
	})

	spell(func(_ string, q fact.Queues) string {
		return fmt.Sprintf("%s: %d of %d channels; the host has %d CPUs", q.Interface, q.Channels, q.Most, q.CPUs)
	})
	spell(func(_ string, i fact.Interrupts) string {
		return fmt.Sprintf("smp_affinity_list of interrupts %d to %d: %s", i.First, i.Last, i.CPUs)
	})
	spell(func(_ string, i fact.ServedInterrupts) string {
		return fmt.Sprintf("%d of %d interrupts (%d to %d) since boot were served by CPU %d", i.Count, i.Of, i.First,
			i.Last, i.CPU)
	})
	spell(func(_ string, p fact.PCIe) string {
		name := p.Interface
		if p.Bus != "" && p.Bus != name { // of a text without its interface, the address is the name
			name += " at " + p.Bus
		}
		text := fmt.Sprintf("%s: x%d at %g GT/s of x%d at %g GT/s, at most %.3g Gbit/s each way", name, p.Width, p.GTps,
			p.MostWidth, p.MostGTps, p.CarriesGbps)
		switch {
		case p.NeededGbps == 0: // not known
			return text
		case p.Port:
			return fmt.Sprintf("%s; the port can do %.3g Gbit/s", text, p.NeededGbps)
		}
		return fmt.Sprintf("%s; the link is %.3g Gbit/s", text, p.NeededGbps)
	})
	spell(func(_ string, u fact.USB) string {
		return fmt.Sprintf("%s: USB at %.0f Mbit/s, Ethernet at %s", u.Interface, u.Mbps, mbps(u.EthernetMbps))
	})
	spell(func(_ string, d fact.Driver) string { return d.Interface + ": driver " + d.Driver })
	spell(func(_ string, o fact.OffloadOff) string {
		text := fmt.Sprintf("%s: %s (%s) is off", o.Interface, o.Feature, o.Option)
		if o.Fixed {
			return text + ", and fixed"
		}
		if does := offloads[o.Option]; does != "" {
			text += ", and " + does
		}
		return text
	})
	spell(func(_ string, p fact.Promiscuous) string {
		return p.Interface + ": IFF_PROMISC is set, and it is in no bridge"
	})
	spell(func(_ string, m fact.MTU) string { return mtu(m) })
	spell(func(_ string, p fact.PortMTUs) string { return mtu(p.Larger) + "; " + mtu(p.Smaller) })
	spell(func(_ string, r fact.ShortRing) string {
		return fmt.Sprintf("%s: %d of %d descriptors; rx_missed_errors grew by %d%s",
			r.Interface, r.Descriptors, r.Most,
			r.Missed, within(r.OverS, r.Boot))
	})
	spell(func(_ string, c fact.Coalescing) string {
		return fmt.Sprintf("%s: rx-usecs %d, rx-frames %d, adaptive-rx off", c.Interface, c.RxUs, c.RxFrames)
	})
	spell(func(_ string, l fact.LROForwarding) string {
		return l.Interface + ": rx-lro is on; net.ipv4.ip_forward = 1"
	})
	spell(func(_ string, w fact.Wireless) string { return w.Interface + " is a wireless interface" })
	spell(func(_ string, q fact.TransmitQueue) string {
		return fmt.Sprintf("%s: txqueuelen %d", q.Interface, q.Packets)
	})
})

// offloads has the effects of offloads, by the options of ethtool(8).
var offloads = map[string]string{
	"gro": "merges received segments",
	"gso": "hands large segments down the stack",
	"tso": "has the device cut segments",
	"rx":  "has the device check checksums",
}

func mtu(m fact.MTU) string { return fmt.Sprintf("%s: MTU %d", m.Interface, m.Bytes) }
