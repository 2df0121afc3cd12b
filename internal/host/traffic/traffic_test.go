package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// patience bounds waiting for what must come; how long it takes is not judged.
const patience = 20 * time.Second

// pair is two engines with one flow from the first to the second.
func pair(t *testing.T, request message.FlowRequest) (opener, acceptor *Engine) {
	t.Helper()
	opener, acceptor = New(), New()
	t.Cleanup(opener.Close)
	t.Cleanup(acceptor.Close)
	request.ID = "f1"
	accepting, opening := request, request
	accepting.Local, opening.Sends = loopback, true
	l := acceptor.Listen(context.Background(), []message.FlowRequest{accepting})[0]
	if l.Error != nil {
		t.Fatal(l.Error)
	}
	opening.Remote = l.Local
	if o := opener.Connect(context.Background(), []message.FlowRequest{opening}, patience)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	if end := acceptor.Ready(context.Background(), patience)[0]; !end.Alive {
		t.Fatalf("accepted: %s", end.Error)
	}
	return opener, acceptor
}

// soon schedules traffic that lasts as long as the test.
func soon() message.WindowRequest {
	at := sched.Now() + int64(20*time.Millisecond)
	return message.WindowRequest{StartNs: at, BeginNs: at, EndNs: at + int64(time.Hour), StopNs: at + int64(time.Hour)}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("condition not met within %v: %s", patience, what)
		}
	}
}

func received(e *Engine) int64 {
	n, _ := e.Moved()
	return n
}

func TestGeneratorCPU(t *testing.T) {
	sender, receiver := pair(t, message.FlowRequest{Spec: flow.Spec{RateCap: 1e6}})
	sender.Start(soon())
	eventually(t, "the flow moves bytes", func() bool { return received(receiver) > 0 })
	share := func(e *Engine) float64 {
		e.GeneratorCPU()
		time.Sleep(200 * time.Millisecond)
		return e.GeneratorCPU()
	}
	slow := min(share(sender), share(sender), share(sender)) // whatever else this process did

	fast, sink := pair(t, message.FlowRequest{})
	fast.Start(soon())
	eventually(t, "the fast flow moves bytes", func() bool { return received(sink) > 0 })
	// A busy machine may give this process next to nothing for a while.
	what := fmt.Sprintf("the share of one processor is far above the %.4f at 1 Mbit/s", slow)
	eventually(t, what, func() bool { busy := share(fast); return slow >= 0 && busy > 0 && busy >= 3*slow })
}

