//go:build linux && !portable

package linkemu

import (
	"encoding/binary"
	"math"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// flight is when a datagram was sent, and how long it took; 0: it did not come.
type flight struct {
	sent time.Time
	took time.Duration
}

// unread is how many datagrams have come to an end and found no room in their socket,
// whose reader got no processor.
func (e ends) unread(i int) int {
	e.t.Helper()
	return must(strconv.Atoi(e.counter(i, "snmp", "Udp", "RcvbufErrors")))
}

// flights sends numbered datagrams from one end to the other, some of them between
// two pauses, and says what became of each.
func (e ends) flights(from, to, datagrams, atOnce int, pause time.Duration) []flight {
	e.t.Helper()
	var out, in net.PacketConn
	e.do(to, func() { in = must(net.ListenPacket("udp4", ":0")) })
	e.do(from, func() { out = must(net.ListenPacket("udp4", ":0")) })
	defer in.Close()
	defer out.Close()
	at := &net.UDPAddr{IP: net.IPv4(10, 0, 0, byte(1+to)), Port: in.LocalAddr().(*net.UDPAddr).Port}
	sent := make(chan []time.Time, 1)
	go func() {
		list := make([]time.Time, datagrams)
		for i := range list {
			list[i] = time.Now()
			_, _ = out.WriteTo(binary.BigEndian.AppendUint32(nil, uint32(i)), at)
			if i%atOnce == atOnce-1 {
				time.Sleep(pause)
			}
		}
		sent <- list
	}()
	came := make([]time.Time, datagrams)
	buffer := make([]byte, 16)
	for range datagrams {
		_ = in.SetReadDeadline(time.Now().Add(2 * time.Second))
		n, _, err := in.ReadFrom(buffer)
		now := time.Now()
		if err != nil {
			break
		}
		if i := int(binary.BigEndian.Uint32(buffer[:n])); n == 4 && i < datagrams {
			came[i] = now
		}
	}
	list := make([]flight, datagrams)
	for i, at := range <-sent {
		list[i].sent = at
		if !came[i].IsZero() {
			list[i].took = came[i].Sub(at)
		}
	}
	return list
}

// TestDelay: nothing comes early, and on a machine that is not too busy hardly
// anything late: the fastest shows what the link adds, whatever else the machine
// does. What the same link adds without a delay is not counted: in user-mode Linux a
// system call takes long.
func TestDelay(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, by := range mechanisms(t) {
			const delay, doubt = 20 * time.Millisecond, 200 * time.Microsecond
			late := latenesses(t, by, delay)
			own := latenesses(t, by, 1)[0]
			t.Logf("%s: late by %v at the least, %v in the middle, %v at the most; %v without a delay", by, late[0],
				late[len(late)/2], late[len(late)-1], own)
			if late[0] < 0 {
				t.Errorf("%s: a datagram came %v early", by, -late[0])
			}
			if late[0] > own+doubt {
				t.Errorf("%s: the quickest datagram came %v late", by, late[0])
			}
		}
	})
}

// latenesses is by how much datagrams over a link with a delay were late, in ascending order.
func latenesses(t *testing.T, by topology.Mechanism, delay time.Duration) (late []time.Duration) {
	t.Helper()
	e := joined(t, by, topology.Impairment{Delay: unit.Duration(delay)}, topology.Impairment{})
	for _, f := range e.flights(0, 1, 300, 1, 2*time.Millisecond) {
		if f.took == 0 {
			t.Fatalf("%s: a datagram did not come", by)
		}
		late = append(late, f.took-delay)
	}
	slices.Sort(late)
	return late
}

