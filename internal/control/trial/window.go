package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/bus"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Parts of a trial's lead (leadOf).
const (
	leadAlways  = 40 * time.Millisecond
	leadPerNode = time.Millisecond
	leadApart   = leadPerNode / 4 // of nodes of which some may be late
	leadTrips   = 3               // halves of the slowest node's round trip
)

// leadOf returns how long before its start a trial is scheduled, so that the requests reach every
// agent, even over a long path. Each further attempt doubles it.
func leadOf(offsets map[string]record.Clock, perNode time.Duration, attempt int) time.Duration {
	var slowest time.Duration
	for _, c := range offsets {
		slowest = max(slowest, time.Duration(c.UncertaintyNs)) // half a round trip
	}
	return (leadAlways + time.Duration(len(offsets))*perNode + leadTrips*slowest) << attempt
}

// LateError means that the schedule of a trial reached a node only after the trial was to start there,
// or that the node was too busy to read the begin of the window before its middle.
type LateError struct {
	Node string
	By   time.Duration
}

func (e LateError) Error() string {
	return fmt.Sprintf("%s: the trial began %.1f ms late: its request arrived late, or the host was busy", e.Node,
		e.By.Seconds()*1e3)
}

// tail is how long senders continue after the window, so that hosts whose clocks differ a little
// read its end under the same load as its begin.
const tail = 30 * time.Millisecond

// Window describes what is measured, and what each node is asked for in addition.
type Window struct {
	Warmup, Duration time.Duration
	Interval         time.Duration // between samples; 0: none
	Lookups          map[string][]netstate.RouteLookup
	Sysctls          map[string][]string
	Watch            map[string][]message.WatchedFlow
	Events           []Event
	// Machines lists one node of each machine, which also samples the machine and reads its kernel
	// log.
	Machines []string
	// Brief requests only what flows are counted and judged by (message.WindowRequest).
	Brief bool
	// Linger is a context that continues when that of Measure ends. A window that has begun is then
	// ended early and read; nil: it is given up.
	Linger context.Context
	// Alone is a node whose readings suffice if another node is lost in the window. The window then
	// ends at the node's latest sample before the loss, and Readings.Lost says why. Empty: all
	// readings are needed.
	Alone string
	// Scheduled is called with the begin and the end of the window, in nanoseconds on the conductor's
	// clock; nil: not called.
	Scheduled func(begin, end int64)
}

// Event is something that happens on a node at the time At after the begin of the window.
type Event struct {
	Node string
	At   time.Duration
	What string // for people
	message.EventRequest
}

// eventsOf returns the events of a node, with times on its clock.
func (w Window) eventsOf(node string, begin int64) (list []message.EventRequest) {
	for _, e := range w.Events {
		if e.Node == node {
			e.AtNs = begin + int64(e.At)
			list = append(list, e.EventRequest)
		}
	}
	return list
}

// marks returns the times at which events happen, sorted, each once.
func (w Window) marks(begin int64) (list []int64) {
	for _, e := range w.Events {
		list = append(list, begin+int64(e.At))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Readings is what the nodes measured in one window.
type Readings struct {
	StartNs  int64 // start of the senders, in ns on the conductor's clock
	BeginNs  int64 // begin of the window, in ns on the conductor's clock
	Duration time.Duration
	// Planned is the intended length of the window if it ended early; otherwise 0.
	Planned time.Duration
	Lost    error // why there are only the readings of Window.Alone; nil: there are all
	// Failed has, by node, why there is no reading. Only a Group of flows that are Apart has such nodes.
	Failed  map[string]error
	Events  []Event // that were requested in Window
	Replies map[string]message.WindowReply
	Clocks  map[string]record.Clock
}

// withTimeout returns a context that ends after d. If this process is stopped meanwhile (SIGTSTP),
// only a small part of that time counts, because it has to read what arrived when it continues.
func withTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	const parts = 32
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for range parts {
			select {
			case <-ctx.Done():
				return
			case <-time.After(d / parts):
			}
		}
		cancel(cause)
	}()
	return ctx, func() { cancel(nil) }
}

