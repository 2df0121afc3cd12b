package stream

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// contains checks that a message says everything it should.
func contains(t *testing.T, message string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(message, word) {
			t.Errorf("%q does not say %q", message, word)
		}
	}
}

// unusedAddress returns an address of this host where nothing listens.
func unusedAddress(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// TestFailureIsOneFlows: requests that fail say why and leave the others alone.
func TestFailureIsOneFlows(t *testing.T) {
	acceptor, opener := engine(t, platform), engine(t, platform)
	foreign := netip.MustParseAddr("192.0.2.1") // RFC 5737: no host's
	listening := acceptor.Listen(context.Background(), []message.FlowRequest{
		{ID: "foreign", Local: foreign},
		{ID: "cc", Local: loopback, Spec: flow.Spec{CongestionControl: "nosuch"}},
		{ID: "good", Local: loopback},
	})
	contains(t, listening[0].Error.Error(), "listen on 192.0.2.1", "EADDRNOTAVAIL")
	contains(t, listening[1].Error.Error(), "listen on 127.0.0.1", `"nosuch"`, "tcp_allowed_congestion_control",
		"CAP_NET_ADMIN")
	if listening[2].Error != nil {
		t.Fatal(listening[2].Error)
	}
	closed := unusedAddress(t)
	opened := opener.Connect(context.Background(), []message.FlowRequest{
		{ID: "refused", Sends: true, Remote: closed},
		{ID: "foreign", Sends: true, Local: foreign, Remote: listening[2].Local},
		{ID: "cc", Sends: true, Spec: flow.Spec{CongestionControl: "nosuch"}, Remote: listening[2].Local},
		{ID: "family", Sends: true, Local: netip.IPv6Loopback(), Remote: listening[2].Local},
		{ID: "nowhere", Sends: true},
		{ID: "good", Sends: true, Local: loopback, Remote: listening[2].Local},
	}, patience)
	contains(t, opened[0].Error.Error(), "connect to "+closed.String(), "ECONNREFUSED")
	for i, want := range map[int]message.Code{0: message.Unreachable, 1: message.Exhausted} {
		if opened[i].Error.Code != want {
			t.Errorf("%v: code %q, want %q", opened[i].Error, opened[i].Error.Code, want)
		}
	}
	contains(t, opened[1].Error.Error(), "connect 192.0.2.1 → "+listening[2].Local.String(), "EADDRNOTAVAIL")
	contains(t, opened[2].Error.Error(), "127.0.0.1", `"nosuch"`, "tcp_allowed_congestion_control", "CAP_NET_ADMIN")
	contains(t, opened[3].Error.Error(), "connect ::1 → ")
	contains(t, opened[4].Error.Error(), "no remote address")
	if opened[5].Error != nil {
		t.Fatal(opened[5].Error)
	}
	for _, end := range opener.Read() {
		if end.Alive != (end.ID == "good") || (end.Error == nil) != end.Alive {
			t.Errorf("%s: alive %v, %q", end.ID, end.Alive, end.Error)
		}
	}
	if end := ready(t, acceptor)[2]; !end.Alive {
		t.Errorf("the good flow: %q", end.Error)
	}
}

// TestNoClient: a flow waits until it is abandoned.
func TestNoClient(t *testing.T) {
	e := engine(t, platform)
	e.Listen(context.Background(), requests(2, message.FlowRequest{Local: loopback}))
	if e.Settled() {
		t.Error("no client has connected, and the flow is settled")
	}
	for _, end := range e.Read() {
		if end.Alive {
			t.Errorf("%s is alive", end.ID)
		}
		contains(t, end.Error.Error(), "no client has connected to 127.0.0.1:")
	}
	e.Abandon([]string{"f1", "f2"})
	for _, end := range ready(t, e) {
		contains(t, end.Error.Error(), "no client connected to 127.0.0.1:")
	}
}

// TestPeerVanishes: a flow whose other end is killed says so; its neighbour goes on.
func TestPeerVanishes(t *testing.T) {
	for name, openerSends := range map[string]bool{"receiver": true, "sender": false} {
		t.Run(name, func(t *testing.T) {
			opener := engine(t, platform)
			doomed, lasting := engine(t, platform), engine(t, platform)
			join(t, opener, doomed, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 100e6}}),
				openerSends)
			join(t, opener, lasting, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 100e6}}),
				openerSends)
			start(time.Hour, opener, doomed, lasting)
			moved(t, opener)
			doomed.Close()
			eventually(t, "the loss is noticed", func() bool { return !opener.Read()[0].Alive })
			ends := opener.Read()
			if !strings.Contains(ends[0].Error.Error(), "ECONNRESET") &&
				!strings.Contains(ends[0].Error.Error(), "EPIPE") {
				t.Errorf("the broken flow says %q", ends[0].Error)
			}
			eventually(t, "the other flow goes on", func() bool {
				end := opener.Read()[1]
				return end.Alive && end.ReceivedBytes+end.WrittenBytes > ends[1].ReceivedBytes+ends[1].WrittenBytes
			})
		})
	}
}

// TestEarlyEnd: a stream that ends in good order, but too early, broke off.
func TestEarlyEnd(t *testing.T) {
	e := engine(t, platform)
	l := e.Listen(context.Background(), requests(1, message.FlowRequest{Local: loopback}))[0]
	conn, err := net.Dial("tcp", l.Local.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	start(time.Hour, e)
	eventually(t, "four bytes", func() bool { return e.Read()[0].ReceivedBytes == 4 })
	conn.Close()
	eventually(t, "the end is noticed", func() bool { return !e.Read()[0].Alive })
	contains(t, e.Read()[0].Error.Error(), "closed the connection before its time")
}

// TestAfterClose: a closed engine takes no requests, keeps its counts, and says so.
func TestAfterClose(t *testing.T) {
	e, peer := engine(t, platform), engine(t, platform)
	join(t, e, peer, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 100e6}}), true)
	start(time.Hour, e, peer)
	moved(t, e)
	e.Close()
	e.Close()
	end := e.Read()[0]
	if end.Alive || end.Info != nil || end.WrittenBytes == 0 || end.Error.Error() != "closed" {
		t.Errorf("after Close: %+v", end)
	}
	if l := e.Listen(context.Background(),
		requests(1, message.FlowRequest{})); l[0].Error.Error() != flowset.ErrClosed.Error() {
		t.Errorf("listen: %+v", l)
	}
	if o := e.Connect(context.Background(), requests(1, message.FlowRequest{}),
		0); o[0].Error.Error() != flowset.ErrClosed.Error() {
		t.Errorf("connect: %+v", o)
	}
	e.Start(message.WindowRequest{})
	e.Light()
	e.Abandon([]string{"f1"})
}

// TestConnectIsAbandoned: Close ends a Connect that waits.
func TestConnectIsAbandoned(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := engine(t, platform)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	remote := l.Addr().(*net.TCPAddr).AddrPort()
	o := e.Connect(ctx, []message.FlowRequest{{ID: "f1", Remote: remote}}, 0)[0]
	contains(t, o.Error.Error(), fmt.Sprintf("connect to %s: abandoned", remote))
}
