package server

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/budget"
	"linerate/internal/model/message"
)

// open runs a server on a loopback address, until the test is over or stop is
// closed, and returns its port and the sessions it reports.
func open(t *testing.T, address string, change func(*Options), stop ...<-chan struct{}) (port string,
	visits <-chan Session) {
	t.Helper()
	reported := make(chan Session, 1000)
	o := Options{
		Allowed:   func(netip.Addr) bool { return true },
		Admit:     func(Client, netip.Addr, budget.Use) (func(), error) { return func() {}, nil },
		Pending:   greeting.NewQueue(1024),
		Guesses:   new(budget.Guesses),
		Bounds:    message.Bounds{Flows: 128, DurationS: 60},
		OnSession: func(v Session) { reported <- v },
	}
	change(&o)
	l, err := Listen(t.Context(), net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	for _, stop := range stop {
		go func() {
			<-stop
			cancel()
		}()
	}
	over := make(chan error, 1)
	go func() { over <- Serve(ctx, l, o) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-over:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the server goes on after its end")
		}
	})
	return port, reported
}

func visit(t *testing.T, visits <-chan Session) Session {
	t.Helper()
	select {
	case v := <-visits:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("no session was reported")
		return Session{}
	}
}

func unchanged(*Options) {}
