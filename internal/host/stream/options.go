package stream

import (
	"fmt"
	"net"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// setOptions completes the options of an open connection, checks that the kernel honours them, and returns the
// congestion control in use.
func setOptions(request message.FlowRequest, conn *net.TCPConn) (congestion string, err error) {
	// The kernel's default is Nagle's algorithm; package net turns it off.
	if err := conn.SetNoDelay(flow.On(request.NoDelay)); err != nil {
		return "", fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	err = socket.WithConn(conn, func(fd int) error {
		// Some systems cannot tell; a request that needs it has already failed.
		congestion, _ = sock.CongestionControl(fd)
		if request.CongestionControl != "" && congestion != request.CongestionControl {
			return fmt.Errorf("congestion control is %q, although %q was set", congestion, request.CongestionControl)
		}
		if request.MSS != 0 {
			if info, err := sock.TCPInfo(fd); err == nil && int(info.SndMSS) > request.MSS {
				return fmt.Errorf("the kernel sends segments of %d bytes, although the maximum was set to %d",
					info.SndMSS, request.MSS)
			}
		}
		return nil
	})
	return congestion, err
}
