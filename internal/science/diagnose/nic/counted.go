package nic

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// eachCounters is a rule's find for what each interface counted between two readings.
func eachCounters(find func(*facts.Host, record.InterfaceCounters) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, c := range h.Counted {
				if finding := find(h, c); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// countedOn is a finding about one counter of an interface.
func countedOn(h *facts.Host, confidence, summary, name, counter string, n, of uint64, fix ...string) *record.Finding {
	row := fmt.Sprintf("%s: %s grew by %d%s", name, counter, n, said.Within(h))
	if of > 0 {
		row += ", beside " + unit.Plural(int(min(of, 1<<62)), "packet")
	}
	return &record.Finding{Host: h.Name, Confidence: confidence, Summary: summary, Evidence: []string{row},
		Fix: said.On(h.Name, h.Alone, fix...), Reference: said.Statistics + "; linux/if_link.h",
		Places: facts.OnePlace(h.Device(name)...)}
}

func interfaceErrors(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if c.RxErrors > 0 && h.Tunnel(c.Interface) != "" {
		return countedOn(h, record.Likely, "the tunnel "+c.Interface+" refuses packets that it receives", c.Interface,
			"rx_errors", c.RxErrors, c.RxPackets,
			"the same addresses, keys and checksums at both ends: of WireGuard the source in the peer's AllowedIPs (wg show "+
				c.Interface+"), of others ip -d link show dev "+c.Interface)
	}
	counter, n := facts.Damaged(c)
	if n == 0 {
		return nil
	}
	f := countedOn(h, record.Certain, c.Interface+" receives damaged frames", c.Interface, counter, n, c.RxPackets,
		"replace the cable or the transceiver, clean the optics; then the port at the other end: ethtool -S "+
			c.Interface+" has the kinds of errors")
	if counter == "rx_errors" && c.RxCRC > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %d of them with a wrong frame check sequence (rx_crc_errors)",
			c.Interface, c.RxCRC))
	}
	return f
}