// TestNoClient: Ready gives up in time, at once on what is not used, and
// when it is made to.
func TestNoClient(t *testing.T) {
	e := New()
	defer e.Close()
	e.Listen(context.Background(), []message.FlowRequest{{ID: "f1", Local: loopback}})
	if end := e.Ready(context.Background(), time.Millisecond)[0]; end.Alive ||
		!strings.Contains(end.Error.Error(), "no client has connected") {
		t.Errorf("a flow that was never opened: %+v", end)
	}
	e.Ready(context.Background(), time.Hour, "f1")
	e.Listen(context.Background(), []message.FlowRequest{{ID: "f2", Local: loopback}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e.Ready(ctx, time.Hour)
}

// TestUnknownProtocol: a request for a protocol that this version does not know
// is refused alone, and its answer stands where the request stood.
func TestUnknownProtocol(t *testing.T) {
	e := New()
	defer e.Close()
	listening := e.Listen(context.Background(), []message.FlowRequest{
		{ID: "strange", Spec: flow.Spec{Protocol: "smoke signals"}, Local: loopback}, {ID: "good", Local: loopback},
	})
	if l := listening[0]; l.ID != "strange" || !strings.Contains(l.Error.Error(), "smoke signals") {
		t.Errorf("the strange request was answered %+v", l)
	}
	if l := listening[1]; l.ID != "good" || l.Error != nil || !l.Local.IsValid() {
		t.Errorf("the good request was answered %+v", l)
	}
	if o := e.Connect(context.Background(), []message.FlowRequest{{ID: "strange", Spec: flow.Spec{Protocol: "x"}}},
		patience)[0]; o.Error == nil {
		t.Errorf("connected: %+v", o)
	}
}

// TestWrongRequests: what cannot be is refused alone, by both ends, with what can.
func TestWrongRequests(t *testing.T) {
	for want, wrong := range map[string]flow.Spec{
		"datagram 15: expected 16 to 65507":          {Protocol: flow.UDP, Datagram: 15},
		"datagram 65508: expected 16":                {Protocol: flow.UDP, Datagram: 65508},
		"datagram -1: expected 16":                   {Protocol: flow.UDP, Datagram: -1},
		"mode: means nothing to udp":                 {Protocol: flow.UDP, Mode: flow.ModeSplice},
		"expected a positive rate":                   {RateCap: -1},
		"nodelay: means nothing to udp":              {Protocol: flow.UDP, NoDelay: new(true)},
		"congestion_control: means nothing to udp":   {Protocol: flow.UDP, CongestionControl: "reno"},
		"mss: means nothing to udp-rr":               {Protocol: flow.UDPRR, MSS: 1000},
		"auto, copy, write, splice":                  {Mode: "fast"},
		"connections -1: expected 1":                 {Protocol: flow.RR, Connections: -1},
		"request -1: expected 1":                     {Protocol: flow.RR, Request: -1},
		"response 2GiB: expected 1":                  {Protocol: flow.RR, Response: 2 << 30},
		"threads 5000: expected 1":                   {Protocol: flow.CRR, Threads: 5000},
		"pace -1: expected more than 0":              {Protocol: flow.RR, Pace: -1},
		"is one datagram, which carries":             {Protocol: flow.UDPRR, Response: flow.MaxDatagramBytes + 1},
		"follows the packets of one connection, and": {Protocol: flow.RR, Follow: new(true), Poll: new(true)},
		"this flow has 2 connections":                {Protocol: flow.RR, Follow: new(true), Connections: 2},
	} {
		e := New()
		request := message.FlowRequest{ID: "f", Spec: wrong, Local: loopback}
		if l := e.Listen(t.Context(), []message.FlowRequest{request})[0]; !strings.Contains(l.Error.Error(), want) {
			t.Errorf("listening: %q, want %q", l.Error, want)
		}
		request.Remote = netip.MustParseAddrPort("127.0.0.1:9")
		if o := e.Connect(t.Context(), []message.FlowRequest{request}, patience)[0]; !strings.Contains(
			o.Error.Error(), want) {
			t.Errorf("connecting: %q, want %q", o.Error, want)
		}
		if n := e.Flows(); n != 0 {
			t.Errorf("%d flows after %q", n, want)
		}
		e.Close()
	}
}

// TestClosed: a closed engine takes no requests, says so on its channel, and may be
// closed again.
func TestClosed(t *testing.T) {
	e := New()
	select {
	case <-e.Closed():
		t.Fatal("closed before Close")
	default:
	}
	e.Close()
	<-e.Closed()
	e.Close()
	if l := e.Listen(context.Background(), []message.FlowRequest{{ID: "f1"}})[0]; !strings.Contains(l.Error.Error(),
		"closed") {
		t.Errorf("a closed engine listens: %+v", l)
	}
}

// TestToolsNeedPermission: an engine starts another program only with WithTools.
func TestToolsNeedPermission(t *testing.T) {
	request := message.FlowRequest{ID: "f1", Local: loopback, Spec: flow.Spec{Tool: flow.Tool{Name: "no-such-tool"}},
		Process: "p1w"}
	for want, e := range map[string]*Engine{"no other programs are started here": New(),
		"expected linerate, iperf3": New().WithTools()} {
		t.Cleanup(e.Close)
		if l := e.Listen(t.Context(), []message.FlowRequest{request})[0]; !strings.Contains(l.Error.Error(), want) {
			t.Errorf("listen: %q, want %q", l.Error, want)
		}
		if o := e.Connect(t.Context(), []message.FlowRequest{request}, patience)[0]; !strings.Contains(
			o.Error.Error(), want) {
			t.Errorf("connect: %q, want %q", o.Error, want)
		}
	}
}
