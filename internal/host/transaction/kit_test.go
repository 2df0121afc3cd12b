package transaction

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// patience bounds waiting for what must come; how long it takes is not judged.
const waitAtMost = 20 * time.Second

// engine makes an engine that is closed with the test.
func engine(t testing.TB) *Engine {
	t.Helper()
	e := New()
	t.Cleanup(e.Close)
	return e
}

// requests makes n requests alike, with IDs f1, f2, …
func requests(n int, like message.FlowRequest) []message.FlowRequest {
	out := make([]message.FlowRequest, n)
	for i := range out {
		out[i] = like
		out[i].ID = fmt.Sprintf("f%d", i+1)
		if like.Protocol == "" {
			out[i].Protocol = flow.RR
		}
	}
	return out
}

// join connects an opener to an acceptor with one flow per request.
func join(t testing.TB, opener, acceptor *Engine, like []message.FlowRequest) {
	t.Helper()
	accepting, opening := make([]message.FlowRequest, len(like)), make([]message.FlowRequest, len(like))
	for i, request := range like {
		accepting[i], opening[i] = request, request
		accepting[i].Local, opening[i].Sends = loopback, true
	}
	for i, l := range acceptor.Listen(context.Background(), accepting) {
		if l.Error != nil {
			t.Fatalf("listen %s: %s", l.ID, l.Error)
		}
		if l.ID != like[i].ID || l.Local.Addr() != loopback || l.Local.Port() == 0 {
			t.Fatalf("listening is %+v, want flow %s", l, like[i].ID)
		}
		opening[i].Remote = l.Local
	}
	for i, o := range opener.Connect(context.Background(), opening, waitAtMost) {
		if o.Error != nil {
			t.Fatalf("connect %s: %s", o.ID, o.Error)
		}
		if o.ID != like[i].ID || o.Remote != opening[i].Remote || !o.Local.IsValid() {
			t.Fatalf("opened is %+v, want flow %s to %s", o, like[i].ID, opening[i].Remote)
		}
	}
	eventually(t, "every flow has its connections", acceptor.Settled)
	for _, end := range acceptor.Read() {
		if !end.Alive || end.Error != nil {
			t.Fatalf("accepted %s: %+v", end.ID, end)
		}
	}
}

// window starts several engines a little from now, with a window of all the time
// but the first moments.
func window(duration time.Duration, engines ...*Engine) message.WindowRequest {
	at := sched.Now() + int64(20*time.Millisecond)
	w := message.WindowRequest{StartNs: at, BeginNs: at, EndNs: at + int64(duration), StopNs: at + int64(duration)}
	for _, e := range engines {
		e.Start(w)
	}
	return w
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(waitAtMost); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("condition not met within %v: %s", waitAtMost, what)
		}
	}
}

// tally is an end's transactions so far.
func tally(e *Engine) record.Transactions { return *e.Read()[0].Transactions }

func netipAt(port uint16) netip.AddrPort { return netip.AddrPortFrom(loopback, port) }

// refused reports that this system's engine does not make such a flow, and fails the
// test if it does not say so.
func refused(t *testing.T, request message.FlowRequest) bool {
	t.Helper()
	if netlink.Available || request.Threads <= 1 && !flow.On(request.Poll) && !flow.On(request.Follow) {
		return false
	}
	if l := engine(t).Listen(t.Context(), requests(1, request))[0]; l.Error == nil ||
		!strings.Contains(l.Error.Error(), "need Linux") {
		t.Errorf("%+v is not refused: %+v", request, l)
	}
	return true
}
