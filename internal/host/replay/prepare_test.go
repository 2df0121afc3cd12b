package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"linerate/internal/model/record"
)

// said is what a capture remarks.
func said(c *Capture) string {
	var list []string
	for _, r := range c.Remarks() {
		text := string(r.Code)
		for _, n := range r.First {
			text += fmt.Sprintf(" %d", n)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// packetOf is a packet of a pcap file, with the part of it that the file has.
type packetOf struct {
	data   []byte
	length int // 0: that of data
	at     time.Duration
}

// pcap is a file of such packets, with a link type and the bits above it.
func pcap(link uint32, packets ...packetOf) []byte {
	order := binary.LittleEndian
	b := append(order.AppendUint32(nil, 0xa1b23c4d), 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0)
	b = order.AppendUint32(b, link)
	for _, p := range packets {
		b = order.AppendUint32(b, uint32(p.at/time.Second))
		b = order.AppendUint32(b, uint32(p.at%time.Second))
		b = order.AppendUint32(b, uint32(len(p.data)))
		b = append(order.AppendUint32(b, uint32(max(p.length, len(p.data)))), p.data...)
	}
	return b
}

// captured reads such a file.
func captured(t testing.TB, file []byte) *Capture {
	t.Helper()
	c, err := Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func withFCS(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(b), crc32.ChecksumIEEE(b))
}

// TestCheckSequence: frames come without the check sequence that they have in the file, announced or not, and one
// that was wrong is named; what only looks like one stays.
func TestCheckSequence(t *testing.T) {
	frame := kinds(t, 1)[4]
	padded := append(slices.Clone(frame), make([]byte, 20)...)
	damaged := withFCS(padded)
	damaged[len(damaged)-30] ^= 1
	const announced = 0x2400_0000
	for _, c := range []struct {
		name      string
		link      uint32
		data      []byte
		length    int
		want      []byte
		remark    string
		beginning bool
	}{
		{"announced", 1 | announced, withFCS(frame), 0, frame, "fcs-removed 1", false},
		{"in units of bytes", 1 | 0x4400_0000, withFCS(frame), 0, frame, "fcs-removed 1", false},
		{"without the flag", 1 | 0x2000_0000, frame, 0, frame, "", false},
		{"of length 0", 1 | 0x0400_0000, frame, 0, frame, "", false},
		{"not announced", 1, withFCS(frame), 0, frame, "fcs-found 1", false},
		{"of a padded frame", 1, withFCS(padded), 0, padded, "fcs-found 1", false},
		{"damaged", 1 | announced, damaged, 0, damaged[:len(padded)], "fcs-wrong 1", false},
		{"damaged, not announced", 1, damaged, 0, damaged, "", false},
		{"announced, and sent by the host", 1 | announced, frame, 0, frame, "", false},
		{"half of it not captured", 1 | announced, withFCS(frame)[:len(frame)+2], len(frame) + 4, frame,
			"fcs-removed 1", false},
		{"not captured", 1 | announced, frame[:40], len(frame) + 4, frame[:40], "fcs-removed 1", true},
		{"of an interface of netANALYZER", 240, append([]byte("1234"), withFCS(frame)...), 0, frame, "fcs-removed 1",
			false},
	} {
		got := captured(t, pcap(c.link, packetOf{data: c.data, length: c.length}))
		f := got.Frames[0]
		if !bytes.Equal(f.Data, c.want) || said(got) != c.remark || (len(f.Data) < f.Length) != c.beginning {
			t.Errorf("%s: %x of %d bytes, %q", c.name, f.Data, f.Length, said(got))
		}
	}
}

// TestLinkTypes: packets of other link types come with an Ethernet header that has the addresses of the options.
func TestLinkTypes(t *testing.T) {
	four, six := kinds(t, 1)[0], kinds(t, 1)[2]
	sll := append([]byte("\x00\x00\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00"), four[12:]...)
	sll2 := slices.Concat(four[12:14], make([]byte, 18), four[14:])
	pktap := slices.Concat([]byte("\x10\x00\x00\x00\x01\x00\x00\x00\x0c\x00\x00\x00abcd"), four[14:])
	want := append([]byte("\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01"), four[12:]...)
	want6 := append([]byte("\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01"), six[12:]...)
	to := Options{Interface: "lo", Rewrite: Rewrite{Source: near, Destination: far}}
	for _, c := range []struct {
		link       uint32
		data, want []byte
	}{
		{0, append([]byte{2, 0, 0, 0}, four[14:]...), want}, {0, append([]byte{0, 0, 0, 30}, six[14:]...), want6},
		{108, append([]byte{0, 0, 0, 2}, four[14:]...), want}, {12, four[14:], want}, {14, six[14:], want6},
		{101, four[14:], want}, {101, six[14:], want6}, {228, four[14:], want}, {229, six[14:], want6},
		{113, sll, want}, {276, sll2, want}, {258, pktap, want},
	} {
		got := captured(t, pcap(c.link, packetOf{data: c.data}))
		if err := got.Prepare(Options{Interface: "lo"}); err == nil ||
			!strings.Contains(err.Error(), "frame 1: without an Ethernet header") ||
			!strings.Contains(err.Error(), "--destination-mac") {
			t.Errorf("link type %d without an address: %v", c.link, err)
		}
		if err := got.Prepare(to); err != nil || len(got.Frames) != 1 || !bytes.Equal(got.Frames[0].Data, c.want) ||
			said(got) != "header-made 1" {
			t.Errorf("link type %d: %v, %q, %+v", c.link, err, said(got), got.Frames)
		}
	}
	for _, c := range []struct {
		link uint32
		data []byte
	}{
		{105, four}, {101, []byte{0x10}}, {0, []byte{2, 0}}, {113, sll[:10]}, {258, []byte("\xff\xff\xff\xff\xff")},
		{258, []byte("\xff\xff\xff\xff\x00\x00\x00\x00\x01\x00\x00\x00abcd")},
		{113, append([]byte("\x00\x00\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00\x00\x04"), four...)},
	} {
		got := captured(t, pcap(c.link, packetOf{data: c.data}))
		if err := got.Prepare(to); err == nil || !strings.Contains(err.Error(), "frame 1: ") ||
			!strings.Contains(err.Error(), fmt.Sprintf("link type %d", c.link)) ||
			!strings.Contains(err.Error(), "--skip") {
			t.Errorf("link type %d: %v", c.link, err)
		}
	}
}

// large is a frame with a TCP segment of so many bytes.
func large(t testing.TB, six bool, size int) []byte {
	ip := interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	}(&layers.IPv4{Version: 4, TTL: 64, Id: 0xfffe, Protocol: layers.IPProtocolTCP, SrcIP: net.IP{10, 0, 0, 1},
		DstIP: net.IP{10, 0, 0, 2}})
	kind := layers.EthernetTypeIPv4
	if six {
		kind = layers.EthernetTypeIPv6
		ip = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolTCP, SrcIP: net.ParseIP("fd00::1"),
			DstIP: net.ParseIP("fd00::2")}
	}
	s := &layers.TCP{SrcPort: 41000, DstPort: 41001, Seq: 0xffff_fff0, ACK: true, PSH: true, FIN: true, CWR: true,
		Window: 500, Options: []layers.TCPOption{{OptionType: layers.TCPOptionKindNop}}}
	_ = s.SetNetworkLayerForChecksum(ip)
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(i * i >> 3)
	}
	return built(t, &layers.Ethernet{SrcMAC: near, DstMAC: far, EthernetType: kind}, ip, s, gopacket.Payload(payload))
}

