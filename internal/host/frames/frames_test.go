package frames

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
)

var (
	path4 = Path{Local: netip.MustParseAddrPort("10.0.0.1:40000"), Remote: netip.MustParseAddrPort("10.0.0.2:5202"),
		MTU:  1500,
		From: [6]byte{2, 0, 0, 0, 0, 1}, To: [6]byte{2, 0, 0, 0, 0, 2}}
	path6 = Path{Local: netip.MustParseAddrPort("[2001:db8::1]:40000"),
		Remote: netip.MustParseAddrPort("[2001:db8::2]:5202"), MTU: 1500}
)

// slowSum adds up words of 16 bits, as RFC 1071 describes it.
func slowSum(parts ...[]byte) uint16 {
	s := uint32(0)
	for _, b := range parts {
		for i := range b {
			word := uint32(b[i])
			if i%2 == 0 {
				word <<= 8
			}
			s += word
			s = s>>16 + s&0xffff
		}
	}
	return uint16(s)
}

// TestChecksums: of every size, and of every combination of addresses and ports, what a
// receiver adds up comes to the sum that says that nothing was altered.
func TestChecksums(t *testing.T) {
	fill := []byte{1, 2, 3, 0xfe, 0xff, 7, 0x80}
	for _, p := range []Path{path4, path6} {
		m, err := New(p, Options{Payloads: []int{16, 17, 18, 19, 1000, 1452}, Tuples: 200_000, Fill: fill})
		if err != nil {
			t.Fatal(err)
		}
		tuples := map[string]bool{}
		for number := uint64(0); number < 200_000; number += 7 {
			b := make([]byte, m.Bytes(number))
			m.Make(b, number, func(h []byte) {
				binary.BigEndian.PutUint64(h, number)
				binary.BigEndian.PutUint64(h[8:], ^number)
			})
			ip, datagram := b[ethernet:ethernet+m.ip], b[ethernet+m.ip:]
			addresses := ip[m.addresses():]
			length := binary.BigEndian.AppendUint16(nil, uint16(len(datagram)))
			if m.ip == ipv4 && slowSum(ip) != 0xffff {
				t.Fatalf("frame %d: wrong sum of IPv4's header: % x", number, ip)
			}
			if slowSum(addresses, length, []byte{0, protocol}, datagram) != 0xffff ||
				binary.BigEndian.Uint16(datagram[6:]) == 0 {
				t.Fatalf("frame %d: wrong sum of UDP: % x", number, datagram)
			}
			if number == 0 && (string(addresses[:len(addresses)/2]) != string(p.Local.Addr().AsSlice()) ||
				binary.BigEndian.Uint16(datagram) != p.Local.Port()) {
				t.Errorf("the first frame is not from the flow's own end: % x", b)
			}
			tuples[string(addresses)+string(datagram[:4])] = true
		}
		if want := (200_000 + 6) / 7; len(tuples) != want {
			t.Errorf("%d combinations of addresses and ports, want %d", len(tuples), want)
		}
	}
}

// TestDestinations: addresses of a prefix come in turn, as far apart as there are too many of
// them, and the checksums are theirs.
func TestDestinations(t *testing.T) {
	for _, c := range []struct {
		path      Path
		to        string
		addresses int
		second    string
	}{
		{path4, "192.0.2.7/32", 1, "192.0.2.7"}, {path4, "192.0.2.0/30", 4, "192.0.2.1"},
		{path4, "20.0.0.0/8", MostDestinations, "20.0.0.16"},
		{path6, "2001:db8:5::/125", 8, "2001:db8:5::1"}, {path6, "2001:db8:5::/64", MostDestinations,
			"2001:db8:5::1000"},
	} {
		to := netip.MustParsePrefix(c.to)
		path := c.path
		path.Remote = netip.AddrPortFrom(to.Addr(), 7)
		m, err := New(path, Options{Payloads: []int{18}, Tuples: 3, Destinations: to, Fill: []byte{0}})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[netip.Addr]bool{}
		for number := range uint64(c.addresses + 5) {
			b := make([]byte, m.Bytes(number))
			m.Make(b, number, func([]byte) {})
			ip, datagram := b[ethernet:ethernet+m.ip], b[ethernet+m.ip:]
			half := (m.ip - m.addresses()) / 2
			destination, _ := netip.AddrFromSlice(ip[m.ip-half:])
			seen[destination] = true
			if !to.Contains(destination) || number == 1 && destination.String() != c.second {
				t.Fatalf("%s: frame %d goes to %s", c.to, number, destination)
			}
			length := binary.BigEndian.AppendUint16(nil, uint16(len(datagram)))
			if m.ip == ipv4 && slowSum(ip) != 0xffff ||
				slowSum(ip[m.addresses():], length, []byte{0, protocol}, datagram) != 0xffff {
				t.Fatalf("%s: frame %d has a wrong checksum", c.to, number)
			}
		}
		if len(seen) != c.addresses {
			t.Errorf("%s: %d addresses, want %d", c.to, len(seen), c.addresses)
		}
	}
}

// TestTurns: sizes come in turn, and what so many frames carry is their sum.
func TestTurns(t *testing.T) {
	m, err := New(path4, Options{Payloads: []int{18, 548, 18, 1472}, Fill: []byte{0}})
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for number := range int64(11) {
		if got := m.Payload(number); got != sum {
			t.Errorf("%d frames carry %d bytes, want %d", number, got, sum)
		}
		sum += int64(m.Bytes(uint64(number)) - ethernet - ipv4 - udp)
	}
	if m.Most() != 1514 || m.Bytes(0) != 60 {
		t.Errorf("frames of %d and %d bytes", m.Most(), m.Bytes(0))
	}
}

// TestRefused: what cannot be a frame of the path.
func TestRefused(t *testing.T) {
	for want, c := range map[string]struct {
		path    Path
		payload int
	}{
		"62 at least": {path4, 15}, "82 at least": {path6, 15}, "MTU of 1500": {path4, 1473},
		"allows, 1518": {path6, 1453},
	} {
		if _, err := New(c.path, Options{Payloads: []int{c.payload}, Fill: []byte{0}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %q", c.payload, err, want)
		}
	}
}
