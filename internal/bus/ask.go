package bus

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

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
func Ask[Reply, Request any](ctx context.Context, b *Bus, verb string, requests map[string]Request) (map[string]Reply, error) {
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
