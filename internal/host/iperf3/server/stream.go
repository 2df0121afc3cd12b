package server

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// stream is one of a test, and what this end has counted of it.
type stream struct {
	id    int
	sends bool
	udp   bool
	wide  bool // datagrams have sequence numbers of 64 bits
	conn  net.Conn
	raw   syscall.RawConn

	congestion       string
	knowsRetransmits bool

	quit atomic.Bool // the test is over
	work sync.WaitGroup

	bytes   atomic.Int64 // since the beginning
	packets atomic.Int64 // datagrams sent

	mu       sync.Mutex
	arrivals iperf3.Arrivals // datagrams received

	omitted, final tally
	counted        int64 // bytes that make the result
}

// tally is what a stream had counted at an instant.
type tally struct{ bytes, packets, retransmits int64 }

// newStream sets the test's options on what the client has opened as number n.
func (t *test) newStream(n int, conn net.Conn) (*stream, error) {
	s := &stream{id: iperf3.StreamID(n), sends: t.p.ServerSends(n), udp: t.p.UDP, wide: t.p.Wide(), conn: conn}
	var err error
	if s.raw, err = conn.(syscall.Conn).SyscallConn(); err != nil {
		return nil, err
	}
	six := socket.Unmap(addrPort(conn.LocalAddr())).Addr().Is6()
	if tos := int(t.p.TOS); tos != 0 {
		if err := socket.WithFD(s.raw, func(fd int) error { return proc.SetTrafficClass(fd, six, tos) }); err != nil {
			return nil, refuse(iperf3.CodeSetTOS, "setting a type of service of %d: %v", tos, err)
		}
	}
	if t.p.UDP {
		return s, t.outfitUDP(s)
	}
	return s, t.outfitTCP(s)
}

// outfitTCP sets what a connection is to have. Its segment size the client has
// asked for, in the handshake.
func (t *test) outfitTCP(s *stream) error {
	conn := s.conn.(*net.TCPConn)
	if err := conn.SetNoDelay(t.p.NoDelay); err != nil {
		return fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	order := message.FlowRequest{Window: unit.Bytes(min(t.p.Window, largestWindow)), RateCap: unit.BitRate(t.p.FQRate)}
	// As iperf3 does, go on with another one than was asked for, and say which.
	// With privileges, the kernel would load any module of that name.
	if available(t.p.Congestion) {
		order.CongestionControl = t.p.Congestion
	}
	return socket.WithFD(s.raw, func(fd int) error {
		err := socket.PrepareAccepted(order, fd)
		if err != nil && order.CongestionControl != "" {
			order.CongestionControl = "" // it is there, but not for this user
			err = socket.PrepareAccepted(order, fd)
		}
		if err != nil {
			return refuse(iperf3.CodeSetBuffer, "%v", err)
		}
		s.congestion, _ = sock.CongestionControl(fd)
		if s.sends {
			_, err := sock.TCPInfo(fd)
			s.knowsRetransmits = err == nil
		}
		return nil
	})
}

// available tells whether the kernel has a congestion control already.
func available(name string) bool {
	there, err := proc.Sysctls{}.Read("net.ipv4.tcp_available_congestion_control")
	return err == nil && name != "" && slices.Contains(strings.Fields(there), name)
}

// receiveBuffer is what datagrams may wait in when the client names no window:
// the kernel's default holds a few milliseconds of a fast stream.
const receiveBuffer = 4 << 20

func (t *test) outfitUDP(s *stream) error {
	conn := s.conn.(*net.UDPConn)
	if window := int(min(t.p.Window, largestWindow)); window != 0 {
		return socket.WithFD(s.raw, func(fd int) error { return sock.SetBuffers(fd, window, window) })
	}
	if !s.sends {
		_ = conn.SetReadBuffer(receiveBuffer) // as much of it as is allowed
	}
	return nil
}

func addrPort(a net.Addr) (none netip.AddrPort) {
	if p, ok := a.(interface{ AddrPort() netip.AddrPort }); ok {
		return p.AddrPort()
	}
	return none
}

// pace is at what rate a stream of the test moves, in bytes per second; 0: at any.
func (t *test) pace(s *stream) pace {
	p := pace{block: int(t.p.Length), burst: max(1, int(t.p.Burst))}
	bps := math.Inf(1)
	if s.sends && t.p.Bandwidth > 0 {
		bps = float64(t.p.Bandwidth)
	}
	if s.sends && t.p.UDP && t.p.FQRate > 0 {
		bps = min(bps, float64(t.p.FQRate))
	}
	// What a client may have altogether is shared by the streams of a direction.
	// A TCP client is held to it by its window, when nobody reads any faster.
	if most := t.server.options.Bounds.RateBps; most > 0 && (s.sends || !s.udp) {
		bps = min(bps, most/float64(t.p.Parallel))
	}
	if !math.IsInf(bps, 1) {
		p.rate = bps / 8
	}
	return p
}

// start moves the stream's bytes in the background. An error that ends the test
// goes to failed.
func (s *stream) start(p pace, failed chan<- error) {
	s.work.Go(func() {
		var err error
		switch {
		case s.udp && s.sends:
			err = s.sendDatagrams(p)
		case s.udp:
			err = s.receiveDatagrams()
		case s.sends:
			err = s.send(p)
		default:
			err = s.receive(p)
		}
		if err != nil && !s.quit.Load() && !over(err) {
			code := iperf3.CodeStreamRead
			if s.sends {
				code = iperf3.CodeStreamWrite
			}
			failed <- refuse(code, "stream %d: %s", s.id, socket.Reason(err, addrPort(s.conn.RemoteAddr()).Addr()))
		}
	})
}

// over tells whether an error only says that the client has closed a stream: the
// control connection says what that means.
func over(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNREFUSED)
}

