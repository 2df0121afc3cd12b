// Package trial carries out one trial with the agents of a group of nodes: it has them
// open the flows, schedules one window on each node's own clock, waits for the readings,
// and assembles the trial's record from them in named stages (Assemble), on the
// conductor's clock.
//
// The nodes may be a lab's hosts or two machines that know each other's address. The
// package sets up nothing on them besides connections. What is known of the network
// between them is given to it (Context).
package trial

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
)

// Group is the nodes that take part, each with an agent on the bus.
type Group struct {
	Bus   *bus.Bus
	Nodes []string
	// Accepting, unless nil, is called when it is known where each flow is accepted, and
	// before any is opened.
	Accepting func(context.Context, []*Flow) error
	// Limit is how long a node may take to answer, beyond the time that a request is for;
	// 0: any time, for nodes whose end is noticed and that are trusted to go on.
	Limit time.Duration
}

// within ends a context when a request that is for a time is not answered.
func (g Group) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if g.Limit == 0 {
		return ctx, func() {}
	}
	return withTimeout(ctx, d+g.Limit, bus.Coded(message.Deadline, fmt.Errorf("no answer within %v", d+g.Limit)))
}

// oneByOne is bus.Collect, with a node waiting for the one before it, a moment at most.
func oneByOne[T any](nodes []string, moment time.Duration, ask func(node string) (T, error)) (map[string]T, error) {
	done := make([]chan struct{}, len(nodes))
	for i := range done {
		done[i] = make(chan struct{})
	}
	return bus.Collect(nodes, func(node string) (T, error) {
		turn := slices.Index(nodes, node)
		if turn > 0 {
			<-done[turn-1]
		}
		over := sync.OnceFunc(func() { close(done[turn]) })
		defer over()
		defer time.AfterFunc(moment, over).Stop()
		return ask(node)
	})
}

// Close ends the current trial on the nodes. Errors are ignored: a node that is gone has
// ended its trial.
func (g Group) Close(ctx context.Context) {
	ctx, cancel := g.within(ctx, 0)
	defer cancel()
	_, _ = bus.Collect(g.Nodes, func(node string) (struct{}, error) {
		return bus.Call(ctx, g.Bus, node, message.Close, struct{}{})
	})
}
