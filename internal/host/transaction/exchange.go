package transaction

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// probe makes one transaction over a separate connection, to check that the peer responds. It is
// not counted.
func (f *rrFlow) probe(ctx context.Context, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errNoResponse)
		defer cancel()
	}
	request := f.Request
	request.Remote = f.remote(0)
	conn, err := socket.Dial(ctx, request, timeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	err = new(counts).exchangeOnce(conn, f)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return errClosed
	case err == nil:
		f.noteConn(ends(conn))
	}
	return err
}

// ends returns the addresses of a connection.
func ends(conn net.Conn) (local, remote netip.AddrPort) {
	return socket.AddrPort(conn.LocalAddr()), socket.AddrPort(conn.RemoteAddr())
}

// exchangeOnce makes a transaction over a connection of its own, which closing will reset, so that
// nothing is left in TIME_WAIT.
func (n *counts) exchangeOnce(conn *net.TCPConn, f *rrFlow) error {
	return errors.Join(socket.ResetOnClose(conn), n.exchange(conn, f.cookie, f.Request))
}

// exchange makes a transaction over TCP. Head is sent before the request.
func (n *counts) exchange(c net.Conn, head []byte, request message.FlowRequest) error {
	if err := n.write(c, head, requestBytes(request)); err != nil {
		return err
	}
	// Reading one byte more than expected detects a peer that is not a linerate responder.
	unread := responseBytes(request)
	for buffer := make([]byte, min(unread+1, len(payload))); unread > 0; {
		bytes, err := c.Read(buffer[:min(unread+1, len(buffer))])
		if err != nil {
			return err
		}
		if bytes > unread {
			return errSurplus
		}
		unread -= bytes
		n.received.Add(int64(bytes))
	}
	return nil
}

// write writes a message of the given length, after head, and counts it.
func (n *counts) write(c net.Conn, head []byte, bytes int) error {
	for bytes > 0 {
		piece := payload[:min(bytes, len(payload))]
		if len(head) > 0 {
			piece = slices.Concat(head, piece)
		}
		written, err := c.Write(piece)
		written = max(0, written-len(head))
		head, bytes = nil, bytes-written
		n.written.Add(int64(written))
		if err != nil {
			return err
		}
	}
	return nil
}
