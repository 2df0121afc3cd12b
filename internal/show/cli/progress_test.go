package cli

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/control/run"
	"linerate/internal/model/record"
)

// TestProgress: a line says how far a run is and what its last trial came to; where it
// cannot be drawn anew, without escape sequences.
func TestProgress(t *testing.T) {
	state := run.Progress{Run: "nas-7", Phase: "arp_ignore=1, writes", Done: 57, Total: 84, Remaining: 68 * time.Second, Response: "goodput",
		Last: &record.Trial{Treatment: "arp_ignore=1, reads", GoodputBps: 956.8e6}}
	var b strings.Builder
	newProgress(&b, false).show(state)
	if want := "run nas-7\n57 of 84 trials, about 1 m 08 s left · arp_ignore=1, reads: 956.8 Mbit/s\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	state.Fits, state.Blocks = 4, 6
	newProgress(&b, false).show(state)
	if !strings.Contains(b.String(), "57 of 84 trials, at most 1 m 08 s left (budget: 4 of 6 blocks) · ") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	state.Fits = 0
	state.Unit = "MB/s" // of the study, as its tables have it
	newProgress(&b, false).show(state)
	if !strings.HasSuffix(b.String(), "reads: 119.6 MB/s\n") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	p := newProgress(&b, false)
	p.terminal = true
	p.show(state)
	if line := b.String(); !strings.Contains(line, "\r\x1b[K██████░░░░ 57 of 84 trials") || !strings.HasSuffix(line, "…") {
		t.Errorf("%q", line)
	}
	b.Reset()
	state.Last = nil
	newProgress(&b, false).show(state)
	if !strings.Contains(b.String(), "· arp_ignore=1, writes\n") {
		t.Errorf("%q", b.String())
	}
}

// TestRoundTime: from 90 minutes on in hours.
func TestRoundTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		4600 * time.Millisecond: "5 s", 68 * time.Second: "1 m 08 s", 90*time.Minute - time.Second: "89 m 59 s", 10886 * time.Second: "3 h 1 m", 100 * time.Hour: "100 h 0 m",
	} {
		if got := roundTime(d); got != want {
			t.Errorf("%d s: %q, want %q", int(d.Seconds()), got, want)
		}
	}
}