// TestSegments: a segment that is too large becomes frames of the MTU which together have its content, each with
// valid checksums, its own sequence number and identification; flags that mean its end are on the last.
func TestSegments(t *testing.T) {
	for _, six := range []bool{false, true} {
		for _, size := range []int{1460, 1461, 2911, 2912, 30_000} {
			const largest = 1514
			whole := large(t, six, size)
			if !six && size == 30_000 {
				copy(whole[16:], "\x00\x00") // as TSO leaves it
			}
			var content []byte
			parts := segments(whole, largest)
			for i, b := range parts {
				p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
				s, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
				if s == nil || len(b) > largest || p.ErrorLayer() != nil {
					t.Fatalf("IPv6 %t, %d bytes: part %d has %d bytes: %v", six, size, i, len(b), p)
				}
				_ = s.SetNetworkLayerForChecksum(p.NetworkLayer())
				if err, wrong := p.VerifyChecksums(); err != nil || len(wrong) > 0 {
					t.Errorf("IPv6 %t, %d bytes: part %d: %v, %v", six, size, i, wrong, err)
				}
				last := i == len(parts)-1
				if s.Seq != 0xffff_fff0+uint32(len(content)) || s.FIN != last || s.PSH != last || s.CWR != (i == 0) ||
					!last && len(b) != largest {
					t.Errorf("IPv6 %t, %d bytes: part %d of %d: %+v", six, size, i, len(parts), s)
				}
				if ip, is := p.NetworkLayer().(*layers.IPv4); is && ip.Id != 0xfffe+uint16(i) {
					t.Errorf("part %d is packet %d", i, ip.Id)
				}
				content = append(content, s.Payload...)
			}
			if !bytes.Equal(content, whole[len(whole)-size:]) {
				t.Errorf("IPv6 %t, %d bytes: the content is another", six, size)
			}
		}
	}
	for _, b := range kinds(t, 1) {
		if parse(b).protocol != tcp && segments(b, 50) != nil {
			t.Errorf("segments of protocol %d", parse(b).protocol)
		}
	}
}

