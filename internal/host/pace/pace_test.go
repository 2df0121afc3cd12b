package pace

import "testing"

// TestPace: everything is due at its instant, whatever came between.
func TestPace(t *testing.T) {
	p := New(1000) // one each millisecond
	p.Start(1000)
	const ms = 1e6
	take := func(at, n, left, next int64) {
		t.Helper()
		gotN, gotLeft, gotNext := p.Due(at)
		if gotN != n || gotLeft != left || gotNext != next {
			t.Errorf("at %d: %d due, %d left out, next at %d; want %d, %d, %d", at, gotN, gotLeft, gotNext, n,
				left, next)
		}
		p.Sent(gotN)
	}
	take(0, 0, 0, 1001)
	take(1001, 1, 0, 0)
	take(1001, 0, 0, 1001+ms)
	take(1001+ms, 1, 0, 0)
	take(1001+4*ms+5, 3, 0, 0)         // late, and caught up
	take(1001+4*ms+6, 0, 0, 1001+5*ms) // on the same schedule
	take(1001+104*ms, 10, 90, 0)       // too late
	take(1001+104*ms, 0, 0, 1001+105*ms)

	// Nothing drifts, at a rate whose interval is not a whole number.
	q := New(3e9 / 8 / 1448)
	var sent int64
	for at := int64(0); at <= 10e9; at += 1e6 {
		n, left, _ := q.Due(at)
		q.Sent(n)
		sent += n + left
	}
	if want := int64(10e9/q.interval) + 1; sent != want {
		t.Errorf("%d in ten seconds, want %d", sent, want)
	}
}
