package forward

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"linerate/internal/host/transmit"
	"linerate/internal/model/record"
	"linerate/internal/science/rfc2544"
)

// longestBurst is the maximum length of a burst (RFC 2544, section 26.4).
const longestBurst = 2 * time.Second

// bursts searches the longest burst without loss, as many times as the options ask. throughput is the lossless
// rate of this size.
func (t *tester) bursts(ctx context.Context, size record.ForwardSize, throughput record.ForwardGoal, o Options) (
	*record.ForwardBursts, error) {
	b := &record.ForwardBursts{PerS: size.CeilingPerS}
	if o.Most > 0 {
		b.PerS = min(o.Most, b.PerS)
	}
	b.MostFrames = max(1, int64(b.PerS*longestBurst.Seconds()))
	switch {
	case throughput.RateBps == 0:
		b.Why = "no rate is forwarded without loss"
	case throughput.BoundedBy == record.BoundedBySender:
		b.Why = "all that the generator sends is forwarded"
	case throughput.BoundedBy == record.BoundedByCap:
		b.Why = "all that --most allows is forwarded"
	case throughput.BoundedBy == record.BoundedByLimit:
		b.Why = "frames are forwarded at line rate"
	}
	first := b.MostFrames
	for b.Why == "" && len(b.Frames) < o.Bursts {
		longest, err := rfc2544.LongestBurst(b.MostFrames, first, o.Resolution, func(frames int64) (bool, error) {
			o.Tell(fmt.Sprintf("%s bytes, burst %d of %d: %d frames", size.Frame, len(b.Frames)+1, o.Bursts, frames))
			l, _, err := t.send(ctx, o.Most, transmit.Limits{Frames: frames}, math.MaxInt64)
			return l.Lost == 0, err
		})
		if err != nil {
			return nil, err
		}
		b.Frames, first = append(b.Frames, longest), longest
	}
	if len(b.Frames) == 0 {
		return b, nil
	}
	lengths := make([]float64, len(b.Frames))
	for i, n := range b.Frames {
		lengths[i] = float64(n)
	}
	b.MeanFrames = stat.Mean(lengths, nil)
	if len(lengths) > 1 {
		b.DeviationFrames = stat.StdDev(lengths, nil)
	}
	// The device keeps sending while a burst arrives.
	b.BufferFrames = b.MeanFrames * (1 - throughput.PacketsPerS/b.PerS)
	b.BufferS = b.BufferFrames / b.PerS
	return b, nil
}
