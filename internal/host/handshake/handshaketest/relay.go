// Package handshaketest simulates, for tests of UDP, a network that loses, duplicates and delays datagrams as
// the test specifies.
package handshaketest

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Fate lists the delays after which copies of a datagram are passed on; empty: it is lost.
type Fate []time.Duration

// Passed and Lost are the common fates.
var (
	Passed = Fate{0}
	Lost   Fate
)

// Relay passes datagrams in both directions between the clients of its address and to. fate decides for the
// n-th datagram of a direction, counted from 0 over all clients. It ends with the test.
func Relay(t testing.TB, to netip.AddrPort, fate func(back bool, n int) Fate) netip.AddrPort {
	t.Helper()
	loopback := net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 0))
	near, err := net.ListenUDP("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{fate: fate, far: map[netip.AddrPort]*net.UDPConn{}}
	t.Cleanup(func() {
		near.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, far := range r.far {
			far.Close()
		}
	})
	go func() {
		buffer := make([]byte, 65536)
		for {
			n, from, err := near.ReadFromUDPAddrPort(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			far := r.beyond(near, from, to)
			if err != nil || far == nil {
				continue
			}
			r.pass(false, buffer[:n], func(b []byte) { _, _ = far.Write(b) })
		}
	}()
	return near.LocalAddr().(*net.UDPAddr).AddrPort()
}

type relay struct {
	fate   func(back bool, n int) Fate
	mu     sync.Mutex
	passed [2]int
	far    map[netip.AddrPort]*net.UDPConn // by client
}

// beyond returns the socket that represents a client at the other end.
func (r *relay) beyond(near *net.UDPConn, from, to netip.AddrPort) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if far := r.far[from]; far != nil {
		return far
	}
	far, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil
	}
	r.far[from] = far
	go func() {
		buffer := make([]byte, 65536)
		for {
			n, err := far.Read(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				r.pass(true, buffer[:n], func(b []byte) { _, _ = near.WriteToUDPAddrPort(b, from) })
			}
		}
	}()
	return far
}

// pass applies its fate to a datagram.
func (r *relay) pass(back bool, datagram []byte, on func([]byte)) {
	direction := 0
	if back {
		direction = 1
	}
	r.mu.Lock()
	n := r.passed[direction]
	r.passed[direction]++
	r.mu.Unlock()
	for _, after := range r.fate(back, n) {
		if after == 0 {
			on(datagram)
			continue
		}
		later := append([]byte(nil), datagram...)
		time.AfterFunc(after, func() { on(later) })
	}
}