// TestJitter: datagrams too far apart to meet take from the delay less the jitter
// to the delay and the jitter, and at every part of the spread as many as there
// should be have arrived, or fewer, where they were late. None overtakes.
func TestJitter(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, by := range mechanisms(t) {
			const delay, jitter, datagrams = 12 * time.Millisecond, 4 * time.Millisecond, 200
			e := joined(t, by, topology.Impairment{Delay: unit.Duration(delay), Jitter: unit.Duration(jitter)},
				topology.Impairment{})
			var took []time.Duration
			var last time.Time
			for i, f := range e.flights(0, 1, datagrams, 1, 2*jitter) {
				if f.took < delay-jitter {
					t.Errorf("%s: datagram %d took %v", by, i, f.took)
				}
				if at := f.sent.Add(f.took); at.Before(last) {
					t.Errorf("%s: datagram %d overtook", by, i)
				} else {
					last = at
				}
				took = append(took, f.took)
			}
			slices.Sort(took)
			t.Logf("%s: took %v at the least, %v in the middle, %v at the most", by, took[0], took[datagrams/2],
				took[datagrams-1])
			// Each share of them, by order, five standard deviations to the early side.
			for _, share := range []float64{0.25, 0.5, 0.75} {
				doubt := 5 * math.Sqrt(share*(1-share)/datagrams)
				least := delay - jitter + time.Duration(float64(2*jitter)*(share-doubt))
				if got := took[int(share*datagrams)]; got < least {
					t.Errorf("%s: %g of the datagrams took up to %v, want %v at least", by, share, got, least)
				}
			}
			if spread := took[datagrams-1] - took[0]; spread < jitter {
				t.Errorf("%s: they spread over %v", by, spread)
			}
		}
	})
}

// TestReorder: the configured share of datagrams overtakes.
func TestReorder(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, by := range mechanisms(t) {
			// Far longer than anything keeps a datagram up.
			const delay, share, datagrams = 400 * time.Millisecond, 0.05, 4000
			e := joined(t, by, topology.Impairment{Delay: unit.Duration(delay), Reorder: share}, topology.Impairment{})
			early, came := 0, 0
			for _, f := range e.flights(0, 1, datagrams, 20, 2*time.Millisecond) {
				if f.took > 0 {
					came++
				}
				if f.took > 0 && f.took < delay {
					early++
				}
			}
			if unread := e.unread(1); came+unread != datagrams {
				t.Errorf("%s: %d of %d datagrams came", by, came+unread, datagrams)
			}
			within(t, string(by)+": overtook", early, came, share)
		}
	})
}

// TestLossOfDatagrams: the share that is lost is the configured one, in
// each direction by itself.
func TestLossOfDatagrams(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, by := range mechanisms(t) {
			const share, datagrams = 0.1, 10_000
			e := joined(t, by, topology.Impairment{Loss: share}, topology.Impairment{Delay: 1e6})
			count := func(from, to int) (got int) {
				for _, f := range e.flights(from, to, datagrams, 50, time.Millisecond) { // no queue is to overflow
					if f.took > 0 {
						got++
					}
				}
				return got + e.unread(to)
			}
			within(t, string(by)+": datagrams there", count(0, 1), datagrams, 1-share)
			if got := count(1, 0); got != datagrams {
				t.Errorf("%s: %d of %d datagrams came back, where none is to be lost", by, got, datagrams)
			}
		}
	})
}

// TestFramesFareSeparately: of messages that a sender's kernel makes one super-frame each,
// single frames are lost or overtake.
func TestFramesFareSeparately(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, by := range mechanisms(t) {
			const share, each, messages = 0.02, 40, 200
			affected := 1 - math.Pow(1-share, each)
			lost, hit := 0, 0
			e := joined(t, by, topology.Impairment{Loss: share}, topology.Impairment{})
			for _, order := range e.messages(each, messages) {
				lost += each - len(order)
				if len(order) < each {
					hit++
				}
			}
			within(t, string(by)+": frames lost", lost, each*messages, share)
			within(t, string(by)+": messages that lost some", hit, messages, affected)

			hit = 0
			e = joined(t, by, topology.Impairment{Delay: 10e6, Reorder: share}, topology.Impairment{})
			for _, order := range e.messages(each, messages) {
				if !slices.IsSorted(order) {
					hit++
				}
			}
			// The first frame may overtake without a change of their order.
			within(t, string(by)+": messages whose frames overtook", hit, messages, 1-math.Pow(1-share, each-1))
		}
	})
}

