// Package transmit hands frames to an interface, each at its own time or as fast as the interface accepts them.
// It skips nothing: while the interface's queue is full, it waits. The caller provides the frames and their
// times.
package transmit

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/sched"
	"linerate/internal/science/stats"
)

// Source provides the frames to send, numbered from 0.
type Source interface {
	// Due returns when to hand over a frame, in ns after the first, never earlier than the frame before. It is
	// called only if transmission is paced.
	Due(number int64) int64
	// Bytes returns the size of a frame without its check sequence.
	Bytes(number int64) int
	// Write writes the next frame to hand over; at is the time on the clock of sched.Now.
	Write(frame []byte, number, at int64)
	// Handed is called just before n frames from number on are handed over at time at, and again for those that
	// the interface refused.
	Handed(number int64, n int, at int64)
}

// Limits end a transmission; the first one reached counts.
type Limits struct {
	Paced  bool          // frames have due times
	Frames int64         // 0: any number
	Length time.Duration // 0: any time
	// MostLate is how late a frame may be before all later frames are delayed too, so that a pause causes no
	// burst; 0: due times never move.
	MostLate time.Duration
}

// Result describes a finished transmission.
type Result struct {
	Frames, Bytes int64 // accepted by the kernel; Bytes without check sequences
	// Start and End are the times of the first and the last frame.
	Start, End int64
	// Blocked is how long the interface's queue was full, in ns.
	Blocked int64
	// Late is the distribution of how late frames were handed over, once per call; empty if they had no due
	// times.
	Late *hdrhistogram.Histogram
}

// FrameError is the error of a frame that was not sent.
type FrameError struct {
	Number int64 // from 1
	Err    error
}

func (e *FrameError) Error() string { return fmt.Sprintf("send frame %d: %v", e.Number, e.Err) }

func (e *FrameError) Unwrap() error { return e.Err }

const (
	// check is the longest wait before the context is checked.
	check = 50 * time.Millisecond
	// retry is the wait before a full queue is tried again, mostRetry the longest such wait after repeated
	// tries, and refused how long one frame is tried.
	retry, mostRetry = 50 * time.Microsecond, time.Millisecond
	refused          = 10 * time.Second
)

// run is a transmission in progress.
type run struct {
	Result
	from  Source
	to    *packet.Sender
	ends  int64 // instant; 0: none
	moved int64 // ns by which due times have moved
	limit Limits
}

// Send transmits frames until a limit is reached. If the context ends first, it returns the context's error and
// a result for what was sent.
func Send(ctx context.Context, to *packet.Sender, from Source, limit Limits) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	r := &run{from: from, to: to, limit: limit}
	r.Late = stats.NewHistogram()
	r.Start = sched.Now()
	if limit.Paced {
		r.Start += int64(time.Millisecond)
	}
	if limit.Length > 0 {
		r.ends = r.Start + int64(limit.Length)
	}
	for r.left() > 0 && ctx.Err() == nil {
		now := sched.Now()
		if r.ends != 0 && now >= r.ends {
			break
		}
		n := r.due(now)
		if n == 0 {
			continue
		}
		for i := range n {
			number := r.Frames + int64(i)
			room, err := to.Frame(i, from.Bytes(number))
			if err != nil {
				return r.Result, &FrameError{number + 1, err}
			}
			from.Write(room, number, now)
		}
		if err := r.batch(ctx, n); err != nil {
			return r.Result, err
		}
	}
	return r.Result, ctx.Err()
}

// left returns how many frames the next call may hand over.
func (r *run) left() int {
	if r.limit.Frames == 0 {
		return packet.Room
	}
	return int(min(r.limit.Frames-r.Frames, packet.Room))
}

// due returns how many frames to send at a time; 0 if none is due after waiting.
func (r *run) due(now int64) (n int) {
	if !r.limit.Paced {
		return r.left()
	}
	first := r.Start + r.moved + r.from.Due(r.Frames)
	if now < first {
		until := min(first, now+int64(check))
		if r.ends != 0 {
			until = min(until, r.ends)
		}
		sched.SleepUntil(until)
		return 0
	}
	stats.Record(r.Late, now-first)
	if most := int64(r.limit.MostLate); most > 0 && now-first > most {
		r.moved += now - first
	}
	for n = 1; n < r.left() && r.Start+r.moved+r.from.Due(r.Frames+int64(n)) <= now; n++ {
	}
	return n
}

// batch hands over the n ready frames and waits while there is no room.
func (r *run) batch(ctx context.Context, n int) error {
	progress, pause := sched.Now(), retry
	for done := 0; done < n && ctx.Err() == nil; {
		at := sched.Now()
		r.from.Handed(r.Frames, n-done, at)
		taken, err := r.to.Send(done, n)
		for i := range taken {
			r.Bytes += int64(r.from.Bytes(r.Frames + int64(i)))
		}
		done += taken
		r.Frames += int64(taken)
		switch {
		case err == nil:
			r.End, progress, pause = at, at, retry
		case socket.NotSent(err) && at-progress < int64(refused):
			if taken > 0 {
				progress, pause = at, retry
			}
			sched.SleepUntil(at + int64(pause))
			pause = min(2*pause, mostRetry)
			r.Blocked += sched.Now() - at
		case socket.NotSent(err):
			return &FrameError{r.Frames + 1, fmt.Errorf(
				"the interface has refused it for %v: it is longer than the MTU of the other end "+
					"allows, or the queue does not empty: %w", refused, err)}
		default:
			return &FrameError{r.Frames + 1, err}
		}
	}
	return nil
}

// TookS returns the time from the first frame to the last, in seconds.
func (r Result) TookS() float64 { return float64(max(0, r.End-r.Start)) / 1e9 }