func framesTooLong(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if c.RxLength == 0 || h.Tunnel(c.Interface) != "" {
		return nil
	}
	return countedOn(h, record.Certain, "a neighbour sends longer frames than "+c.Interface+" takes", c.Interface,
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
func rxDropped(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	t := facts.Tally{Name: c.Interface, Counter: "rx_dropped"}
	n := c.RxDropped - min(c.RxDropped, h.Benign[t])
	if !often(n, c.RxPackets) {
		return nil
	}
	reasons := said.Behind(h, t)
	if h.Boot && len(reasons) == 0 && h.Benign[t] > 0 {
		return nil // what is dropped now without harm was most likely dropped since the boot as well
	}
	summary := c.Interface + " drops received packets"
	found := func(confidence, what string, fix ...string) *record.Finding {
		f := countedOn(h, confidence, summary+what, c.Interface, "rx_dropped", n, c.RxPackets, fix...)
		f.Evidence = append(f.Evidence, reasons...)
		return f
	}
	if len(reasons) > 0 {
		return found(record.Likely, "", said.Meanings(h, t)...)
	}
	larger := "larger than its MTU"
	if i := slices.IndexFunc(h.Reading.Snapshot.Interfaces, func(i record.InterfaceSnapshot) bool {
		return i.Interface == c.Interface
	}); i >= 0 && h.Reading.Snapshot.Interfaces[i].MTU > 0 {
		larger += fmt.Sprintf(" (%d)", h.Reading.Snapshot.Interfaces[i].MTU)
	}
	const room = "softnet_stat and the driver's counters (ethtool -S) grow with it if room is short"
	share := float64(n) / float64(n+c.RxPackets) // a veth counts as received what it does not drop
	switch mtu := "one MTU at both ends of the link, if it is that"; {
	case share < 0.01:
		return found(record.Possible,
			": of protocols or a VLAN that nothing handles, larger than its MTU, or for want of room",
			"a few of a switch (LLDP, STP) do no harm; otherwise "+mtu+"; "+room)
	case h.State.KernelDrops != nil && h.State.KernelDrops.Lost == 0 && !h.Boot:
		return found(record.Likely, ": "+larger+", or for want of room", mtu, room)
	default:
		return found(record.Possible, ": "+larger+", of a VLAN or protocol that nothing handles, or for want of room",
			mtu+"; tcpdump -n -e -i "+c.Interface+" shows VLAN and protocol", room)
	}
}

func txDropped(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if !often(c.TxDropped, c.TxPackets) {
		return nil
	}
	f := countedOn(h, record.Likely, c.Interface+" drops packets that it is to send", c.Interface, "tx_dropped",
		c.TxDropped, c.TxPackets,
		"see its queues: tc -s qdisc show dev "+c.Interface+
			"; of a veth pair: its other end is down or full, or has a smaller MTU")
	f.Evidence = append(f.Evidence, said.Behind(h, facts.Tally{Name: c.Interface, Counter: "tx_dropped"})...)
	return f
}

func txCarrier(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if c.TxCarrier == 0 {
		return nil
	}
	switch kind := h.Tunnel(c.Interface); {
	case slices.Contains(ipsec, kind):
		return countedOn(h, record.Likely, "the tunnel "+c.Interface+
			" has no IPsec state for packets that it is to send", c.Interface, "tx_carrier_errors", c.TxCarrier,
			c.TxPackets,
			"compare ip xfrm state and ip xfrm policy with the key (their mark) or if_id that ip -d link show dev "+
				c.Interface+" prints; where none match, the IKE daemon's log says why")
	case kind != "":
		return countedOn(h, record.Likely, "the tunnel "+c.Interface+" has no route to its other end", c.Interface,
			"tx_carrier_errors", c.TxCarrier, c.TxPackets,
			"see the other end's address by ip -d link show dev "+c.Interface+
				", and add the route that ip route get ADDRESS lacks")
	}
	return countedOn(h, record.Likely, c.Interface+" lost its carrier while it sent", c.Interface, "tx_carrier_errors",
		c.TxCarrier, c.TxPackets, "check cable and transceiver")
}

func collisions(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if c.Collisions == 0 {
		return nil
	}
	if kind := h.Tunnel(c.Interface); kind != "" {
		ends := "ip -d link show dev " + c.Interface
		if slices.Contains(ipsec, kind) {
			ends = "ip xfrm state"
		}
		return countedOn(h, record.Likely, "the other end of the tunnel "+c.Interface+
			" is routed through the tunnel itself", c.Interface, "collisions", c.Collisions, c.TxPackets,
			"see the other end's address by "+ends+", and add a route to it by the interface that carries the tunnel")
	}
	return countedOn(h, record.Likely, c.Interface+" sees collisions: its link is half duplex at one end", c.Interface,
		"collisions", c.Collisions, c.TxPackets,
		"autonegotiation at both ends: ethtool -s "+c.Interface+" autoneg on")
}

func otherHostFrames(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if c.RxOtherhost < 100 || float64(c.RxOtherhost) < 0.1*float64(c.RxPackets) {
		return nil
	}
	f := countedOn(h, record.Likely, c.Interface+
		" receives frames for other hosts: a switch floods them, or a neighbour has a wrong ARP entry", c.Interface,
		"rx_otherhost_dropped", c.RxOtherhost, c.RxPackets,
		"see for whom: tcpdump -e -i "+c.Interface+
			"; the switch's table has no port for that address, or ages it too early")
	f.Places = nil // of which addresses they are is not known
	return f
}

func standbyTraffic(h *facts.Host, c record.InterfaceCounters) *record.Finding {
	if c.RxNoHandler < 100 || float64(c.RxNoHandler) < 0.01*float64(c.RxPackets) {
		return nil
	}
	return countedOn(h, record.Possible, c.Interface+
		" is inactive and receives packets, as a standby member of a bond does", c.Interface, "rx_nohandler",
		c.RxNoHandler, c.RxPackets,
		"none if these are broadcasts; otherwise the switch sends to the wrong member")
}

// Rules about what interfaces count.
var CounterRules = []rule.Rule{
	{ID: "interface-errors", Host: true,
		About:  "rx_errors grew, without those of length and of full rings, or rx_crc_errors; of a tunnel likely, for packets that it refuses.",
		Growth: true, Find: eachCounters(interfaceErrors), SameCause: rule.SameSummary,
		Explains: []string{"tcp-retransmissions", "reassembly-failed"}},
	{ID: "frames-too-long", Host: true,
		About:  "rx_length_errors of an interface other than a tunnel grew: a neighbour sends longer frames than the interface takes.",
		Growth: true, Find: eachCounters(framesTooLong), SameCause: rule.SameSummary,
		Explains: []string{"interface-errors",
			"rx-dropped", "tcp-retransmissions"}},
	{ID: "rx-dropped", Host: true,
		About:  "rx_dropped grew by at least ten packets and one in 10,000, without frames for other hosts and, where the kernel was traced (kfree_skb), those of protocols that nothing handles. Likely where that is a hundredth of what arrives and the kernel was traced, or names another reason.",
		Growth: true, Find: eachCounters(rxDropped), SameCause: rule.SamePlace,
		Explains: []string{"tcp-retransmissions"}},
	{ID: "tx-dropped", Host: true, Load: true, About: "tx_dropped grew by at least ten packets and one in 10,000.",
		Growth: true, Find: eachCounters(txDropped), SameCause: rule.SameSummary,
		Explains: []string{"tcp-retransmissions",
			"ip-discards", "udp-send-buffer", "retransmission-refused"}},
	{ID: "tx-carrier", Host: true,
		About:  "tx_carrier_errors grew; of a tunnel for want of a route to its other end, or of IPsec state.",
		Growth: true, Find: eachCounters(txCarrier), SameCause: rule.SameSummary},
	{ID: "collisions", Host: true, About: "collisions grew; of a tunnel for packets that are routed into it again.",
		Growth: true, Find: eachCounters(collisions), SameCause: rule.SameSummary},
	{ID: "other-host-frames", Host: true,
		About:  "rx_otherhost_dropped (Linux 5.19) grew by at least 100 packets and a tenth of those received.",
		Growth: true, Find: eachCounters(otherHostFrames), SameCause: rule.SameSummary},
	{ID: "standby-traffic", Host: true,
		About: "rx_nohandler grew by at least 100 packets and a hundredth of those received.", Growth: true,
		Find: eachCounters(standbyTraffic), SameCause: rule.SameSummary},
}

// ipsec are the kinds of tunnels whose packets need a state of IPsec (net/ipv4/ip_vti.c,
// net/xfrm/xfrm_interface_core.c).
var ipsec = []string{"vti", "vti6", "xfrm"}
