//go:build !portable

package sock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestArrived: a step of the time of day by more than a message can have waited does not
// move the instant of its arrival.
func TestArrived(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := pair[0], pair[1]
	defer unix.Close(near)
	defer unix.Close(far)
	const second, ofDay = 1e9, 1_000_000e9
	r := NewDatagramReceiver(2, 100)
	for _, c := range []struct {
		name    string
		sent    int   // messages before the call
		at, now int64 // of the call, in s, and after it
		since   int64 // s since the message's timestamp, by the time of day
		waited  int64 // s
	}{
		{"none yet, the queue was not seen empty", 2, 100, 101, 30, 30},
		{"more may be there", 2, 110, 111, 90, 0}, // longer than a minute
		{"the queue empties", 1, 120, 121, 30, 30},
		{"as long as it may have waited", 1, 125, 126, 6, 6},
		{"longer", 1, 130, 131, 7, 0},
		{"from the future", 1, 135, 136, -1, 0},
		{"the queue was empty before a full batch", 2, 140, 141, 6, 6},
		{"and before the next", 1, 145, 146, 11, 11},
		{"nothing arrives", 0, 150, 0, 0, 0},
		{"since then", 2, 160, 161, 12, 0},
	} {
		for range c.sent {
			if _, err := unix.Write(near, make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
		}
		n, err := r.Receive(far, 100, c.at*second)
		if n != c.sent || err != nil && (err != unix.EAGAIN || n > 0) {
			t.Fatalf("%s: %d messages, %v", c.name, n, err)
		}
		if n == 0 {
			continue
		}
		got := r.Arrived(Message{TimestampNs: ofDay - c.since*second}, c.now*second, ofDay)
		if want := (c.now - c.waited) * second; got != want {
			t.Errorf("%s: waited for %d s, want %d", c.name, c.now-got/second, c.waited)
		}
	}
	if got := r.Arrived(Message{}, 7, ofDay); got != 7 {
		t.Errorf("without a timestamp: %d, want now", got)
	}
}
