package device

import (
	"net/netip"
	"testing"
)

// TestBondChoice follows the formulas of Documentation/networking/bonding.rst by hand.
func TestBondChoice(t *testing.T) {
	packet := Packet{
		SourceMAC: [6]byte{2, 0, 0, 1, 0, 5}, DestinationMAC: [6]byte{2, 0, 0, 2, 0, 6},
		Source: netip.MustParseAddrPort("10.0.0.1:40001"), Destination: netip.MustParseAddrPort("10.0.0.3:5201"),
	}
	six := packet
	six.Source, six.Destination = netip.MustParseAddrPort("[fd00::1]:40001"), netip.MustParseAddrPort("[fd00::3]:5201")
	tagged := packet
	tagged.VLAN = 5
	const (
		macs  = 5 ^ 6 ^ 0x0800
		macs6 = 5 ^ 6 ^ 0x86dd
		// Addresses and ports are in memory in network order: the first byte is the lowest.
		addresses = 0x0100000a ^ 0x0300000a
		ports     = 0x419c ^ 0x5114<<16 // 40001 is 0x9c41, 5201 is 0x1451
	)
	folded := func(hash uint32) uint32 {
		hash ^= hash >> 16
		return hash ^ hash>>8
	}
	for _, c := range []struct {
		policy string
		packet Packet
		want   uint32
	}{
		{"", packet, macs},
		{"layer2", packet, macs},
		{"layer2", tagged, macs}, // the tag is no part of the type
		{"layer2", six, macs6},
		{"layer2+3", packet, folded(macs ^ addresses)},
		{"encap2+3", packet, folded(macs ^ addresses)},
		{"layer2+3", six, folded(macs6 ^ 0x02000000)}, // the words of fd00::1 and fd00::3 differ in one bit
		{"layer3+4", packet, folded(ports^addresses) >> 1},
		{"vlan+srcmac", packet, 0x020000 ^ 0x010005},
		{"vlan+srcmac", tagged, 5 ^ 0x020000 ^ 0x010005},
	} {
		b := Bond{Policy: c.policy}
		for n := 1; n <= 8; n++ {
			if got, why := b.Choose(c.packet, n); why != "" || got != int(c.want%uint32(n)) {
				t.Errorf("policy %q, %d members: member %d (%s), want %d", c.policy, n, got, why, c.want%uint32(n))
			}
		}
	}
	if _, why := (&Bond{Policy: "encap3+4"}).Choose(packet, 2); why == "" {
		t.Error("encap3+4 is predicted, although it uses the socket's hash")
	}
}

// TestBondOfOlderKernels: before Linux 5.15 Ethernet's type is hashed in network byte order; a
// choice that depends on its order is not made.
func TestBondOfOlderKernels(t *testing.T) {
	four := Packet{Source: netip.MustParseAddrPort("10.0.0.1:40001"),
		Destination: netip.MustParseAddrPort("10.0.0.3:5201")}
	six := Packet{Source: netip.MustParseAddrPort("[fd00::1]:40001"),
		Destination: netip.MustParseAddrPort("[fd00::3]:5201")}
	for _, c := range []struct {
		policy string
		packet Packet
		n      int
		known  bool
	}{
		{"layer2", six, 2, false}, {"layer2", six, 1, true},
		{"layer2", four, 2, true}, {"layer2", four, 8, true}, {"layer2", four, 16, false}, {"layer2", four, 7, false},
		{"layer2+3", six, 2, true}, {"layer2+3", six, 3, false},
		{"layer3+4", six, 3, true}, {"vlan+srcmac", six, 3, true},
	} {
		b := Bond{Policy: c.policy}
		want, _ := b.Choose(c.packet, c.n)
		for release, old := range map[string]bool{"5.10.0-28-amd64": true, "4.18.0-553.el8": true, "5.15.0": false,
			"6.1.0": false, "": false} {
			p := c.packet
			p.Kernel = release
			got, why := b.Choose(p, c.n)
			if known := c.known || !old; known != (why == "") || known && got != want {
				t.Errorf("%s of %d, %s to %s, kernel %q: %d (%s)", c.policy, c.n, p.Source, p.Destination,
					release, got, why)
			}
		}
	}
}

// TestBondHashes: a change of what a policy does not hash leaves the choice as it is, and one
// of what it does changes it for some packet.
func TestBondHashes(t *testing.T) {
	base := Packet{Source: netip.MustParseAddrPort("10.0.0.1:1"), Destination: netip.MustParseAddrPort("10.0.0.2:2")}
	for _, policy := range []string{"layer2", "layer2+3", "layer3+4"} {
		b := &Bond{Policy: policy}
		hashed := b.Hashes()
		for what, c := range map[string]struct {
			want   bool
			change func(p *Packet, i int)
		}{
			"MAC addresses": {hashed.MACs, func(p *Packet, i int) { p.SourceMAC[5] = byte(i) }},
			"addresses": {hashed.Addresses, func(p *Packet, i int) {
				p.Source = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 1)
			}},
			"ports": {hashed.Ports, func(p *Packet, i int) {
				p.Source = netip.AddrPortFrom(p.Source.Addr(), uint16(i))
			}},
		} {
			chosen := map[int]bool{}
			for i := range 64 {
				p := base
				c.change(&p, i)
				member, _ := b.Choose(p, 4)
				chosen[member] = true
			}
			if spread := len(chosen) > 1; spread != c.want {
				t.Errorf("%s: %s spread packets: %t, want %t", policy, what, spread, c.want)
			}
		}
	}
}
