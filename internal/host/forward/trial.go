package forward

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/host/frames"
	"linerate/internal/host/transmit"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// The payload of a frame begins with a word that contains the number of its trial, so that late frames count
// for no other trial, and a tag if its delay is measured. Its number and send time follow.
const (
	word       = uint32(0x6c720000) // marks the frames of this program
	trialShift = 8
	trials     = 0xff // trial numbers, reused; 0 tests the path
	tag        = 1
	tagEvery   = time.Millisecond // minimum interval between tagged frames
	mostLate   = time.Millisecond // a later frame is due to a pause of this host, which must not cause a burst
	waitEvery  = 10 * time.Millisecond
	// the trial is over if no frame has arrived for this long after the last was due
	settled    = 200 * time.Millisecond
	residual   = 2 * time.Second // frames that take longer are lost (RFC 2544, section 23)
	tryEvery   = 100 * time.Millisecond
	tryForMost = 3 * time.Second
)

// tester sends through one interface and receives through the other.
type tester struct {
	*path
	maker     *frames.Maker
	frameBits float64 // mean size, including the check sequence

	out    *packet.Sender
	back   *packet.Sender   // teaches a switch where Receive is; nil: a router
	times  *packet.Receiver // of tagged frames
	sink   net.PacketConn   // discards what arrives at an address of this host; nil: not needed
	before map[string]int64
	latest uint32        // number of the latest trial
	delay  time.Duration // of an otherwise idle path
}

func newTester(p *path, o Options) (_ *tester, err error) {
	t := &tester{path: p}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	bytes := min(packet.MinBytes+p.MTU, packet.MaxBytes)
	if t.out, err = packet.Open(packet.Options{Interface: o.Interface, Bytes: bytes}); err != nil {
		return nil, err
	}
	if !p.router {
		if t.back, err = packet.Open(packet.Options{Interface: o.Receive, Bytes: bytes}); err != nil {
			return nil, err
		}
	}
	if t.times, err = packet.OpenReceiver(o.Receive, t.match(word|tag, ^uint32(trials<<trialShift))); err != nil {
		return nil, err
	}
	if p.own {
		// Without the socket, the kernel would answer with ICMP port unreachable. It drops what the socket has
		// no room for.
		if t.sink, err = net.ListenPacket("udp", p.Remote.String()); err != nil {
			return nil,
				fmt.Errorf("receive at port %d, to which frames go (below 1024 it needs CAP_NET_BIND_SERVICE): %w",
					echoPort, err)
		}
	}
	t.before, err = t.counters()
	return t, err
}

// match selects frames whose word equals word in the bits of mask.
func (t *tester) match(word, mask uint32) packet.Match {
	return packet.Match{Destination: t.to, Port: echoPort, Word: word, Mask: mask}
}

func (t *tester) close() {
	for _, s := range []*packet.Sender{t.out, t.back} {
		if s != nil {
			s.Close()
		}
	}
	if t.times != nil {
		t.times.Close()
	}
	if t.sink != nil {
		t.sink.Close()
	}
}

// stream generates the frames of a trial.
type stream struct {
	maker    *frames.Maker
	interval float64 // ns between frames
	latest   int64   // send time of the latest tagged frame
	word     uint32  // word of untagged frames
}

// Due implements transmit.Source.
func (s *stream) Due(number int64) int64 { return int64(float64(number) * s.interval) }

// Bytes implements transmit.Source.
func (s *stream) Bytes(number int64) int { return s.maker.Bytes(uint64(number)) }

// Write implements transmit.Source.
func (s *stream) Write(frame []byte, number, at int64) {
	word := s.word
	if at-s.latest >= int64(tagEvery) {
		word, s.latest = word|tag, at
	}
	s.maker.Make(frame, uint64(number), func(header []byte) {
		binary.BigEndian.PutUint32(header, word)
		binary.BigEndian.PutUint32(header[4:], uint32(number))
		binary.BigEndian.PutUint64(header[8:], uint64(at))
	})
}

// Handed implements transmit.Source.
func (*stream) Handed(int64, int, int64) {}

// reaches sends single frames until one arrives, which gives the path's delay. A router must first resolve the
// destination, and a switch learn where it is (RFC 2544, appendix C.2.4).
func (t *tester) reaches(ctx context.Context) error {
	one, delays := transmit.Limits{Frames: 1}, stats.NewHistogram()
	began := sched.Now()
	for end := time.Now().Add(tryForMost); time.Now().Before(end); {
		if t.back != nil {
			maker, err := frames.New(t.reverse, frames.Options{Payloads: []int{frames.HeaderBytes}, Fill: []byte{0}})
			if err != nil {
				return err
			}
			if _, err := transmit.Send(ctx, t.back, &stream{maker: maker, word: word}, one); err != nil {
				return err
			}
		}
		if _, err := transmit.Send(ctx, t.out, &stream{maker: t.maker, word: word}, one); err != nil {
			return err
		}
		next := time.Now().Add(tryEvery)
		if err := t.receive(delays, began, func() bool {
			return ctx.Err() == nil && delays.TotalCount() == 0 && time.Now().Before(next)
		}); err != nil {
			return err
		}
		if delays.TotalCount() > 0 {
			t.delay = time.Duration(delays.Min())
			return nil
		}
	}
	if t.router {
		return fmt.Errorf(
			"no frame to %s arrives by %s: the router has to forward, to have a route to it by that link, and to "+
				"know a MAC address for it",
			t.destinations(), t.reverse.Interface)
	}
	return fmt.Errorf(
		"no frame arrives by %s: the device has to forward between the two links (for a router: --router, its "+
			"address on the link of %s)",
		t.reverse.Interface, t.Interface)
}

