package datagram

import (
	"strings"
	"testing"
)

// TestPacedNote: a sender's note counts from its first datagram on, and so has no share of what
// was given up, beside that of the window.
func TestPacedNote(t *testing.T) {
	for skipped, want := range map[int64]string{0: "paced: 10 datagrams at a time, at most 12", 82: "not paced, as some datagrams were given up: 10 datagrams at a time, at most 12"} {
		var c tally
		c.bursts.Store(1000)
		c.largest.Store(12)
		c.skipped.Store(skipped)
		if got := strings.Join(c.paced(10_000), "; "); got != want {
			t.Errorf("%d given up: %q, want %q", skipped, got, want)
		}
	}
}
