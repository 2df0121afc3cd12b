// Package drops counts the packets that the kernel drops, by reason, interface, protocol and place.
// It uses a BPF program at the tracepoint kfree_skb (include/trace/events/skb.h), which the kernel
// passes whenever it frees a packet that was not delivered. It requires Linux 5.17, which has
// reasons (enum skb_drop_reason), with CONFIG_DEBUG_INFO_BTF, and CAP_BPF with CAP_PERFMON.
//
// The program is assembled at run time; the layout of the kernel's structures and the names of
// reasons are read from the running kernel (BTF, Documentation/bpf/btf.rst). Program, link and map
// are descriptors of this process, and nothing remains in the kernel when they are closed or the
// process ends. Packets that a driver or a NIC drops before the kernel has a packet, such as at a
// full receive ring, are not counted.
//
// Choice of the library: docs/decisions/0036-drops-by-tracepoint.md.
package drops

import (
	"errors"
	"fmt"
)

// ErrUnavailable is wrapped by the error of Start if the kernel lacks a requirement or the process
// lacks the privileges. The text of the error says what is missing.
var ErrUnavailable = errors.New("drops cannot be traced")

// Options of Start. The zero value counts drops in all network namespaces.
type Options struct {
	// Namespace is the inode of the network namespace whose drops are counted (/proc/self/ns/net).
	// 0: all.
	Namespace uint64
	// Entries limits the number of different Counts. 0: 2048. Further drops are counted as Lost.
	Entries int
}

// Counts are the drops since Start.
type Counts struct {
	List []Count
	// Unspecified counts packets that were freed without a reason (NOT_SPECIFIED). The kernel frees
	// delivered packets in this way as well as some that it drops.
	Unspecified int64
	// Lost counts drops that are in no Count, because there were too many different ones, or
	// because the program was already running on the same CPU. Drops of other namespaces can be
	// among them.
	Lost int64
}

// Count counts the drops that have the same properties.
type Count struct {
	// Reason is a name of enum skb_drop_reason without its prefix ("NETFILTER_DROP"), or of the
	// enumeration of a subsystem; a number if the kernel has no name for it.
	Reason string
	// Index is the index of the interface on which the packet arrived or was to leave. 0: unknown.
	Index int
	// Namespace is the inode of the network namespace of the interface or the socket. 0: unknown.
	Namespace uint64
	// Direction is "rx", "tx", or empty if unknown.
	Direction string
	// Protocol is the Ethernet protocol with the IP protocol: "IPv4 UDP", "LLDP", "0x88B5". Empty:
	// none.
	Protocol string
	// Place is the kernel function that dropped the packet. Empty: /proc/kallsyms does not show
	// addresses to this process.
	Place   string
	Packets int64
}

// Directions of a packet, as the program encodes them.
const (
	received = 1
	sent     = 2
)

var directions = map[uint8]string{received: "rx", sent: "tx"}

const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
)

// ethernet has names of EtherTypes, and of the kernel's own protocols (linux/if_ether.h).
var ethernet = map[uint16]string{
	0x0004: "802.2 LLC", 0x0806: "ARP", 0x8035: "RARP", 0x8100: "802.1Q", 0x8809: "slow protocol (LACP)",
	0x8847: "MPLS", 0x8863: "PPPoE discovery", 0x8864: "PPPoE",
	0x8899: "Realtek loop detection", 0x888e: "802.1X", 0x88a8: "802.1ad", 0x88cc: "LLDP", 0x88e5: "MACsec",
	0x88f7: "PTP", 0x8906: "FCoE", 0x8914: "FIP", 0x9000: "loopback test",
	etherIPv4: "IPv4", etherIPv6: "IPv6",
}

// internet has names of common IP protocols.
var internet = map[uint8]string{1: "ICMP", 2: "IGMP", 4: "IPIP", 6: "TCP", 17: "UDP", 41: "IPv6", 47: "GRE", 50: "ESP",
	51: "AH", 58: "ICMPv6", 89: "OSPF", 103: "PIM", 112: "VRRP", 132: "SCTP"}

// protocol returns the name of a packet's protocols. An IP protocol of 0 is unknown.
func protocol(ether uint16, ip uint8) string {
	if ether == 0 {
		return ""
	}
	name := ethernet[ether]
	if name == "" {
		return fmt.Sprintf("0x%04X", ether)
	}
	if ip == 0 {
		return name
	}
	if internet[ip] == "" {
		return fmt.Sprintf("%s protocol %d", name, ip)
	}
	return name + " " + internet[ip]
}
