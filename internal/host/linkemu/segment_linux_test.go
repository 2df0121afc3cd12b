//go:build !portable

package linkemu

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/model/checksum"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// tcpSuperFrame is a TCP super-frame over IPv4 with the payload 0, 1, 2, … in words of
// two bytes, and the checksum over the pseudo-header as the kernel leaves it.
func tcpSuperFrame(payload, size int) []byte {
	const ip, tcp = 20, 32
	f := make([]byte, tapHeader+ethernet+ip+tcp+payload)
	f[0], f[atType] = 1, gsoTCPv4|gsoECN
	native.PutUint16(f[atHdrLen:], ethernet+ip+tcp)
	native.PutUint16(f[atGSOSize:], uint16(size))
	native.PutUint16(f[atCsum:], ethernet+ip)
	native.PutUint16(f[atCsum+2:], 16)
	ether := f[tapHeader:]
	binary.BigEndian.PutUint16(ether[12:], 0x0800)
	head := ether[ethernet:]
	head[0], head[9] = 0x45, 6
	binary.BigEndian.PutUint16(head[2:], uint16(ip+tcp+payload))
	binary.BigEndian.PutUint16(head[4:], 0xfffe) // an identification that wraps
	copy(head[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	binary.BigEndian.PutUint16(head[10:], checksum.Of(head[:ip]))
	t := head[ip:]
	binary.BigEndian.PutUint32(t[4:], 0xffffff00) // a sequence number that wraps
	t[12], t[13] = tcp/4<<4, 0x80|0x10|0x08|0x01  // CWR, ACK, PSH, FIN
	binary.BigEndian.PutUint16(t[16:], pseudo(head, tcp+payload))
	for i := range payload / 2 {
		binary.BigEndian.PutUint16(t[tcp+2*i:], uint16(i))
	}
	return f
}

// pseudo is the sum over the pseudo-header of a TCP segment.
func pseudo(ip []byte, length int) uint16 {
	header := append(bytes.Clone(ip[12:20]), 0, 6, byte(length>>8), byte(length))
	return checksum.Fold(checksum.Sum(header))
}

// TestExtractSegments: pieces together are the payload, in order, each with headers that say
// so.
func TestExtractSegments(t *testing.T) {
	const size = 100
	whole := tcpSuperFrame(950, size)
	if n := segments(whole); n != 10 {
		t.Fatalf("%d segments, want 10", n)
	}
	var payload []byte
	for _, piece := range [][2]int{{0, 1}, {1, 4}, {4, 9}, {9, 10}} {
		into := make([]byte, segmentsLen(whole, piece[0], piece[1]))
		extractSegments(into, whole, piece[0], piece[1])
		last, alone := piece[1] == 10, piece[1]-piece[0] == 1
		if (into[atType] == gsoNone) != alone || (native.Uint16(into[atGSOSize:]) == 0) != alone {
			t.Errorf("%v: type %d, segments of %d", piece, into[atType], native.Uint16(into[atGSOSize:]))
		}
		if n := segments(into); n != piece[1]-piece[0] {
			t.Errorf("%v: %d segments", piece, n)
		}
		ip := into[tapHeader+ethernet:]
		tcp := ip[20:]
		if got := checksum.Fold(checksum.Sum(ip[:20])); got != 0xffff {
			t.Errorf("%v: the IP header sums to %#x", piece, got)
		}
		if got := int(binary.BigEndian.Uint16(ip[2:])); got != len(ip) {
			t.Errorf("%v: IP length %d, want %d", piece, got, len(ip))
		}
		if got, want := binary.BigEndian.Uint16(ip[4:]), uint16(0xfffe+piece[0]); got != want {
			t.Errorf("%v: identification %#x, want %#x", piece, got, want)
		}
		if got, want := binary.BigEndian.Uint32(tcp[4:]), uint32((0xffffff00+size*piece[0])&0xffffffff); got != want {
			t.Errorf("%v: sequence number %#x, want %#x", piece, got, want)
		}
		if got := tcp[13]; (got&0x09 != 0) != last || (got&0x80 != 0) != (piece[0] == 0) || got&0x10 == 0 {
			t.Errorf("%v: flags %#x", piece, got)
		}
		if got, want := binary.BigEndian.Uint16(tcp[16:]), pseudo(ip, len(tcp)); got != want {
			t.Errorf("%v: checksum of the pseudo-header %#x, want %#x", piece, got, want)
		}
		payload = append(payload, tcp[32:]...)
	}
	if !bytes.Equal(payload, whole[tapHeader+ethernet+20+32:]) {
		t.Error("the payloads together are not the payload")
	}
}

// TestUnknownFramesAreKept: a frame that cannot be parsed is carried unchanged.
func TestUnknownFramesAreKept(t *testing.T) {
	arp := make([]byte, tapHeader+42)
	arp[tapHeader+12], arp[tapHeader+13] = 0x08, 0x06
	strange := tcpSuperFrame(500, 100)
	native.PutUint16(strange[atCsum:], 9000) // beyond its end
	short := tcpSuperFrame(500, 100)[:tapHeader+3]
	for _, frame := range [][]byte{arp, strange, short, nil, make([]byte, tapHeader)} {
		if n := segments(frame); n != 1 {
			t.Errorf("%d segments", n)
		}
		into := make([]byte, segmentsLen(frame, 0, 1))
		extractSegments(into, frame, 0, 1)
		if !bytes.Equal(into, frame) {
			t.Errorf("%x became %x", frame, into)
		}
	}
}

// TestBernoulli: events are as frequent as their probability and independent, however
// the frames are batched.
func TestBernoulli(t *testing.T) {
	for _, share := range []float64{0.001, 0.03, 0.5} {
		const frames = 1_000_000
		l := newBernoulli(share, rand.New(rand.NewPCG(1, 2)))
		bundle := rand.New(rand.NewPCG(3, 4))
		lost, pairs, before := 0, 0, false
		for at := 0; at < frames; {
			n := min(1+bundle.IntN(45), frames-at)
			gone := map[int]bool{}
			for _, i := range l.next(n) {
				gone[i] = true
			}
			for i := range n {
				if gone[i] {
					lost++
					if before {
						pairs++
					}
				}
				before = gone[i]
			}
			at += n
		}
		within(t, "lost", lost, frames, share)
		within(t, "lost one after another", pairs, frames, share*share)
	}
	l := newBernoulli(0, rand.New(rand.NewPCG(1, 2)))
	if gone := l.next(1_000_000); len(gone) != 0 {
		t.Errorf("without loss, %d are lost", len(gone))
	}
}

// within holds a count against its binomial interval, five standard deviations to
// each side.
func within(t *testing.T, what string, got, n int, share float64) {
	t.Helper()
	mean, deviation := float64(n)*share, math.Sqrt(float64(n)*share*(1-share))
	if math.Abs(float64(got)-mean) > 5*deviation {
		t.Errorf("%s: %d of %d, want %.0f ± %.0f", what, got, n, mean, 5*deviation)
	}
}

// TestDelayLine: frames leave in the order and with the bytes with which they were
// pushed, and buffers are reused.
func TestDelayLine(t *testing.T) {
	var l delayLine
	draw := rand.New(rand.NewPCG(5, 6))
	var want [][]byte
	step := func() {
		if draw.IntN(5) < 3 || l.n == 0 {
			frame := make([]byte, 1+draw.IntN(3000))
			for i := range frame {
				frame[i] = byte(draw.Uint32())
			}
			l.push(frame, int64(len(want)))
			want = append(want, frame)
			return
		}
		if !bytes.Equal(l.first(), want[len(want)-l.n]) {
			t.Fatal("another frame is first")
		}
		l.pop()
	}
	for range 5000 {
		step()
	}
	if due, waiting := l.due(); !waiting || due != int64(len(want)-l.n) {
		t.Errorf("the first one is due at %d, %v, want %d", due, waiting, len(want)-l.n)
	}
	total := 0
	for _, frame := range want[len(want)-l.n:] {
		total += len(frame)
	}
	if l.bytes != total {
		t.Errorf("%d bytes are in flight, want %d", l.bytes, total)
	}
	frame := make([]byte, 1500)
	if n := testing.AllocsPerRun(100, func() { l.push(frame, 0); l.pop() }); n > 0 {
		t.Errorf("a frame costs %.0f allocations", n)
	}
}

// TestDue: jitter spreads the delay evenly to both sides, and no frame is due
// before the one in front of it, however close they follow each other.
func TestDue(t *testing.T) {
	const delay, jitter = 10_000_000, 2_000_000
	link := topology.Impairment{Delay: delay, Jitter: jitter}
	c := newDirection(link, rand.New(rand.NewPCG(1, 2)))
	const frames, parts = 40_000, 8
	var count [parts]int
	for i := range int64(frames) {
		sent := 3 * jitter * i // too far apart to meet
		took := c.due(sent) - sent - (delay - jitter)
		if took < 0 || took > 2*jitter {
			t.Fatalf("frame %d took %d ns", i, took+delay-jitter)
		}
		count[min(took*parts/(2*jitter), parts-1)]++
	}
	for part, n := range count {
		within(t, "frames in part "+string(rune('0'+part))+" of the spread", n, frames, 1.0/parts)
	}
	c = newDirection(link, rand.New(rand.NewPCG(1, 2)))
	last := int64(0)
	for sent := int64(0); sent < 100*jitter; sent += jitter / 50 {
		due := c.due(sent)
		if due < last || due < sent+delay-jitter || due > sent+delay+jitter {
			t.Fatalf("sent at %d, due at %d, after one that is due at %d", sent, due, last)
		}
		last = due
	}
}

// payloads drains a delay line, one piece of payload for each frame.
func payloads(l *delayLine) (list [][]byte) {
	for ; l.n > 0; l.pop() {
		list = append(list, bytes.Clone(l.first()[tapHeader+ethernet+52:]))
	}
	return list
}

// TestOvertake: the segments of a super-frame that overtake, those that stay and
// those that are lost are its segments; the ones that overtake are due at once.
func TestOvertake(t *testing.T) {
	const size, n, frames = 100, 40, 2000
	c := newDirection(topology.Impairment{Delay: 1e6, Reorder: 0.05, Loss: 0.02}, rand.New(rand.NewPCG(9, 9)))
	whole := tcpSuperFrame(n*size, size)
	payload := whole[tapHeader+ethernet+52:]
	early, lost := 0, 0
	for i := range int64(frames) {
		c.send(bytes.Clone(whole), i)
		seen := make([]int, n)
		if due, waits := c.reordered.due(); waits && due != i {
			t.Fatalf("one that overtakes is due %d ns after it was sent", due-i)
		}
		if due, waits := c.inOrder.due(); waits && due != i+1e6 {
			t.Fatalf("the others are due %d ns after they were sent", due-i)
		}
		for _, ahead := range []bool{true, false} {
			l := &c.inOrder
			if ahead {
				l = &c.reordered
			}
			for _, piece := range payloads(l) {
				for ; len(piece) > 0; piece = piece[size:] {
					at := bytes.Index(payload, piece[:size]) / size
					seen[at]++
					if ahead {
						early++
					}
				}
			}
		}
		for at, times := range seen {
			if times > 1 {
				t.Fatalf("segment %d came %d times", at, times)
			}
			lost += 1 - times
		}
	}
	within(t, "lost", lost, n*frames, 0.02)
	within(t, "overtook", early, n*frames, 0.05*0.98)
}

// TestQueue: frames leave a queue at its rate, whole super-frames as well, what
// has no room is dropped segment by segment, and beyond the threshold those get a
// mark whose senders understand them.
func TestQueue(t *testing.T) {
	const size, head = 1000, ethernet + 52
	// 1 µs a byte
	link := topology.Impairment{Rate: 8e9 / 1000, Queue: unit.Depth{Size: 100 * (size + head)},
		ECN: unit.Depth{Size: 40 * (size + head)}}
	c := newDirection(link, rand.New(rand.NewPCG(1, 1)))
	ect := func(segs int) []byte {
		frame := tcpSuperFrame(segs*size, size)
		ip := frame[tapHeader+ethernet:]
		ip[1] = 0b10
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], checksum.Of(ip[:20]))
		return frame
	}
	latest := func() []byte { return c.inOrder.frames[(c.inOrder.head+c.inOrder.n-1)%len(c.inOrder.frames)].frame }
	ce := func() bool {
		ip := latest()[tapHeader+ethernet:]
		if checksum.Fold(checksum.Sum(ip[:20])) != 0xffff {
			t.Error("a frame has a wrong IP checksum")
		}
		return ip[1]&3 == 3
	}
	for i, step := range []struct {
		segs, fit int
		ect, mark bool
	}{
		{30, 30, true, false}, {11, 11, true, false}, // finds 30 waiting
		{10, 10, true, true}, {10, 10, false, false}, // find 41, 51
		{30, 30, true, true}, {20, 9, true, true}, {1, 0, true, false}, // find 61, 91, 100
	} {
		frame := tcpSuperFrame(step.segs*size, size)
		if step.ect {
			frame = ect(step.segs)
		}
		before, fit := c.inOrder.n, 0
		c.send(frame, 0)
		if c.inOrder.n > before {
			fit = segments(latest())
		}
		if fit != step.fit {
			t.Errorf("step %d: %d of %d fit, want %d", i, fit, step.segs, step.fit)
		}
		if fit > 0 && ce() != step.mark {
			t.Errorf("step %d: marked %v, want %v", i, ce(), step.mark)
		}
	}
	if due := c.last; due != 100*(size+head)*1000 {
		t.Errorf("the last one is due at %d ns", due)
	}
	c.send(tcpSuperFrame(size, size), 2*c.last) // when all is long gone
	if due, want := c.last, int64(2*100*(size+head)*1000+(size+head)*1000); due != want {
		t.Errorf("one that finds nothing waiting is due at %d ns, want %d", due, want)
	}
}

// TestMark: marks are for IP alone, and only where the sender understands them.
func TestMark(t *testing.T) {
	six := make([]byte, tapHeader+ethernet+4+40)
	copy(six[tapHeader+12:], []byte{0x81, 0x00, 0, 5, 0x86, 0xdd, 0x60, 0x10})
	at := tapHeader + ethernet + tagged + 1
	if !markCE(six) || six[at] != 0x30 {
		t.Errorf("an IPv6 frame with a tag has %#x", six[at])
	}
	six[at] = 0x0f // not understood, and a flow label
	if markCE(six) || six[at] != 0x0f {
		t.Errorf("one whose sender does not understand marks has %#x", six[at])
	}
	arp := make([]byte, tapHeader+42)
	arp[tapHeader+12], arp[tapHeader+13] = 0x08, 0x06
	for _, frame := range [][]byte{arp, six[:tapHeader+3], six[:tapHeader+ethernet+4+3]} {
		was := bytes.Clone(frame)
		if markCE(frame) || !bytes.Equal(was, frame) {
			t.Errorf("%x was marked", was)
		}
	}
}