// TestFit: of frames that an interface cannot send, the refusal has numbers, sizes, cause and ways out, and each of
// those does what it says.
func TestFit(t *testing.T) {
	to := link{name: "eth9", mtu: 1500}
	ordinary, merged, datagram := kinds(t, 1)[0], large(t, false, 2000), append(kinds(t, 1)[0], make([]byte, 1500)...)
	binary.BigEndian.PutUint16(datagram[16:], uint16(len(datagram)-14))
	binary.BigEndian.PutUint16(datagram[24:], 0)
	trailer := append(large(t, true, 1400), make([]byte, 100)...)
	file := pcap(1, packetOf{data: ordinary}, packetOf{data: merged}, packetOf{data: datagram}, packetOf{data: trailer},
		packetOf{data: merged[:100], length: len(merged)}, packetOf{data: ordinary[:10], length: 300})
	for _, c := range []struct {
		name    string
		fitting Fitting
		refused []string
		sizes   []int
		remarks string
	}{
		{"as it is", Fitting{}, []string{"frames 2, 3: ", "frame 2 has 2058 bytes", "MTU of 1500 allows 1514", "GRO",
			"--segment", "--skip", "MTU of 2044", "ethtool -K"}, nil, ""},
		{"segments", Fitting{Segment: true}, []string{"frame 3: ", "--skip"}, nil, ""},
		{"without them", Fitting{Skip: true}, nil, []int{len(ordinary), 1478},
			"left-too-large 2 3, left-incomplete 5 6, trailer-removed 4"},
		{"segments, without others", Fitting{Skip: true, Segment: true}, nil, []int{len(ordinary), 1514, 602, 1478},
			"left-too-large 3, left-incomplete 5 6, segmented 2, trailer-removed 4"},
		{"padded segments, without others", Fitting{Skip: true, Segment: true, Pad: true}, nil,
			[]int{len(ordinary), 1514, 602, 1478, 1514, 602, 300},
			"left-too-large 3, padded 5 6, segmented 2 5, trailer-removed 4"},
	} {
		got := captured(t, file)
		frames, err := got.fit(Options{Fitting: c.fitting}, to)
		if (err != nil) != (c.refused != nil) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.refused {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.name, err, want)
			}
		}
		if err != nil {
			continue
		}
		var sizes []int
		for _, f := range frames {
			sizes = append(sizes, len(f.Data))
		}
		if !slices.Equal(sizes, c.sizes) || said(got) != c.remarks {
			t.Errorf("%s: %d, %q", c.name, sizes, said(got))
		}
	}
	got := captured(t, pcap(1, packetOf{data: merged[:100], length: len(merged)}))
	if frames, err := got.fit(Options{}, to); err != nil || len(frames) != 1 || said(got) != "incomplete 1" {
		t.Errorf("an incomplete frame: %v, %q", err, said(got))
	}
	tagged := link{name: "eth9", mtu: len(kinds(t, 1)[1]) - 18}
	got = captured(t, pcap(1, packetOf{data: kinds(t, 1)[1]}))
	if frames, err := got.fit(Options{}, tagged); len(frames) != 1 || said(got) != "" {
		t.Errorf("a frame with a tag: %v, %q", err, said(got))
	}
	got = captured(t, pcap(1, packetOf{data: ordinary[:44], length: len(ordinary)}))
	if frames, err := got.fit(Options{Fitting: Fitting{Pad: true}}, to); err != nil || said(got) != "padded 1" ||
		!bytes.Equal(frames[0].Data[:44], ordinary[:44]) {
		t.Errorf("a padded frame: %v, %q", err, said(got))
	}
	short := captured(t, pcap(1, packetOf{data: ordinary[:13]}, packetOf{data: ordinary}))
	if err := short.Prepare(Options{Interface: "lo"}); err == nil ||
		!strings.Contains(err.Error(), "frame 1: shorter") {
		t.Errorf("a short frame: %v", err)
	}
	if err := short.Prepare(Options{Interface: "lo", Fitting: Fitting{Skip: true}}); err != nil ||
		said(short) != "left-too-short 1" || short.Frames[0].Number != 2 {
		t.Errorf("without a short frame: %v, %q", err, said(short))
	}
}

