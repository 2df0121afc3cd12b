package machinetest

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"linerate/internal/model/unit"
)

// Switch is an Ethernet switch in the test process. It learns which port has a MAC
// address, and sends frames to unknown and group addresses to all other ports.
type Switch struct {
	mu    sync.Mutex
	ports []*switchPort
	known map[[6]byte]*switchPort
}

type switchPort struct {
	conn net.Conn
	rate unit.BitRate // in both directions
	out  chan []byte
}

// Limits of a switch: a frame with GSO is one frame on a QEMU socket, and a full queue
// drops.
const (
	longestFrame = 1 << 17
	switchQueue  = 64 // frames
)

// NewSwitch returns a switch without ports.
func NewSwitch(t testing.TB) *Switch {
	t.Helper()
	return &Switch{known: make(map[[6]byte]*switchPort)}
}

// NewCable returns a cable from a new port of the switch, whose rate is limited to rate,
// to the first port of a machine that names the cable.
func (s *Switch) NewCable(t testing.TB, rate unit.BitRate) *Cable {
	t.Helper()
	c := NewCable(t)
	conn, err := net.FileConn(c.ends[0].socket)
	if err != nil {
		t.Fatal(err)
	}
	c.ends[0].close()
	c.ends = c.ends[1:]
	t.Cleanup(func() { conn.Close() })
	port := &switchPort{conn: conn, rate: rate, out: make(chan []byte, switchQueue)}
	s.mu.Lock()
	s.ports = append(s.ports, port)
	s.mu.Unlock()
	go port.send()
	go s.receive(port)
	return c
}

// receive forwards what a port receives until its cable is gone. Frames on a socket of
// QEMU have their length before them (net/socket.c).
func (s *Switch) receive(port *switchPort) {
	defer close(port.out)
	defer s.remove(port)
	pace := pacer{rate: port.rate}
	for {
		var length [4]byte
		if _, err := io.ReadFull(port.conn, length[:]); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(length[:])
		if n < 14 || n > longestFrame {
			return
		}
		frame := make([]byte, len(length)+int(n))
		copy(frame, length[:])
		if _, err := io.ReadFull(port.conn, frame[len(length):]); err != nil {
			return
		}
		pace.wait(int(n)) // the machine waits, as for its own link
		s.forward(port, frame)
	}
}

func (s *Switch) forward(from *switchPort, frame []byte) {
	to, source := [6]byte(frame[4:10]), [6]byte(frame[10:16])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[source] = from
	if port := s.known[to]; port != nil {
		if port != from {
			port.enqueue(frame)
		}
		return
	}
	for _, port := range s.ports {
		if port != from {
			port.enqueue(frame)
		}
	}
}

func (s *Switch) remove(port *switchPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.ports {
		if p == port {
			s.ports = append(s.ports[:i], s.ports[i+1:]...)
			break
		}
	}
	for address, p := range s.known {
		if p == port {
			delete(s.known, address)
		}
	}
}

func (p *switchPort) enqueue(frame []byte) {
	select {
	case p.out <- frame:
	default:
	}
}

func (p *switchPort) send() {
	pace := pacer{rate: p.rate}
	for frame := range p.out {
		pace.wait(len(frame) - 4)
		if _, err := p.conn.Write(frame); err != nil {
			return
		}
	}
}

// pacer spaces frames as a link of a rate does.
type pacer struct {
	rate unit.BitRate
	next time.Time // when the link is free
}

// wait waits until a frame has passed.
func (p *pacer) wait(length int) {
	const framing = 24 // preamble, frame check sequence, gap
	now := time.Now()
	if p.next.Before(now.Add(-10 * time.Millisecond)) { // time.Sleep may be this late
		p.next = now
	}
	p.next = p.next.Add(time.Duration(float64(8*(length+framing)) / float64(p.rate) * 1e9))
	time.Sleep(time.Until(p.next))
}