// trial sends at a rate (0: as fast as possible) and counts what arrives. delays holds the delays of its tagged
// frames, in ns.
func (t *tester) trial(ctx context.Context, perS float64, length time.Duration) (l record.LossTrial,
	delays *hdrhistogram.Histogram, err error) {
	var frames int64
	if perS > 0 {
		frames = max(1, int64(perS*length.Seconds()))
	}
	return t.send(ctx, perS, transmit.Limits{Length: length, Frames: frames}, residual)
}

// send is like trial but ends at the first of the limits. Frames that take longer than within are lost.
func (t *tester) send(ctx context.Context, perS float64, limit transmit.Limits, within time.Duration) (
	l record.LossTrial, delays *hdrhistogram.Histogram, err error) {
	t.latest = t.latest%trials + 1
	from := &stream{maker: t.maker, word: word | t.latest<<trialShift}
	counter, err := packet.OpenCounter(t.reverse.Interface, t.match(from.word, ^uint32(tag)))
	if err != nil {
		return l, nil, err
	}
	defer counter.Close()
	if limit.Paced, limit.MostLate = perS > 0, mostLate; limit.Paced {
		from.interval = 1e9 / perS
	}
	started := sched.Now()
	delays = stats.NewHistogram()
	done := make(chan struct{})
	var receiving sync.WaitGroup
	var failed error
	receiving.Go(func() {
		failed = t.receive(delays, started, func() bool {
			select {
			case <-done:
				return false
			default:
				return true
			}
		})
	})
	sent, err := transmit.Send(ctx, t.out, from, limit)
	var arrived int64
	if err == nil {
		arrived, err = t.wait(ctx, counter, sent.Frames, within)
	}
	close(done)
	receiving.Wait()
	if err == nil {
		err = failed
	}
	for _, name := range []string{t.Interface, t.reverse.Interface} {
		if err == nil {
			err = packet.Check(name)
		}
	}
	if err != nil {
		return l, nil, err
	}
	l.WindowS = max(limit.Length.Seconds(), sent.TookS())
	l.Sent, l.Lost = sent.Frames, max(0, sent.Frames-arrived)
	if l.WindowS > 0 {
		l.OfferedBps = float64(sent.Frames) * t.frameBits / l.WindowS
		l.ReceivedBps = float64(min(arrived, sent.Frames)) * t.frameBits / l.WindowS
	}
	if sent.Frames > 0 {
		l.LostShare = float64(l.Lost) / float64(sent.Frames)
	}
	return l, delays, nil
}

// wait returns how many frames of a trial arrived within a time. It waits until all have arrived, or none has for
// settled, so that the device holds none any more. Both times count from when the last frame was due, plus the
// path's delay.
func (t *tester) wait(ctx context.Context, counter *packet.Counter, sent int64, within time.Duration) (arrived int64,
	err error) {
	due := sched.Now() + int64(t.delay)
	all, latest := int64(0), due
	for now := due; all < sent && now-latest < int64(settled); {
		if err := pause(ctx, waitEvery); err != nil {
			return 0, err
		}
		n, err := counter.Count()
		if err != nil {
			return 0, err
		}
		if now = sched.Now(); n > all {
			all, latest = n, max(latest, now)
		}
		if now-due < int64(within) {
			arrived = n
		}
	}
	return arrived, nil
}

// pause sleeps for length; it returns early with the context's error if the context ends.
func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

// receive records the delays of tagged frames sent since an instant, until no more can come.
func (t *tester) receive(delays *hdrhistogram.Histogram, since int64, more func() bool) error {
	const header = 14 + 20 + 8
	at := header
	if t.Remote.Addr().Is6() {
		at += 20
	}
	for again := true; again; again = more() {
		n, err := t.times.Receive(waitEvery)
		if err != nil {
			return err
		}
		for i := range n {
			m := t.times.Frame(i)
			if len(m.Data) < at+frames.HeaderBytes {
				continue
			}
			if sent := int64(binary.BigEndian.Uint64(m.Data[at+8:])); sent >= since && m.AtNs >= sent {
				stats.Record(delays, m.AtNs-sent)
			}
		}
	}
	return nil
}

// counters returns this host's own losses at the receiving interface.
func (t *tester) counters() (map[string]int64, error) {
	c, err := netlink.Dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.InterfaceCounters(map[int]string{})
	if err != nil {
		return nil, err
	}
	lost := map[string]int64{}
	for _, i := range list {
		if i.Interface == t.reverse.Interface {
			lost[i.Interface+" (receive ring)"] = int64(i.RxMissed)
			lost[i.Interface+" (receiving)"] = int64(i.RxErrors + i.RxDropped)
		}
	}
	if per, err := (proc.Proc{}).Softnet(); err == nil {
		for _, s := range per {
			lost[backlog] += int64(s.Dropped)
		}
	}
	return lost, nil
}

// backlog counts for the whole machine, not one interface.
const backlog = "the processors' backlog (softnet_stat, of all of this machine)"

// drops returns the frames that this host has lost since the tester was opened.
func (t *tester) drops() (list []record.ForwardDrops, err error) {
	now, err := t.counters()
	for _, what := range []string{t.reverse.Interface + " (receive ring)", t.reverse.Interface +
		" (receiving)", backlog} {
		if n := now[what] - t.before[what]; err == nil && n > 0 {
			list = append(list, record.ForwardDrops{What: what, Frames: n})
		}
	}
	return list, err
}