// TestComplete: a frame that was captured before its interface had made checksums gets them, and one whose
// checksum is wrong otherwise stays as it is.
func TestComplete(t *testing.T) {
	for k, whole := range kinds(t, 3) {
		h := parse(whole)
		field := h.check(whole)
		if complete(slices.Clone(whole)) != "" {
			t.Errorf("kind %d: a valid frame is changed", k)
		}
		if h.protocol == tcp || h.protocol == udp {
			partial := slices.Clone(whole)
			binary.BigEndian.PutUint16(partial[field:], ^uint16(0))
			sum := uint32(0)
			for _, b := range [][]byte{whole[h.addr : h.addr+2*h.addrLen], {0, h.protocol},
				{byte((h.end - h.l4) >> 8), byte(h.end - h.l4)}} {
				for i := 0; i < len(b); i += 2 {
					sum += uint32(b[i])<<8 | uint32(b[i+1])
				}
			}
			binary.BigEndian.PutUint16(partial[field:], uint16(sum>>16+sum&0xffff))
			if !h.six {
				copy(partial[h.ip+10:], "\x00\x00")
			}
			if code := complete(partial); code != record.ReplayCompleted || !bytes.Equal(partial, whole) {
				t.Errorf("kind %d: %q, %x, want %x", k, code, partial, whole)
			}
		}
		if field != 0 {
			wrong := slices.Clone(whole)
			wrong[h.end-1] ^= 0x55
			was := slices.Clone(wrong)
			if code := complete(wrong); code != record.ReplayWrong || !bytes.Equal(wrong, was) {
				t.Errorf("kind %d: %q of a wrong checksum", k, code)
			}
		}
	}
	fragment := kinds(t, 3)[0]
	fragment[20] |= 0x20 // more fragments
	copy(fragment[24:], "\x00\x00")
	fill(fragment[14:34], 10, 0)
	fragment[parse(fragment).end-1] ^= 1
	if code := complete(fragment); code != "" {
		t.Errorf("a fragment: %q", code)
	}
}

// TestTimes: times that are no schedule are refused where they are the schedule, with the frame and a way out, and
// do not matter otherwise.
func TestTimes(t *testing.T) {
	b := kinds(t, 1)[0]
	at := func(times ...time.Duration) []byte {
		var list []packetOf
		for _, d := range times {
			list = append(list, packetOf{data: b, at: d})
		}
		return pcap(1, list...)
	}
	simple := file(t, nil, true)
	order := binary.LittleEndian
	for range 2 {
		size := uint32(16 + (len(b)+3)&^3)
		simple = order.AppendUint32(order.AppendUint32(order.AppendUint32(simple, 3), size), uint32(len(b)))
		simple = order.AppendUint32(append(append(simple, b...), make([]byte, -len(b)&3)...), size)
	}
	for _, c := range []struct {
		name, refused string
		file          []byte
	}{
		{"a gap", "frame 3 is 173,000 s later", at(1, 2, 173_000*time.Second+2, 400_000*time.Second)},
		{"only zeros", "all frames have the time 0", at(0, 0, 0)},
		{"no times", "frame 1 has no time", simple},
		{"one frame at 0", "", at(0)}, {"from 0 on", "", at(0, 1, 2)}, {"backwards", "", at(400_000*time.Second, 5, 6)},
	} {
		err := captured(t, c.file).Prepare(Options{Interface: "lo", Timing: Timing{Speed: 1}})
		if c.refused == "" && err != nil || c.refused != "" && (err == nil ||
			!strings.Contains(strings.ReplaceAll(err.Error(), "2 days", ""), c.refused) ||
			!strings.Contains(err.Error(), "--speed max") || !strings.Contains(err.Error(), "--pace")) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, timing := range []Timing{{}, {Pace: 10}} {
			got := captured(t, c.file)
			if err := got.Prepare(Options{Interface: "lo", Timing: timing}); err != nil || said(got) != "" {
				t.Errorf("%s at %+v: %v, %q", c.name, timing, err, said(got))
			}
		}
	}
	got := captured(t, at(1, 2, 173_000*time.Second, 173_001*time.Second))
	o := Options{Interface: "lo", Timing: Timing{Speed: 1}, Fitting: Fitting{MostGap: 3}}
	if err := got.Prepare(o); err != nil ||
		said(got) != "gap-shortened 3 4" || got.Frames[1].At != 1 || got.Frames[2].At != 4 || got.Frames[3].At != 7 {
		t.Errorf("shorter gaps: %v, %q, %+v", err, said(got), got.Frames)
	}
}