// Measure schedules the window on every node and waits for the readings. attempt counts the attempts
// at this trial. If a node fails, the windows of the other nodes are closed at once, unless the flows
// are Apart. The error is a LateError if the schedule arrived too late at a node; another attempt may
// then succeed.
func (g Group) Measure(ctx context.Context, w Window, attempt int) (Readings, error) {
	brief, done := g.within(ctx, 0)
	offsets, without, err := clocks(brief, g.Bus, g.Nodes)
	done()
	perNode := leadPerNode
	if g.Apart && len(offsets) > 0 {
		perNode, err = leadApart, nil
		g.Nodes = slices.DeleteFunc(slices.Clone(g.Nodes), func(node string) bool { return without[node] != nil })
	}
	if err != nil {
		return Readings{}, err
	}
	start := sched.Now() + int64(leadOf(offsets, perNode, attempt))
	begin := start + int64(w.Warmup)
	end := begin + int64(w.Duration)
	stop := end + int64(tail)
	if w.Scheduled != nil {
		w.Scheduled(begin, end)
	}
	replies := map[string]message.WindowReply{}
	var mu sync.Mutex
	interrupted := ctx
	if w.Linger != nil {
		ctx = w.Linger
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	late := 30 * time.Second
	switch {
	case g.Limit > 0 && w.Brief:
		late = g.Limit
	case g.Limit > 0:
		late = 3 * g.Limit // a reading is large
	}
	ctx, cancel := withTimeout(ctx, time.Duration(stop-sched.Now())+late,
		bus.Coded(message.Deadline, fmt.Errorf("no reading within %v of the trial's end", late)))
	defer cancel()
	var shortened atomic.Int64 // when the window ended early; 0: it did not
	cutting := make(chan struct{})
	waits := func() bool { return true }
	if w.Linger != nil {
		waits = context.AfterFunc(interrupted, func() {
			defer close(cutting)
			at, err := g.cut(ctx, g.Nodes, offsets, begin, end)
			if err != nil {
				giveUp(err)
			}
			shortened.Store(at)
		})
	}
	var failed error             // of the first node that failed; the others fail as a consequence
	enough, lost := false, false // w.Alone has its readings; the first node that failed is lost
	_ = bus.EachNode(g.Nodes, func(node string) error {
		offset := offsets[node].OffsetNs
		reply, err := bus.Call(ctx, g.Bus, node, message.Window, message.WindowRequest{
			StartNs: start + offset, BeginNs: begin + offset, EndNs: end + offset, StopNs: stop + offset,
			SampleNs: int64(w.Interval), Lookups: w.Lookups[node], Sysctls: w.Sysctls[node], Watch: w.Watch[node],
			Events: w.eventsOf(node, begin+offset), Marks: w.marks(begin + offset), KeepLatest: node == w.Alone,
			Machine: slices.Contains(w.Machines, node), Brief: w.Brief,
		})
		if err == nil && reply.LateNs > 0 {
			err = LateError{node, time.Duration(reply.LateNs)}
		}
		mu.Lock()
		if g.Apart && err != nil {
			without[node] = err
			mu.Unlock()
			return err
		}
		first := err != nil && failed == nil
		if first {
			failed = err
		}
		replies[node] = reply
		enough = enough || err == nil && node == w.Alone
		mu.Unlock()
		if !first {
			return err
		}
		if w.Alone != "" && node != w.Alone && g.lost(ctx, node) {
			lost = true // read once all have returned
			if _, late := g.cut(ctx, []string{w.Alone}, offsets, begin, end); late == nil {
				return err
			}
		}
		g.Close(ctx)
		return err
	})
	readings := Readings{StartNs: start, BeginNs: begin, Duration: w.Duration, Events: w.Events, Replies: replies,
		Clocks: offsets, Failed: without}
	switch {
	case len(g.Nodes) > 0 && len(replies) == 0:
		return Readings{}, errors.Join(slices.Collect(maps.Values(without))...)
	case failed != nil && enough && lost:
		return readings.alone(w.Alone, failed)
	case failed != nil:
		return Readings{}, failed
	}
	if !waits() {
		<-cutting
	}
	if at := shortened.Load(); at != 0 && at < end {
		readings.Duration, readings.Planned = time.Duration(at-begin), w.Duration
	}
	return readings, readings.failedEvent()
}

// cutLead is how long before the new end of its window an agent must be asked to end it early: it
// checks every 200 ms.
const cutLead = 300 * time.Millisecond

// cut ends a window that has begun as soon as the nodes can, and returns its new end in
// nanoseconds; the scheduled end if that comes first.
func (g Group) cut(ctx context.Context, nodes []string, offsets map[string]record.Clock, begin, end int64) (
	int64, error) {
	now := sched.Now()
	at := now + int64(cutLead+leadOf(offsets, leadPerNode, 0))
	switch {
	case now < begin:
		return 0, errors.New("interrupted before the window began")
	case at >= end:
		return end, nil
	}
	ctx, cancel := g.within(ctx, 0)
	defer cancel()
	return at, bus.EachNode(nodes, func(node string) error {
		offset := offsets[node].OffsetNs
		_, err := bus.Call(ctx, g.Bus, node, message.Cut,
			message.CutRequest{EndNs: at + offset, StopNs: at + int64(tail) + offset})
		return err
	})
}

// pings is how often a clock is read; the reading with the shortest round trip counts.
const pings = 8

// clocks estimates the offset of every node's clock from the conductor's, as NTP does (RFC 5905,
// section 8). A node reads its clock at some time between request and reply, so half of the
// shortest round trip bounds the error.
// failed has the errors by node, and err all of them.
func clocks(ctx context.Context, b *bus.Bus, nodes []string) (read map[string]record.Clock, failed map[string]error,
	err error) {
	var mu sync.Mutex
	failed = map[string]error{}
	read, err = bus.Collect(nodes, func(node string) (record.Clock, error) {
		c, err := clock(ctx, b, node)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed[node] = err
		}
		return c, err
	})
	return read, failed, err
}

