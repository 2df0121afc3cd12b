package application_test

import (
	"net/netip"
	"testing"
	"time"

	"linerate/internal/host/application"
	_ "linerate/internal/host/application/dns"
	_ "linerate/internal/host/application/mail"
	_ "linerate/internal/host/application/memcached"
	_ "linerate/internal/host/application/redis"
	_ "linerate/internal/host/application/web"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

const patience = 10 * time.Second

func engine(t *testing.T) *application.Engine {
	t.Helper()
	e := application.New()
	t.Cleanup(e.Close)
	return e
}

// asking is a client's engine with a flow to a server at an address, opened; the error is
// why it was not.
func asking(t *testing.T, spec flow.Spec, to netip.AddrPort) (*application.Engine, *message.Error) {
	t.Helper()
	return askingFrom(t, spec, netip.Addr{}, to)
}

// askingFrom is asking with an address of the client.
func askingFrom(t *testing.T, spec flow.Spec, from netip.Addr, to netip.AddrPort) (*application.Engine,
	*message.Error) {
	t.Helper()
	e := engine(t)
	request := message.FlowRequest{ID: "f", Spec: spec, Sends: true, Local: from, Remote: to, Foreign: true}
	return e, e.Connect(t.Context(), []message.FlowRequest{request}, 500*time.Millisecond)[0].Error
}

// window starts traffic now, for a window of that length.
func window(e *application.Engine, length time.Duration) {
	start := sched.Now()
	end := start + int64(length)
	e.Start(message.WindowRequest{StartNs: start, BeginNs: start, EndNs: end, StopNs: end})
}

// after waits for the window's end and reads the flow.
func after(t *testing.T, e *application.Engine, length time.Duration) *record.Transactions {
	t.Helper()
	time.Sleep(length + 100*time.Millisecond)
	return e.Read()[0].Transactions
}

// ends fails unless f returns, whatever the peer does.
func ends(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(what + " does not end")
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