// TestEnds: a file that ends early, or is damaged, has the frames before that.
func TestEnds(t *testing.T) {
	b := kinds(t, 1)[0]
	file := pcap(1, packetOf{data: b}, packetOf{data: b})
	got := captured(t, file[:len(file)-7])
	if cut := got.Cut; len(got.Frames) != 1 || cut == nil || cut.After != 1 || !cut.InFrame || cut.Missing != 7 {
		t.Errorf("%+v", got.Cut)
	}
	if _, err := Read(bytes.NewReader(file[:60])); err == nil || !strings.Contains(err.Error(), "no complete frame") {
		t.Errorf("without a complete frame: %v", err)
	}
	if _, err := Read(bytes.NewReader(file[:24])); err == nil ||
		!strings.Contains(err.Error(), "nothing was captured") {
		t.Errorf("without a frame: %v", err)
	}
	damaged := captured(t, append(file, make([]byte, 16)...))
	if err := damaged.Prepare(Options{Interface: "lo"}); err == nil ||
		!strings.Contains(err.Error(), "behind frame 2") || !strings.Contains(err.Error(), "--skip") {
		t.Errorf("damaged: %v", err)
	}
	if err := damaged.Prepare(Options{Interface: "lo", Fitting: Fitting{Skip: true}}); err != nil ||
		len(damaged.Frames) != 2 {
		t.Errorf("damaged, and the rest left out: %v", err)
	}
}

// TestIncompleteMapped: the addresses of a frame that the file has in part are replaced like others, and it is
// found again with padding.
func TestIncompleteMapped(t *testing.T) {
	m, err := ParseMapping("10.0.0.0/24=192.0.2.0/24")
	if err != nil {
		t.Fatal(err)
	}
	b := kinds(t, 1)[0][:36]
	Rewrite{Addresses: []Mapping{m}}.Apply(b)
	if !bytes.Equal(b[26:34], []byte{192, 0, 2, 1, 192, 0, 2, 2}) || complete(b) != "" {
		t.Errorf("% x", b)
	}
	w := newMatcher([]Frame{{Data: b}})
	w.wasSent(0, 1)
	if w.arrived(append(slices.Clone(b), make([]byte, 24)...), 2); w.counts.Received != 1 || w.counts.Altered != 0 {
		t.Errorf("%+v", w.counts)
	}
}

// TestTowards: the most frequent destinations, and what routers do not forward.
func TestTowards(t *testing.T) {
	var frames []Frame
	for _, b := range [][]byte{kinds(t, 1)[0], kinds(t, 1)[1], kinds(t, 1)[2]} {
		frames = append(frames, Frame{Data: b})
		if isLocal(b) {
			t.Errorf("% x is local", b)
		}
	}
	if got := towards(frames); got != (record.ReplayTowards{MAC: far.String(), Frames: 3, IP: "10.0.0.2", Packets: 2}) {
		t.Errorf("%+v", got)
	}
	last, group, arp := kinds(t, 1)[0], kinds(t, 1)[0], kinds(t, 1)[0]
	last[22], group[0], arp[13] = 1, 1, 6
	multicast := kinds(t, 1)[2]
	multicast[38] = 0xff
	for i, b := range [][]byte{last, group, arp, multicast} {
		if !isLocal(b) {
			t.Errorf("frame %d is forwarded", i)
		}
	}
}
