package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// TestLead: the path's own time is part of it, and every attempt gives more.
func TestLead(t *testing.T) {
	near := map[string]record.Clock{"a": {UncertaintyNs: 1000}, "b": {UncertaintyNs: 2000}}
	far := map[string]record.Clock{"a": {UncertaintyNs: 1000}, "b": {UncertaintyNs: int64(150 * time.Millisecond)}}
	if got, want := leadOf(near, leadPerNode, 0), 42*time.Millisecond+6*time.Microsecond; got != want {
		t.Errorf("two near nodes: %v, want %v", got, want)
	}
	if got, want := leadOf(far, leadPerNode, 0), 492*time.Millisecond; got != want {
		t.Errorf("a node 300 ms away: %v, want %v", got, want)
	}
	for attempt := range 3 {
		want := leadOf(far, leadPerNode, 0) * time.Duration(int(1)<<attempt)
		if got := leadOf(far, leadPerNode, attempt); got != want {
			t.Errorf("attempt %d: %v, want %v", attempt+1, got, want)
		}
	}
}

// TestLateSchedule: when one node gets its schedule too late, the others are not
// waited for, and the next attempt gives more time.
func TestLateSchedule(t *testing.T) {
	g := Group{Bus: startBus(t), Nodes: []string{"late", "punctual"}}
	clock := bus.Handle(message.Clock, func(context.Context, struct{}) (message.ClockReply, error) {
		return message.ClockReply{NowNs: sched.Now()}, nil
	})
	var mu sync.Mutex
	var ahead []time.Duration
	attach(t, g.Bus, "late", clock,
		bus.Handle(message.Window, func(_ context.Context, r message.WindowRequest) (message.WindowReply, error) {
			mu.Lock()
			defer mu.Unlock()
			ahead = append(ahead, time.Duration(r.StartNs-sched.Now()))
			return message.WindowReply{LateNs: 1234567}, nil
		}),
		bus.Handle(message.Close, func(_ context.Context, nothing struct{}) (struct{}, error) { return nothing, nil }))
	closed := make(chan struct{}, 3)
	attach(t, g.Bus, "punctual", clock,
		bus.Handle(message.Window, func(context.Context, message.WindowRequest) (message.WindowReply, error) {
			select {
			case <-closed:
				return message.WindowReply{}, errors.New("closed")
			case <-time.After(20 * time.Second):
				return message.WindowReply{}, nil
			}
		}),
		bus.Handle(message.Close, func(_ context.Context, nothing struct{}) (struct{}, error) {
			closed <- struct{}{}
			return nothing, nil
		}))
	hour := Window{Warmup: 1, Duration: time.Hour}
	for attempt := range 2 {
		began := time.Now()
		_, err := g.Measure(t.Context(), hour, 4*attempt)
		late, ok := errors.AsType[LateError](err)
		if !ok || late.Node != "late" || late.By != 1234567 {
			t.Fatalf("%v, want that the node late was late", err)
		}
		if time.Since(began) > 10*time.Second {
			t.Error("the other node's window was waited for")
		}
	}
	if ahead[1] < 2*ahead[0] {
		t.Errorf("scheduled %v ahead, then %v: want more each time", ahead[0], ahead[1])
	}
}

// TestInTurn: a node is asked once the one before it has answered.
func TestInTurn(t *testing.T) {
	var mu sync.Mutex
	var order []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	_, err := oneByOne([]string{"a", "b", "c"}, time.Hour, func(node string) (struct{}, error) {
		note("ask " + node)
		time.Sleep(5 * time.Millisecond)
		note("answer " + node)
		if node == "b" {
			return struct{}{}, errors.New("b does not want to")
		}
		return struct{}{}, nil
	})
	if got, want := strings.Join(order, ", "), "ask a, answer a, ask b, answer b, ask c, answer c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err == nil || err.Error() != "b does not want to" {
		t.Errorf("error %v", err)
	}
}

// TestInTurnWaitsAMoment: a node that does not answer holds the next one up for
// the moment, not for good.
func TestInTurnWaitsAMoment(t *testing.T) {
	const moment = 20 * time.Millisecond
	asked := make(chan struct{})
	var began, next time.Time
	_, err := oneByOne([]string{"stuck", "next"}, moment, func(node string) (struct{}, error) {
		if node == "next" {
			next = time.Now()
			close(asked)
			return struct{}{}, nil
		}
		began = time.Now()
		select {
		case <-asked:
			return struct{}{}, nil
		case <-time.After(20 * time.Second):
			return struct{}{}, errors.New("the next one was never asked")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if waited := next.Sub(began); waited < moment/2 {
		t.Errorf("the next one was asked after %v, before the moment of %v was over", waited, moment)
	}
}

// TestEach joins what went wrong.
func TestEach(t *testing.T) {
	err := bus.EachNode([]string{"a", "b", "c"}, func(node string) error {
		if node == "b" {
			return nil
		}
		return fmt.Errorf("%s fails", node)
	})
	if err == nil || err.Error() != "a fails\nc fails" {
		t.Errorf("error %v", err)
	}
}

// TestPatiently: the time ends with its cause, no sooner, and leaving it with none.
func TestPatiently(t *testing.T) {
	cause := errors.New("too long")
	const d = 32 * time.Millisecond
	began := time.Now()
	ctx, cancel := withTimeout(t.Context(), d, cause)
	defer cancel()
	<-ctx.Done()
	if after := time.Since(began); context.Cause(ctx) != cause || after < d {
		t.Errorf("ended after %v because of %v", after, context.Cause(ctx))
	}
	left, leave := withTimeout(t.Context(), time.Hour, cause)
	leave()
	if context.Cause(left) != context.Canceled {
		t.Errorf("left because of %v", context.Cause(left))
	}
}
