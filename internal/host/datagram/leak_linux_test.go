package datagram

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/kerneltest"
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

// TestNothingIsLeft: after Close there are no more goroutines, descriptors and
// threads than before, whatever the flows were doing.
func TestNothingIsLeft(t *testing.T) {
	exercise := func() {
		opener, acceptor := engine(t, platform), engine(t, platform)
		join(t, opener, acceptor, loopback, requests(10, message.FlowRequest{Spec: flow.Spec{RateCap: 2e6}}), true)
		join(t, opener, acceptor, loopback, requests(10, message.FlowRequest{Spec: flow.Spec{RateCap: 2e6}}), false)
		idle, idlePeer := engine(t, platform), engine(t, platform) // open, never started
		join(t, idle, idlePeer, loopback, requests(3, message.FlowRequest{}), true)
		join(t, idle, idlePeer, loopback, requests(3, message.FlowRequest{}), false)
		done, donePeer := engine(t, platform), engine(t, platform) // ended in good order
		join(t, done, donePeer, loopback, requests(3, message.FlowRequest{Spec: flow.Spec{RateCap: 2e6}}), true)
		start(200*time.Millisecond, done, donePeer)
		acceptor.Listen(context.Background(), requests(3, message.FlowRequest{Local: loopback})) // never used
		opener.Connect(context.Background(), requests(1, message.FlowRequest{}), patience)       // to nowhere
		start(time.Hour, opener, acceptor)
		moved(t, donePeer)
		eventually(t, "some of the flows move", func() bool { return opener.Read()[0].WrittenBytes > 0 })
		for _, e := range []*Engine{opener, acceptor, idlePeer, idle, done, donePeer} {
			e.Close()
		}
	}
	exercise() // the runtime's poller has its own descriptors, made on first use
	goroutines, open := runtime.NumGoroutine(), descriptors(t)
	exercise()
	// The file by which linerate's processes share what they caused is open for a moment.
	kerneltest.Await(t, "the descriptors are closed", func() bool { return len(descriptors(t)) <= len(open) })
	if n := socket.Threads(); n != 0 {
		t.Errorf("%d threads are still reserved", n)
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

// TestManyFlows: more flows than threads, in both directions, all counted.
func TestManyFlows(t *testing.T) {
	opener, acceptor := engine(t, platform), engine(t, platform)
	join(t, opener, acceptor, loopback, requests(50, message.FlowRequest{Spec: flow.Spec{RateCap: 1e6, Datagram: 500}}),
		true)
	join(t, opener, acceptor, loopback, requests(50, message.FlowRequest{Spec: flow.Spec{RateCap: 1e6, Datagram: 500}}),
		false)
	_, stop := start(200*time.Millisecond, opener, acceptor)
	settled(t, stop, opener)
	settled(t, stop, acceptor)
	if tasks, err := filepath.Glob("/proc/self/task/*"); err != nil || len(tasks) > 100 {
		t.Errorf("%d threads for 100 flows at both ends: %v", len(tasks), err)
	}
	here, there := opener.Read(), acceptor.Read()
	for i := range here {
		s, r := here[i], there[i]
		if !s.Sends {
			s, r = r, s
		}
		if !s.Alive || !r.Alive || s.Datagrams.Sent < 1 || r.Datagrams.Received+r.Datagrams.Lost != s.Datagrams.Sent {
			t.Errorf("%s: sent %+v (%s), received %+v (%s)", s.ID, s.Datagrams, s.Error, r.Datagrams, r.Error)
		}
	}
}

// TestMoversDoNotAllocate: while datagrams move nothing is allocated for each.
func TestMoversDoNotAllocate(t *testing.T) {
	for _, mode := range []string{flow.ModeGSO, flow.ModeSendmmsg, flow.ModeCopy} {
		sender, receiver := engine(t, platform), engine(t, platform)
		join(t, sender, receiver, loopback,
			requests(1, message.FlowRequest{Spec: flow.Spec{Mode: mode, Datagram: 64, RateCap: 40e6}}), true)
		start(time.Hour, sender, receiver)
		moved(t, receiver)
		const datagrams = 5000
		count := func() int64 { return receiver.All()[0].tally.read().received }
		var before, after runtime.MemStats
		target := count() + datagrams
		runtime.ReadMemStats(&before)
		eventually(t, "datagrams move", func() bool { return count() >= target })
		runtime.ReadMemStats(&after)
		// Timers and the like of the test's own may allocate now and then.
		if n := after.Mallocs - before.Mallocs; n > datagrams/10 {
			t.Errorf("%s: %d allocations during %d datagrams", mode, n, datagrams)
		}
		sender.Close()
		receiver.Close()
	}
}
