package netlink

import (
	"net/netip"
	"testing"

	"linerate/internal/model/flow"
)

// four and six are a TCP segment over IPv4 with options, and a datagram over IPv6.
var (
	four = append([]byte{
		0x46, 0, 0, 44, 0, 0, 0x40, 0, 64, 6, 0, 0,
		10, 0, 200, 1, 10, 0, 200, 2,
		1, 1, 1, 1, // options
	}, 0x9c, 0x40, 0x14, 0x51)
	six = append([]byte{
		0x60, 0, 0, 0, 0, 8, 17, 64,
		0xfd, 0, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0xfd, 0, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	}, 0x9c, 0x40, 0x14, 0x51)
)

func TestParseArrival(t *testing.T) {
	want := CapturedPacket{Protocol: flow.TCP, Source: netip.MustParseAddrPort("10.0.200.1:40000"),
		Destination: netip.MustParseAddrPort("10.0.200.2:5201")}
	if got, ok := parsePacket(four); !ok || got != want {
		t.Errorf("IPv4: %+v, %t", got, ok)
	}
	want = CapturedPacket{Protocol: flow.UDP, Source: netip.MustParseAddrPort("[fd00:200::1]:40000"),
		Destination: netip.MustParseAddrPort("[fd00:200::2]:5201")}
	if got, ok := parsePacket(six); !ok || got != want {
		t.Errorf("IPv6: %+v, %t", got, ok)
	}
	later := append([]byte(nil), four...)
	later[7] = 5 // a fragment that is not the first
	icmp := append([]byte(nil), four...)
	icmp[9] = 1
	for name, packet := range map[string][]byte{"nothing": nil, "cut off": four[:len(four)-1],
		"a later fragment": later, "ICMP": icmp, "no version": make([]byte, 64)} {
		if got, ok := parsePacket(packet); ok {
			t.Errorf("%s became %+v", name, got)
		}
	}
}

// FuzzParseArrival: whatever comes in by an interface, it is read within its bounds.
func FuzzParseArrival(f *testing.F) {
	f.Add(four)
	f.Add(six)
	f.Fuzz(func(t *testing.T, packet []byte) {
		if a, ok := parsePacket(packet); ok && (!a.Source.IsValid() || !a.Destination.IsValid()) {
			t.Errorf("%x: %+v", packet, a)
		}
	})
}
