package replay

import "time"

// Timing determines when frames are due. The zero value sends as fast as possible.
type Timing struct {
	Speed float64 // multiple of the recorded speed, such as 2 for twice as fast; 0: as fast as possible
	Pace  float64 // frames per second, evenly spaced; 0: use Speed
}

// paced reports whether frames have due times.
func (t Timing) paced() bool { return t.Speed > 0 || t.Pace > 0 }

// timed reports whether the times of the file matter.
func (t Timing) timed() bool { return t.Speed > 0 && t.Pace == 0 }

// schedule computes when each frame of repeated passes over a capture is due.
type schedule struct {
	Timing
	frames []Frame
	pass   float64 // ns from one pass to the next at the recorded speed
}

func newSchedule(c *Capture, t Timing) schedule {
	n := len(c.Frames)
	span := float64(c.Frames[n-1].At)
	if n > 1 {
		span += span / float64(n-1) // the mean interval after the last frame
	} else {
		span = float64(time.Second)
	}
	return schedule{t, c.Frames, span}
}

// Length returns the time from the first frame to the last of all passes, as scheduled; 0: as fast as possible.
func (c *Capture) Length(o Options) time.Duration {
	return time.Duration(newSchedule(c, o.Timing).due(int64(len(c.Frames))*int64(o.Passes) - 1))
}

// due returns when frame i, counted over all passes, is due, in ns after the first.
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
