package stream

import (
	"fmt"
	"net"
	"syscall"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// endpoint is an open connection and what the kernel granted it.
type endpoint struct {
	conn       *net.TCPConn
	raw        syscall.RawConn
	congestion string
}

// setOptions completes the options of a connection that is open and checks that the
// kernel honours them.
func setOptions(request message.FlowRequest, conn *net.TCPConn) (*endpoint, error) {
	// The kernel's default is Nagle's algorithm; package net turns it off.
	if err := conn.SetNoDelay(flow.On(request.NoDelay)); err != nil {
		return nil, fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &endpoint{conn: conn, raw: raw}
	return p, socket.WithFD(raw, func(fd int) error {
		// Not every system can say; a request that needs it has failed before.
		p.congestion, _ = sock.CongestionControl(fd)
		if request.CongestionControl != "" && p.congestion != request.CongestionControl {
			return fmt.Errorf("congestion control is %q, although %q was set", p.congestion, request.CongestionControl)
		}
		if request.MSS != 0 {
			if info, err := sock.TCPInfo(fd); err == nil && int(info.SndMSS) > request.MSS {
				return fmt.Errorf("the kernel sends segments of %d bytes, although the maximum was set to %d", info.SndMSS, request.MSS)
			}
		}
		return nil
	})
}
