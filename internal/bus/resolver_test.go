package bus

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
)

// TestNoNameIsLookedUp: who joins has a stream, and asks no name server for anything.
// In a network where the name server does not answer that takes longer than anybody
// waits for a host.
func TestNoNameIsLookedUp(t *testing.T) {
	var asked atomic.Int32
	resolver := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = resolver })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		asked.Add(1)
		return nil, errors.New("there is no name server")
	}}
	near, far := net.Pipe()
	pair(t, near, far)
	if n := asked.Load(); n != 0 {
		t.Errorf("a name server was asked %d times", n)
	}
}
