package pcapfile

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// Types of blocks; others are skipped.
const (
	sectionHeader        = "\x0a\x0d\x0d\x0a" // the same in both byte orders
	interfaceDescription = 1
	obsoletePacket       = 2
	simplePacket         = 3
	enhancedPacket       = 6
)

// pcapng reads files of Wireshark's format, whose blocks each begin and end with their length.
type pcapng struct {
	*Reader
	order      binary.ByteOrder // of the section
	interfaces []device
}

// device is an interface on which packets of a section were captured.
type device struct {
	link   LinkType
	snap   uint32 // maximum size of captured packets; 0: unlimited
	unit   uint64 // timestamps per second
	offset int64  // added to timestamps, in seconds
	fcs    bool
}

const (
	blockHeader  = 8 // type and length
	blockTrailer = 4 // the length again
	packetHeader = 20
)

func (n *pcapng) read() (Packet, error) {
	for {
		b, err := n.Reader.read(blockHeader, 0, false, true)
		if err != nil {
			return Packet{}, err
		}
		if string(b[:4]) == sectionHeader {
			if err := n.section(binary.LittleEndian.Uint32(b[4:])); err != nil {
				return Packet{}, err
			}
			continue
		}
		kind, total := n.order.Uint32(b), n.order.Uint32(b[4:])
		if total < blockHeader+blockTrailer || total > math.MaxInt32 {
			return Packet{}, n.damage("a block would have %d bytes", total)
		}
		inPacket := kind == enhancedPacket || kind == simplePacket || kind == obsoletePacket
		// Some writers do not count the padding.
		size := (int(total) - blockHeader - blockTrailer + 3) &^ 3
		switch {
		case inPacket || kind == interfaceDescription:
			if size > mostPacket+mostOptions {
				return Packet{}, n.damage("a block would have %d bytes", total)
			}
			b, err = n.Reader.read(size+blockTrailer, 0, inPacket, false)
		default:
			if err = n.skip(size, blockTrailer); err == nil {
				b, err = n.Reader.read(blockTrailer, 0, false, false)
			}
		}
		if err != nil {
			return Packet{}, err
		}
		body, again := b[:len(b)-blockTrailer], n.order.Uint32(b[len(b)-blockTrailer:])
		if again != total {
			return Packet{}, n.damage("a block begins with a length of %d and ends with %d", total, again)
		}
		switch {
		case inPacket:
			return n.packet(kind, body)
		case kind == interfaceDescription:
			if err := n.describe(body); err != nil {
				return Packet{}, err
			}
		}
		if n.between > mostBetween {
			return Packet{}, n.damage("more than %d bytes without a frame", mostBetween)
		}
	}
}

// section begins a section. Its length is known in little-endian order only.
func (n *pcapng) section(length uint32) error {
	const fixed = 16 // byte order, version, length of the section
	b, err := n.Reader.read(fixed, 0, false, false)
	if err != nil {
		return err
	}
	const byteOrder = 0x1a2b3c4d
	n.order = binary.LittleEndian
	if binary.BigEndian.Uint32(b) == byteOrder {
		n.order, length = binary.BigEndian, bits.ReverseBytes32(length)
	}
	major, minor := n.order.Uint16(b[4:]), n.order.Uint16(b[6:])
	switch {
	case n.order.Uint32(b) != byteOrder:
		return n.damage("a section without a valid byte order")
	case major != 1:
		return n.damage("a section of version %d.%d: expected 1.0", major, minor)
	case length < blockHeader+fixed+blockTrailer || length > math.MaxInt32:
		return n.damage("a block would have %d bytes", length)
	}
	n.interfaces = n.interfaces[:0]
	if err := n.skip(int(length+3)&^3-blockHeader-fixed-blockTrailer, blockTrailer); err != nil {
		return err
	}
	_, err = n.Reader.read(blockTrailer, 0, false, false)
	return err
}

