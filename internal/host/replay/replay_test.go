package replay

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"linerate/internal/model/checksum"
)

// built makes a frame with right checksums, by the library's own layers.
func built(t testing.TB, list ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		list...); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(b.Bytes())
}

var near, far = net.HardwareAddr{2, 0, 0, 0, 0, 1}, net.HardwareAddr{2, 0, 0, 0, 0, 2}

// kinds are frames of each kind that is distinguished, from 10.0.0.x or fd00::x to .2 or ::2.
func kinds(t testing.TB, number int) [][]byte {
	four := func(p layers.IPProtocol) *layers.IPv4 {
		return &layers.IPv4{Version: 4, TTL: 64, Id: uint16(number), Protocol: p, SrcIP: net.IP{10, 0, 0, 1},
			DstIP: net.IP{10, 0, 0, 2}}
	}
	six := func(p layers.IPProtocol) *layers.IPv6 {
		return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: p, SrcIP: net.ParseIP("fd00::1"),
			DstIP: net.ParseIP("fd00::2")}
	}
	ethernet := func(kind layers.EthernetType) *layers.Ethernet {
		return &layers.Ethernet{SrcMAC: near, DstMAC: far, EthernetType: kind}
	}
	payload := gopacket.Payload(binary.BigEndian.AppendUint32([]byte("number"), uint32(number)))
	var out [][]byte
	for _, ip := range []interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	}{four(layers.IPProtocolUDP), six(layers.IPProtocolUDP)} {
		kind := layers.EthernetTypeIPv4
		if ip.LayerType() == layers.LayerTypeIPv6 {
			kind = layers.EthernetTypeIPv6
		}
		u := &layers.UDP{SrcPort: 41000, DstPort: layers.UDPPort(40000 + number)}
		_ = u.SetNetworkLayerForChecksum(ip)
		out = append(out, built(t, ethernet(kind), ip, u, payload))
		out = append(out, built(t, ethernet(layers.EthernetTypeDot1Q), &layers.Dot1Q{VLANIdentifier: 7, Type: kind}, ip,
			u, payload))
	}
	for _, c := range []struct {
		ip interface {
			gopacket.NetworkLayer
			gopacket.SerializableLayer
		}
		kind layers.EthernetType
	}{{four(layers.IPProtocolTCP), layers.EthernetTypeIPv4}, {six(layers.IPProtocolTCP), layers.EthernetTypeIPv6}} {
		s := &layers.TCP{SrcPort: 41000, DstPort: 41001, Seq: uint32(number), ACK: true, Window: 500}
		_ = s.SetNetworkLayerForChecksum(c.ip)
		out = append(out, built(t, ethernet(c.kind), c.ip, s, payload))
	}
	echo := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeEchoRequest, 0)}
	over := six(layers.IPProtocolICMPv6)
	_ = echo.SetNetworkLayerForChecksum(over)
	return append(out,
		built(t, ethernet(layers.EthernetTypeIPv6), over, echo, payload),
		built(t, ethernet(layers.EthernetTypeIPv4), four(layers.IPProtocolICMPv4),
			&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0), Seq: uint16(number)}, payload))
}

