package attack

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/host/frames"
	"linerate/internal/model/attacks"
	"linerate/internal/model/checksum"
	"linerate/internal/model/message"
)

var (
	path4 = frames.Path{Local: netip.MustParseAddrPort("10.0.0.1:40000"), Remote: netip.MustParseAddrPort("10.0.0.2:9"),
		MTU: 1500, Interface: "near",
		From: [6]byte{2, 0, 0, 0, 0, 1}, To: [6]byte{2, 0, 0, 0, 0, 2}}
	path6 = frames.Path{Local: netip.MustParseAddrPort("[2001:db8::1]:40000"),
		Remote: netip.MustParseAddrPort("[2001:db8:1::2]:9"), MTU: 1500, Interface: "near",
		From: path4.From, To: path4.To}
)

// requestOf is an attack of a kind with its defaults.
func requestOf(k attacks.Kind, six bool) (message.AttackRequest, frames.Path) {
	s := attacks.Spec{Kind: k.Name}
	r := message.AttackRequest{Kind: k.Name, Target: netip.MustParseAddrPort("10.0.0.2:80"),
		Network: netip.MustParsePrefix("10.0.0.0/24"), PerSecond: s.PerSecond(),
		Sources: s.SourcesOf(six), Payload: s.Payload(), Seed: [2]uint64{7, 8}}
	if k.Name == attacks.ARPSpoofing {
		r.Claimed = netip.MustParseAddr("10.0.0.3")
	}
	if !six {
		return r, path4
	}
	r.Target, r.Network = netip.MustParseAddrPort("[2001:db8:1::2]:80"), netip.MustParsePrefix("2001:db8:1::/64")
	return r, path6
}

// families are those that a kind of frames has.
func families(k attacks.Kind) (list []bool) {
	for _, six := range []bool{false, true} {
		if !k.Connects && (k.Family == 0 || k.Family == 6 == six) {
			list = append(list, six)
		}
	}
	return list
}

// folded is the checksum's sum of parts, all but the last of which have an even size.
func folded(parts ...[]byte) uint16 {
	s := uint64(0)
	for _, b := range parts {
		s += checksum.Sum(b)
	}
	return checksum.Fold(s)
}

// decoded is a frame taken apart.
type decoded struct {
	source, destination netip.Addr
	protocol            int
	fragment            bool
	ip, rest            []byte
}

func apart(t *testing.T, b []byte) decoded {
	t.Helper()
	p := decoded{}
	switch binary.BigEndian.Uint16(b[12:]) {
	case typeIPv4:
		h := b[ethernet:]
		length := int(binary.BigEndian.Uint16(h[2:]))
		if h[0] != 0x45 || length > len(h) || len(h) > length && len(b) > leastBytes {
			t.Fatalf("IPv4 of %d bytes in % x", length, b)
		}
		p.ip, p.rest, p.protocol = h[:ipv4], h[ipv4:length], int(h[9])
		if folded(p.ip) != 0xffff {
			t.Fatalf("wrong sum of the IPv4 header % x", p.ip)
		}
		p.source, p.destination = netip.AddrFrom4([4]byte(h[12:])), netip.AddrFrom4([4]byte(h[16:]))
		p.fragment = binary.BigEndian.Uint16(h[6:])&0x3fff != 0
	case typeIPv6:
		h := b[ethernet:]
		length := int(binary.BigEndian.Uint16(h[4:]))
		if h[0]>>4 != 6 || ipv6+length > len(h) {
			t.Fatalf("IPv6 of %d bytes in % x", length, b)
		}
		p.ip, p.rest, p.protocol = h[:ipv6], h[ipv6:ipv6+length], int(h[6])
		p.source, p.destination = netip.AddrFrom16([16]byte(h[8:])), netip.AddrFrom16([16]byte(h[24:]))
		if p.protocol == protocolFragment {
			p.fragment, p.protocol = true, int(p.rest[0])
		}
	default:
		t.Fatalf("no IP: % x", b)
	}
	return p
}

// sound checks the checksum behind the IP header, with the pseudo-header (RFC 9293, section
// 3.1; RFC 8200, section 8.1).
func (p decoded) sound() bool {
	if p.fragment {
		return true // of a whole that there is not
	}
	length := binary.BigEndian.AppendUint32(nil, uint32(len(p.rest)))
	pseudo := [][]byte{p.source.AsSlice(), p.destination.AsSlice(), length, {0, byte(p.protocol)}}
	if p.protocol == protocolICMP {
		pseudo = nil
	}
	return folded(append(pseudo, p.rest)...) == 0xffff
}

