// Package frames builds the Ethernet frames of a flow of UDP datagrams and finds where they go.
//
// A frame has Ethernet, IP and UDP headers (RFC 894, RFC 791 or RFC 8200, RFC 768) with full checksums, so that
// a receiver's kernel drops frames altered on the way. The route of this host gives the interface and the
// current neighbour entry the MAC address; later changes of either have no effect.
//
// It transmits nothing (package packet of internal/kernel does) and keeps no pace.
package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"linerate/internal/model/checksum"
)

// HeaderBytes is the size of the header at the start of each payload.
const HeaderBytes = 16

// Path has the addresses of frames between two ends.
type Path struct {
	Local, Remote netip.AddrPort
	Interface     string
	MTU           int
	From, To      [6]byte // MAC addresses; To is the next hop's
}

// Options describes the frames of a flow.
type Options struct {
	// Payloads lists the sizes of UDP payload that frames cycle through; each is at least HeaderBytes.
	Payloads []int
	// Tuples is the number of address and port combinations that frames cycle through; 0: one. Source ports
	// vary first, from 1024 on, beginning with the path's own; then source addresses.
	Tuples int
	// Destinations is the prefix whose addresses frames cycle through instead of the path's remote address, at
	// most MostDestinations, evenly spaced; zero: the path's.
	Destinations netip.Prefix
	// TrafficClass is the byte of DSCP and ECN.
	TrafficClass byte
	// Fill is the payload behind the header; it is repeated as needed.
	Fill []byte
}

// MostDestinations is the maximum number of addresses used from a prefix.
const MostDestinations = 1 << 20

// Sizes and offsets of headers.
const (
	ethernet, ipv4, ipv6, udp = 14, 20, 40, 8

	lowestPort = 1024
	ports      = 1<<16 - lowestPort
	hops       = 64 // time to live, hop limit
	protocol   = 17
)

// Networks for benchmarks, for source addresses other than the flow's own (RFC 2544, appendix C.2.2; RFC 5180,
// section 8).
var (
	source4 = netip.MustParseAddr("198.18.0.0")
	source6 = netip.MustParseAddr("2001:2::")
)

// Maker builds a flow's frames. The zero value is not usable. It is not safe for concurrent use.
type Maker struct {
	path      Path
	templates []template // used in turn
	tuples    uint64
	to        spread
	ip        int   // size of the IP header
	round     int64 // payload of one round of templates
}

// template is a frame with a zero header and without checksums.
type template struct {
	bytes   []byte
	payload int
	ip      uint64 // sum of IPv4's header
	udp     uint64 // sum of the pseudo-header, UDP's and the payload
}

// New returns a maker. It fails if a payload has no room for its header, or if a frame exceeds the path's MTU.
func New(p Path, o Options) (*Maker, error) {
	m := &Maker{path: p, tuples: uint64(max(1, o.Tuples)), to: spreadOver(o.Destinations), ip: ipv4}
	if p.Remote.Addr().Is6() {
		m.ip = ipv6
	}
	if len(o.Payloads) == 0 || len(o.Fill) == 0 {
		return nil, errors.New("frames have no payload")
	}
	made := map[int]template{}
	for _, payload := range o.Payloads {
		switch whole := ethernet + m.ip + udp + payload; {
		case payload < HeaderBytes:
			return nil, fmt.Errorf("a frame of %d bytes has no room for %d bytes of payload: expected %d at least",
				whole+4, HeaderBytes, whole-payload+HeaderBytes+4)
		case p.MTU != 0 && m.ip+udp+payload > p.MTU:
			return nil, fmt.Errorf("a frame of %d bytes is longer than the MTU of %d of %s allows, %d", whole+4, p.MTU,
				p.Interface, p.MTU+ethernet+4)
		}
		t, there := made[payload]
		if !there {
			t = m.template(payload, o)
			made[payload] = t
		}
		m.templates = append(m.templates, t)
		m.round += int64(payload)
	}
	return m, nil
}

