package application_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// timeWaits returns how many sockets of this network namespace are in TIME_WAIT with this port at an end.
func timeWaits(t *testing.T, port uint16) (n int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	end := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 3 && f[3] == "06" && strings.Contains(f[1]+f[2], end) {
			n++
		}
	}
	return n
}

// TestConnectionForEachRequest: as many connections as requests, from the address that the flow names, of which nothing
// is left: no descriptor, and nothing in TIME_WAIT.
func TestConnectionForEachRequest(t *testing.T) {
	var connections, strangers atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		connections.Add(1)
		if !strings.HasPrefix(r.RemoteAddr, "127.0.0.9:") {
			strangers.Add(1)
		}
	}))
	t.Cleanup(s.Close)
	to := addressOf(t, s.URL)
	for _, connections := range []int{1, 4} {
		spec := flow.Spec{Protocol: flow.HTTP, PerConnection: 1, Connections: connections}
		e, failed := askingFrom(t, spec, netip.MustParseAddr("127.0.0.9"), to)
		if failed != nil {
			t.Fatal(failed)
		}
		window(e, time.Second)
		x := after(t, e, time.Second)
		if x.Failed+x.Unanswered != 0 || x.Done < 100 || x.Opened < x.Done || x.Opened > x.Done+int64(connections)+1 {
			t.Errorf("%d connections: %+v %v", connections, x, x.Application.Outcomes)
		}
		e.Close()
		if left := e.Read()[0].Transactions.Connections; left != 0 {
			t.Errorf("%d connections: %d are counted as open at the end", connections, left)
		}
	}
	if n := strangers.Load(); n > 0 {
		t.Errorf("%d of %d requests came from another address", n, connections.Load())
	}
	if n := timeWaits(t, to.Port()); n > 8 {
		t.Errorf("%d connections are in TIME_WAIT", n)
	}
}

// TestUnopenedConnections: a server that accepts nothing for a while, so that SYNs are dropped, costs requests their
// time, and nothing after it.
func TestUnopenedConnections(t *testing.T) {
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(listener) })
	if err := syscall.Bind(listener, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(listener, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(listener)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(name.(*syscall.SockaddrInet4).Port))
	var paused atomic.Bool
	go func() {
		for {
			c, _, err := syscall.Accept(listener)
			if err != nil {
				return
			}
			go func() {
				defer syscall.Close(c)
				if _, err := syscall.Read(c, make([]byte, 4096)); err == nil {
					_, _ = syscall.Write(c, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
				}
			}()
			for until := time.Now().Add(time.Minute); paused.Load() && time.Now().Before(until); {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	e, failed := asking(t, flow.Spec{Protocol: flow.HTTP, PerConnection: 1, Connections: 4,
		Timeout: unit.Duration(300 * time.Millisecond)}, to)
	if failed != nil {
		t.Fatal(failed)
	}
	window(e, time.Hour)
	count := func() *record.Transactions { return e.Read()[0].Transactions }
	eventually(t, "requests are answered", func() bool { return count().Done > 50 })
	paused.Store(true)
	before := count().Unanswered
	eventually(t, "requests are given up", func() bool { return count().Unanswered >= before+12 })
	if waiting := count().Waiting; waiting > 4 {
		t.Errorf("%d requests of 4 connections wait", waiting)
	}
	paused.Store(false)
	done := count().Done
	eventually(t, "requests are answered again", func() bool { return count().Done > done+50 })
	if x := count(); x.Failed != 0 {
		t.Errorf("%+v", x)
	}
}
