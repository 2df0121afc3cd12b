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
	"linerate/internal/bus/hub"
	"linerate/internal/host/budget"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
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
	g, err := NewClient(account, bounds, socket.Access{}, func() netstate.OtherFlows { return netstate.OtherFlows{} })
	if err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(g)
	}
	b, err := hub.Start()
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

// refused asks a client's agent for what it is to refuse.
func refused[Q, R any](t *testing.T, b *bus.Bus, v message.Verb[Q, R], request Q, want string) {
	t.Helper()
	_, err := bus.Call(t.Context(), b, record.NodeServer, v, request)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s %+v: %v, want %q", v.Name, request, err, want)
	}
}

// TestClientBounds: what exceeds the bounds is refused with the bound, and begins
// nothing.
func TestClientBounds(t *testing.T) {
	g, b, _ := visiting(t, bounds, nil)
	with := func(change func(*message.FlowRequest)) []message.FlowRequest {
		list := requests(2)
		change(&list[1])
		return list
	}
	refused(t, b, message.Listen, requests(4), "this server allows a client 3")
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
		refused(t, b, message.Listen, with(change), want)
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
		"begins more than": func(r *message.WindowRequest) {
			*r = windowFrom(sched.Now()+int64(time.Hour), time.Second)
		},
		"server allows a client 600": func(r *message.WindowRequest) { r.SampleNs = 1000 },
	} {
		refused(t, b, message.Window, window(change), want)
	}
	late, err := bus.Call(t.Context(), b, record.NodeServer, message.Window, windowFrom(-1<<62, time.Second))
	if err != nil || late.LateNs <= 0 {
		t.Errorf("a window long ago: %v, late by %d", err, late.LateNs)
	}
	listening, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, requests(3))
	if err != nil || len(listening) != 3 {
		t.Fatalf("within the bounds: %v, %+v", err, listening)
	}
	refused(t, b, message.Listen, requests(1), "has its flows already")
	if _, err := bus.Call(t.Context(), b, record.NodeServer, message.Close, struct{}{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, requests(3)); err != nil {
		t.Errorf("the next trial's flows: %v", err)
	}
}

// TestClientSees: a client's reading has counters, and of the host no more than
// the ports' names and speeds; of addresses, those that its flows use.
func TestClientSees(t *testing.T) {
	_, b, _ := visiting(t, bounds, nil)
	r := windowFrom(sched.Now()+int64(300*time.Millisecond), 20*time.Millisecond)
	r.Lookups = []netstate.RouteLookup{{Destination: "192.0.2.1"}}
	r.Sysctls = []string{"kernel.hostname"}
	reply, err := bus.Call(t.Context(), b, record.NodeServer, message.Window, r)
	if err != nil {
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

// TestHandlings: each verb has one handler, and by its access a client gets what moves bytes and
// is counted, an agent for traffic what shows its host as well, and settings neither.
func TestHandlings(t *testing.T) {
	all := (&agent{}).handlings()
	for _, verb := range message.Verbs() {
		if n := len(named(all, verb)); n != 1 {
			t.Errorf("%s has %d handlers", verb, n)
		}
	}
	if len(all) != len(message.Verbs()) {
		t.Errorf("%d handlers for %d verbs", len(all), len(message.Verbs()))
	}
	for access, want := range map[message.Access]struct{ has, lacks []string }{
		message.Client: {[]string{"clock", "progress", "listen", "ready", "window", "cut", "close"},
			[]string{"connect", "iperf3", "snapshot", "apply", "attacks"}},
		message.Client | message.Own: {[]string{"window", "connect", "iperf3", "snapshot"}, []string{"apply", "revert",
			"flush", "attacks"}},
		message.Client | message.Own | message.Change: {[]string{"snapshot", "apply"}, []string{"attacks"}},
	} {
		may := permitted((&agent{}).handlings(), access)
		for _, verb := range want.has {
			if len(named(may, verb)) != 1 {
				t.Errorf("access %b lacks %s", access, verb)
			}
		}
		for _, verb := range want.lacks {
			if len(named(may, verb)) != 0 {
				t.Errorf("access %b has %s", access, verb)
			}
		}
	}
}

// named are the handlings of a verb.
func named(list []bus.Handling, verb string) (found []bus.Handling) {
	for _, h := range list {
		if h.Name == verb {
			found = append(found, h)
		}
	}
	return found
}

// TestClientMayNot: the verbs that change a host or reach for others are not there.
func TestClientMayNot(t *testing.T) {
	_, b, _ := visiting(t, bounds, nil)
	for _, h := range (&agent{}).handlings() {
		if h.Access&message.Client != 0 {
			continue
		}
		_, err := bus.Call(t.Context(), b, record.NodeServer, message.Verb[struct{}, any]{Name: h.Name}, struct{}{})
		if !errors.Is(err, message.Unsupported) {
			t.Errorf("%s: %v, want that it is not answered", h.Name, err)
		}
	}
}

// TestClientIdles: who asks for nothing leaves, with everything that was his.
func TestClientIdles(t *testing.T) {
	g, b, ended := visiting(t, bounds, func(g *Client) { g.every, g.idle = 5*time.Millisecond, 500*time.Millisecond })
	if _, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, requests(2)); err != nil {
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
	if _, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, like); err != nil {
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

// TestClientLeaves: the end of the stream is the end of the visit, and no other error.
func TestClientLeaves(t *testing.T) {
	g, b, ended := visiting(t, bounds, nil)
	if _, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, requests(2)); err != nil {
		t.Fatal(err)
	}
	b.Close()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, net.ErrClosed) && !bus.Closed(err) {
			t.Errorf("ended by %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still there")
	}
	if g.Flows() != 0 {
		t.Errorf("%d flows are left", g.Flows())
	}
}
