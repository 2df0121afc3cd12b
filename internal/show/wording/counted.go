package wording

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
)

const interfaceCounters = statistics + "; linux/if_link.h"

// counts adds the text of a cause that is a counter of an interface. DEV in the text is the
// interface.
func counts[A any](c cause.Of[A], found string, of func(A) (summary string, fix []string)) {
	say(c, words[A]{
		summary: func(f record.Finding, a A) string {
			summary, _ := of(a)
			return withDevice(f, summary)
		},
		fixed: func(_ record.Finding, a A) []string {
			_, fix := of(a)
			return fix
		},
		read: interfaceCounters, found: found,
	})
}

// alike returns text that does not depend on the arguments of the cause.
func alike(summary, fix string) func(cause.None) (string, []string) {
	return func(cause.None) (string, []string) { return summary, []string{fix} }
}

var _ = later(func() {
	counts(cause.InterfaceErrors,
		"rx_errors grew, without those of length and of full rings, or rx_crc_errors; of a tunnel likely, for "+
			"packets that it refuses.",
		func(a cause.Tunnel) (string, []string) {
			if a.Kind != "" {
				return "the tunnel DEV refuses packets that it receives", []string{"the same addresses, keys and " +
					"checksums at both ends: of WireGuard the source in the peer's AllowedIPs (wg show DEV), of " +
					"others ip -d link show dev DEV"}
			}
			return "DEV receives damaged frames", []string{"replace the cable or the transceiver, clean the " +
				"optics; then the port at the other end: ethtool -S DEV has the kinds of errors"}
		})
	counts(cause.FramesTooLong,
		"rx_length_errors of an interface other than a tunnel grew: a neighbour sends longer frames than the "+
			"interface takes.",
		alike("a neighbour sends longer frames than DEV takes",
			"one MTU for all hosts and ports of the subnet: ip link show dev DEV"))
	counts(cause.RxDropped,
		"rx_dropped grew by at least ten packets and one in 10,000, without frames for other hosts and, where the "+
			"kernel was traced (kfree_skb), those of protocols that nothing handles. Likely where that is a "+
			"hundredth of what arrives and the kernel was traced, or names another reason.",
		unreceived)
	counts(cause.TxDropped, "tx_dropped grew by at least ten packets and one in 10,000.",
		alike("DEV drops packets that it is to send",
			"see its queues: tc -s qdisc show dev DEV; of a veth pair: its other end is down or full, or has a "+
				"smaller MTU"))
	counts(cause.TxCarrier,
		"tx_carrier_errors grew; of a tunnel for want of a route to its other end, or of IPsec state.",
		func(a cause.Tunnel) (string, []string) {
			switch {
			case a.IPsec:
				return "the tunnel DEV has no IPsec state for packets that it is to send",
					[]string{"compare ip xfrm state and ip xfrm policy with the key (their mark) or if_id that ip " +
						"-d link show dev DEV prints; where none match, the IKE daemon's log says why"}
			case a.Kind != "":
				return "the tunnel DEV has no route to its other end", []string{"see the other end's address by ip " +
					"-d link show dev DEV, and add the route that ip route get ADDRESS lacks"}
			}
			return "DEV lost its carrier while it sent", []string{"check cable and transceiver"}
		})
	counts(cause.Collisions, "collisions grew; of a tunnel for packets that are routed into it again.",
		func(a cause.Tunnel) (string, []string) {
			if a.Kind == "" {
				return "DEV sees collisions: its link is half duplex at one end", []string{"autonegotiation at " +
					"both ends: ethtool -s DEV autoneg on"}
			}
			ends := "ip -d link show dev DEV"
			if a.IPsec {
				ends = "ip xfrm state"
			}
			return "the other end of the tunnel DEV is routed through the tunnel itself", []string{"see the other " +
				"end's address by " + ends + ", and add a route to it by the interface that carries the tunnel"}
		})
	counts(cause.OtherHostFrames,
		"rx_otherhost_dropped (Linux 5.19) grew by at least 100 packets and a tenth of those received.",
		alike("DEV receives frames for other hosts: a switch floods them, or a neighbour has a wrong ARP entry",
			"see for whom: tcpdump -e -i DEV; the switch's table has no port for that address, or ages it too early"))
	counts(cause.StandbyTraffic, "rx_nohandler grew by at least 100 packets and a hundredth of those received.",
		alike("DEV is inactive and receives packets, as a standby member of a bond does",
			"none if these are broadcasts; otherwise the switch sends to the wrong member"))

	spell(func(_ string, w fact.WrongChecks) string {
		return fmt.Sprintf("%s: %d of them with a wrong frame check sequence (rx_crc_errors)", w.Interface, w.Frames)
	})
	advise(func(r hint.DropReason) string { return r.Reason + ": " + meaning(r.Reason) })
})

// unreceived returns the summary and the fix of rx-dropped.
func unreceived(a cause.Unreceived) (string, []string) {
	const summary = "DEV drops received packets"
	const mtu = "one MTU at both ends of the link, if it is that"
	const room = "softnet_stat and the driver's counters (ethtool -S) grow with it if room is short"
	larger := "larger than its MTU"
	if a.MTU > 0 {
		larger += fmt.Sprintf(" (%d)", a.MTU)
	}
	switch a.Known {
	case cause.Few:
		return summary + ": of protocols or a VLAN that nothing handles, larger than its MTU, or for want of room",
			[]string{"a few of a switch (LLDP, STP) do no harm; otherwise " + mtu + "; " + room}
	case cause.NoReason:
		return summary + ": " + larger + ", or for want of room", []string{mtu, room}
	case cause.Many:
		return summary + ": " + larger + ", of a VLAN or protocol that nothing handles, or for want of room",
			[]string{mtu + "; tcpdump -n -e -i DEV shows VLAN and protocol", room}
	}
	return summary, nil
}
