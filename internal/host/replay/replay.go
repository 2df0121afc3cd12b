package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Options are how a capture is replayed.
type Options struct {
	// Interface transmits. Receive, if not empty, is where the frames are to arrive.
	Interface, Receive string
	Timing
	Passes int // over the capture, one after another; with Receive, one
	Rewrite
}

const (
	// check is the longest wait before the context is looked at.
	check = 50 * time.Millisecond
	// retry is how long a full queue is given before the next try, mostRetry how long after
	// many, and refused how long one frame is tried.
	retry, mostRetry = 50 * time.Microsecond, time.Millisecond
	refused          = 10 * time.Second
	// quiet is how long no frame of the replay has arrived when waiting for more ends, and
	// patience how long that goes on at most, whatever else arrives.
	quiet, patience = 500 * time.Millisecond, 10 * time.Second
)

// Run replays a capture, whose frames it changes as Rewrite says. If the context ends
// before, the result is of what was sent, and the error the context's.
func (c *Capture) Run(ctx context.Context, o Options) (*record.Replay, error) {
	if o.Receive != "" && o.Passes != 1 {
		return nil, errors.New("frames are matched with those of one pass: several have the same ones")
	}
	most := 0
	for _, f := range c.Frames {
		o.Rewrite.Apply(f.Data)
		most = max(most, len(f.Data))
	}
	to, err := packet.Open(packet.Options{Interface: o.Interface, Bytes: most})
	if err != nil {
		return nil, err
	}
	defer to.Close()
	r := &run{frames: c.Frames, schedule: newSchedule(c, o.Timing), to: to, total: int64(len(c.Frames)) * int64(o.Passes)}
	out := &record.Replay{Schema: "linerate.replay/v1", Interface: o.Interface, Frames: len(c.Frames), Passes: o.Passes, Truncated: c.Truncated, Earlier: c.Earlier}
	out.Mode, out.Refused = to.Mode()
	var receiving sync.WaitGroup
	var watch *watcher
	if o.Receive != "" {
		if watch, err = newWatcher(c.Frames, o.Receive, most); err != nil {
			return nil, err
		}
		defer watch.from.Close()
		r.watch = watch
		receiving.Go(watch.receive)
	}
	err = errors.Join(r.send(ctx), to.Check())
	if watch != nil {
		watch.sent.Store(sched.Now())
		receiving.Wait()
		err = errors.Join(err, watch.failed)
		if out.Received, watch.failed = watch.result(int(r.sent)); watch.failed == nil {
			out.Received.Interface = o.Receive
		}
		err = errors.Join(err, watch.failed)
	}
	return out, errors.Join(err, r.enter(out))
}

// run sends the frames of some passes.
type run struct {
	frames   []Frame
	schedule schedule
	to       *packet.Sender
	watch    *watcher // nil: none
	total    int64

	start, end  int64 // instants of the first and the latest frame
	sent, bytes int64
	blocked     int64
	late        *hdrhistogram.Histogram // of calls
}

func (r *run) send(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	r.late = stats.NewHistogram()
	r.start = sched.Now()
	if r.schedule.paced() {
		r.start += int64(time.Millisecond)
	}
	for r.sent < r.total && ctx.Err() == nil {
		now := sched.Now()
		due := r.start + r.schedule.due(r.sent)
		if now < due {
			sched.SleepUntil(min(due, now+int64(check)))
			continue
		}
		if r.schedule.paced() {
			stats.Record(r.late, now-due)
		}
		n := 0
		for ; n < packet.Room && r.sent+int64(n) < r.total; n++ {
			at := r.sent + int64(n)
			if n > 0 && r.schedule.paced() && r.start+r.schedule.due(at) > now {
				break
			}
			frame := r.frames[at%int64(len(r.frames))].Data
			room, err := r.to.Frame(n, len(frame))
			if err != nil {
				return fmt.Errorf("frame %d: %w", at+1, err)
			}
			copy(room, frame)
		}
		if err := r.batch(ctx, n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// batch hands over the frames that are ready, and waits where there is no room.
func (r *run) batch(ctx context.Context, n int) error {
	progress, pause := sched.Now(), retry
	for done := 0; done < n && ctx.Err() == nil; {
		at := sched.Now()
		if r.watch != nil {
			for i := done; i < n; i++ {
				r.watch.wasSent(int(r.sent)+i-done, at)
			}
		}
		taken, err := r.to.Send(done, n)
		for i := range taken {
			r.bytes += int64(len(r.frames[(r.sent+int64(i))%int64(len(r.frames))].Data))
		}
		done += taken
		r.sent += int64(taken)
		switch {
		case err == nil:
			r.end, progress, pause = at, at, retry
		case socket.NotSent(err) && at-progress < int64(refused):
			if taken > 0 {
				progress, pause = at, retry
			}
			sched.SleepUntil(at + int64(pause))
			pause = min(2*pause, mostRetry)
			r.blocked += sched.Now() - at
		case socket.NotSent(err):
			return fmt.Errorf("send frame %d: the interface has refused it for %v: it is longer than the MTU of the other end allows, or the queue does not empty: %w", r.sent+1, refused, err)
		default:
			return fmt.Errorf("send frame %d: %w", r.sent+1, err)
		}
	}
	return nil
}

// enter adds what was sent, and how it kept its schedule.
func (r *run) enter(out *record.Replay) (err error) {
	out.Sent, out.SentBytes, out.BlockedS = r.sent, r.bytes, float64(r.blocked)/1e9
	out.TookS = float64(max(0, r.end-r.start)) / 1e9
	if out.TookS > 0 && r.sent > 1 {
		// From the first frame to the last there is one distance less than frames.
		out.PerS = float64(r.sent-1) / out.TookS
		out.Bps = out.PerS * 8 * float64(r.bytes) / float64(r.sent)
	}
	if r.sent > 0 && r.schedule.paced() {
		out.ScheduleS = float64(r.schedule.due(r.sent-1)) / 1e9
		out.Paced = r.late.Max() <= int64(flow.MaxLate)
		out.Lateness, err = stats.Distribution(r.late)
	}
	return err
}
