//go:build !portable

package socket

import (
	"io"
	"net/netip"
	"os"
	"syscall"

	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
)

// Source returns where a request's connections come from; nil: the kernel selects their address and port.
func Source(request message.FlowRequest) (*sock.Peer, error) {
	local := request.Local
	if !local.IsValid() {
		if request.LocalPort == 0 {
			return nil, nil
		}
		local = netip.IPv4Unspecified()
		if request.Remote.Addr().Is6() {
			local = netip.IPv6Unspecified()
		}
	}
	return sock.PeerAt(netip.AddrPortFrom(local, request.LocalPort))
}

// Stream returns a TCP socket with a request's options for a connection from one peer to another, which is then begun
// with to.Connect and does not block. from may be nil, as of Source. The caller closes it with sock.CloseSocket.
func Stream(request message.FlowRequest, from, to *sock.Peer) (fd int, err error) {
	if fd, err = to.Socket(false); err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	err = Prepare(request, fd)
	if err == nil && from != nil {
		err = os.NewSyscallError("bind", from.Bind(fd))
	}
	if err != nil {
		sock.CloseSocket(fd)
		return -1, err
	}
	return fd, nil
}

// TakeOver returns the descriptor of a socket of package net, whose original it closes.
func TakeOver(conn interface {
	syscall.Conn
	io.Closer
}) (fd int, err error) {
	defer conn.Close()
	err = WithConn(conn, func(original int) (err error) {
		fd, err = sock.Dup(original)
		return err
	})
	return fd, err
}