// describe adds an interface to the section.
func (n *pcapng) describe(b []byte) error {
	const fixed = 8
	switch {
	case len(b) < fixed:
		return n.damage("the description of an interface is too short")
	case len(n.interfaces) == mostInterfaces:
		return n.damage("a section with more than %d interfaces", mostInterfaces)
	}
	d := device{link: LinkType(n.order.Uint16(b)), snap: n.order.Uint32(b[4:]), unit: 1e6}
	const resolution, fcs, offset = 9, 13, 14
	for code, v := range n.options(b[fixed:]) {
		switch {
		case code == resolution && len(v) >= 1:
			exponent := v[0] & 0x7f
			if v[0]&0x80 != 0 && exponent < 64 {
				d.unit = 1 << exponent
			} else if v[0]&0x80 == 0 && exponent < 20 {
				d.unit = 1
				for range exponent {
					d.unit *= 10
				}
			} else {
				return n.damage("an interface with a resolution of time of %#x", v[0])
			}
		case code == fcs && len(v) >= 1:
			d.fcs = v[0] != 0 // in bits by the draft, in bytes by its example and some writers
		case code == offset && len(v) >= 8:
			d.offset = int64(n.order.Uint64(v))
		}
	}
	n.interfaces = append(n.interfaces, d)
	return nil
}

// packet returns the packet of a block.
func (n *pcapng) packet(kind uint32, b []byte) (p Packet, err error) {
	var number, captured uint32
	var stamp uint64
	switch {
	case kind == simplePacket && len(b) >= 4:
		captured = n.order.Uint32(b)
		p.Length, b = onLink(captured, captured), b[4:]
		if len(n.interfaces) > 0 && n.interfaces[0].snap != 0 {
			captured = min(captured, n.interfaces[0].snap)
		}
		captured = min(captured, uint32(len(b)))
	case kind != simplePacket && len(b) >= packetHeader:
		number = n.order.Uint32(b)
		if kind == obsoletePacket {
			number = uint32(n.order.Uint16(b))
		}
		stamp = uint64(n.order.Uint32(b[4:]))<<32 | uint64(n.order.Uint32(b[8:]))
		captured = n.order.Uint32(b[12:])
		p.Length, b = onLink(captured, n.order.Uint32(b[16:])), b[packetHeader:]
	default:
		return p, n.damage("a block with a frame has %d bytes", len(b))
	}
	switch {
	case uint64(number) >= uint64(len(n.interfaces)):
		return p, n.damage("the next one is of interface %d, of which the section has %d", number, len(n.interfaces))
	case uint64(captured) > uint64(len(b)) || captured > mostPacket:
		return p, n.damage("the next one would have %d bytes in a block of %d", captured, len(b))
	}
	d := n.interfaces[number]
	p.Data, p.Link, p.FCS = b[:captured], d.link, d.fcs
	if kind == simplePacket {
		return p, nil
	}
	high, low := bits.Mul64(stamp%d.unit, 1e9)
	fraction, _ := bits.Div64(high, low, d.unit)
	p.At = time.Unix(int64(stamp/d.unit)+d.offset, int64(fraction))
	const flags = 2
	for code, v := range n.options(b[min(int(captured+3)&^3, len(b)):]) {
		// The length of the check sequence in bytes; 0: that of the interface.
		if code == flags && len(v) >= 4 && n.order.Uint32(v)>>5&15 != 0 {
			p.FCS = true
		}
	}
	return p, nil
}

// options iterates over the options of a block by their codes. An invalid one ends it.
func (n *pcapng) options(b []byte) func(yield func(code uint16, value []byte) bool) {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= 4 {
			code, size := n.order.Uint16(b), int(n.order.Uint16(b[2:]))
			b = b[4:]
			if code == 0 || size > len(b) || !yield(code, b[:size]) {
				return
			}
			b = b[min((size+3)&^3, len(b)):]
		}
	}
}