func (m *Maker) template(payload int, o Options) template {
	b := make([]byte, ethernet+m.ip+udp+payload)
	copy(b, m.path.To[:])
	copy(b[6:], m.path.From[:])
	h, u := b[ethernet:], b[ethernet+m.ip:]
	t := template{bytes: b, payload: payload}
	big := binary.BigEndian
	if m.ip == ipv4 {
		big.PutUint16(b[12:], 0x0800)
		h[0], h[1], h[8], h[9] = 0x45, o.TrafficClass, hops, protocol
		big.PutUint16(h[2:], uint16(ipv4+udp+payload))
		big.PutUint16(h[6:], 0x4000) // don't fragment
	} else {
		big.PutUint16(b[12:], 0x86dd)
		big.PutUint32(h, 6<<28|uint32(o.TrafficClass)<<20)
		big.PutUint16(h[4:], uint16(udp+payload))
		h[6], h[7] = protocol, hops
	}
	local, remote := m.path.Local.Addr().AsSlice(), m.path.Remote.Addr().AsSlice()
	copy(h[m.addresses():], local)
	copy(h[m.addresses()+len(local):], remote)
	t.ip = checksum.Sum(h[:m.ip]) - checksum.Sum(local) - checksum.Sum(remote)
	big.PutUint16(u[2:], m.path.Remote.Port())
	big.PutUint16(u[4:], uint16(udp+payload))
	for rest := u[udp+HeaderBytes:]; len(rest) > 0; {
		rest = rest[copy(rest, o.Fill):]
	}
	t.udp = checksum.Sum(u) + protocol + udp + uint64(payload)
	return t
}

// addresses returns the offset of the addresses in the IP header.
func (m *Maker) addresses() int {
	if m.ip == ipv4 {
		return 12
	}
	return 8
}

// Bytes returns the size of the frame with this number, without its check sequence.
func (m *Maker) Bytes(number uint64) int { return len(m.of(number).bytes) }

// Most returns the size of the largest frame.
func (m *Maker) Most() (bytes int) {
	for _, t := range m.templates {
		bytes = max(bytes, len(t.bytes))
	}
	return bytes
}

// Payload returns the total UDP payload of the first frames frames.
func (m *Maker) Payload(frames int64) int64 {
	turns, rest := frames/int64(len(m.templates)), frames%int64(len(m.templates))
	sum := turns * m.round
	for _, t := range m.templates[:rest] {
		sum += int64(t.payload)
	}
	return sum
}

func (m *Maker) of(number uint64) *template { return &m.templates[number%uint64(len(m.templates))] }

// Make writes the frame with this number to b, whose length is Bytes(number). put writes the header of its
// payload.
func (m *Maker) Make(b []byte, number uint64, put func(header []byte)) {
	t := m.of(number)
	copy(b, t.bytes)
	tuple := number % m.tuples
	port := uint64(m.path.Local.Port())
	if tuple > 0 {
		port = lowestPort + (port+ports-lowestPort+tuple)%ports
	}
	h, u := b[ethernet:], b[ethernet+m.ip:]
	address := h[m.addresses() : (m.ip+m.addresses())/2] // the source address
	if further := uint32(tuple / ports); further > 0 {
		base := source4
		if m.ip == ipv6 {
			base = source6
		}
		copy(address, base.AsSlice())
		last := address[len(address)-4:]
		binary.BigEndian.PutUint32(last, binary.BigEndian.Uint32(last)+further)
	}
	destination := h[(m.ip+m.addresses())/2 : m.ip]
	m.to.put(destination, number)
	addresses := checksum.Sum(address) + checksum.Sum(destination)
	if m.ip == ipv4 {
		binary.BigEndian.PutUint16(h[10:], ^checksum.Fold(t.ip+addresses))
	}
	binary.BigEndian.PutUint16(u, uint16(port))
	put(u[udp : udp+HeaderBytes])
	check := ^checksum.Fold(t.udp + addresses + port + checksum.Sum(u[udp:udp+HeaderBytes]))
	if check == 0 {
		check = 0xffff // 0 means that there is no checksum
	}
	binary.BigEndian.PutUint16(u[6:], check)
}

// spread is a series of addresses at equal distances; the zero value has none.
type spread struct {
	last        uint32 // last four bytes of the first address
	count, step uint64
}

// spreadOver returns addresses of p that differ in their last four bytes only.
func spreadOver(p netip.Prefix) spread {
	if !p.IsValid() {
		return spread{}
	}
	bits := min(32, p.Addr().BitLen()-p.Bits())
	first := p.Masked().Addr().AsSlice()
	s := spread{last: binary.BigEndian.Uint32(first[len(first)-4:]), count: 1 << bits, step: 1}
	if s.count > MostDestinations {
		s.count, s.step = MostDestinations, s.count/MostDestinations
	}
	return s
}

// put overwrites address with that of the frame with this number.
func (s spread) put(address []byte, number uint64) {
	if s.count > 1 {
		binary.BigEndian.PutUint32(address[len(address)-4:], s.last+uint32(number%s.count*s.step))
	}
}

// mac parses an Ethernet address.
func mac(text string) (address [6]byte, ok bool) {
	a, err := net.ParseMAC(text)
	return [6]byte(append(a, address[:]...)), err == nil && len(a) == len(address)
}