// stop has the stream stop, and settle waits until it has.
func (s *stream) stop() {
	s.quit.Store(true)
	_ = s.conn.SetDeadline(time.Now())
}

func (s *stream) settle() {
	s.work.Wait()
	s.final = s.now()
	s.counted = max(0, s.final.bytes-s.omitted.bytes)
}

// now is what the stream has counted. Of what was sent over TCP it is what the
// client's kernel has acknowledged: the rest may still be in this host.
func (s *stream) now() tally {
	c := tally{bytes: s.bytes.Load(), packets: s.packets.Load()}
	if s.udp || !s.sends {
		return c
	}
	_ = socket.WithFD(s.raw, func(fd int) error {
		if waits, err := sock.SendQueue(fd); err == nil {
			c.bytes = max(0, c.bytes-waits)
		}
		if info, err := sock.TCPInfo(fd); err == nil {
			c.retransmits = int64(info.TotalRetrans)
		}
		return nil
	})
	return c
}

// omit forgets what was counted so far.
func (s *stream) omit() {
	s.omitted = s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrivals.Omit()
}

// arrived is what the stream's datagrams came to.
func (s *stream) arrived() iperf3.Arrivals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrivals
}

// result is what the client is told.
func (s *stream) result(seconds float64) iperf3.StreamResult {
	r := iperf3.StreamResult{ID: iperf3.Int(s.id), Bytes: iperf3.Int(s.counted), Retransmits: -1, EndTime: seconds}
	switch {
	case s.udp && s.sends:
		r.Packets, r.OmittedPackets = iperf3.Int(s.final.packets), iperf3.Int(s.omitted.packets)
	case s.udp:
		a := s.arrived()
		r.Packets, r.OmittedPackets = iperf3.Int(a.Packets), iperf3.Int(a.OmittedPackets)
		r.Errors, r.OmittedErrors = iperf3.Int(a.Errors), iperf3.Int(a.OmittedErrors)
		r.Jitter = a.Jitter()
	case s.sends && s.knowsRetransmits:
		r.Retransmits = iperf3.Int(s.final.retransmits - s.omitted.retransmits)
	}
	return r
}

// closeStreams closes what the client has opened. It may be called again.
func (t *test) closeStreams() {
	for _, s := range t.streams {
		s.conn.Close()
	}
}
