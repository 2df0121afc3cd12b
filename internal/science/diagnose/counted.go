package diagnose

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// eachCounters is a rule's find for what each interface counted between two readings.
func eachCounters(find func(*host, record.InterfaceCounters) *record.Finding) func(observed) []record.Finding {
	return func(f observed) (findings []record.Finding) {
		for _, h := range f.hosts {
			for _, c := range h.counted {
				if finding := find(h, c); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// countedOn is a finding about one counter of an interface.
func (h *host) countedOn(confidence, summary, name, counter string, n, of uint64, fix ...string) *record.Finding {
	row := fmt.Sprintf("%s: %s grew by %d%s", name, counter, n, h.within())
	if of > 0 {
		row += ", beside " + unit.Plural(int(min(of, 1<<62)), "packet")
	}
	return &record.Finding{Host: h.name, Confidence: confidence, Summary: summary, Evidence: []string{row},
		Fix: on(h.name, h.alone, fix...), Reference: statistics + "; linux/if_link.h",
		Places: onePlace(h.device(name)...)}
}

func interfaceErrors(h *host, c record.InterfaceCounters) *record.Finding {
	if c.RxErrors > 0 && h.tunnel(c.Interface) != "" {
		return h.countedOn(record.Likely, "the tunnel "+c.Interface+" refuses packets that it receives", c.Interface,
			"rx_errors", c.RxErrors, c.RxPackets,
			"the same addresses, keys and checksums at both ends: of WireGuard the source in the peer's AllowedIPs (wg show "+
				c.Interface+"), of others ip -d link show dev "+c.Interface)
	}
	counter, n := damaged(c)
	if n == 0 {
		return nil
	}
	f := h.countedOn(record.Certain, c.Interface+" receives damaged frames", c.Interface, counter, n, c.RxPackets,
		"replace the cable or the transceiver, clean the optics; then the port at the other end: ethtool -S "+
			c.Interface+" has the kinds of errors")
	if counter == "rx_errors" && c.RxCRC > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %d of them with a wrong frame check sequence (rx_crc_errors)",
			c.Interface, c.RxCRC))
	}
	return f
}

func framesTooLong(h *host, c record.InterfaceCounters) *record.Finding {
	if c.RxLength == 0 || h.tunnel(c.Interface) != "" {
		return nil
	}
	return h.countedOn(record.Certain, "a neighbour sends longer frames than "+c.Interface+" takes", c.Interface,
		"rx_length_errors", c.RxLength, c.RxPackets,
		"one MTU for all hosts and ports of the subnet: ip link show dev "+c.Interface)
}

// often: packets are worth a finding from so many on, and from this share of all on.
func often(n, of uint64) bool { return n >= 10 && float64(n) >= 1e-4*float64(of) }

// rxDropped goes by a counter of several causes (net/core/dev.c): frames longer than the MTU of a
// veth or tap, without a reason of the kernel's; of a VLAN or protocol that nothing handles; and
// what a CPU's backlog or the driver has no room for. A few of a switch's protocols do no harm; a
// real share of what arrives is something else, certainly where the kernel was traced and none
// of it was for that reason.
func rxDropped(h *host, c record.InterfaceCounters) *record.Finding {
	t := tally{c.Interface, "rx_dropped"}
	n := c.RxDropped - min(c.RxDropped, h.benign[t])
	if !often(n, c.RxPackets) {
		return nil
	}
	reasons := h.behind(t)
	if h.boot && len(reasons) == 0 && h.benign[t] > 0 {
		return nil // what is dropped now without harm was most likely dropped since the boot as well
	}
	summary := c.Interface + " drops received packets"
	found := func(confidence, what string, fix ...string) *record.Finding {
		f := h.countedOn(confidence, summary+what, c.Interface, "rx_dropped", n, c.RxPackets, fix...)
		f.Evidence = append(f.Evidence, reasons...)
		return f
	}
	if len(reasons) > 0 {
		return found(record.Likely, "", h.meanings(t)...)
	}
	larger := "larger than its MTU"
	if i := slices.IndexFunc(h.reading.Snapshot.Interfaces, func(i record.InterfaceSnapshot) bool {
		return i.Interface == c.Interface
	}); i >= 0 && h.reading.Snapshot.Interfaces[i].MTU > 0 {
		larger += fmt.Sprintf(" (%d)", h.reading.Snapshot.Interfaces[i].MTU)
	}
	const room = "softnet_stat and the driver's counters (ethtool -S) grow with it if room is short"
	share := float64(n) / float64(n+c.RxPackets) // a veth counts as received what it does not drop
	switch mtu := "one MTU at both ends of the link, if it is that"; {
	case share < 0.01:
		return found(record.Possible,
			": of protocols or a VLAN that nothing handles, larger than its MTU, or for want of room",
			"a few of a switch (LLDP, STP) do no harm; otherwise "+mtu+"; "+room)
	case h.state.KernelDrops != nil && h.state.KernelDrops.Lost == 0 && !h.boot:
		return found(record.Likely, ": "+larger+", or for want of room", mtu, room)
	default:
		return found(record.Possible, ": "+larger+", of a VLAN or protocol that nothing handles, or for want of room",
			mtu+"; tcpdump -n -e -i "+c.Interface+" shows VLAN and protocol", room)
	}
}

func txDropped(h *host, c record.InterfaceCounters) *record.Finding {
	if !often(c.TxDropped, c.TxPackets) {
		return nil
	}
	f := h.countedOn(record.Likely, c.Interface+" drops packets that it is to send", c.Interface, "tx_dropped",
		c.TxDropped, c.TxPackets,
		"see its queues: tc -s qdisc show dev "+c.Interface+
			"; of a veth pair: its other end is down or full, or has a smaller MTU")
	f.Evidence = append(f.Evidence, h.behind(tally{c.Interface, "tx_dropped"})...)
	return f
}

func txCarrier(h *host, c record.InterfaceCounters) *record.Finding {
	if c.TxCarrier == 0 {
		return nil
	}
	switch kind := h.tunnel(c.Interface); {
	case slices.Contains(ipsec, kind):
		return h.countedOn(record.Likely, "the tunnel "+c.Interface+
			" has no IPsec state for packets that it is to send", c.Interface, "tx_carrier_errors", c.TxCarrier,
			c.TxPackets,
			"compare ip xfrm state and ip xfrm policy with the key (their mark) or if_id that ip -d link show dev "+
				c.Interface+" prints; where none match, the IKE daemon's log says why")
	case kind != "":
		return h.countedOn(record.Likely, "the tunnel "+c.Interface+" has no route to its other end", c.Interface,
			"tx_carrier_errors", c.TxCarrier, c.TxPackets,
			"see the other end's address by ip -d link show dev "+c.Interface+
				", and add the route that ip route get ADDRESS lacks")
	}
	return h.countedOn(record.Likely, c.Interface+" lost its carrier while it sent", c.Interface, "tx_carrier_errors",
		c.TxCarrier, c.TxPackets, "check cable and transceiver")
}

func collisions(h *host, c record.InterfaceCounters) *record.Finding {
	if c.Collisions == 0 {
		return nil
	}
	if kind := h.tunnel(c.Interface); kind != "" {
		ends := "ip -d link show dev " + c.Interface
		if slices.Contains(ipsec, kind) {
			ends = "ip xfrm state"
		}
		return h.countedOn(record.Likely, "the other end of the tunnel "+c.Interface+
			" is routed through the tunnel itself", c.Interface, "collisions", c.Collisions, c.TxPackets,
			"see the other end's address by "+ends+", and add a route to it by the interface that carries the tunnel")
	}
	return h.countedOn(record.Likely, c.Interface+" sees collisions: its link is half duplex at one end", c.Interface,
		"collisions", c.Collisions, c.TxPackets,
		"autonegotiation at both ends: ethtool -s "+c.Interface+" autoneg on")
}

func otherHostFrames(h *host, c record.InterfaceCounters) *record.Finding {
	if c.RxOtherhost < 100 || float64(c.RxOtherhost) < 0.1*float64(c.RxPackets) {
		return nil
	}
	f := h.countedOn(record.Likely, c.Interface+
		" receives frames for other hosts: a switch floods them, or a neighbour has a wrong ARP entry", c.Interface,
		"rx_otherhost_dropped", c.RxOtherhost, c.RxPackets,
		"see for whom: tcpdump -e -i "+c.Interface+
			"; the switch's table has no port for that address, or ages it too early")
	f.Places = nil // of which addresses they are is not known
	return f
}

func standbyTraffic(h *host, c record.InterfaceCounters) *record.Finding {
	if c.RxNoHandler < 100 || float64(c.RxNoHandler) < 0.01*float64(c.RxPackets) {
		return nil
	}
	return h.countedOn(record.Possible, c.Interface+
		" is inactive and receives packets, as a standby member of a bond does", c.Interface, "rx_nohandler",
		c.RxNoHandler, c.RxPackets,
		"none if these are broadcasts; otherwise the switch sends to the wrong member")
}
