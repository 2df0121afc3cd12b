package socket

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
)

// accepting returns these errors from accept, and then connections.
type accepting struct{ errors []error }

func (a *accepting) AcceptTCP() (*net.TCPConn, error) {
	if len(a.errors) == 0 {
		return &net.TCPConn{}, nil
	}
	err := a.errors[0]
	a.errors = a.errors[1:]
	return nil, &net.OpError{Op: "accept", Err: err}
}

// TestAccept: errors of accept(2) other than a closed listener do not end a server.
func TestAccept(t *testing.T) {
	temporary := []error{syscall.EMFILE, syscall.ENOBUFS, syscall.EPROTO, syscall.ENETDOWN, syscall.ECONNABORTED,
		syscall.EPERM}
	l := &accepting{temporary}
	if conn, err := Accept(t.Context(), l); conn == nil || err != nil || len(l.errors) > 0 {
		t.Errorf("%v, %v, %v left", conn, err, l.errors)
	}
	if _, err := Accept(t.Context(), &accepting{[]error{net.ErrClosed}}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the end")
	cancel(why)
	if _, err := Accept(ctx, &accepting{temporary}); !errors.Is(err, why) {
		t.Errorf("after the end: %v", err)
	}
}
