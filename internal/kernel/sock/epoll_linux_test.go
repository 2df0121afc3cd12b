//go:build !portable

package sock

import (
	"testing"
	"time"
)

// TestEpollMilliseconds: where the kernel limits waits in milliseconds only, short waits are
// about as short, and events are reported.
func TestEpollMilliseconds(t *testing.T) {
	const limit = 100 * time.Microsecond
	var shortest [2]time.Duration
	for i, milliseconds := range []bool{false, true} {
		p, err := NewEpoll()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.milliseconds = milliseconds
		shortest[i] = time.Hour
		for range 50 {
			began := time.Now()
			if n := p.Wait(limit); n != 0 {
				t.Fatalf("%d events, want none", n)
			}
			shortest[i] = min(shortest[i], time.Since(began))
		}
		e, err := NewEventFD()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.AddTo(p, 7); err != nil {
			t.Fatal(err)
		}
		e.Signal()
		for _, limit := range []time.Duration{-1, 0, time.Hour} {
			if n := p.Wait(limit); n != 1 {
				t.Fatalf("limit %v: %d events, want 1", limit, n)
			}
			if tag, read, _ := p.Event(0); tag != 7 || !read {
				t.Errorf("limit %v: tag %d, readable %v", limit, tag, read)
			}
		}
	}
	if shortest[1] > 3*shortest[0] {
		t.Errorf("of waits for %v the shortest takes %v, with milliseconds %v", limit, shortest[0], shortest[1])
	}
}
