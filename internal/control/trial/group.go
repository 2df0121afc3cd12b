// Package trial carries one trial out with the agents of a group of nodes: it has
// them open the flows, schedules one window on everybody's own clock, waits for
// what they read, and enters it into a record, all on the conductor's clock.
//
// It does not know what the nodes are, a lab's hosts or two machines that know
// each other's address; it sets nothing up on them besides connections, and it
// decides nothing about what the figures mean.
package trial

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
)

// Group is the nodes that take part, each with an agent on the bus.
type Group struct {
	Bus   *bus.Bus
	Nodes []string
	// Accepting is told once it is known where each flow is accepted, and before
	// any is opened; nil: nobody is.
	Accepting func(context.Context, []*Flow) error
}

// Each asks several nodes at once and joins what went wrong.
func Each(nodes []string, ask func(node string) error) error {
	errs := make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, node := range nodes {
		asking.Go(func() { errs[i] = ask(node) })
	}
	asking.Wait()
	return errors.Join(errs...)
}

// inTurn is Each, with a node waiting for the one before it, a moment at most.
func inTurn(nodes []string, moment time.Duration, ask func(node string) error) error {
	done := make([]chan struct{}, len(nodes))
	for i := range done {
		done[i] = make(chan struct{})
	}
	return Each(nodes, func(node string) error {
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

// Close ends what the nodes do for the current trial. A node that is lost needs
// no ending.
func (g Group) Close(ctx context.Context) {
	_ = Each(g.Nodes, func(node string) error { return g.Bus.Call(ctx, node, "close", struct{}{}, nil) })
}
