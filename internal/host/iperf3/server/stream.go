package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"syscall"

	"linerate/internal/host/datagram"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/host/stream"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// engine has a test's flows, one per stream, in the same order.
type engine interface {
	Start(message.WindowRequest)
	Stop()
	Read() []message.FlowEnd
	Moved() (received, written int64)
	Flows() int
	Broken() (message.FlowRequest, error)
	Close()
}

// testStream is one stream of a test.
type testStream struct {
	id         int
	sends      bool
	congestion string

	omitted, final iperf3.Count
}

// request returns the flow request for the n-th stream opened.
func (t *test) request(n int) message.FlowRequest {
	o := message.FlowRequest{ID: fmt.Sprint(iperf3.StreamID(n)), Sends: t.p.ServerSends(n)}
	o.Window = unit.Bytes(min(t.p.Window, largestWindow))
	switch {
	case t.p.UDP:
		o.Protocol, o.Datagram = flow.UDP, unit.Bytes(t.p.Length)
		if o.Sends {
			o.RateCap = t.rate(true)
		}
	default:
		o.NoDelay = &t.p.NoDelay
		o.WriteCap, o.ReadCap = t.rate(o.Sends), t.rate(o.Sends)
	}
	return o
}

// addStream adds a flow for the n-th stream that the client opened. On failure it closes the connection.
func (t *test) addStream(n int, conn net.Conn) error {
	request := t.request(n)
	s := &testStream{id: iperf3.StreamID(n), sends: request.Sends}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		conn.Close()
		return err
	}
	if tos := int(t.p.TOS); tos != 0 {
		if err := socket.WithFD(raw, func(fd int) error { return sock.SetTrafficClass(fd, tos) }); err != nil {
			conn.Close()
			return refuse(iperf3.CodeSetTOS, "setting a type of service of %d: %v", tos, err)
		}
	}
	switch e := t.engine.(type) {
	case *stream.Engine:
		if s.congestion, err = t.setOptions(raw); err != nil {
			conn.Close()
			return err
		}
		request.Window = 0 // already set
		err = e.Adopt(request, conn.(*net.TCPConn), t.piece())
	case *datagram.Engine:
		if window := int(request.Window); window != 0 {
			err = socket.WithFD(raw, func(fd int) error { return sock.SetBuffers(fd, window, window) })
		}
		if err == nil {
			err = e.Adopt(request, conn.(*net.UDPConn), iperf3.DatagramHeader{Wide: t.p.Wide()})
		} else {
			conn.Close()
		}
	}
	if err != nil {
		return refuse(iperf3.CodeSetBuffer, "%v", err)
	}
	t.streams = append(t.streams, s)
	return nil
}

// setOptions sets a connection's options and returns its congestion control. The client requested its segment
// size in the TCP handshake.
func (t *test) setOptions(raw syscall.RawConn) (congestion string, err error) {
	request := message.FlowRequest{Spec: flow.Spec{Window: unit.Bytes(min(t.p.Window, largestWindow)),
		RateCap: unit.BitRate(t.p.FQRate)}}
	// Like iperf3, continue with the default if it is unavailable, and report it. With privileges, setting it
	// would load any kernel module of that name.
	if available(t.p.Congestion) {
		request.CongestionControl = t.p.Congestion
	}
	return congestion, socket.WithFD(raw, func(fd int) error {
		err := socket.PrepareAccepted(request, fd)
		if err != nil && request.CongestionControl != "" {
			request.CongestionControl = "" // available, but not to this user
			err = socket.PrepareAccepted(request, fd)
		}
		if err != nil {
			return refuse(iperf3.CodeSetBuffer, "%v", err)
		}
		congestion, _ = sock.CongestionControl(fd)
		return nil
	})
}

// available reports whether the kernel already has a congestion control.
func available(name string) bool {
	there, err := proc.Sysctls{}.Read("net.ipv4.tcp_available_congestion_control")
	return err == nil && name != "" && slices.Contains(strings.Fields(there), name)
}

// piece returns how many bytes a TCP stream writes at a time: the client's block, or several if it requested
// bursts; 0 if it requested neither. A piece is sent as fast as possible, so with a rate limit it is at most
// iperf3's default block.
func (t *test) piece() int {
	if t.p.Length == iperf3.DefaultLength && t.p.Burst <= 1 {
		return 0
	}
	piece := t.p.Length * max(1, t.p.Burst)
	if t.server.options.Bounds.RateBps > 0 {
		piece = min(piece, iperf3.DefaultLength)
	}
	return int(piece)
}

// rate returns the rate limit of each stream in a direction; 0: none.
func (t *test) rate(sends bool) unit.BitRate {
	bps := math.Inf(1)
	if sends && t.p.Bandwidth > 0 {
		bps = float64(t.p.Bandwidth)
	}
	if sends && t.p.UDP && t.p.FQRate > 0 {
		bps = min(bps, float64(t.p.FQRate))
	}
	// The streams of a direction share the client's limit. Reading no faster than that holds back a TCP client
	// through its window.
	if most := t.server.options.Bounds.RateBps; most > 0 && (sends || !t.p.UDP) {
		bps = min(bps, most/float64(t.p.Parallel))
	}
	if math.IsInf(bps, 1) {
		return 0
	}
	return unit.BitRate(bps)
}

// streamError returns why the test cannot continue if a stream's socket has failed. A stream closed by the
// client is no failure: the control connection says what that means.
func (t *test) streamError() error {
	request, err := t.engine.Broken()
	switch {
	case err == nil, errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, context.Canceled):
		return nil
	}
	code := iperf3.CodeStreamRead
	if request.Sends {
		code = iperf3.CodeStreamWrite
	}
	return refuse(code, "stream %s: %s", request.ID, socket.Reason(err, t.from.Addr()))
}

// result returns the result to send to the client.
func (s *testStream) result(seconds float64) iperf3.StreamResult {
	return s.final.Result(s.id, s.omitted, seconds)
}
