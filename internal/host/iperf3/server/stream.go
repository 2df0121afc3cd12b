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

// engine makes a test's flows, one for each of its streams, in their order.
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

// request is the flow of the stream that is opened as number n.
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

// addStream makes a flow of what the client has opened as number n. The connection
// is closed if that fails.
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
		request.Window = 0 // it has been set
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

// setOptions sets what a connection is to have, and says which congestion control it
// has. Its segment size the client has asked for, in TCP's handshake.
func (t *test) setOptions(raw syscall.RawConn) (congestion string, err error) {
	request := message.FlowRequest{Spec: flow.Spec{Window: unit.Bytes(min(t.p.Window, largestWindow)),
		RateCap: unit.BitRate(t.p.FQRate)}}
	// As iperf3 does, go on with another one than was asked for, and say which.
	// With privileges, the kernel would load any module of that name.
	if available(t.p.Congestion) {
		request.CongestionControl = t.p.Congestion
	}
	return congestion, socket.WithFD(raw, func(fd int) error {
		err := socket.PrepareAccepted(request, fd)
		if err != nil && request.CongestionControl != "" {
			request.CongestionControl = "" // it is there, but not for this user
			err = socket.PrepareAccepted(request, fd)
		}
		if err != nil {
			return refuse(iperf3.CodeSetBuffer, "%v", err)
		}
		congestion, _ = sock.CongestionControl(fd)
		return nil
	})
}

// available says whether the kernel has a congestion control already.
func available(name string) bool {
	there, err := proc.Sysctls{}.Read("net.ipv4.tcp_available_congestion_control")
	return err == nil && name != "" && slices.Contains(strings.Fields(there), name)
}

// piece is how much a TCP stream writes at a time: the client's block, or several if
// it asked for bursts; 0: it asked for neither. A piece goes out as fast as it can: with a
// bound of the rate it is no more than iperf3's usual block.
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

// rate is what each stream in a direction may carry; 0: any rate.
func (t *test) rate(sends bool) unit.BitRate {
	bps := math.Inf(1)
	if sends && t.p.Bandwidth > 0 {
		bps = float64(t.p.Bandwidth)
	}
	if sends && t.p.UDP && t.p.FQRate > 0 {
		bps = min(bps, float64(t.p.FQRate))
	}
	// What a client may have altogether is shared by the streams of a direction.
	// A TCP client is held to it by its window, if it is read no faster.
	if most := t.server.options.Bounds.RateBps; most > 0 && (sends || !t.p.UDP) {
		bps = min(bps, most/float64(t.p.Parallel))
	}
	if math.IsInf(bps, 1) {
		return 0
	}
	return unit.BitRate(bps)
}

// streamError is why the test cannot go on, if a stream's socket has failed. That the
// client has closed a stream is none: the control connection says what that means.
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

// result is what the client is sent.
func (s *testStream) result(seconds float64) iperf3.StreamResult {
	return s.final.Result(s.id, s.omitted, seconds)
}
