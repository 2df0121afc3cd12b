package datagram

import (
	"strings"
	"testing"
)

// TestPacedNote: a sender's note counts from its first datagram on, and says so.
func TestPacedNote(t *testing.T) {
	for skipped, want := range map[int64]string{0: "paced, with the warm-up: 10 datagrams at a time, at most 12",
		82: "paced, with the warm-up: 10 datagrams at a time, at most 12, and 82 given up"} {
		var c tally
		c.bursts.Store(1000)
		c.largest.Store(12)
		c.skipped.Store(skipped)
		if got := strings.Join(c.paced(10_000), "; "); got != want {
			t.Errorf("%d given up: %q, want %q", skipped, got, want)
		}
	}
}
