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
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
)

// Group is the nodes that take part, each with an agent on the bus.
type Group struct {
	Bus   *bus.Bus
	Nodes []string
	// Accepting, unless nil, is called when it is known where each flow is accepted, and
	// before any is opened.
	Accepting func(context.Context, []*Flow) error
}

// EachNode calls ask for all nodes at once and joins their errors.
func EachNode(nodes []string, ask func(node string) error) error {
	errs := make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, node := range nodes {
		asking.Go(func() { errs[i] = ask(node) })
	}
	asking.Wait()
	return errors.Join(errs...)
}

// Ask sends each node its request, all at once, and returns the replies by node. Those
// of the nodes that failed are missing, and their errors joined.
func Ask[Reply, Request any](ctx context.Context, b *bus.Bus, verb string, requests map[string]Request) (map[string]Reply, error) {
	var mu sync.Mutex
	replies := map[string]Reply{}
	err := EachNode(slices.Sorted(maps.Keys(requests)), func(node string) error {
		var reply Reply
		if err := b.Call(ctx, node, verb, requests[node], &reply); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		replies[node] = reply
		return nil
	})
	return replies, err
}

// oneByOne is EachNode, with a node waiting for the one before it, a moment at most.
func oneByOne(nodes []string, moment time.Duration, ask func(node string) error) error {
	done := make([]chan struct{}, len(nodes))
	for i := range done {
		done[i] = make(chan struct{})
	}
	return EachNode(nodes, func(node string) error {
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
	_ = EachNode(g.Nodes, func(node string) error { return g.Bus.Call(ctx, node, "close", struct{}{}, nil) })
}
