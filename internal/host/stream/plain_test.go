package stream

import (
	"slices"
	"testing"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// TestPace: what is late is made up for, up to a bound, and nothing is saved up.
func TestPace(t *testing.T) {
	const ms = int64(1e6)
	p := newPace(80e6, 0, 0) // 10 bytes in a microsecond
	if p.piece != 10_000 {
		t.Fatalf("pieces of %d bytes, want a millisecond's", p.piece)
	}
	if bytes, when := p.due(ms / 2); bytes != 0 || when < ms || when > ms+10 {
		t.Errorf("after half a tick: %d bytes, at %d; want none before %d", bytes, when, ms)
	}
	if bytes, _ := p.due(3 * ms); bytes != 30_000 {
		t.Errorf("late by two ticks: %d bytes due, want 30000", bytes)
	}
	p.did(30_000, 30_000, 3*ms, 3*ms+5)
	if bytes, when := p.due(3*ms + 10); bytes != 0 || when < 4*ms || when > 4*ms+10 {
		t.Errorf("then: %d bytes, at %d; want none before %d", bytes, when, 4*ms)
	}
	p.did(400, 10_000, 4*ms, 4*ms+5) // there was no more
	if bytes, when := p.due(4*ms + 5); bytes != 0 || when < 5*ms {
		t.Errorf("after it ran dry: %d bytes, at %d; want none before %d", bytes, when, 5*ms)
	}
	p.did(10_000, 10_000, 5*ms, 50*ms) // it had to wait
	if bytes, _ := p.due(50*ms + ms/2); bytes != 0 {
		t.Errorf("after waiting: %d bytes at once", bytes)
	}
	// A standstill of 10 s, not inside of a call.
	p = newPace(80e6, 0, 0)
	behind := maxLate/ms*10_000 + p.piece
	if bytes, _ := p.due(10_000 * ms); bytes < behind-20 || bytes > behind {
		t.Errorf("after a standstill: %d bytes due, want %d", bytes, behind)
	}
	p.did(behind, behind, 10_000*ms, 10_000*ms)
	if bytes, when := p.due(10_000*ms + 10); bytes != 0 || when < 10_001*ms-10 || when > 10_001*ms+20 {
		t.Errorf("then: %d bytes, at %d; want none before %d", bytes, when, 10_001*ms)
	}
	// A burst that takes less than it lasts at the rate has not waited.
	const burst = 10 * chunkBytes
	p = newPace(80e6, burst, 0)
	lasts := int64(burst) * ms / 10_000
	at := lasts + 10
	if bytes, _ := p.due(at); bytes != burst {
		t.Errorf("a burst: %d bytes due, want %d", bytes, burst)
	}
	p.did(burst, burst, at, at+lasts/2)
	if bytes, when := p.due(at + lasts/2); bytes != 0 || when < 2*lasts || when > 2*lasts+10 {
		t.Errorf("after a burst: %d bytes, at %d; want none before %d", bytes, when, 2*lasts)
	}
	for _, c := range []struct {
		rate  unit.BitRate
		asked int
		want  int64
	}{
		{1e9, 0, 125_000}, {8e6, 0, 4096}, {800e3, 0, 2000}, {1, 0, 1},
		{1e9, 100, 100}, {8, 3000, 3000}, {1, chunkBytes, chunkBytes},
	} {
		p := newPace(c.rate, c.asked, 0)
		if p.piece != c.want {
			t.Errorf("%v in pieces of %d: pieces of %d bytes, want %d", c.rate, c.asked, p.piece, c.want)
		}
		if bytes, when := p.due(0); bytes != 0 || float64(when)*float64(c.rate)/8e9 < float64(c.want)-1 {
			t.Errorf("%v in pieces of %d: %d bytes at once, the next at %d ns", c.rate, c.asked, bytes, when)
		}
	}
}

// TestBurst: a piece that is larger than a write goes out at once, in several.
func TestBurst(t *testing.T) {
	const writes, rate = 8, 8 * chunkBytes * 8 // a piece each second
	var s flowset.Signals
	var calls []int64
	mover := portable(message.FlowRequest{Sends: true, Spec: flow.Spec{WriteCap: rate}}, writes*chunkBytes).(plain)
	err := mover.move(&s, 0, new(tally), func(most int64) (int, error) {
		if most != chunkBytes {
			t.Errorf("a write of %d bytes, want %d", most, chunkBytes)
		}
		calls = append(calls, sched.Now())
		s.Quit.Store(len(calls) == writes)
		return int(most), nil
	})
	if took := calls[len(calls)-1] - calls[0]; err != nil || len(calls) != writes || took > int64(time.Second)/2 {
		t.Errorf("%v: %d writes of a piece in %v, want %d at once", err, len(calls), time.Duration(took), writes)
	}
	if got := mover.method().call; got != chunkBytes {
		t.Errorf("calls of %d bytes are reported, want %d", got, chunkBytes)
	}
}

// TestCaps: a program that reads or writes no more than its cap. Of the slow
// reader's data much waits, and the sender for its window; of the slow writer's
// none does. What waits varies between two reads by a window, so the most of several
// instants counts, and of the slow writer's the least.
func TestCaps(t *testing.T) {
	for _, test := range []struct {
		name    string
		request message.FlowRequest
		unread  bool
	}{
		{"a slow reader", message.FlowRequest{Spec: flow.Spec{ReadCap: 40e6, Mode: flow.ModeSplice}}, true},
		{"little to send", message.FlowRequest{Spec: flow.Spec{WriteCap: 40e6, Mode: flow.ModeAuto}}, false},
		{"a rate cap", message.FlowRequest{Spec: flow.Spec{RateCap: 40e6}}, false},
	} {
		if test.request.RateCap > 0 && sock.CanPace {
			continue // the kernel keeps it
		}
		sender, receiver := engine(t, platform), engine(t, platform)
		join(t, sender, receiver, loopback, requests(1, test.request), true)
		start(time.Hour, sender, receiver)
		moved(t, receiver)
		before := receiver.Read()[0]
		after := before
		var waiting []int64
		for range 10 {
			time.Sleep(40 * time.Millisecond)
			after = receiver.Read()[0]
			waiting = append(waiting, int64(after.UnreadBytes))
		}
		share := float64(after.ReceivedBytes-before.ReceivedBytes) * 8e9 / float64(after.AtNs-before.AtNs) / 40e6
		// Two pieces may fall on one side of an edge.
		if share > 1.03 || share < 0.5 {
			t.Errorf("%s: %.3f of the cap", test.name, share)
		}
		if info := sender.Read()[0].Info; netlink.Available {
			const much = 10_000
			if test.unread && slices.Max(waiting) <= much || !test.unread && slices.Min(waiting) > much {
				t.Errorf("%s: %d bytes unread", test.name, waiting)
			}
			if waits := info.RwndLimitedUs > info.BusyUs/2; waits != test.unread {
				t.Errorf("%s: the sender waited for %d of %d µs", test.name, info.RwndLimitedUs, info.BusyUs)
			}
		}
		if end := receiver.Read()[0]; test.unread {
			contains(t, end.ModeNote, "splice: plain reads and writes instead")
		}
	}
}

// TestCapsEnd: a capped flow ends on time, with all that was written.
func TestCapsEnd(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(2, message.FlowRequest{Spec: flow.Spec{WriteCap: 1e6, ReadCap: 50e6}}),
		true)
	_, stop := start(100*time.Millisecond, sender, receiver)
	eventually(t, "the receivers see the end", func() bool {
		for i, end := range receiver.Read() {
			if end.ReceivedBytes == 0 || end.ReceivedBytes != sender.Read()[i].WrittenBytes {
				return false
			}
		}
		return sched.Now() > stop
	})
	for _, end := range receiver.Read() {
		if !end.Alive {
			t.Error(end.Error)
		}
	}
	receiver.Close()
	sender.Close()
}
