//go:build !portable

package serve

import (
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/host/transaction"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// TestMain makes the test's program a worker process when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == transaction.WorkerCommand {
		if err := transaction.RunWorker(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestWorkers: the ports of worker processes are at the server's address alone, for the
// addresses that it allows.
func TestWorkers(t *testing.T) {
	kerneltest.Descriptors(t, 512) // for more connections than half of that there are processes
	at, _ := open(t, func(o *Options) {
		o.Bounds.Flows, o.Bounds.Connections = 64, 600 // with threads and memory for the processes
		o.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	b := join(t, at, "")
	request := message.FlowRequest{ID: "w1", Cookie: greeting.NewCookie(), Spec: flow.Spec{Protocol: flow.RR,
		Connections: 600}}
	listening, err := bus.Call(t.Context(), b, record.NodeServer, message.Listen, []message.FlowRequest{request})
	if err != nil || len(listening[0].Ports) < 2 {
		t.Fatalf("%+v, %v", listening, err)
	}
	opens := func(to, from string) bool {
		local := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))
		remote := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(to), listening[0].Ports[0]))
		conn, err := net.DialTCP("tcp", local, remote)
		if err != nil {
			return false
		}
		t.Cleanup(func() { conn.Close() })
		if err := greeting.SendCookie(conn, request.Cookie); err != nil {
			return false
		}
		_, err = conn.Write([]byte{1}) // a request
		if err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			_, err = conn.Read(make([]byte, 1))
		}
		return err == nil
	}
	if opens("127.0.0.2", "127.0.0.1") {
		t.Error("a worker process listens at another address than the server")
	}
	if opens("127.0.0.1", "127.0.0.2") {
		t.Error("a worker process answers an address that the server does not allow")
	}
	if !opens("127.0.0.1", "127.0.0.1") {
		t.Error("a worker process does not answer the client")
	}
}