// TestRewrite: with other addresses a frame is the one that the library makes of these.
func TestRewrite(t *testing.T) {
	r := Rewrite{Source: far, Destination: near, Addresses: []Mapping{}}
	for _, text := range []string{"10.0.0.1=172.16.255.254", "10.0.0.0/28=192.0.2.240/28", "fd00::/16=2001:db8::/32"} {
		if _, err := ParseMapping(text); (err != nil) != (text[0] == 'f') {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"10.0.0.1=172.16.255.254", "10.0.0.0/28=192.0.2.240/28",
		"fd00::/64=2001:db8:0:9::/64"} {
		m, err := ParseMapping(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Addresses = append(r.Addresses, m)
	}
	for number := range 300 {
		for k, frame := range kinds(t, number) {
			r.Apply(frame)
			p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
			if p.ErrorLayer() != nil {
				t.Fatalf("kind %d: %v", k, p.ErrorLayer().Error())
			}
			source, destination := p.NetworkLayer().NetworkFlow().Endpoints()
			want := "172.16.255.254 → 192.0.2.242"
			if p.Layer(layers.LayerTypeIPv6) != nil {
				want = "2001:db8:0:9::1 → 2001:db8:0:9::2"
			}
			if got := source.String() + " → " + destination.String(); got != want {
				t.Fatalf("kind %d: %s, want %s", k, got, want)
			}
			for _, l := range p.Layers() {
				if s, ok := l.(interface {
					SetNetworkLayerForChecksum(gopacket.NetworkLayer) error
				}); ok {
					_ = s.SetNetworkLayerForChecksum(p.NetworkLayer())
				}
			}
			if err, faults := p.VerifyChecksums(); err != nil || len(faults) > 0 {
				t.Fatalf("kind %d, number %d: %v, %v", k, number, faults, err)
			}
			if e := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet); !bytes.Equal(e.SrcMAC, far) ||
				!bytes.Equal(e.DstMAC, near) {
				t.Fatalf("kind %d: from %s to %s", k, e.SrcMAC, e.DstMAC)
			}
		}
	}
}

// routed is a frame as a router leaves it, and captured is that without its VLAN tag.
func routed(frame []byte) []byte {
	b := slices.Clone(frame)
	copy(b, "\x02\x00\x00\x00\x00\x07\x02\x00\x00\x00\x00\x08")
	if b[12] == 0x81 {
		b = slices.Delete(b, 12, 16)
	}
	if h := parse(b); h.six {
		b[h.ip+7]--
	} else {
		b[h.ip+8]--
		checksum.Update(b[h.ip+10:], []byte{64, 17}, []byte{63, 17})
	}
	return append(b, 0, 0, 0) // as a card pads short ones
}

// TestMatch: through a router each frame is found again; what was lost, overtaken, altered,
// doubled or is foreign is counted as such.
func TestMatch(t *testing.T) {
	var frames []Frame
	for number := range 40 {
		for k, b := range kinds(t, number) {
			if k != 1 && k != 3 { // beside their own kind without a tag they look the same
				frames = append(frames, Frame{Data: b})
			}
		}
	}
	m := newMatcher(frames)
	for i := range frames {
		m.wasSent(i, int64(1000*i+1))
	}
	lost, altered := 5, 17
	for i, f := range frames {
		b := routed(f.Data)
		switch i {
		case lost:
			continue
		case altered:
			b[parse(b).end-1] ^= 1
		case 30: // 31 goes before it
			m.arrived(routed(frames[31].Data), int64(1000*31+11))
		case 31:
			b = routed(frames[30].Data)
			m.arrived(b, int64(1000*31+21))
			continue
		case 40:
			m.arrived(b, int64(1000*i+1))
		}
		if i != 30 {
			m.arrived(b, int64(1000*i+11))
		}
	}
	foreign := built(t, &layers.Ethernet{SrcMAC: near, DstMAC: far, EthernetType: 0x88cc},
		gopacket.Payload("neighbour"))
	m.arrived(foreign, 1)
	m.arrived([]byte("short"), 1)
	got, err := m.result(len(frames))
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(len(frames)); got.Received != n-1 || got.Lost != 1 || got.Altered != 1 || got.Reordered != 1 ||
		got.Duplicates != 1 || got.Other != 2 {
		t.Errorf("of %d frames: %+v", n, got)
	}
	if got.Latency.P50Us < 0.009 || got.Latency.P50Us > 0.011 {
		t.Errorf("half took %.4f µs, want 0.01", got.Latency.P50Us)
	}
}

// TestNoIP: a frame that is not IP is found again without its outer VLAN tag, as the kernel
// hands it over, and padded; one with other content is not.
func TestNoIP(t *testing.T) {
	const macs, outer, inner = "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01", "\x88\xa8\x00\x07",
		"\x81\x00\x00\x08"
	arp := "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01" + strings.Repeat("\x0a", 20)
	lldp := "\x88\xcc" + strings.Repeat("\x02\x07", 40)
	padding := strings.Repeat("\x00", 18)
	for _, c := range []struct {
		name, sent, arrived string
		found               int64
	}{
		{"short", arp, arp, 1},
		{"padded", arp, arp + padding, 1},
		{"captured padded", arp + padding, arp, 1},
		{"tagged", inner + arp, arp, 1},
		{"tagged and padded", inner + arp, arp + padding[4:], 1},
		{"long and tagged", inner + lldp, lldp, 1},
		{"tagged twice", outer + inner + lldp, inner + lldp, 1},
		{"other content", arp, arp[:29] + "\x0b" + padding, 0},
		{"longer", lldp, lldp + "\x00", 0},
	} {
		m := newMatcher([]Frame{{Data: []byte(macs + c.sent)}})
		m.wasSent(0, 1)
		if m.arrived([]byte(macs+c.arrived), 2); m.counts.Received != c.found {
			t.Errorf("%s: %+v, want %d found", c.name, m.counts, c.found)
		}
	}
}

// TestAlike: of frames that look the same, of which some are lost, none is timed: which one
// has arrived is not known.
func TestAlike(t *testing.T) {
	same, other := kinds(t, 1)[0], kinds(t, 2)[0]
	m := newMatcher([]Frame{{Data: same}, {Data: same}, {Data: other}})
	for i := range 3 {
		m.wasSent(i, int64(1e9*i+1))
	}
	m.arrived(routed(same), 1e9+11)
	m.arrived(routed(other), 2e9+11)
	got, err := m.result(3)
	if err != nil || got.Received != 2 || got.Lost != 1 || got.Latency == nil || got.Latency.Count != 1 ||
		got.Latency.MaxUs > 1 {
		t.Errorf("%+v, latency %+v, %v", got, got.Latency, err)
	}
}

// TestSame: frames that are the same are counted, each once.
func TestSame(t *testing.T) {
	frame := kinds(t, 1)[0]
	m := newMatcher([]Frame{{Data: frame}, {Data: frame}})
	m.wasSent(0, 1)
	for range 2 {
		m.arrived(routed(frame), 5) // the second has not been sent
	}
	m.wasSent(1, 6)
	m.arrived(routed(frame), 7)
	if c := m.counts; c.Received != 2 || c.Duplicates != 1 || c.Reordered != 0 {
		t.Errorf("%+v", c)
	}
}

// TestOrder: frames that look the same count as reordered if they are for certain. Each letter is
// one kind of frame.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name, sent, arrived string
		before              int // frames that are sent before two have arrived
		reordered           int64
	}{
		{"all arrive", "AbAcAdAe", "AbAcAdAe", 8, 0},
		{"the first is lost", "AbAcAdAe", "bAcAdAe", 8, 0},
		{"two are lost", "AbAcAdAe", "bcAdAe", 8, 0},
		{"another is overtaken", "AbAcAdAe", "AAbcAdAe", 8, 1},
		{"one is overtaken, or the next early", "AbAcAdAe", "AbcAAdAe", 8, 0},
		{"the last is overtaken", "AbAcAdAe", "AbAcAdeA", 8, 1},
		{"one is overtaken by all", "bAcde", "bcdeA", 5, 1},
		{"the next has not been sent", "AbAcAdAe", "bAAcAdAe", 2, 1},
	} {
		var frames []Frame
		for _, letter := range c.sent {
			frames = append(frames, Frame{Data: kinds(t, int(letter))[0]})
		}
		m := newMatcher(frames)
		for i := range c.before {
			m.wasSent(i, 1)
		}
		for k, letter := range c.arrived {
			for i := c.before; k == 2 && i < len(frames); i++ {
				m.wasSent(i, 1)
			}
			m.arrived(routed(kinds(t, int(letter))[0]), 2)
		}
		if got := m.counts; got.Reordered != c.reordered || got.Received != int64(len(c.arrived)) {
			t.Errorf("%s: %+v, want %d reordered", c.name, got, c.reordered)
		}
	}
}

