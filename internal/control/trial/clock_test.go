package trial

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// attach joins an agent that answers so to a bus.
func attach(t *testing.T, b *bus.Bus, node string, handlers ...bus.Handling) {
	t.Helper()
	near, far := net.Pipe()
	b.Attach(node, near)
	agent, err := bus.Join(node, far, bus.Silence)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(agent.Close)
	if err := agent.Serve(t.Context(), handlers, bus.Gate{}); err != nil {
		t.Fatal(err)
	}
}

func startBus(t *testing.T) *bus.Bus {
	t.Helper()
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestClocks asks nodes whose clocks differ by far more than a call takes, over
// a path that is slow in one direction or the other: the estimate is off by no
// more than it says, and the quickest of the answers counts.
func TestClocks(t *testing.T) {
	const slow = 60 * time.Millisecond
	b := startBus(t)
	skews := map[string]int64{"ahead": second, "behind": -3 * second, "even": 0}
	for node, skew := range skews {
		var asked atomic.Int64
		attach(t, b, node, bus.Handle(message.Clock, func(context.Context, struct{}) (message.ClockReply, error) {
			now := sched.Now
			switch n := asked.Add(1); {
			case n == 5: // one answer comes quickly
				return message.ClockReply{NowNs: now() + skew}, nil
			case n%2 == 0:
				time.Sleep(slow) // the question was slow
				return message.ClockReply{NowNs: now() + skew}, nil
			}
			at := now()
			time.Sleep(slow) // the answer is slow
			return message.ClockReply{NowNs: at + skew}, nil
		}))
	}
	found, _, err := clocks(t.Context(), b, []string{"ahead", "behind", "even"})
	if err != nil {
		t.Fatal(err)
	}
	for node, skew := range skews {
		c := found[node]
		if c.Host != node || c.UncertaintyNs <= 0 || c.OffsetNs < skew-c.UncertaintyNs ||
			c.OffsetNs > skew+c.UncertaintyNs {
			t.Errorf("%s: %+v, want an offset of %d within the uncertainty", node, c, skew)
		}
		if c.UncertaintyNs >= int64(slow/2) {
			t.Errorf("%s: known to %d ns, although one answer was quick", node, c.UncertaintyNs)
		}
	}

	attach(t, b, "mute", bus.Handle(message.Clock, func(context.Context, struct{}) (message.ClockReply, error) {
		return message.ClockReply{}, errors.New("no clock here")
	}))
	_, _, err = clocks(t.Context(), b, []string{"ahead", "mute"})
	if err == nil || err.Error() != "mute: no clock here" {
		t.Errorf("a node without a clock: %v", err)
	}
}
