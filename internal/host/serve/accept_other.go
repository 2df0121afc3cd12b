//go:build !linux || portable

package serve

import (
	"net"

	"linerate/internal/host/socket"
)

// acceptAll accepts connections, each with a goroutine of its own.
func (s *server) acceptAll(l *net.TCPListener) error { return socket.AcceptAll(s.ctx, l, s.receive) }
