package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/host/transmit"
	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Options configures a replay.
type Options struct {
	// Interface transmits. Frames should arrive at Receive; empty: arrivals are not watched.
	Interface, Receive string
	Timing
	Passes int // repetitions of the capture; 1 if Receive is set
	Rewrite
	Fitting
}

const (
	// check is the longest wait before the watcher checks whether it must end.
	check = 50 * time.Millisecond
	// quiet is the time without a frame of the replay after which waiting for more ends; patience is the limit
	// of that wait, whatever else arrives.
	quiet, patience = 500 * time.Millisecond, 10 * time.Second
)

// Run transmits the capture, which Prepare has prepared with the same options. If the context ends early, it
// returns the context's error and a result for what was sent.
func (c *Capture) Run(ctx context.Context, o Options) (*record.Replay, error) {
	if o.Receive != "" && o.Passes != 1 {
		return nil, errors.New("frames are matched with those of one pass: several have the same ones")
	}
	most := 0
	for _, f := range c.Frames {
		most = max(most, len(f.Data))
	}
	to, err := packet.Open(packet.Options{Interface: o.Interface, Bytes: most})
	if err != nil {
		return nil, err
	}
	defer to.Close()
	from := passes{schedule: newSchedule(c, o.Timing)}
	out := &record.Replay{Schema: "linerate.replay/v1", Interface: o.Interface, Frames: len(c.Frames),
		Passes: o.Passes, Remarks: c.Remarks(), Cut: c.Cut, Towards: towards(c.Frames)}
	out.Mode, out.Refused = to.Mode()
	var receiving sync.WaitGroup
	if o.Receive != "" {
		if from.watch, err = newWatcher(c.Frames, o.Receive, most); err != nil {
			return nil, err
		}
		defer from.watch.from.Close()
		receiving.Go(from.watch.receive)
	}
	sent, err := transmit.Send(ctx, to, from,
		transmit.Limits{Paced: o.paced(), Frames: int64(len(c.Frames)) * int64(o.Passes)})
	var failed *transmit.FrameError
	if errors.As(err, &failed) {
		f := c.Frames[(failed.Number-1)%int64(len(c.Frames))]
		failed.Number, failed.Err = int64(f.Number), fmt.Errorf("%d bytes: %w", len(f.Data), failed.Err)
	}
	err = errors.Join(err, packet.Check(o.Interface))
	if watch := from.watch; watch != nil {
		watch.sent.Store(sched.Now())
		receiving.Wait()
		err = errors.Join(err, watch.failed)
		if out.Received, watch.failed = watch.result(int(sent.Frames)); watch.failed == nil {
			out.Received.Interface = o.Receive
			for i, f := range c.Frames[:sent.Frames] {
				switch {
				case watch.received[i]:
				case len(f.Data) < f.Length:
					out.Received.LostIncomplete++
				case isLocal(f.Data):
					out.Received.LostLocal++
				}
			}
		}
		err = errors.Join(err, watch.failed)
	}
	return out, errors.Join(err, enter(out, sent, from.schedule))
}

// passes generates the frames of repeated passes over a capture.
type passes struct {
	schedule
	watch *watcher // nil: not watched
}

func (p passes) of(number int64) []byte { return p.frames[number%int64(len(p.frames))].Data }

// Due implements transmit.Source.
func (p passes) Due(number int64) int64 { return p.due(number) }

// Bytes implements transmit.Source.
func (p passes) Bytes(number int64) int { return len(p.of(number)) }

// Write implements transmit.Source.
func (p passes) Write(frame []byte, number, _ int64) { copy(frame, p.of(number)) }

// Handed implements transmit.Source.
func (p passes) Handed(number int64, n int, at int64) {
	if p.watch != nil {
		for i := range n {
			p.watch.wasSent(int(number)+i, at)
		}
	}
}

// enter adds to out what was sent and how well the schedule was kept.
func enter(out *record.Replay, r transmit.Result, s schedule) (err error) {
	out.Sent, out.SentBytes, out.BlockedS, out.TookS = r.Frames, r.Bytes, float64(r.Blocked)/1e9, r.TookS()
	if out.TookS > 0 && r.Frames > 1 {
		// n frames have n-1 intervals.
		out.PerS = float64(r.Frames-1) / out.TookS
		out.Bps = out.PerS * 8 * float64(r.Bytes) / float64(r.Frames)
	}
	if r.Frames > 0 && s.paced() {
		out.ScheduleS = float64(s.due(r.Frames-1)) / 1e9
		out.Paced = r.Late.Max() <= int64(flow.MaxLate)
		out.Lateness, err = stats.Distribution(r.Late)
	}
	return err
}
