//go:build !linux || portable

package serve

import (
	"context"
	"errors"
	"net"
	"time"
)

// acceptAll accepts connections, each with a goroutine of its own.
func (s *server) acceptAll(l *net.TCPListener) error {
	ctx := s.ctx
	for {
		conn, err := l.AcceptTCP()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			// Out of descriptors or memory, or a connection that was reset while
			// it waited: none of it lasts.
			pause(ctx, 20*time.Millisecond)
			continue
		}
		s.receive(conn)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
