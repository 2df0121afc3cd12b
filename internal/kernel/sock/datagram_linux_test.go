//go:build !portable

package sock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestArrived: a step of the time of day while a message may have waited does not move the
// instant of its arrival, however long it has waited.
func TestArrived(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := pair[0], pair[1]
	defer unix.Close(near)
	defer unix.Close(far)
	const second, now, ahead = int64(1e9), int64(1000e9), int64(1_000_000e9)
	r := NewDatagramReceiver(2, 100)
	for _, c := range []struct {
		name   string
		sent   int   // messages before the call
		step   int64 // of the time of day before the call, in s
		since  int64 // s since the message's timestamp, by the time of day
		waited int64 // s
	}{
		{"not seen empty yet", 2, 0, 30, 30},
		{"nor after a full batch", 2, 5, 30, 30},
		{"longer than a minute", 1, 0, 90, 0},
		{"longer than since the socket was empty", 1, 0, 30, 30},
		{"a step forward", 1, 6, 6, 0},
		{"none since then", 1, 6, 6, 6},
		{"a step back", 1, 0, 1, 0},
		{"from the future", 1, 0, -1, 0},
		{"a step before a full batch", 2, 6, 11, 0},
		{"and before the next", 2, 6, 11, 0},
		{"nothing arrives", 0, 6, 0, 0},
		{"since then", 2, 6, 12, 12},
	} {
		for range c.sent {
			if _, err := unix.Write(near, make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
		}
		n, err := r.Receive(far, 100, ahead+c.step*second)
		if n != c.sent || err != nil && (err != unix.EAGAIN || n > 0) {
			t.Fatalf("%s: %d messages, %v", c.name, n, err)
		}
		if n == 0 {
			continue
		}
		ofDay := now + ahead + c.step*second
		if got := r.Arrived(Message{TimestampNs: ofDay - c.since*second}, now, ofDay); got != now-c.waited*second {
			t.Errorf("%s: waited for %d s, want %d", c.name, (now-got)/second, c.waited)
		}
	}
	if got := r.Arrived(Message{}, 7, 1); got != 7 {
		t.Errorf("without a timestamp: %d, want now", got)
	}
}
