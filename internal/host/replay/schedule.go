package replay

import "time"

// Timing says when frames are due. The zero value is as fast as possible.
type Timing struct {
	Speed float64 // of the file's own times: 2 is twice as fast; 0: as fast as possible
	Pace  float64 // frames per second, at equal distances; 0: Speed counts
}

// paced: frames are due at instants.
func (t Timing) paced() bool { return t.Speed > 0 || t.Pace > 0 }

// schedule is when each frame of some passes over a capture is due.
type schedule struct {
	Timing
	frames []Frame
	pass   float64 // ns from one pass to the next at the file's own speed
}

func newSchedule(c *Capture, t Timing) schedule {
	n := len(c.Frames)
	span := float64(c.Frames[n-1].At)
	if n > 1 {
		span += span / float64(n-1) // the mean distance, behind the last
	} else {
		span = float64(time.Second)
	}
	return schedule{t, c.Frames, span}
}

// due is when the i-th frame is, counted over all passes, in ns after the first.
func (s schedule) due(i int64) int64 {
	switch {
	case s.Pace > 0:
		return int64(float64(i) * 1e9 / s.Pace)
	case s.Speed > 0:
		n := int64(len(s.frames))
		return int64((float64(i/n)*s.pass + float64(s.frames[i%n].At)) / s.Speed)
	}
	return 0
}