// TestSchedule: due instants at each kind of timing, over passes.
func TestSchedule(t *testing.T) {
	c := &Capture{Frames: []Frame{{At: 0}, {At: 10}, {At: 40}}}
	for _, x := range []struct {
		Timing
		want []int64
	}{
		{Timing{Speed: 1}, []int64{0, 10, 40, 60, 70, 100, 120}},
		{Timing{Speed: 2}, []int64{0, 5, 20, 30, 35, 50, 60}},
		{Timing{Speed: 1, Pace: 1e8}, []int64{0, 10, 20, 30, 40, 50, 60}},
		{Timing{}, []int64{0, 0, 0, 0}},
	} {
		s := newSchedule(c, x.Timing)
		for i, want := range x.want {
			if got := s.due(int64(i)); got != want {
				t.Errorf("%+v: frame %d is due at %d, want %d", x.Timing, i, got, want)
			}
			if got := c.Length(Options{Timing: x.Timing, Passes: i/3 + 1}); i%3 == 2 && got != time.Duration(want) {
				t.Errorf("%+v: %d passes take %v, want %d", x.Timing, i/3+1, got, want)
			}
		}
	}
}

// file writes a capture of both formats.
func file(t testing.TB, frames []Frame, ng bool) []byte {
	t.Helper()
	var out bytes.Buffer
	var to interface {
		WritePacket(gopacket.CaptureInfo, []byte) error
	}
	if ng {
		w, err := pcapgo.NewNgWriter(&out, layers.LinkTypeEthernet)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Flush()
		to = w
	} else {
		w := pcapgo.NewWriterNanos(&out)
		if err := w.WriteFileHeader(65536, layers.LinkTypeEthernet); err != nil {
			t.Fatal(err)
		}
		to = w
	}
	for _, f := range frames {
		if err := to.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1e9, int64(f.At)),
			CaptureLength: len(f.Data), Length: len(f.Data)}, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if w, ok := to.(*pcapgo.NgWriter); ok {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestRead: both formats come back as they were written.
func TestRead(t *testing.T) {
	frames := []Frame{{Data: kinds(t, 1)[0]}, {At: 1500 * time.Microsecond, Data: kinds(t, 2)[4]}}
	for _, ng := range []bool{false, true} {
		c, err := Read(bytes.NewReader(file(t, frames, ng)))
		if err != nil || len(c.Frames) != 2 || len(c.Remarks()) != 0 {
			t.Fatalf("pcapng %t: %+v, %v", ng, c, err)
		}
		for i, f := range c.Frames {
			if f.At != frames[i].At || !bytes.Equal(f.Data, frames[i].Data) {
				t.Errorf("pcapng %t: frame %d at %v", ng, i, f.At)
			}
		}
	}
	backward := []Frame{{At: 5, Data: frames[0].Data}, {At: 0, Data: frames[0].Data}}
	if c, err := Read(bytes.NewReader(file(t, backward, false))); err != nil || c.Frames[1].At != 0 ||
		said(c) != "earlier 2" {
		t.Errorf("times that go back: %+v, %v", c, err)
	}
	for _, text := range []string{"", "x", "not a capture file at all"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// FuzzRead: no file stops the reader or what looks at its frames.
func FuzzRead(f *testing.F) {
	frames := []Frame{}
	for _, b := range kinds(f, 7) {
		frames = append(frames, Frame{At: time.Duration(len(frames)), Data: b})
	}
	for _, ng := range []bool{false, true} {
		f.Add(file(f, frames, ng))
	}
	m, _ := ParseMapping("10.0.0.0/8=11.0.0.0/8")
	six, _ := ParseMapping("::/0=2001:db8::/0")
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if c.Prepare(Options{Interface: "lo", Rewrite: Rewrite{Source: near, Destination: far,
			Addresses: []Mapping{m, six}}, Fitting: Fitting{Pad: len(b)%2 == 0, Segment: true, Skip: true}}) != nil {
			return
		}
		towards(c.Frames)
		w := newMatcher(c.Frames)
		for i, x := range c.Frames {
			w.wasSent(i, 1)
			w.arrived(x.Data, 2)
		}
		if w.counts.Received != int64(len(c.Frames)) {
			t.Errorf("%d of %d frames match themselves", w.counts.Received, len(c.Frames))
		}
	})
}

// TestMapping: prefixes of every length keep the rest of an address.
func TestMapping(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for bits := range 33 {
		from, to := netip.AddrFrom4([4]byte{10, 1, 2, 3}),
			netip.AddrFrom4([4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
		m := Mapping{netip.PrefixFrom(from, bits).Masked(), netip.PrefixFrom(to, bits).Masked()}
		got := m.replace(from)
		back := Mapping{m.To, m.From}
		if !m.To.Contains(got) || back.replace(got) != from {
			t.Errorf("/%d: %s became %s in %s", bits, from, got, m.To)
		}
	}
}
