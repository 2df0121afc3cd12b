package replay

import (
	"encoding/binary"
	"hash/crc32"

	"linerate/internal/host/replay/pcapfile"
	"linerate/internal/model/record"
)

// fcsBytes is the size of Ethernet's frame check sequence.
const fcsBytes = 4

// Headers of link types, in bytes.
const (
	nullHeader        = 4
	sllHeader         = 16
	sll2Header        = 20
	netAnalyzerHeader = 4
	leastPktap        = 12 // of the fields that are read
)

// strip returns the Ethernet frame of a packet, from its header on; if it has none, also a header without
// addresses. length is that of the frame on the link, and fcs whether a check sequence is announced. ok is false
// if the packet is neither Ethernet nor IP.
func strip(p pcapfile.Packet) (header, payload []byte, length int, fcs, ok bool) {
	b, link := p.Data, p.Link
	if link == pcapfile.Pktap {
		if len(b) < leastPktap {
			return nil, nil, 0, false, false
		}
		// The byte order is that of the capturing host, of which there are only little-endian ones any more.
		skip := binary.LittleEndian.Uint32(b)
		link = pcapfile.LinkType(binary.LittleEndian.Uint32(b[8:]))
		if skip < leastPktap || uint64(skip) > uint64(len(b)) || link == pcapfile.Pktap {
			return nil, nil, 0, false, false
		}
		b = b[skip:]
	}
	size, kind := 0, uint16(0)
	switch {
	case link == pcapfile.Ethernet:
		return nil, b, p.Length - len(p.Data) + len(b), p.FCS, true
	case link == pcapfile.NetAnalyzer && len(b) >= netAnalyzerHeader:
		b = b[netAnalyzerHeader:]
		return nil, b, p.Length - len(p.Data) + len(b), true, true
	case link.IsIP():
		kind = version(b)
	case link == pcapfile.Null, link == pcapfile.Loop:
		size = nullHeader
		kind = version(b[min(size, len(b)):])
	case link == pcapfile.SLL && len(b) >= sllHeader:
		size, kind = sllHeader, binary.BigEndian.Uint16(b[14:])
	case link == pcapfile.SLL2 && len(b) >= sll2Header:
		size, kind = sll2Header, binary.BigEndian.Uint16(b)
	}
	const leastType = 0x600 // smaller values are of Linux (linux/if_ether.h)
	if kind < leastType {
		return nil, nil, 0, false, false
	}
	header = binary.BigEndian.AppendUint16(make([]byte, ethernet-2, ethernet), kind)
	return header, b[size:], p.Length - len(p.Data) + len(b) - size, p.FCS, true
}

// version returns the EtherType of an IP packet; 0 if it is none.
func version(b []byte) uint16 {
	switch {
	case len(b) > 0 && b[0]>>4 == 4:
		return ethernetIPv4
	case len(b) > 0 && b[0]>>4 == 6:
		return ethernetIPv6
	}
	return 0
}

// checkSequence returns why a frame has a check sequence to be removed; empty if it has none. A frame that ends in
// a valid one has it even if that is not announced: by chance, one in 2^32 would. One whose IP packet takes all of
// it has none even if that is announced, as frames that the capturing host sent.
func checkSequence(header, payload []byte, length int, announced bool) record.ReplayCode {
	complete, valid := len(payload) == length && header == nil && length >= ethernet+fcsBytes, false
	if complete {
		n := length - fcsBytes
		valid = crc32.ChecksumIEEE(payload[:n]) == binary.LittleEndian.Uint32(payload[n:])
	}
	switch {
	case valid && announced:
		return record.ReplayFCS
	case valid:
		return record.ReplayFCSFound
	case announced && complete:
		if h := parse(payload); h.ip != 0 && !h.cut && h.end > length-fcsBytes {
			return ""
		}
		return record.ReplayFCSWrong
	case announced:
		return record.ReplayFCS
	}
	return ""
}
