package linkemu

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// carried is what a direction has done, for tests and for those who ask.
type carried struct {
	frames, lost, early, dropped, marked atomic.Int64
}

// Carry carries the frames of all links between taps, given as descriptors, until
// stop is closed.
func Carry(links []record.WireLink, taps []int, stop <-chan struct{}) error {
	var carrying sync.WaitGroup
	var quit atomic.Bool
	for _, tap := range taps {
		if err := netlink.SetNonblocking(tap); err != nil {
			return err
		}
	}
	for i, l := range links {
		for way, from := range l.Ends {
			to := l.Ends[1-way]
			if from < 0 || to < 0 || from >= len(taps) || to >= len(taps) {
				return fmt.Errorf("link %d joins taps %v of %d", i, l.Ends, len(taps))
			}
			c := newCarrier(l.Ways[way], rand.New(rand.NewPCG(l.Seed, uint64(2*i+way))))
			carrying.Go(func() {
				sched.WithRealtime(func() { c.carry(taps[from], taps[to], &quit) })
			})
		}
	}
	<-stop
	quit.Store(true)
	carrying.Wait()
	return nil
}

const (
	// largest is a super-frame with its headers.
	largest = 64<<10 + 512
	// glance is the longest that a carrier sleeps before it looks whether all ends.
	glance = 100 * time.Millisecond
	// mostWaiting bounds the bytes under way in one direction: a second of
	// 4 Gbit/s. Beyond that frames are dropped, as a full link does.
	mostWaiting = 512 << 20
	// handful is how many frames are read before those that are due are written.
	handful = 16
)

// carrier is one direction of a link.
type carrier struct {
	delay, jitter int64 // nanoseconds
	draw          *rand.Rand
	last          int64 // when the frame that was taken last is due
	queue         queue
	line          line
	// ahead are frames that overtake those in line.
	ahead          line
	losses, hastes chances
	scratch        []byte
	wait           sched.Poller
	count          carried
}

func newCarrier(d record.WireWay, draw *rand.Rand) *carrier {
	return &carrier{
		delay: d.DelayUs * 1000, jitter: d.JitterUs * 1000, draw: draw, queue: newQueue(d),
		losses: newChances(d.Loss, draw), hastes: newChances(d.Reorder, draw),
		scratch: make([]byte, netlink.TapHeader+largest),
	}
}

func (c *carrier) carry(from, to int, quit *atomic.Bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	for !quit.Load() {
		c.deliver(&c.ahead, to, sched.Now())
		c.deliver(&c.line, to, sched.Now())
		if c.take(from) {
			continue // there may be more
		}
		limit := glance
		for _, l := range []*line{&c.ahead, &c.line} {
			if due, waiting := l.due(); waiting {
				limit = min(limit, time.Duration(due-sched.Now()))
			}
		}
		if limit > 0 {
			_, _ = c.wait.Wait(from, false, limit)
		}
	}
}

// deliver writes what is due.
func (c *carrier) deliver(l *line, to int, now int64) {
	for {
		due, waiting := l.due()
		if !waiting || due > now {
			return
		}
		frame := l.first()
		// An interface that is down takes nothing, as one that is switched off.
		if netlink.WriteFrame(to, frame) == nil {
			c.count.frames.Add(1)
		}
		l.drop()
	}
}

// take reads a handful of frames; false: there are no more.
func (c *carrier) take(from int) bool {
	for range handful {
		n, err := netlink.ReadFrame(from, c.scratch)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < netlink.TapHeader {
			return false
		}
		c.send(c.scratch[:n], sched.Now())
	}
	return true
}

// due is when a frame that is sent at an instant is to arrive: never before the
// one in front of it.
func (c *carrier) due(sent int64) int64 {
	due := sent + c.delay
	if c.jitter > 0 {
		due += c.draw.Int64N(2*c.jitter+1) - c.jitter
	}
	c.last = max(c.last, due)
	return c.last
}

// send puts a frame on its way, or what is left of it: of its segments some find
// no room in the queue, some are lost, and some overtake.
func (c *carrier) send(frame []byte, now int64) {
	n := segments(frame)
	if c.line.bytes > mostWaiting {
		c.count.dropped.Add(int64(n))
		return
	}
	fit, sent, marked := c.queue.pass(frame, now)
	c.count.dropped.Add(int64(n - fit))
	if marked {
		c.count.marked.Add(int64(fit))
	}
	if fit == 0 {
		return
	}
	lost, early := c.losses.among(fit), c.hastes.among(fit)
	due := c.due(sent)
	if fit == n && len(lost)+len(early) == 0 {
		c.line.add(frame, due)
		return
	}
	begin := 0 // of the segments that stay together
	together := func(end int) {
		if end > begin {
			c.line.cut(frame, begin, end, due)
		}
		begin = end + 1
	}
	for len(lost)+len(early) > 0 {
		if len(lost) > 0 && (len(early) == 0 || lost[0] <= early[0]) {
			together(lost[0])
			c.count.lost.Add(1)
			if len(early) > 0 && early[0] == lost[0] {
				early = early[1:]
			}
			lost = lost[1:]
			continue
		}
		together(early[0])
		c.ahead.cut(frame, early[0], early[0]+1, sent)
		c.count.early.Add(1)
		early = early[1:]
	}
	together(fit)
}
