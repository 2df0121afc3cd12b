//go:build !portable

package sock

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tcpPair is two ends of a connection over loopback, as plain descriptors.
func tcpPair(t *testing.T) (near, far int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	descriptor := func(c net.Conn) int {
		file, err := c.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		t.Cleanup(func() { file.Close() })
		return int(file.Fd())
	}
	return descriptor(dialled), descriptor(accepted)
}

// discardAll discards until n bytes have arrived.
func discardAll(t *testing.T, fd, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); n > 0; {
		got, err := Discard(fd, 1<<20)
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			t.Fatal(err)
		}
		if n -= got; time.Now().After(end) {
			t.Fatalf("%d bytes have not come", n)
		}
	}
}

func TestTransmitAndDiscard(t *testing.T) {
	near, far := tcpPair(t)
	if _, err := Discard(far, 1<<20); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("discarding what has not come: %v, want EAGAIN", err)
	}
	n, err := Transmit(near, make([]byte, 10_000), false)
	if n != 10_000 || err != nil {
		t.Fatalf("transmitted %d, %v; want 10000 bytes", n, err)
	}
	discardAll(t, far, n)
	for end := time.Now().Add(10 * time.Second); ; {
		if queued, err := Queued(near, true); err != nil || time.Now().After(end) {
			t.Fatalf("send queue %d, %v; want none after all arrived", queued, err)
		} else if queued == 0 {
			break
		}
	}
	if err := unix.Shutdown(far, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		n, err := Discard(near, 1<<20)
		if n == 0 && err == nil {
			break // the end of the stream
		}
		if !errors.Is(err, unix.EAGAIN) || time.Now().After(end) {
			t.Fatalf("discarded %d, %v; want the end of the stream", n, err)
		}
	}
	if err := unix.Shutdown(near, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if _, err := Transmit(near, []byte("late"), false); !errors.Is(err, unix.EPIPE) {
		t.Errorf("transmitting after the end: %v, want EPIPE and no signal", err)
	}
}

func TestSocketOptions(t *testing.T) {
	near, _ := tcpPair(t)
	if err := SetBuffers(near, 50_000, 0); err != nil {
		t.Fatal(err)
	}
	send, receive, err := Buffers(near)
	if send != 100_000 || receive == 100_000 || err != nil {
		t.Errorf("buffers %d and %d, %v; want twice 50000 to send, and nothing else changed", send, receive, err)
	}
	if err := SetBuffers(near, 0, 40_000); err != nil {
		t.Fatal(err)
	}
	if send, receive, err := Buffers(near); send != 100_000 || receive != 80_000 || err != nil {
		t.Errorf("buffers %d and %d, %v; want 100000 and twice 40000", send, receive, err)
	}
	if err := SetPacingRate(near, 5e9); err != nil { // beyond 32 bits
		t.Fatal(err)
	}
	if rate, err := unix.GetsockoptUint64(near, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE); rate != 5e9 || err != nil {
		t.Errorf("pacing rate %d, %v; want 5000000000", rate, err)
	}
	if name, err := CongestionControl(near); name == "" || err != nil {
		t.Errorf("congestion control %q, %v", name, err)
	}
	if err := SetCongestionControl(near, "nosuch"); !errors.Is(err, unix.ENOENT) {
		t.Errorf("an unknown congestion control: %v, want ENOENT", err)
	}
	if err := SetMaxSeg(near, 7); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a segment of 7 bytes: %v, want EINVAL", err)
	}
	if err := SetBindAddressNoPort(near); err != nil {
		t.Error(err)
	}
}
