// Package lldp reads and makes the frames of the Link Layer Discovery Protocol (IEEE 802.1AB), by which
// switches and hosts say which port of which system a cable leads to.
package lldp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
	"linerate/internal/model/syntax"
)

// EtherType is that of LLDP frames.
const EtherType = 0x88cc

// Groups are the multicast addresses to which LLDP frames are sent: the nearest bridge, the nearest
// bridge that is no two-port relay, and the nearest customer bridge.
var Groups = [][6]byte{{1, 0x80, 0xc2, 0, 0, 0x0e}, {1, 0x80, 0xc2, 0, 0, 3}, {1, 0x80, 0xc2, 0, 0, 0}}

// Longest is the length of the longest frame that is read, in bytes, without the Ethernet header.
const Longest = 1500

// Types of TLVs.
const (
	end = iota
	chassis
	port
	ttl
	portDescription
	systemName
	systemDescription
	capabilities
	address
	organisation = 127
)

// Limits of what is kept of a frame: TLVs, and lists and texts in them.
const (
	mostTLVs, mostAddresses, mostVLANs = 256, 8, 64
	longestText                        = 200 // characters
)

var capabilityNames = []string{"Other", "Repeater", "Bridge", "Wlan", "Router", "Tel", "Docsis", "Station"}

// Parse reads a frame without its Ethernet header. Interface is left empty. It returns an error if the
// frame does not begin with a chassis, a port and a time to live, in this order, and false if the
// neighbour says that it is about to leave (time to live 0). Texts are shortened and cleaned; parts that
// are malformed are left out.
func Parse(pdu []byte) (n netstate.LLDPNeighbour, stays bool, err error) {
	n.Protocol = "LLDP"
	i := 0
	for ; len(pdu) >= 2 && i < mostTLVs; i++ {
		head := binary.BigEndian.Uint16(pdu)
		kind, length := int(head>>9), int(head&0x1ff)
		if length > len(pdu)-2 {
			return n, false, fmt.Errorf("TLV %d has %d bytes, and %d are left", i+1, length, len(pdu)-2)
		}
		value := pdu[2 : 2+length]
		pdu = pdu[2+length:]
		if i < 3 && kind != chassis+i {
			return n, false, fmt.Errorf("TLV %d has type %d: expected %d", i+1, kind, chassis+i)
		}
		switch {
		case kind == end:
			return n, stays, nil
		case i == chassis-1:
			n.Chassis = identifier(value, 4, 5)
		case i == port-1:
			n.Port = identifier(value, 3, 4)
		case i == ttl-1:
			stays = length >= 2 && binary.BigEndian.Uint16(value) > 0
		default: // a chassis or port again is ignored
			add(&n, kind, value)
		}
		if i == 2 && (n.Chassis == "" || n.Port == "") {
			return n, false, fmt.Errorf("its chassis or its port has no readable identifier")
		}
	}
	if i < 3 {
		return n, false, fmt.Errorf("it ends before its time to live")
	}
	return n, stays, nil
}

// add adds an optional TLV.
func add(n *netstate.LLDPNeighbour, kind int, value []byte) {
	switch kind {
	case portDescription:
		n.PortDescription = text(value)
	case systemName:
		n.System = text(value)
	case systemDescription:
		n.Description = text(value)
	case capabilities:
		if len(value) >= 4 {
			n.Capabilities = nil
			for bit, name := range capabilityNames {
				if binary.BigEndian.Uint16(value[2:])>>bit&1 == 1 {
					n.Capabilities = append(n.Capabilities, name)
				}
			}
		}
	case address: // length, family (1: IPv4, 2: IPv6), address
		if len(value) > 2 && int(value[0]) < len(value) && len(n.Addresses) < mostAddresses {
			if a, is := netip.AddrFromSlice(value[2 : 1+max(1, int(value[0]))]); is {
				n.Addresses = append(n.Addresses, a.String())
			}
		}
	case organisation:
		if len(value) >= 4 {
			addOrganisation(n, [4]byte(value), value[4:])
		}
	}
}

// addOrganisation adds TLVs of IEEE 802.1 (annex D) and IEEE 802.3 (annex F).
func addOrganisation(n *netstate.LLDPNeighbour, kind [4]byte, value []byte) {
	const mostVLAN = 4094
	switch kind {
	case [4]byte{0, 0x80, 0xc2, 1}: // port VLAN
		if len(value) >= 2 && binary.BigEndian.Uint16(value) <= mostVLAN {
			n.PVID = int(binary.BigEndian.Uint16(value))
		}
	case [4]byte{0, 0x80, 0xc2, 3}: // VLAN name
		if len(value) >= 2 {
			if id := int(binary.BigEndian.Uint16(value)); id >= 1 && id <= mostVLAN && len(n.VLANs) < mostVLANs &&
				!slices.Contains(n.VLANs, id) {
				n.VLANs = append(n.VLANs, id)
			}
		}
	case [4]byte{0, 0x12, 0x0f, 4}: // maximum frame size
		if len(value) >= 2 {
			n.MFS = int(binary.BigEndian.Uint16(value))
		}
	}
}

// identifier returns that of a chassis or a port, behind its subtype.
func identifier(value []byte, mac, network byte) string {
	if len(value) < 2 {
		return ""
	}
	switch of := value[1:]; {
	case value[0] == mac && len(of) == 6:
		return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", of[0], of[1], of[2], of[3], of[4], of[5])
	case value[0] == mac:
		return ""
	case value[0] == network:
		a, _ := netip.AddrFromSlice(of[1:])
		if !a.IsValid() {
			return ""
		}
		return a.String()
	default:
		return text(of)
	}
}

// text returns a text of a neighbour for display. Empty: it has none.
func text(value []byte) string {
	shown := strings.TrimSpace(plain.Short(strings.ToValidUTF8(strings.TrimRight(string(value), "\x00"), "?"),
		longestText))
	if !syntax.Words.Fits(shown) {
		return ""
	}
	return shown
}

// Make returns a frame without its Ethernet header: a system with this name, of which the chassis is
// identified by a MAC address, and a port with this name. lives is its time to live in seconds.
func Make(mac [6]byte, system, name string, lives uint16) []byte {
	var pdu []byte
	tlv := func(kind int, value ...byte) {
		value = value[:min(len(value), 255)]
		pdu = append(binary.BigEndian.AppendUint16(pdu, uint16(kind<<9|len(value))), value...)
	}
	tlv(chassis, append([]byte{4}, mac[:]...)...)
	tlv(port, append([]byte{5}, name...)...)
	tlv(ttl, byte(lives>>8), byte(lives))
	tlv(systemName, []byte(system)...)
	tlv(capabilities, 0, 0x14, 0, 0x14) // bridge and router
	tlv(end)
	return pdu
}
