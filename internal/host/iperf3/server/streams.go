package server

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"linerate/internal/host/datagram"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/host/stream"
)

// gather waits until the client has opened its streams.
func (t *test) gather(ctx context.Context) error {
	if t.p.UDP {
		t.engine = datagram.New()
	} else {
		t.engine = stream.New()
	}
	t.flows.Store(&t.engine)
	if t.p.UDP {
		return t.gatherUDP(ctx)
	}
	return t.gatherTCP(ctx)
}

// gatherTCP waits for connections that begin with the test's cookie. They are ordered as accepted, because
// iperf3 derives directions from that order.
func (t *test) gatherTCP(ctx context.Context) error {
	if !t.server.expect(t) {
		return refuse(iperf3.CodeAccessDenied, "another test has the same cookie")
	}
	defer t.forget()
	if err := iperf3.WriteState(t.conn, iperf3.CreateStreams); err != nil {
		return gone(err)
	}
	var got []arrival
	late := t.gatherTime()
	for len(got) < t.p.Streams() {
		a, err := next(ctx, t, late, t.arrivals, len(got))
		if err != nil {
			discardAll(got)
			return err
		}
		got = append(got, a)
	}
	slices.SortFunc(got, func(a, b arrival) int { return cmp.Compare(a.place, b.place) })
	for n, a := range got {
		if err := t.addStream(n, a.conn); err != nil {
			discardAll(got[n+1:])
			return err
		}
	}
	return nil
}

// take offers the test a TCP stream; it returns false if the test wants none; the caller then still owns it.
func (t *test) take(a arrival) bool {
	if a.conn.SetDeadline(time.Time{}) != nil {
		return false
	}
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	if t.server.tests[t.cookie] != t {
		return false
	}
	select {
	case t.arrivals <- a:
		return true
	default:
		return false
	}
}

// forget stops expecting TCP streams.
func (t *test) forget() {
	t.server.expectNoMore(t)
	drain(t.arrivals, func(a arrival) { socket.Reset(a.conn) })
}

func discardAll(list []arrival) {
	for _, a := range list {
		socket.Reset(a.conn)
	}
}

// gatherUDP waits for datagrams from the client's address. They do not identify a test, so only one test per
// address opens its streams at a time.
func (t *test) gatherUDP(ctx context.Context) error {
	if err := t.askAlone(ctx); err != nil {
		return err
	}
	defer t.askNoMore()
	if err := iperf3.WriteState(t.conn, iperf3.CreateStreams); err != nil {
		return gone(err)
	}
	late := t.gatherTime()
	for len(t.streams) < t.p.Streams() {
		conn, err := next(ctx, t, late, t.asks, len(t.streams))
		if err != nil {
			return err
		}
		if err := t.addStream(len(t.streams), conn); err != nil {
			return err
		}
		// This lets the client send.
		if _, err := conn.Write(iperf3.HelloAnswer[:]); err != nil {
			return refuse(iperf3.CodeStreamAccept, "a stream was not answered: %s", socket.Reason(err, t.from.Addr()))
		}
	}
	return nil
}

// gatherTime returns a channel that fires when the client's time to open all streams is over.
func (t *test) gatherTime() <-chan time.Time {
	return time.After(patience + time.Duration(t.p.Streams())*100*time.Millisecond)
}

// next waits for the client's next stream until late; the client has opened got before.
func next[T any](ctx context.Context, t *test, late <-chan time.Time, streams <-chan T, got int) (stream T, err error) {
	select {
	case stream = <-streams:
	case <-late:
		hint := ""
		if t.p.UDP {
			hint = ": does a firewall drop UDP?"
		}
		err = refuse(iperf3.CodeStreamAccept, "%d of %d streams came%s", got, t.p.Streams(), hint)
	case h := <-t.heard:
		err = h.unexpected()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return stream, err
}

// drain closes the streams still waiting in a channel.
func drain[T any](streams <-chan T, end func(T)) {
	for {
		select {
		case stream := <-streams:
			end(stream)
		default:
			return
		}
	}
}

// askAlone waits until no other test from this address is opening streams.
func (t *test) askAlone(ctx context.Context) error {
	s := t.server
	late := time.After(time.Minute)
	for {
		s.mu.Lock()
		changed := s.asked
		if s.asking[t.from.Addr()] == nil {
			s.asking[t.from.Addr()] = t
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			return refuse(iperf3.CodeAccessDenied, "other tests from its address are still opening their streams")
		case h := <-t.heard:
			return h.unexpected()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *test) askNoMore() {
	s := t.server
	s.mu.Lock()
	delete(s.asking, t.from.Addr())
	close(s.asked)
	s.asked = make(chan struct{})
	s.mu.Unlock()
	drain(t.asks, func(conn *net.UDPConn) { conn.Close() })
}

// greet receives the datagrams with which clients open UDP streams.
func (s *server) greet() {
	buffer := make([]byte, iperf3.HelloBytes+1)
	for {
		n, from, err := s.listener.udp.ReadFromUDPAddrPort(buffer)
		switch {
		case s.ctx.Err() != nil, errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			if iperf3.IsHello(buffer[:n]) {
				s.hello(from)
			}
		}
	}
}

// hello passes a stream to the test that waits for one from this address. It ignores anything else, including a
// repeated request for an existing stream, which the network or an impatient client may send.
func (s *server) hello(from netip.AddrPort) {
	from = socket.Unmap(from)
	s.mu.Lock()
	t := s.asking[from.Addr()]
	again := t != nil && t.askers[from]
	s.mu.Unlock()
	if t == nil || again || len(t.asks) == cap(t.asks) {
		return
	}
	// A socket on the same port, at the address that the client knows.
	local := socket.AddrPort(t.conn.LocalAddr())
	dialer := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(local), Control: sharePort}
	connection, err := dialer.DialContext(s.ctx, "udp", from.String())
	if err != nil {
		return // the client or the test's time limit ends the test
	}
	conn := connection.(*net.UDPConn)
	others := strays(conn, from)
	s.mu.Lock()
	if s.asking[from.Addr()] == t {
		t.asks <- conn // there is room: nothing else writes to it
		t.askers[from] = true
	} else {
		conn.Close()
	}
	s.mu.Unlock()
	for _, stray := range others {
		s.hello(stray)
	}
}

// mostStrays limits how many datagrams a new socket discards before its client's first, since a client may send
// without pause.
const mostStrays = 64

// strays returns other clients' requests that a new socket received between being bound and being connected.
func strays(conn *net.UDPConn, client netip.AddrPort) (list []netip.AddrPort) {
	buffer := make([]byte, iperf3.HelloBytes+1)
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond)) // for the whole loop
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	for range mostStrays {
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) {
			break
		}
		if from = socket.Unmap(from); err == nil && iperf3.IsHello(buffer[:n]) && from != client {
			list = append(list, from)
		}
	}
	return list
}
