package pcapfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// pcap reads files of tcpdump's format.
type pcap struct {
	*Reader
	order   binary.ByteOrder
	record  int           // size of the header of a packet
	unit    time.Duration // of the fraction of its time
	swapped bool          // whether its lengths may be in the other order (libpcap before 0.4)
	link    LinkType
	fcs     bool
}

// Magic numbers, in the writer's byte order.
const (
	magic         = 0xa1b2c3d4
	magicNano     = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // Kuznetsov's: headers of packets are longer, with the interface
)

const (
	fileHeader     = 24
	recordHeader   = 16
	modifiedHeader = 24
)

// openPcap reads the header of a file that has these first bytes.
func openPcap(r *Reader, begin []byte) (*pcap, error) {
	p := &pcap{Reader: r, record: recordHeader, unit: time.Microsecond}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if len(begin) < 4 {
			break
		}
		switch order.Uint32(begin) {
		case magicModified:
			p.record = modifiedHeader
		case magicNano:
			p.unit = time.Nanosecond
		case magic:
		default:
			continue
		}
		p.order = order
	}
	if p.order == nil {
		return nil, unknown(begin)
	}
	b, err := r.read(fileHeader, 0, false, false)
	if err != nil {
		return nil, fmt.Errorf("the file has no frame: it ends in the header of a pcap file: %w", err)
	}
	major, minor := p.order.Uint16(b[4:]), p.order.Uint16(b[6:])
	if major != 2 {
		return nil, fmt.Errorf("a pcap file of version %d.%d: expected 2.4", major, minor)
	}
	p.swapped = minor <= 3
	// The length of the check sequence counts words of 16 bits.
	link := p.order.Uint32(b[20:])
	p.link, p.fcs = LinkType(link&0xffff), link&0x0400_0000 != 0 && link>>28 != 0
	return p, nil
}

func (p *pcap) read() (Packet, error) {
	b, err := p.Reader.read(p.record, 0, true, true)
	if err != nil {
		return Packet{}, err
	}
	seconds, fraction := p.order.Uint32(b), p.order.Uint32(b[4:])
	captured, length := p.order.Uint32(b[8:]), p.order.Uint32(b[12:])
	if p.swapped && captured > length {
		captured, length = length, captured
	}
	switch {
	case captured > mostPacket:
		return Packet{}, p.damage("the next one would have %d bytes", captured)
	case len(bytes.Trim(b, "\x00")) == 0:
		return Packet{}, p.damage("it has only zeros there, as after a crash or on a full disk")
	}
	data, err := p.Reader.read(int(captured), 0, true, false)
	if err != nil {
		return Packet{}, err
	}
	return Packet{Data: data, Length: onLink(captured, length), Link: p.link, FCS: p.fcs,
		At: time.Unix(int64(seconds), int64(fraction)*int64(p.unit))}, nil
}
