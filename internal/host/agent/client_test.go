package agent

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/host/budget"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

var bounds = message.Bounds{Flows: 3, DurationS: 2}

// visiting is a client, and a conductor's bus on which it is the server.
func visiting(t *testing.T, bounds message.Bounds, prepare func(*Client)) (*Client, *bus.Bus, <-chan error) {
	t.Helper()
	here(t) // skips where nothing can be read
	account, err := budget.New(1, bounds).Admit(netip.MustParseAddr("192.0.2.1"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewClient(account, bounds, socket.Access{}, func() record.OtherFlows { return record.OtherFlows{} })
	if err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(g)
	}
	b, err := bus.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	near, far := net.Pipe()
	b.Attach(record.NodeServer, near)
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(t.Context(), bus.Guarded(far, 1<<20)) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	hellos, err := b.Hellos(ctx, []string{record.NodeServer})
	if h := hellos[record.NodeServer]; err != nil || h.Interfaces != nil || h.Bounds == nil || *h.Bounds != bounds {
		t.Fatalf("%v: the client receives %+v, want the bounds and nothing of the interfaces", err, h)
	}
	return g, b, ended
}

func requests(n int) []message.FlowRequest {
	list := make([]message.FlowRequest, n)
	for i := range list {
		list[i] = message.FlowRequest{ID: string(rune('a' + i)), Cookie: greeting.NewCookie()}
	}
	return list
}

// TestClientBounds: what exceeds the bounds is refused with the bound, and begins
// nothing.
func TestClientBounds(t *testing.T) {
	g, b, _ := visiting(t, bounds, nil)
	refused := func(verb string, request any, want string) {
		t.Helper()
		err := b.Call(t.Context(), record.NodeServer, verb, request, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %+v: %v, want %q", verb, request, err, want)
		}
	}
	with := func(change func(*message.FlowRequest)) []message.FlowRequest {
		list := requests(2)
		change(&list[1])
		return list
	}
	refused("listen", requests(4), "this server allows a client 3")
	for want, change := range map[string]func(*message.FlowRequest){
		"starts none":          func(o *message.FlowRequest) { o.Process = "p1w" },
		"has no cookie":        func(o *message.FlowRequest) { o.Cookie = message.Cookie{} },
		"has an address":       func(o *message.FlowRequest) { o.Remote = netip.MustParseAddrPort("192.0.2.1:80") },
		"b\" has an address":   func(o *message.FlowRequest) { o.Local = netip.MustParseAddr("192.0.2.1") },
		"expected at most 64":  func(o *message.FlowRequest) { o.ID = strings.Repeat("x", 65) },
		"it does neither":      func(o *message.FlowRequest) { o.Protocol, o.Frame, o.Sends = flow.UDP, "64", true },
		"b\" has this server":  func(o *message.FlowRequest) { o.Protocol, o.Frame, o.Tuples = flow.UDP, "64", 2 },
		"requested twice":      func(o *message.FlowRequest) { o.ID = "a" },
		"socket buffers: this": func(o *message.FlowRequest) { o.Window = 1 << 40 },
		"mss -1: expected":     func(o *message.FlowRequest) { o.MSS = -1 },
		"the server has ":      func(o *message.FlowRequest) { o.CongestionControl = "dccp" },
		"\"../../dccp\"":       func(o *message.FlowRequest) { o.CongestionControl = "../../dccp" },
	} {
		refused("listen", with(change), want)
	}
	if err := g.Summary().Refused; !errors.Is(err, message.OutOfBounds) && !errors.Is(err, message.NotPermitted) &&
		!errors.Is(err, message.Unsupported) {
		t.Errorf("refused for %v", err)
	}
	if g.Flows() != 0 {
		t.Fatalf("%d flows although all requests were refused", g.Flows())
	}
	window := func(change func(*message.WindowRequest)) message.WindowRequest {
		at := sched.Now() + int64(time.Second)
		r := message.WindowRequest{StartNs: at, BeginNs: at + 1e6, EndNs: at + 5e8, StopNs: at + 6e8}
		change(&r)
		return r
	}
	for want, change := range map[string]func(*message.WindowRequest){
		"not in order": func(r *message.WindowRequest) { r.EndNs = r.BeginNs },
		"this server allows 2s": func(r *message.WindowRequest) {
			r.EndNs, r.StopNs = r.StartNs+3e9, r.StartNs+3e9
		},
		"with its warm-up": func(r *message.WindowRequest) { r.StopNs = 1<<63 - 1 },
		"begins later than": func(r *message.WindowRequest) {
			*r = windowFrom(sched.Now()+int64(time.Hour), time.Second)
		},
		"server allows a client 600": func(r *message.WindowRequest) { r.SampleNs = 1000 },
	} {
		refused("window", window(change), want)
	}
	var late message.WindowReply
	if err := b.Call(t.Context(), record.NodeServer, "window", windowFrom(-1<<62, time.Second), &late); err != nil ||
		late.LateNs <= 0 {
		t.Errorf("a window long ago: %v, late by %d", err, late.LateNs)
	}
	var listening []message.Listening
	if err := b.Call(t.Context(), record.NodeServer, "listen", requests(3), &listening); err != nil ||
		len(listening) != 3 {
		t.Fatalf("within the bounds: %v, %+v", err, listening)
	}
	refused("listen", requests(1), "has its flows already")
	if err := b.Call(t.Context(), record.NodeServer, "close", struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Call(t.Context(), record.NodeServer, "listen", requests(3), nil); err != nil {
		t.Errorf("the next trial's flows: %v", err)
	}
}

// TestClientSees: a client's reading has counters, and of the host no more than
// the ports' names and speeds; of addresses, those that its flows use.
func TestClientSees(t *testing.T) {
	_, b, _ := visiting(t, bounds, nil)
	r := windowFrom(sched.Now()+int64(300*time.Millisecond), 20*time.Millisecond)
	r.Lookups = []record.RouteLookup{{Destination: "192.0.2.1"}}
	r.Sysctls = []string{"kernel.hostname"}
	var reply message.WindowReply
	if err := b.Call(t.Context(), record.NodeServer, "window", r, &reply); err != nil {
		t.Fatal(err)
	}
	if reply.LateNs > 0 {
		t.Fatal("the machine was too busy to ask in time")
	}
	s := reply.Reading.Snapshot
	if s.Sysctls != nil || s.Lookups != nil || s.Routes != nil || s.Rules != nil || s.Neighbours != nil ||
		reply.Reading.Before.Neighbours != nil {
		t.Errorf("a client gets to see %+v", s)
	}
	for _, p := range s.Interfaces {
		if p.MAC != "" || len(p.Addresses) > 0 {
			t.Errorf("a client without flows gets to see %+v", p)
		}
	}
	if read := reply.Reading.End.CPU != nil; read != netlink.Available {
		t.Errorf("counters: %t", read)
	}
}

// TestClientMayNot: the verbs that change a host or reach for others are not there.
func TestClientMayNot(t *testing.T) {
	_, b, _ := visiting(t, bounds, nil)
	for _, verb := range []string{"apply", "revert", "flush", "drain", "connect"} {
		if err := b.Call(t.Context(), record.NodeServer, verb, struct{}{}, nil); !errors.Is(err, message.Unsupported) {
			t.Errorf("%s: %v, want that it is not answered", verb, err)
		}
	}
}

// TestClientIdles: who asks for nothing leaves, with everything that was his.
func TestClientIdles(t *testing.T) {
	g, b, ended := visiting(t, bounds, func(g *Client) { g.every, g.idle = 5*time.Millisecond, 500*time.Millisecond })
	if err := b.Call(t.Context(), record.NodeServer, "listen", requests(2), nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "sent no request") {
			t.Errorf("ended by %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still there")
	}
	if g.Flows() != 0 {
		t.Errorf("%d flows are left", g.Flows())
	}
}

// TestClientTooFast: who sends more than was granted leaves.
func TestClientTooFast(t *testing.T) {
	slow := bounds
	slow.RateBps = 1e6
	g, b, ended := visiting(t, slow, func(g *Client) { g.every = 50 * time.Millisecond })
	like := requests(1)
	if err := b.Call(t.Context(), record.NodeServer, "listen", like, nil); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	conn, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	if !g.Engine().Offer(like[0].Cookie, conn) {
		t.Fatal("the connection was not taken")
	}
	go func() {
		for data := make([]byte, 64<<10); ; {
			if _, err := far.Write(data); err != nil {
				return
			}
		}
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "where 1mbit is allowed") {
			t.Errorf("ended by %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still there")
	}
}

// TestClientLeaves: the end of the stream is the end of the visit, and no error.
func TestClientLeaves(t *testing.T) {
	g, b, ended := visiting(t, bounds, nil)
	if err := b.Call(t.Context(), record.NodeServer, "listen", requests(2), nil); err != nil {
		t.Fatal(err)
	}
	b.Close()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, net.ErrClosed) {
			t.Errorf("ended by %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still there")
	}
	if g.Flows() != 0 {
		t.Errorf("%d flows are left", g.Flows())
	}
}
