// Package trial carries out one trial with the agents of a group of nodes. It has them open the
// flows, schedules one window on each node's own clock, waits for the readings, and assembles the
// record of the trial from them in stages (Assemble), on the conductor's clock.
//
// The nodes may be the hosts of a lab, or two machines that know each other's address. The package
// sets up nothing on them besides connections. What is known of the network between them is passed
// to it (Context).
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

// Group is the nodes of a trial, each with an agent on the bus.
type Group struct {
	Bus   *bus.Bus
	Nodes []string
	// Accepting is called after the acceptors listen and before any flow is opened; nil: not called.
	Accepting func(context.Context, []*Flow) error
	// Apart says that the flows do not depend on each other, as between hundreds of hosts: hosts connect
	// at the same time, one that cannot listen fails its own flows only, and one without a reading of the
	// window (Readings.Failed) leaves those of the others.
	Apart bool
	// Limit is how long a node may take to answer a request, beyond the time that the request itself
	// takes; 0: no limit, for trusted nodes whose loss is noticed.
	Limit time.Duration
}

// within returns a context that ends if a request that takes the time d is not answered.
func (g Group) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if g.Limit == 0 {
		return ctx, func() {}
	}
	return withTimeout(ctx, d+g.Limit, bus.Coded(message.Deadline, fmt.Errorf("no answer within %v", d+g.Limit)))
}

// oneByOne is bus.Collect, except that each node waits until the one before it has answered, but at
// most for moment.
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

// Close ends the current trial on the nodes. It ignores errors: a node that is gone has ended its
// trial.
func (g Group) Close(ctx context.Context) {
	ctx, cancel := g.within(ctx, 0)
	defer cancel()
	_, _ = bus.Collect(g.Nodes, func(node string) (struct{}, error) {
		return bus.Call(ctx, g.Bus, node, message.Close, struct{}{})
	})
}
