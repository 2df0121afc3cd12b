package bus

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"linerate/internal/model/message"
)

// Collect calls ask for all nodes concurrently and returns the answers by node. Nodes
// that failed have no answer; their errors are joined in the order of nodes.
func Collect[T any](nodes []string, ask func(node string) (T, error)) (map[string]T, error) {
	answers, errs := make([]T, len(nodes)), make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, node := range nodes {
		asking.Go(func() { answers[i], errs[i] = ask(node) })
	}
	asking.Wait()
	found := map[string]T{}
	for i, node := range nodes {
		if errs[i] == nil {
			found[node] = answers[i]
		}
	}
	return found, errors.Join(errs...)
}

// EachNode calls do for all nodes concurrently and joins their errors.
func EachNode(nodes []string, do func(node string) error) error {
	_, err := Collect(nodes, func(node string) (struct{}, error) { return struct{}{}, do(node) })
	return err
}

// Ask sends each node its request, all concurrently, and returns the replies and errors
// as Collect does.
func Ask[Request, Reply any](ctx context.Context, b *Bus, v message.Verb[Request, Reply],
	requests map[string]Request) (map[string]Reply, error) {
	return Collect(slices.Sorted(maps.Keys(requests)), func(node string) (Reply, error) {
		return Call(ctx, b, node, v, requests[node])
	})
}
