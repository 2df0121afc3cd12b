// Package drops counts the packets that the kernel drops by reason, interface, protocol and
// place: a BPF program at the tracepoint kfree_skb (include/trace/events/skb.h), which the
// kernel passes whenever it frees a packet that was not delivered. It needs Linux 5.17, which
// has reasons (enum skb_drop_reason), with CONFIG_DEBUG_INFO_BTF, and CAP_BPF with CAP_PERFMON.
//
// The program is made of instructions at run time; the layout of the kernel's structures and
// the names of reasons are those of the running kernel (BTF,
// Documentation/bpf/btf.rst). Program, link and map are descriptors of this process, and
// nothing is left in the kernel when they are closed or the process ends. What a driver or a
// NIC drops without a packet of the kernel, such as at a full receive ring, is not seen.
//
// Choice of the library: docs/decisions/0036-drops-by-tracepoint.md.
package drops

import (
	"errors"
	"fmt"
)

// ErrUnavailable is what Start returns where the kernel has not what it takes, or the process
// has not the privileges; the error's text says what is missing.
var ErrUnavailable = errors.New("drops cannot be traced")

// Options of Start. The zero value counts the drops of all network namespaces.
type Options struct {
	// Namespace is the inode of the network namespace whose drops are counted
	// (/proc/self/ns/net); 0: all.
	Namespace uint64
	// Entries bounds the different counts; 0: 2048. What finds no room is lost.
	Entries int
}

// Counts are the drops since Start.
type Counts struct {
	List []Count
	// Unspecified packets were freed without a reason (NOT_SPECIFIED): the kernel frees packets
	// so that it has used, as well as some that it drops.
	Unspecified int64
	// Lost drops are in no count: there were too many different ones, or the program was at
	// work on the same CPU (of any namespace).
	Lost int64
}

// Count is one kind of drop.
type Count struct {
	// Reason is a name of enum skb_drop_reason without its prefix ("NETFILTER_DROP"), or of a
	// subsystem's enumeration; a number if the kernel does not tell it.
	Reason string
	// Index is that of the interface: by which the packet came in, or was to leave; 0: not known.
	Index int
	// Namespace is the inode of the interface's network namespace, or the socket's; 0: not known.
	Namespace uint64
	// Direction is "rx", "tx", or empty: not known.
	Direction string
	// Protocol is Ethernet's, with that of IP: "IPv4 UDP", "LLDP", "0x88B5"; empty: none.
	Protocol string
	// Place is the function that dropped the packet; empty: /proc/kallsyms has no addresses for
	// this process.
	Place   string
	Packets int64
}

// Directions of a packet, as the program has them.
const (
	received = 1
	sent     = 2
)

var directions = map[uint8]string{received: "rx", sent: "tx"}

const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
)

// ethernet are names of EtherTypes, and of the kernel's own (linux/if_ether.h).
var ethernet = map[uint16]string{
	0x0004: "802.2 LLC", 0x0806: "ARP", 0x8035: "RARP", 0x8100: "802.1Q", 0x8809: "slow protocol (LACP)",
	0x8847: "MPLS", 0x8863: "PPPoE discovery", 0x8864: "PPPoE",
	0x8899: "Realtek loop detection", 0x888e: "802.1X", 0x88a8: "802.1ad", 0x88cc: "LLDP", 0x88e5: "MACsec",
	0x88f7: "PTP", 0x8906: "FCoE", 0x8914: "FIP", 0x9000: "loopback test",
	etherIPv4: "IPv4", etherIPv6: "IPv6",
}

// internet are names of the IP protocols that are met most.
var internet = map[uint8]string{1: "ICMP", 2: "IGMP", 4: "IPIP", 6: "TCP", 17: "UDP", 41: "IPv6", 47: "GRE", 50: "ESP",
	51: "AH", 58: "ICMPv6", 89: "OSPF", 103: "PIM", 112: "VRRP", 132: "SCTP"}

// protocol names a packet's protocols; an IP protocol of 0 is not known.
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
