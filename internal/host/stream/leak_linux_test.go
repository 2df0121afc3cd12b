package stream

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// descriptors lists what this process has open.
func descriptors(t *testing.T) []string {
	t.Helper()
	var open []string
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil {
			open = append(open, target)
		}
	}
	return open
}

// timeWaits counts connections between two of these ports in TIME_WAIT (state 06 of
// /proc/net/tcp). Others, such as those of tests before, may have one of them: connect(2)
// gives a port again for another destination.
func timeWaits(t *testing.T, ports map[uint16]bool) int {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		var slot, address, remote, state uint32
		var port, remotePort uint16
		if _, err := fmt.Sscanf(line, "%d: %x:%x %x:%x %x", &slot, &address, &port, &remote, &remotePort,
			&state); err == nil &&
			state == 6 && ports[port] && ports[remotePort] {
			n++
		}
	}
	return n
}

// TestNothingIsLeft: after Close there are no more goroutines and descriptors
// than before, whatever the flows were doing, and nothing in TIME_WAIT.
func TestNothingIsLeft(t *testing.T) {
	exercise := func() map[uint16]bool {
		opener, acceptor := engine(t, platform), engine(t, platform)
		join(t, opener, acceptor, loopback, requests(20, message.FlowRequest{Spec: flow.Spec{RateCap: 10e6}}), true)
		join(t, opener, acceptor, loopback, requests(20, message.FlowRequest{Spec: flow.Spec{RateCap: 10e6}}), false)
		idle, idlePeer := engine(t, platform), engine(t, platform) // connected, never started
		join(t, idle, idlePeer, loopback, requests(5, message.FlowRequest{}), true)
		done, donePeer := engine(t, platform), engine(t, platform) // ended in good order
		join(t, done, donePeer, loopback, requests(5, message.FlowRequest{Spec: flow.Spec{RateCap: 10e6}}), true)
		start(100*time.Millisecond, done, donePeer)
		acceptor.Listen(context.Background(), requests(5, message.FlowRequest{Local: loopback})) // never used
		opener.Connect(context.Background(), requests(5, message.FlowRequest{Remote: unusedAddress(t)}), patience)
		start(time.Hour, opener)
		moved(t, donePeer)
		eventually(t, "some of the flows move", func() bool { return opener.Read()[0].WrittenBytes > 0 })
		ports := map[uint16]bool{}
		for _, end := range slices.Concat(opener.Read(), acceptor.Read(), done.Read(), donePeer.Read(), idle.Read(),
			idlePeer.Read()) {
			if port := end.Local.Port(); port != 0 {
				ports[port] = true
			}
		}
		for _, e := range []*Engine{opener, acceptor, idlePeer, idle, done, donePeer} {
			e.Close()
		}
		return ports
	}
	exercise() // the runtime's poller has its own descriptors, made on first use
	goroutines, open := runtime.NumGoroutine(), descriptors(t)
	ports := exercise()
	// The file by which linerate's processes share what they caused is open for a moment.
	kerneltest.Await(t, "the descriptors are closed", func() bool { return len(descriptors(t)) <= len(open) })
	if n := timeWaits(t, ports); n > 0 || len(ports) < 50 {
		t.Errorf("%d connections of %d are in TIME_WAIT", n, len(ports))
	}
	// A goroutine that has said it is done may take a moment to be gone.
	for end := time.Now().Add(patience); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Fatalf("%d goroutines before, %d after:\n%s", goroutines, runtime.NumGoroutine(), &stacks)
		}
	}
}

// TestManyFlows: 300 flows at once, in both directions, all counted.
func TestManyFlows(t *testing.T) {
	opener, acceptor := engine(t, platform), engine(t, platform)
	join(t, opener, acceptor, loopback, requests(150, message.FlowRequest{Spec: flow.Spec{RateCap: 2e6}}), true)
	join(t, opener, acceptor, loopback, requests(150, message.FlowRequest{Spec: flow.Spec{RateCap: 2e6}}), false)
	start(time.Hour, opener, acceptor)
	moved(t, opener)
	moved(t, acceptor)
	began := sched.Now()
	ends := opener.Read()
	took := time.Duration(sched.Now() - began)
	if len(ends) != 300 {
		t.Fatalf("%d flows, want 300", len(ends))
	}
	for i, end := range ends {
		if !end.Alive || (end.Info == nil) == netlink.Available || end.Sends != (i < 150) {
			t.Errorf("%s: %+v", end.ID, end)
		}
	}
	t.Logf("reading 300 flows took %v, their byte counts %v", took, time.Duration(ends[299].AtNs-ends[0].AtNs))
}