func clock(ctx context.Context, b *bus.Bus, node string) (record.Clock, error) {
	c := record.Clock{Host: node, UncertaintyNs: math.MaxInt64}
	for range pings {
		asked := sched.Now()
		reply, err := bus.Call(ctx, b, node, message.Clock, struct{}{})
		if err != nil {
			return c, err
		}
		answered := sched.Now()
		if half := (answered - asked) / 2; half < c.UncertaintyNs {
			c.UncertaintyNs, c.OffsetNs = half, reply.NowNs-(asked+half)
		}
	}
	return c, nil
}

// failedEvent returns the error of the first event that did not happen. The trial is then not the
// one that was planned.
func (r Readings) failedEvent() error {
	for i, done := range r.results() {
		if e := r.Events[i]; done.Error != nil {
			return fmt.Errorf("%s: %s at %v of the window: %w", e.Node, e.What, e.At, done.Error)
		}
	}
	return nil
}

// results returns what became of the events, in their order. A node reports its own events in the
// order of time.
func (r Readings) results() []message.EventResult {
	list := make([]message.EventResult, len(r.Events))
	reported := map[string]int{}
	for i, e := range r.Events {
		list[i].Error = &message.Error{Text: "the host did not report that it happened"}
		if n, own := reported[e.Node], r.Replies[e.Node].Events; n < len(own) {
			list[i] = own[n]
		}
		reported[e.Node]++
	}
	return list
}

// events returns the events that happened in the window, in the order of time.
func (r Readings) events() (list []record.Event) {
	for i, done := range r.results() {
		e := r.Events[i]
		if done.Error != nil {
			continue
		}
		since := func(ns int64) float64 { return float64(ns-r.Clocks[e.Node].OffsetNs-r.BeginNs) / 1e9 }
		list = append(list, record.Event{
			Host: e.Node, What: e.What, AtS: e.At.Seconds(), BeganS: since(done.BeganNs), EndedS: since(done.EndedNs),
			Applied: done.Applied,
		})
	}
	slices.SortStableFunc(list, func(a, b record.Event) int { return cmp.Compare(a.AtS, b.AtS) })
	return list
}
