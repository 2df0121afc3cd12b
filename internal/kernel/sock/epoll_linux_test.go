//go:build !portable

package sock

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
)

// TestEpollMilliseconds: where the kernel limits waits in milliseconds only, short waits are
// about as short, and events are reported.
func TestEpollMilliseconds(t *testing.T) {
	const limit = 100 * time.Microsecond
	var shortest [2]time.Duration
	for i, milliseconds := range []bool{false, true} {
		p, err := NewEpoll()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.milliseconds = milliseconds
		shortest[i] = time.Hour
		for range 50 {
			began := time.Now()
			if n := p.Wait(limit); n != 0 {
				t.Fatalf("%d events, want none", n)
			}
			shortest[i] = min(shortest[i], time.Since(began))
		}
		e, err := NewEventFD()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.AddTo(p, 7); err != nil {
			t.Fatal(err)
		}
		e.Signal()
		for _, limit := range []time.Duration{-1, 0, time.Hour} {
			if n := p.Wait(limit); n != 1 {
				t.Fatalf("limit %v: %d events, want 1", limit, n)
			}
			if tag, read, _ := p.Event(0); tag != 7 || !read {
				t.Errorf("limit %v: tag %d, readable %v", limit, tag, read)
			}
		}
	}
	if shortest[1] > 3*shortest[0] {
		t.Errorf("of waits for %v the shortest takes %v, with milliseconds %v", limit, shortest[0], shortest[1])
	}
}

// TestEpollExclusive: of threads that wait for connections at one listener, about as many are
// woken where the kernel limits waits in milliseconds only.
func TestEpollExclusive(t *testing.T) {
	const threads, connections = 4, 10
	var woken [2]int64
	for i, milliseconds := range []bool{false, true} {
		listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(listener)
		if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
		if err := unix.Listen(listener, connections); err != nil {
			t.Fatal(err)
		}
		at, err := unix.Getsockname(listener)
		if err != nil {
			t.Fatal(err)
		}
		quit, err := NewEventFD()
		if err != nil {
			t.Fatal(err)
		}
		defer quit.Close()
		var wakes, accepted atomic.Int64
		var waiting sync.WaitGroup
		for range threads {
			p, err := NewEpoll()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.milliseconds = milliseconds
			if err := errors.Join(p.AddExclusive(listener, 1), quit.AddTo(p, 2)); err != nil {
				t.Fatal(err)
			}
			waiting.Go(func() {
				for {
					if n := p.Wait(time.Hour); n > 0 {
						if tag, _, _ := p.Event(0); tag == 2 {
							return
						}
					}
					wakes.Add(1)
					time.Sleep(5 * time.Millisecond) // others that are woken see the connection still
					if fd, err := Accept(listener); err == nil {
						unix.Close(fd)
						accepted.Add(1)
					}
				}
			})
		}
		for n := range int64(connections) {
			time.Sleep(20 * time.Millisecond) // all wait
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			if err := unix.Connect(fd, at); err != nil {
				t.Fatal(err)
			}
			kerneltest.Await(t, "the connection is accepted", func() bool { return accepted.Load() > n })
		}
		woken[i] = wakes.Load()
		quit.Signal()
		waiting.Wait()
	}
	if woken[1] > 2*woken[0] {
		t.Errorf("%d wake-ups for %d connections, with milliseconds %d", woken[0], connections, woken[1])
	}
}
