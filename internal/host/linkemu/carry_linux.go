//go:build !portable

package linkemu

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/topology"
)

// Carry carries the frames of all links until stop is closed. Link i joins the taps with descriptors taps[2i]
// and taps[2i+1]; its first impairment applies to frames from taps[2i], its second to the other direction. The
// MTU of an impairment is that of the end that receives: larger frames are dropped, unless it is 0.
func Carry(links [][2]topology.Impairment, taps []int, stop <-chan struct{}) error {
	if len(taps) != 2*len(links) {
		return fmt.Errorf("%d taps for %d links: expected two for each", len(taps), len(links))
	}
	var carrying sync.WaitGroup
	var quit atomic.Bool
	for _, tap := range taps {
		if err := sock.SetBlocking(tap, false); err != nil {
			return err
		}
	}
	for i, l := range links {
		for k, impairment := range l {
			d := newDirection(impairment, rand.New(rand.NewPCG(uint64(i), uint64(2*i+k))))
			from, to := taps[2*i+k], taps[2*i+1-k]
			carrying.Go(func() {
				sched.WithRealtime(func() { d.carry(from, to, &quit) })
			})
		}
	}
	followCarriers(taps, stop)
	quit.Store(true)
	carrying.Wait()
	return nil
}

const (
	// maxFrame is the size of a super-frame of 64 KiB with its headers.
	maxFrame = 64<<10 + 512
	// maxSleep limits the time until a direction notices that it is to stop.
	maxSleep = 100 * time.Millisecond
	// maxInFlight limits the bytes in flight in one direction: a second of
	// 4 Gbit/s. Frames beyond it are dropped.
	maxInFlight = 512 << 20
	// carrierInterval is how often followCarriers checks whether the taps' interfaces are up.
	carrierInterval = 10 * time.Millisecond
	// readBatch is the number of frames read before those that are due are written.
	readBatch = 16
)

// followCarriers removes the carrier from one end of a link while the other end's interface is down, as a cable
// does, until stop is closed. New taps are up and have a carrier; a kernel before Linux 5.0 cannot change that.
func followCarriers(taps []int, stop <-chan struct{}) {
	up := slices.Repeat([]bool{true}, len(taps))
	for ask := time.NewTicker(carrierInterval); ; {
		select {
		case <-stop:
			ask.Stop()
			return
		case <-ask.C:
		}
		now, err := netlink.TapsUp(taps)
		if err != nil {
			continue // interrupted
		}
		for i := range taps {
			if now[i] != up[i] {
				_ = netlink.Tap(taps[i^1]).SetCarrier(now[i])
			}
		}
		up = now
	}
}

// direction carries the frames of one direction of a link.
type direction struct {
	delay, jitter int64 // nanoseconds
	most          int64 // bytes of a frame that the receiving interface takes; 0: any
	draw          *rand.Rand
	last          int64 // when the latest frame is due
	queue         queue
	inOrder       delayLine
	reordered     delayLine // frames that overtake those in order
	loss, reorder bernoulli
	scratch       []byte
	poller        sched.Poller
}

func newDirection(i topology.Impairment, draw *rand.Rand) *direction {
	most := int64(0)
	if i.MTU > 0 {
		most = int64(i.MTU) + ethernet + 4 // a tag
	}
	return &direction{
		most: most, delay: int64(i.Delay), jitter: int64(i.Jitter), draw: draw, queue: newQueue(i),
		loss: newBernoulli(float64(i.Loss), draw), reorder: newBernoulli(float64(i.Reorder), draw),
		scratch: make([]byte, tapHeader+maxFrame),
	}
}

func (d *direction) carry(from, to int, quit *atomic.Bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	for readable := true; !quit.Load(); {
		now := sched.Now()
		if d.deliver(&d.reordered, to, now)+d.deliver(&d.inOrder, to, now) > 0 {
			now = sched.Now()
		}
		if readable {
			n := d.receive(from, now)
			if readable = n == readBatch; readable {
				continue // there may be more
			}
			now = sched.Now()
		}
		limit := maxSleep
		for _, l := range []*delayLine{&d.reordered, &d.inOrder} {
			if due, ok := l.due(); ok {
				limit = min(limit, time.Duration(due-now))
			}
		}
		if readable = limit <= 0; !readable {
			_, _ = d.poller.Wait(from, false, limit)
			readable = d.poller.Ready()
		}
	}
}

// deliver writes the frames that are due and returns their number.
func (d *direction) deliver(l *delayLine, to int, now int64) (n int) {
	for ; ; n++ {
		due, ok := l.due()
		if !ok || due > now {
			return n
		}
		// The kernel drops a frame to an interface that is down, as hardware would.
		_, _ = netlink.Tap(to).Write(l.first())
		l.pop()
	}
}

// receive reads a batch of frames, sent at time now, and returns their number; less than readBatch means that
// there are no more.
func (d *direction) receive(from int, now int64) (frames int) {
	for frames < readBatch {
		n, err := netlink.Tap(from).Read(d.scratch)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < tapHeader {
			break
		}
		if frames > 0 {
			now = sched.Now()
		}
		d.send(d.scratch[:n], now)
		frames++
	}
	return frames
}

// due returns when a frame sent at the given time arrives: never before the previous frame.
func (d *direction) due(sent int64) int64 {
	due := sent + d.delay
	if d.jitter > 0 {
		due += d.draw.Int64N(2*d.jitter+1) - d.jitter
	}
	d.last = max(d.last, due)
	return d.last
}

// send applies the impairment to a frame. Some of its segments may be dropped by the queue, lost, reordered or
// delayed further; the others stay together.
func (d *direction) send(frame []byte, now int64) {
	if d.inOrder.bytes > maxInFlight || d.most > 0 && sentLen(frame, 1) > d.most {
		return
	}
	fit, sent := d.queue.enqueue(frame, now)
	if fit == 0 {
		return
	}
	lost, early := d.loss.next(fit), d.reorder.next(fit)
	begin, due := 0, int64(0) // the next segments that stay together
	keep := func(end int) {
		switch {
		case end <= begin:
		case begin == 0 && end == segments(frame):
			d.inOrder.push(frame, due)
		default:
			d.inOrder.pushSegments(frame, begin, end, due)
		}
		begin = end
	}
	for i := range fit {
		isLost, isEarly := len(lost) > 0 && lost[0] == i, len(early) > 0 && early[0] == i
		if isEarly {
			early = early[1:]
		}
		switch {
		case isLost:
			lost = lost[1:]
			keep(i)
			begin = i + 1
		case isEarly:
			keep(i)
			d.reordered.pushSegments(frame, i, i+1, sent)
			begin = i + 1
		case i == begin:
			due = d.due(sent)
		case d.jitter > 0:
			if at := d.due(sent); at != due {
				keep(i)
				due = at
			}
		}
	}
	keep(fit)
}
