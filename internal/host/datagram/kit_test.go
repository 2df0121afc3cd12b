package datagram

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// patience bounds waiting for what must come; how long it takes is not judged.
const patience = 5 * time.Second

// engine makes an engine that is closed with the test.
func engine(t testing.TB, m backend) *Engine {
	t.Helper()
	e := with(m)
	t.Cleanup(e.Close)
	return e
}

// requests makes n requests alike, with IDs f1, f2, …
func requests(n int, like message.FlowRequest) []message.FlowRequest {
	out := make([]message.FlowRequest, n)
	for i := range out {
		out[i] = like
		out[i].ID, out[i].Protocol = fmt.Sprintf("f%d", i+1), flow.UDP
	}
	return out
}

// join connects an opener to an acceptor with one flow per request, whose Local is
// where to connect from; openerSends says in which direction the datagrams go.
func join(t testing.TB, opener, acceptor *Engine, at netip.Addr, like []message.FlowRequest, openerSends bool) {
	t.Helper()
	accepting, opening := make([]message.FlowRequest, len(like)), make([]message.FlowRequest, len(like))
	for i, request := range like {
		accepting[i], opening[i] = request, request
		accepting[i].Local, accepting[i].Sends, opening[i].Sends = at, !openerSends, openerSends
	}
	for i, l := range acceptor.Listen(context.Background(), accepting) {
		if l.Error != nil {
			t.Fatalf("listen %s: %s", l.ID, l.Error)
		}
		if l.ID != like[i].ID || l.Local.Addr() != at || l.Local.Port() == 0 {
			t.Fatalf("listening is %+v, want flow %s at %s", l, like[i].ID, at)
		}
		opening[i].Remote = l.Local
	}
	for i, o := range opener.Connect(context.Background(), opening, patience) {
		if o.Error != nil {
			t.Fatalf("connect %s: %s; the acceptor: %+v", o.ID, o.Error,
				acceptor.Read()[len(acceptor.Read())-len(like)+i])
		}
		if o.ID != like[i].ID || o.Remote != opening[i].Remote || !o.Local.IsValid() {
			t.Fatalf("opened is %+v, want flow %s to %s", o, like[i].ID, opening[i].Remote)
		}
	}
	for _, end := range ready(t, acceptor) {
		if !end.Alive {
			t.Fatalf("accepted %s: %s", end.ID, end.Error)
		}
	}
}

// start starts the traffic of several engines a little from now; the window is
// all of it.
func start(duration time.Duration, engines ...*Engine) (at, stop int64) {
	at = sched.Now() + int64(20*time.Millisecond)
	stop = at + int64(duration)
	for _, e := range engines {
		e.Start(message.WindowRequest{StartNs: at, BeginNs: at, EndNs: stop, StopNs: stop})
	}
	return at, stop
}

// ready waits until every flow of an engine is open or has failed.
func ready(t testing.TB, e *Engine) []message.FlowEnd {
	t.Helper()
	eventually(t, "every flow is open or has failed", e.Settled)
	return e.Read()
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("condition not met within %v: %s", patience, what)
		}
	}
}

// moved waits until every flow of an engine has moved datagrams.
func moved(t testing.TB, e *Engine) {
	t.Helper()
	eventually(t, "every flow moves datagrams", func() bool {
		for _, end := range e.Read() {
			if end.ReceivedBytes+end.WrittenBytes == 0 {
				return false
			}
		}
		return true
	})
}
