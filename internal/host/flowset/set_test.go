package flowset

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// testFlow counts nothing.
type testFlow struct {
	State
	released atomic.Bool
}

func (f *testFlow) Count(out *message.FlowEnd)       { out.AtNs = sched.Now() }
func (f *testFlow) Describe(*message.FlowEnd)        {}
func (f *testFlow) Sample() (s netstate.FlowSample)  { return s }
func (f *testFlow) Moved() (received, written int64) { return 1, 2 }
func (f *testFlow) Busy() []int64                    { return []int64{3} }
func (f *testFlow) Release()                         { f.released.Store(true) }

func newFlow(r message.FlowRequest) *testFlow { return &testFlow{State: State{Request: r}} }

func TestClaim(t *testing.T) {
	s := New(newFlow)
	cookie := message.Cookie{1}
	f, other := newFlow(message.FlowRequest{ID: "f", Cookie: cookie}), newFlow(message.FlowRequest{ID: "other"})
	s.Add(other, f)
	if s.Settled() || !s.Expects(cookie) || s.Expects(message.Cookie{}) || s.Expects(message.Cookie{2}) {
		t.Error("a flow awaits its client, with its own cookie only")
	}
	var claimed atomic.Int32
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if got, ok := s.Claim(cookie); ok && got == f {
				claimed.Add(1)
			}
		})
	}
	clients.Wait()
	if claimed.Load() != 1 || s.Expects(cookie) {
		t.Errorf("%d of eight clients got the flow, want one", claimed.Load())
	}
	s.Abandon([]string{"f", "other"})
	if f.Failure() != nil || other.Failure() == nil {
		t.Errorf("given up: %q and %q, want only the flow without a client", f.Failure(), other.Failure())
	}
	other.Fail("a second reason")
	if end := s.Read()[0]; end.Alive || end.Error.Error() == "a second reason" || end.ID != "other" {
		t.Errorf("%+v: want the first reason", end)
	}
}

// TestClose: Close ends what is in progress, in any order, and takes nothing more in.
func TestClose(t *testing.T) {
	s := New(newFlow)
	f, late := newFlow(message.FlowRequest{ID: "open"}), newFlow(message.FlowRequest{ID: "late"})
	shut := make(chan struct{})
	remote := netip.MustParseAddrPort("192.0.2.1:1")
	ended := false
	err := s.Adopt(f, func() bool { return f.Open(remote, remote, sync.OnceFunc(func() { close(shut) })) }, func() {
		<-shut
		ended = true
	})
	if err != nil || !s.Read()[0].Alive || s.Read()[0].Local != remote {
		t.Errorf("%v: %+v, want an open flow", err, s.Read()[0])
	}
	opened := make(chan []message.Opened)
	go func() {
		opened <- s.Connect(context.Background(), []message.FlowRequest{{ID: "dialing", Remote: remote}},
			func(ctx context.Context, f *testFlow, _ func()) func() {
				<-ctx.Done()
				f.Fail("%v", ctx.Err())
				return nil
			})
	}()
	kerneltest.Await(t, "two flows", func() bool { return s.Flows() >= 2 })
	s.Start(message.WindowRequest{StartNs: sched.Now() + int64(time.Hour)})
	var closers sync.WaitGroup
	for range 2 {
		closers.Go(s.Close)
	}
	closers.Wait()
	if !ended || !f.released.Load() || s.WaitStart() {
		t.Errorf("ended %v, released %v, want both", ended, f.released.Load())
	}
	if out := <-opened; out[0].Error == nil {
		t.Error("a connection is still opened after Close")
	}
	if err := s.Adopt(late, nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	if out := s.Listen([]message.FlowRequest{{ID: "late"}}, nil); out[0].Error.Error() != ErrClosed.Error() {
		t.Errorf("%q, want ErrClosed", out[0].Error)
	}
	if received, written := s.Moved(); received != 2 || written != 4 || s.Read()[0].Error.Error() != "closed" {
		t.Errorf("%d and %d bytes, %q: want counts that remain", received, written, s.Read()[0].Error)
	}
}

// TestListener: a flow that is closed before its listener is noted closes it.
func TestListener(t *testing.T) {
	s := New(newFlow)
	closed := make(chan struct{})
	at := netip.MustParseAddrPort("192.0.2.1:5001")
	out := s.Listen([]message.FlowRequest{{ID: "a"}, {ID: "b"}}, func(f *testFlow) (*Listener, error) {
		if f.Request.ID == "b" {
			return nil, errors.New("no port")
		}
		return &Listener{Addr: at, Serve: func() { <-closed }, Close: sync.OnceFunc(func() { close(closed) })}, nil
	})
	if out[0].Local != at || out[0].Error != nil || out[1].Error.Error() != "listen on any address: no port" {
		t.Errorf("%+v", out)
	}
	s.Abandon([]string{"a"})
	<-closed
	s.Close()
}