// messages sends messages of datagrams with segmentation offload (UDP_SEGMENT, udp(7)),
// one after the other, and returns the datagrams of each in the order in which they came.
// All are sent again if the socket had no room for all that came.
func (e ends) messages(each, messages int) [][]int {
	e.t.Helper()
	var out, in net.PacketConn
	e.do(1, func() { in = must(net.ListenPacket("udp4", ":0")) })
	e.do(0, func() { out = must(net.ListenPacket("udp4", ":0")) })
	defer in.Close()
	defer out.Close()
	const size = 1000
	raw := must(out.(*net.UDPConn).SyscallConn())
	_ = raw.Control(func(fd uintptr) {
		if err := unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT, size); err != nil {
			e.t.Fatal(err)
		}
	})
	at := &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: in.LocalAddr().(*net.UDPAddr).Port}
	data, buffer := make([]byte, each*size), make([]byte, 2*size)
	for range 5 {
		list, unread := make([][]int, messages), e.unread(1)
		receive := func(patience time.Duration) bool {
			_ = in.SetReadDeadline(time.Now().Add(patience))
			n, _, err := in.ReadFrom(buffer)
			if m := int(binary.BigEndian.Uint32(buffer)); n == size && m < messages {
				list[m] = append(list[m], int(binary.BigEndian.Uint32(buffer[4:])))
			}
			return err == nil
		}
		for m := range messages {
			for i := range each {
				binary.BigEndian.PutUint32(data[i*size:], uint32(m))
				binary.BigEndian.PutUint32(data[i*size+4:], uint32(i))
			}
			must(out.WriteTo(data, at))
			for len(list[m]) < each && receive(50*time.Millisecond) {
			}
		}
		for receive(time.Second) {
		}
		if e.unread(1) == unread {
			return list
		}
	}
	kerneltest.Skip(e.t, "the machine is too busy to read datagrams")
	return nil
}

// TestRate: what leaves the link is what its rate allows, to half a per cent in the
// best while and no more in half of them: after a pause of the machine it makes up
// for what it could not do. An interface's tbf makes the rate, with marks the
// emulator.
func TestRate(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		const rate, bucket, queue = 40e6, 16 << 10, 64 << 10
		for _, by := range append(mechanisms(t), "emulator with marks") {
			link := topology.Impairment{Delay: 2e6, Rate: rate, Burst: bucket, Queue: unit.Depth{Size: queue}}
			if by == "emulator with marks" {
				by, link.ECN.Size = topology.Emulator, queue/2
			}
			e := joined(t, by, link, topology.Impairment{})
			best, usual := e.rates(rate)
			t.Logf("%s: %.3f of the rate at the best, %.3f usually", by, best, usual)
			if best < 0.995 || best > 1.005 {
				t.Errorf("%s: at the best %.4f of the rate", by, best)
			}
			if usual > 1.005 {
				t.Errorf("%s: usually %.4f of the rate", by, usual)
			}
		}
	})
}

// rates keeps the queue towards the second end full for a while. Best is the share
// of the rate, of the whiles, that comes nearest to it; usual is the median.
func (e ends) rates(rate float64) (best, usual float64) {
	e.t.Helper()
	var out net.PacketConn
	e.do(0, func() { out = must(net.ListenPacket("udp4", ":0")) })
	defer out.Close()
	e.do(1, func() {
		e.t.Cleanup(func(c net.PacketConn) func() { return func() { c.Close() } }(must(net.ListenPacket("udp4", ":9"))))
	})
	var conn *netlink.Conn
	e.do(1, func() { conn = must(netlink.Dial()) })
	defer conn.Close()
	var quit atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		data := make([]byte, 1472)
		began, sent := time.Now(), 0.0
		for !quit.Load() {
			for sent < 1.3*rate/8*time.Since(began).Seconds()+32<<10 {
				_, _ = out.WriteTo(data, &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 9})
				sent += 1514
			}
			time.Sleep(time.Millisecond)
		}
	}()
	defer func() { quit.Store(true); <-done }()
	read := func() (at int64, bytes float64) {
		for _, p := range must(conn.InterfaceCounters(map[int]string{})) {
			bytes += float64(p.RxBytes)
			at = p.AtNs
		}
		return at, bytes
	}
	time.Sleep(100 * time.Millisecond)
	best = math.Inf(1)
	var shares []float64
	for range 12 {
		from, before := read()
		time.Sleep(100 * time.Millisecond)
		to, after := read()
		share := (after - before) * 8 / (rate * float64(to-from) / 1e9)
		if math.Abs(share-1) < math.Abs(best-1) {
			best = share
		}
		shares = append(shares, share)
	}
	slices.Sort(shares)
	return best, shares[len(shares)/2]
}
