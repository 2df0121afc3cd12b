package netlink

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
)

// TestARPProbe: the probe of RFC 5227, byte by byte.
func TestARPProbe(t *testing.T) {
	want := []byte{0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 0, 7}
	if got := arpProbe(net.HardwareAddr{2, 0, 0, 0, 0, 9}, netip.MustParseAddr("10.1.0.7")); !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzParseARPReply: a packet is a reply with the sender's two addresses, or none.
func FuzzParseARPReply(f *testing.F) {
	reply := []byte{0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 9, 10, 1, 0, 7, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0}
	f.Add(reply)
	f.Add(arpProbe(net.HardwareAddr{2, 0, 0, 0, 0, 9}, netip.MustParseAddr("10.1.0.7")))
	f.Fuzz(func(t *testing.T, packet []byte) {
		a, ok := parseARPReply(packet)
		if ok != (len(packet) >= arpBytes && bytes.Equal(packet[:8], reply[:8])) {
			t.Errorf("%v is read as %v", packet, ok)
		}
		if mac, err := net.ParseMAC(a.MAC); ok && (err != nil || !bytes.Equal(mac, packet[8:14]) ||
			!bytes.Equal(a.Address.AsSlice(), packet[14:18])) {
			t.Errorf("%v has the addresses %+v", packet, a)
		}
	})
}
