//go:build linux && !portable

package transaction

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// fewPorts leaves a namespace with 100 ports to connect from.
func fewPorts(t *testing.T) {
	t.Helper()
	kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
	if err := (proc.Sysctls{}).Write("net.ipv4.ip_local_port_range", "40000 40099"); err != nil {
		t.Fatal(err)
	}
}

// portsOf is what an opener says of ports that are in use.
func portsOf(o message.Opened) *record.PortsExhausted {
	if o.Error == nil {
		return nil
	}
	return o.Error.Ports
}

// TestPortsExhausted: a pair of addresses has the range's ports and no more for
// each port; the report has the addresses, the range, and how many
// connections there were.
func TestPortsExhausted(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		fewPorts(t)
		a, r := engine(t), engine(t)
		l := r.Listen(context.Background(),
			requests(1, message.FlowRequest{Spec: flow.Spec{Connections: 150}, Local: loopback}))[0]
		request := requests(1, message.FlowRequest{Spec: flow.Spec{Connections: 150}, Remote: l.Local})[0]
		o := a.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]
		p := portsOf(o)
		want := record.PortsExhausted{Source: loopback, Destination: l.Local, FirstPort: 40000, LastPort: 40099,
			Open: 100, Wanted: 150}
		// The listener's own port is of the range, too, and one of them.
		if p == nil || *p != want && (p.Open != 99 || l.Local.Port() < 40000 || l.Local.Port() > 40099) {
			t.Fatalf("%+v, %q; want %+v", p, o.Error, want)
		}
		for _, word := range []string{"127.0.0.1 → " + l.Local.String(), "EADDRNOTAVAIL", "40000 to 40099 (100)",
			"of 150 connections were open"} {
			if !strings.Contains(o.Error.Error(), word) {
				t.Errorf("%q does not say %q", o.Error, word)
			}
		}
	})
}

// TestEstablished: a connection that the peer has reset leaves its port to
// another and is open no longer, so that no more are said to be open than there
// are ports.
func TestEstablished(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const all, gone = 20, 5
	accepted := make(chan net.Conn, all)
	go func() {
		for range all {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	a := engine(t)
	request := requests(1, message.FlowRequest{Spec: flow.Spec{Connections: all},
		Remote: l.Addr().(*net.TCPAddr).AddrPort()})[0]
	if o := a.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	f := a.All()[0].(*rrFlow)
	if n := f.established(); n != all {
		t.Errorf("%d connections are established, want %d", n, all)
	}
	for i := range all {
		conn := <-accepted
		defer conn.Close()
		if i < gone {
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}
	eventually(t, "what was reset is no longer established", func() bool { return f.established() == all-gone })
}

// TestBindingTakesPorts: where bind(2) takes the port, two flows from one address
// share the range, wherever they go; where connect(2) does, or each has a source of
// its own, they do not.
func TestBindingTakesPorts(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		fewPorts(t)
		second := netip.MustParseAddr("127.0.0.2")
		for name, test := range map[string]struct {
			bind    bool // bind(2) is to choose
			sources []netip.Addr
			fails   bool
		}{
			"binding":              {true, []netip.Addr{loopback, loopback}, true},
			"binding, two sources": {true, []netip.Addr{loopback, second}, false},
			"connecting":           {false, []netip.Addr{loopback, loopback}, false},
		} {
			a, r := engine(t), engine(t)
			later := !test.bind
			like := message.FlowRequest{Spec: flow.Spec{Connections: 70, BindNoPort: &later}}
			accept, open := requests(2, like), requests(2, like)
			for i, l := range r.Listen(context.Background(), accept) {
				if l.Error != nil {
					t.Fatal(l.Error)
				}
				open[i].Local, open[i].Remote = test.sources[i],
					netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(1 + i)}), l.Local.Port())
			}
			exhausted, connections := 0, 0
			for _, o := range a.Connect(context.Background(), open, waitAtMost) {
				switch p := portsOf(o); {
				case p != nil && p.Bound && p.Source == loopback && strings.Contains(o.Error.Error(), "EADDRINUSE"):
					exhausted++
					connections += p.Open
				case p != nil || o.Error != nil:
					t.Errorf("%s: %+v", name, o)
				default:
					connections += like.Connections
				}
			}
			// The range has 100 ports, of which listeners may have two.
			if test.fails && (exhausted == 0 || connections < 98 || connections > 100) || !test.fails && exhausted > 0 {
				t.Errorf("%s: %d flows found no port, %d connections", name, exhausted, connections)
			}
			a.Close()
			r.Close()
		}
	})
}

// TestAnotherReason: an address that no port has is no lack of ports.
func TestAnotherReason(t *testing.T) {
	request := requests(1, message.FlowRequest{Local: netip.MustParseAddr("192.0.2.1"), Remote: netipAt(9)})[0]
	o := engine(t).Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]
	if portsOf(o) != nil || !strings.Contains(o.Error.Error(), "EADDRNOTAVAIL") {
		t.Errorf("%+v", o)
	}
}

// TestPortsExhaustedInProcesses: what several processes have opened comes together.
func TestPortsExhaustedInProcesses(t *testing.T) {
	if os.Getenv(narrowIn) == "" {
		kerneltest.InNamespace(t, func(t *testing.T) {
			fewPorts(t)
			narrow(t, exhaustedInProcesses)
		})
		return
	}
	narrow(t, exhaustedInProcesses)
}

func exhaustedInProcesses(t *testing.T) {
	a, r := engine(t), engine(t)
	request := requests(1, message.FlowRequest{Spec: flow.Spec{Connections: 1000}, Local: loopback})[0]
	l := r.Listen(context.Background(), []message.FlowRequest{request})[0]
	if l.Error != nil || len(l.Ports) < 2 {
		t.Fatalf("%+v", l)
	}
	request.Remote, request.Ports = l.Local, l.Ports
	o := a.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]
	most := 100 * len(l.Ports)
	if p := portsOf(o); p == nil || p.Wanted != 1000 || p.Open > most || p.Open < 100 ||
		!strings.Contains(o.Error.Error(), "of 1000 connections") {
		t.Errorf("%+v, %q: want at most %d open", p, o.Error, most)
	}
}