// TestFrames: frames of every kind have right checksums and go to the target; their sources
// are drawn from the network given, and are the same with the same seed and others with
// another.
func TestFrames(t *testing.T) {
	for _, k := range attacks.Kinds {
		for _, six := range families(k) {
			r, path := requestOf(k, six)
			m, err := newMaker(r, path)
			if err != nil {
				t.Errorf("%s: %v", k.Name, err)
				continue
			}
			again, _ := newMaker(r, path)
			r.Seed[1]++
			other, _ := newMaker(r, path)
			sources, same := map[netip.Addr]bool{}, 0
			const frames = 2000
			for range frames {
				b, b2, b3 := make([]byte, m.size), make([]byte, m.size), make([]byte, m.size)
				m.write(b)
				again.write(b2)
				other.write(b3)
				if !bytes.Equal(b, b2) {
					t.Fatalf("%s: with one seed\n% x and\n% x", k.Name, b, b2)
				}
				if bytes.Equal(b, b3) {
					same++
				}
				if len(b) < leastBytes || string(b[6:12]) != string(path.From[:]) {
					t.Fatalf("%s: % x", k.Name, b)
				}
				if k.Family == 4 { // ARP
					continue
				}
				p := apart(t, b)
				if !p.sound() {
					t.Fatalf("%s: wrong checksum: % x", k.Name, b)
				}
				if !r.Sources.Contains(p.source) ||
					(p.destination != r.Target.Addr()) != (k.Name == attacks.NDExhaustion) ||
					!r.Network.Contains(p.destination) {
					t.Fatalf("%s: from %s to %s", k.Name, p.source, p.destination)
				}
				if port := binary.BigEndian.Uint16(p.rest[2:]); k.Transport != "" && port != r.Target.Port() {
					t.Fatalf("%s: to port %d", k.Name, port)
				}
				if fragmented := strings.Contains(k.Name, "fragments"); p.fragment != fragmented {
					t.Fatalf("%s: fragment %t", k.Name, p.fragment)
				}
				sources[p.source] = true
			}
			switch {
			case k.Name == attacks.ARPSpoofing:
			case same > frames/10:
				t.Errorf("%s: %d of %d frames are the same with another seed", k.Name, same, frames)
			case k.Random && len(sources) < frames/3:
				t.Errorf("%s: %d sources", k.Name, len(sources))
			}
		}
	}
}

// TestOverlap: of two fragments of a packet the second begins within the first.
func TestOverlap(t *testing.T) {
	k, _ := attacks.Find(attacks.OverlappingFragments)
	for _, six := range families(k) {
		r, path := requestOf(k, six)
		m, err := newMaker(r, path)
		if err != nil {
			t.Fatal(err)
		}
		identifications := map[uint32]bool{}
		for range 100 {
			first, second := make([]byte, m.size), make([]byte, m.size)
			m.write(first)
			m.write(second)
			of := func(b []byte) (identification uint32, offset int) {
				p := apart(t, b)
				if six {
					return binary.BigEndian.Uint32(p.rest[4:]), int(binary.BigEndian.Uint16(p.rest[2:]) &^ 7)
				}
				return uint32(binary.BigEndian.Uint16(p.ip[4:])), int(binary.BigEndian.Uint16(p.ip[6:])&0x1fff) * 8
			}
			a, from := of(first)
			b, to := of(second)
			if a != b || from != 0 || to <= 0 || to >= r.Payload || apart(t, first).source != apart(t, second).source {
				t.Fatalf("fragments %d at %d and %d at %d, of %d bytes", a, from, b, to, r.Payload)
			}
			identifications[a] = true
		}
		if len(identifications) < 90 {
			t.Errorf("%d packets", len(identifications))
		}
	}
}

// TestARP: requests of a storm are broadcasts for addresses that no host has, and replies of
// spoofing claim another host's address for the attacker's MAC address.
func TestARP(t *testing.T) {
	k, _ := attacks.Find(attacks.ARPStorm)
	r, path := requestOf(k, false)
	r.Network = netip.MustParsePrefix("10.0.0.0/29")
	r.Taken = []netip.Addr{netip.MustParseAddr("10.0.0.3")}
	m, err := newMaker(r, path)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for range 200 {
		b := make([]byte, m.size)
		m.write(b)
		if b[0] != 0xff || binary.BigEndian.Uint16(b[12:]) != typeARP || b[21] != 1 ||
			netip.AddrFrom4([4]byte(b[28:])) != path.Local.Addr() {
			t.Fatalf("% x", b)
		}
		asked[netip.AddrFrom4([4]byte(b[38:])).String()] = true
	}
	if want := []string{"10.0.0.4", "10.0.0.5", "10.0.0.6"}; len(asked) != len(want) ||
		slices.ContainsFunc(want, func(a string) bool { return !asked[a] }) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
	r.Network = netip.MustParsePrefix("10.0.0.0/30")
	if _, err := newMaker(r, path); err == nil {
		t.Error("a network without a free address is accepted")
	}
	k, _ = attacks.Find(attacks.ARPSpoofing)
	r, path = requestOf(k, false)
	if m, err = newMaker(r, path); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, m.size)
	m.write(b)
	if string(b[:6]) != string(path.To[:]) || b[21] != 2 || string(b[22:28]) != string(path.From[:]) ||
		netip.AddrFrom4([4]byte(b[28:])) != r.Claimed || netip.AddrFrom4([4]byte(b[38:])) != r.Target.Addr() {
		t.Errorf("% x", b)
	}
}

// TestMakerRefuses: what cannot be made.
func TestMakerRefuses(t *testing.T) {
	k, _ := attacks.Find(attacks.SYNFlood)
	good, path := requestOf(k, false)
	for want, spoil := range map[string]func(*message.AttackRequest, *frames.Path){
		"not made of frames": func(r *message.AttackRequest, _ *frames.Path) { r.Kind = attacks.Slowloris },
		"of no network":      func(r *message.AttackRequest, _ *frames.Path) { r.Sources = netip.Prefix{} },
		"other version": func(r *message.AttackRequest, _ *frames.Path) {
			r.Sources = netip.MustParsePrefix("2001:2::/48")
		},
		"MTU of 1000": func(r *message.AttackRequest, p *frames.Path) {
			r.Kind, r.Payload, p.MTU = attacks.UDPFlood, 1400, 1000
		},
	} {
		r, p := good, path
		spoil(&r, &p)
		if _, err := newMaker(r, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
