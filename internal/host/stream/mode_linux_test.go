//go:build !portable

package stream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/model/flow"

	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
)

// eachMode runs a test in each mode, with a thread for each flow and without.
func eachMode(t *testing.T, test func(t *testing.T, mode string)) {
	for _, mode := range flow.Modes {
		t.Run(mode, func(t *testing.T) { test(t, mode) })
	}
	for _, mode := range []string{flow.ModeSplice, flow.ModeZeroCopy, flow.ModeSendfile, flow.ModeCopy, flow.ModeAuto} {
		t.Run(mode+" in the poller", func(t *testing.T) {
			for socket.ReserveThread() {
				defer socket.ReleaseThread()
			}
			test(t, mode)
		})
	}
}

// TestModeConservation: in each mode all that was written arrives, the stop is
// kept, and the mode is what was ordered.
func TestModeConservation(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		sender, receiver := engine(t, platform), engine(t, platform)
		join(t, sender, receiver, loopback,
			requests(2, message.FlowRequest{Spec: flow.Spec{Mode: mode, RateCap: 400e6}}), true)
		start(350*time.Millisecond, sender, receiver)
		var before []int64
		eventually(t, "the senders stop and all arrives", func() bool {
			received, written := receiver.Read(), sender.Read()
			var now []int64
			for i := range received {
				if received[i].ReceivedBytes > written[i].WrittenBytes+written[i].CallBytes {
					t.Fatalf("received %d of %d bytes written by %d", received[i].ReceivedBytes,
						written[i].WrittenBytes, written[i].CallBytes)
				}
				now = append(now, received[i].ReceivedBytes)
			}
			still := slices.Equal(now, before) && !slices.Contains(now, 0)
			before = now
			time.Sleep(30 * time.Millisecond)
			return still && !slices.ContainsFunc(received, func(e message.FlowEnd) bool {
				return !slices.ContainsFunc(written, func(w message.FlowEnd) bool {
					return w.ID == e.ID && w.WrittenBytes == e.ReceivedBytes
				})
			})
		})
		for _, end := range slices.Concat(sender.Read(), receiver.Read()) {
			if !end.Alive || end.Error != nil {
				t.Errorf("%s: alive %v, %q", end.ID, end.Alive, end.Error)
			}
			switch {
			case end.Sends && mode != flow.ModeAuto && end.Mode != mode:
				t.Errorf("%s sends by %q (%s), want %q", end.ID, end.Mode, end.ModeNote, mode)
			case end.Sends && !slices.Contains(flow.Modes, end.Mode), end.CallBytes == 0:
				t.Errorf("%s sends by %q in calls of %d bytes", end.ID, end.Mode, end.CallBytes)
			case !end.Sends && (end.Mode == flow.ModeCopy) != (mode == flow.ModeCopy):
				t.Errorf("%s receives by %q in mode %s", end.ID, end.Mode, mode)
			}
		}
	})
}

// TestModeChosen: a flow that is to choose comes to an end with it, says what
// it has found, and moves bytes on.
func TestModeChosen(t *testing.T) {
	for _, mode := range []string{flow.ModeAuto, flow.ModeWrite} {
		t.Run(mode, func(t *testing.T) {
			sender, receiver := engine(t, platform), engine(t, platform)
			join(t, sender, receiver, loopback,
				requests(1, message.FlowRequest{Spec: flow.Spec{Mode: mode, RateCap: 1e9}}), true)
			start(time.Hour, sender, receiver)
			eventually(t, "the choice", func() bool { return strings.Contains(sender.Read()[0].ModeNote, "tried") })
			end := sender.Read()[0]
			t.Logf("%s by %d KiB; %s", end.Mode, end.CallBytes>>10, end.ModeNote)
			contains(t, end.ModeNote, "write 128 KiB", "write 1024 KiB")
			if mode == flow.ModeAuto {
				contains(t, end.ModeNote, "splice 64 KiB", "splice 1024 KiB", "sendfile", "zerocopy")
			}
			eventually(t, "it goes on", func() bool {
				return sender.Read()[0].WrittenBytes > end.WrittenBytes &&
					receiver.Read()[0].ReceivedBytes > end.WrittenBytes
			})
		})
	}
}

// TestModeBreaks: the loss of the peer is noticed in each mode, by either side,
// also while nothing can be sent.
func TestModeBreaks(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		for name, openerSends := range map[string]bool{"receiver": true, "sender": false} {
			opener, doomed := engine(t, platform), engine(t, platform)
			join(t, opener, doomed, loopback,
				requests(1, message.FlowRequest{Spec: flow.Spec{Mode: mode, RateCap: 1e9}}), openerSends)
			start(time.Hour, opener, doomed)
			moved(t, opener)
			doomed.Close()
			eventually(t, "the loss of the "+name+" is noticed", func() bool { return !opener.Read()[0].Alive })
			if said := opener.Read()[0].Error.Error(); !strings.Contains(said, "ECONNRESET") &&
				!strings.Contains(said, "EPIPE") {
				t.Errorf("without its %s the flow says %q", name, said)
			}
		}
		// A peer that does not read: the sender waits for room when it is closed.
		sender, mute := engine(t, platform), mutePeer(t)
		o := sender.Connect(context.Background(),
			[]message.FlowRequest{{ID: "f1", Sends: true, Remote: mute, Spec: flow.Spec{Mode: mode}}}, patience)[0]
		if o.Error != nil {
			t.Fatal(o.Error)
		}
		start(time.Hour, sender)
		moved(t, sender)
		begin := time.Now()
		sender.Close()
		if spent := time.Since(begin); spent > patience/2 {
			t.Errorf("closing a sender without room took %v", spent)
		}
	})
}

// mutePeer accepts a connection and reads nothing.
func mutePeer(t *testing.T) (at netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			accepted <- conn
		}
		close(accepted)
	}()
	t.Cleanup(func() {
		l.Close()
		if conn, ok := <-accepted; ok {
			conn.Close()
		}
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// TestModeOptions: a flow's options hold in each mode.
func TestModeOptions(t *testing.T) {
	const mss = 1000
	eachMode(t, func(t *testing.T, mode string) {
		yes := true
		sender, receiver := engine(t, platform), engine(t, platform)
		two := requests(2, message.FlowRequest{Spec: flow.Spec{Mode: mode, MSS: mss, NoDelay: &yes}})
		two[0].RateCap, two[1].RateCap = 160e6, 20e6
		two[0].Window, two[1].Window = 100<<10, 100<<10
		join(t, sender, receiver, loopback, two, true)
		start(time.Hour, sender, receiver)
		moved(t, receiver)
		time.Sleep(150 * time.Millisecond)
		begin := receiver.Read()
		time.Sleep(500 * time.Millisecond)
		end := receiver.Read()
		ratio := float64(end[0].ReceivedBytes-begin[0].ReceivedBytes) / float64(
			end[1].ReceivedBytes-begin[1].ReceivedBytes)
		if ratio < 4 || ratio > 16 {
			t.Errorf("caps of 160 and 20 Mbit/s gave a ratio of %.3f, want something like 8", ratio)
		}
		for _, e := range sender.Read() {
			if e.Info.SndMSS > mss || uint64(e.Info.SegsOut)*mss < e.Info.BytesAcked {
				t.Errorf("%d bytes in %d segments of %d, want at most %d bytes each", e.Info.BytesAcked, e.Info.SegsOut,
					e.Info.SndMSS, mss)
			}
			if e.SndbufBytes != 200<<10 {
				t.Errorf("a send buffer of %d bytes, want twice 100 KiB", e.SndbufBytes)
			}
		}
	})
}

// TestModeLeavesNothing: whatever a flow was doing when it ended, its pipes, its
// block, its thread and its goroutine are gone.
func TestModeLeavesNothing(t *testing.T) {
	const orderly = 300 * time.Millisecond // longer than the machine pauses
	exercise := func() {
		var engines []*Engine
		for _, mode := range flow.Modes {
			opener, acceptor := engine(t, platform), engine(t, platform)
			join(t, opener, acceptor, loopback,
				requests(4, message.FlowRequest{Spec: flow.Spec{Mode: mode, RateCap: 50e6}}), true)
			idle, idlePeer := engine(t, platform), engine(t, platform) // never started
			join(t, idle, idlePeer, loopback, requests(2, message.FlowRequest{Spec: flow.Spec{Mode: mode}}), false)
			engines = append(engines, opener, acceptor, idle, idlePeer)
			if mode != flow.ModeSplice {
				start(time.Hour, opener, acceptor)
			} else {
				start(orderly, opener, acceptor) // ends in good order
			}
			moved(t, acceptor)
		}
		time.Sleep(orderly)
		for _, e := range engines {
			e.Close()
		}
	}
	exercise() // the runtime's poller has its own descriptors, made on first use
	open, goroutines := descriptors(t), runtime.NumGoroutine()
	exercise()
	// The file by which linerate's processes share what they caused is open for a moment.
	kerneltest.Await(t, "the descriptors are closed", func() bool { return len(descriptors(t)) <= len(open) })
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(maps, []byte("linerate-block")) {
		t.Error("the block is still mapped")
	}
	if n := socket.Threads(); n != 0 {
		t.Errorf("%d threads are still reserved", n)
	}
	eventually(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// TestModeManyFlows: with more flows than threads the others still move, in any
// mode, and the process does not grow a thread for each.
func TestModeManyFlows(t *testing.T) {
	for _, mode := range []string{flow.ModeAuto, flow.ModeSplice, flow.ModeCopy} {
		t.Run(mode, func(t *testing.T) {
			opener, acceptor := engine(t, platform), engine(t, platform)
			const flows = 200
			join(t, opener, acceptor, loopback,
				requests(flows, message.FlowRequest{Spec: flow.Spec{Mode: mode, RateCap: 1e6}}), true)
			start(time.Hour, opener, acceptor)
			moved(t, opener)
			moved(t, acceptor)
			tasks, err := filepath.Glob("/proc/self/task/*")
			if err != nil {
				t.Fatal(err)
			}
			if most := socket.ThreadsPerProcessor*runtime.GOMAXPROCS(0) + flows/4; len(tasks) > most {
				t.Errorf("%d threads for %d flows at both ends, want at most %d", len(tasks), flows, most)
			}
			if mode == flow.ModeAuto {
				shared := 0
				for _, end := range opener.Read() {
					if strings.Contains(end.ModeNote, "more flows than threads") {
						shared++
					}
				}
				if least := flows - socket.ThreadsPerProcessor*runtime.GOMAXPROCS(0); shared < least {
					t.Errorf("%d flows say that they have no thread, want at least %d", shared, least)
				}
			}
		})
	}
}

// failing is a transmitter that the kernel refuses.
type failing struct {
	noCompletions
	err error
}

func (p *failing) push(int) (int, error) { return 0, p.err }

// TestModeRefused: a mode that the kernel refuses is replaced by plain writes, and
// the reason kept; a broken connection stays one.
func TestModeRefused(t *testing.T) {
	for _, err := range []error{syscall.ENOSYS, syscall.EPERM, fmt.Errorf("why: %w", syscall.ENOBUFS)} {
		for name, mode := range map[string]string{"ordered": flow.ModeSplice, "tried": flow.ModeAuto} {
			r := direct(message.FlowRequest{Sends: true, Spec: flow.Spec{Mode: mode}}, 0).(*directMover)
			var at int
			for i, p := range r.candidates {
				if p.mode == flow.ModeSplice {
					p.close()
					r.candidates[i].transmitter, at = &failing{err: err}, i
				}
			}
			r.use(at)
			if !r.fallBack(0, err, new(tally)) {
				t.Errorf("%s: %v is not taken for a refusal", name, err)
			}
			how := r.method()
			contains(t, how.note, "splice 1024 KiB: "+err.Error())
			if how.mode != flow.ModeWrite || r.current == at {
				t.Errorf("%s: after %v it sends by %q", name, err, how.mode)
			}
			if r.fallBack(0, err, new(tally)) {
				t.Errorf("%s: plain writes are replaced, by what?", name)
			}
			r.close()
		}
	}
	for _, err := range []error{syscall.ECONNRESET, syscall.EPIPE, syscall.ETIMEDOUT, errors.New("anything")} {
		r := direct(message.FlowRequest{Sends: true, Spec: flow.Spec{Mode: flow.ModeSplice}}, 0).(*directMover)
		if r.fallBack(0, err, new(tally)) {
			t.Errorf("%v is taken for a refusal of splice", err)
		}
		r.close()
	}
}

// TestModeWithoutDescriptors: where no pipe and no block can be had, the flow
// still has plain writes, and says why.
func TestModeWithoutDescriptors(t *testing.T) {
	next, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(next)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	for extra, want := range []string{"a file in memory", "a pipe"} {
		limit := before
		limit.Cur = uint64(next + extra)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		r := direct(message.FlowRequest{Sends: true, Spec: flow.Spec{Mode: flow.ModeSplice}}, 0)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
		how := r.method()
		contains(t, how.note, want, "too many open files")
		if how.mode != flow.ModeWrite && how.mode != flow.ModeCopy {
			t.Errorf("it sends by %q, want plain writes", how.mode)
		}
		r.close()
	}
}

// ineffective is a transmitter that the kernel does not do as asked for.
type ineffective struct{ transmitter }

func (ineffective) note() string { return "zerocopy: copied" }

// TestModeDropped: what is said of a candidate that was tried and dropped is said with what
// else was tried, as the flow goes on by another one.
func TestModeDropped(t *testing.T) {
	r := direct(message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeAuto}, Sends: true}, 0).(*directMover)
	defer r.close()
	last := len(r.candidates) - 1
	r.candidates[last].transmitter = ineffective{r.candidates[last].transmitter}
	r.choice.begin(0)
	for at := int64(leadNs); r.choice != nil; at += sliceNs {
		r.next(at, new(tally))
	}
	r.note(r.candidates[last])
	r.show()
	var tried []string
	for note := range strings.SplitSeq(r.method().note, "; ") {
		if strings.Contains(note, "zerocopy") {
			tried = append(tried, note)
		}
	}
	if len(tried) != 1 || !strings.HasPrefix(tried[0], flow.ModesTried) || strings.Count(tried[0], "copied") != 1 {
		t.Errorf("%q", tried)
	}
}

// TestModeTakesNoMemory: nothing is allocated from call to call.
func TestModeTakesNoMemory(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		sender, receiver := engine(t, platform), engine(t, platform)
		join(t, sender, receiver, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{Mode: mode}}), true)
		movers := map[bool]*directMover{}
		for _, sends := range []bool{true, false} {
			movers[sends] = direct(message.FlowRequest{Spec: flow.Spec{Mode: mode}, Sends: sends}, 0).(*directMover)
			defer movers[sends].close()
		}
		var s flowset.Signals // its stop has passed: one call at a time
		counts := new(tally)
		if err := socket.WithConn(sender.All()[0].conn, func(fd int) error {
			if n := testing.AllocsPerRun(100, func() {
				_, _ = movers[true].push(fd, counts, &s)
				_, _ = movers[false].pull(fd, counts, &s)
			}); n != 0 {
				t.Errorf("%v allocations per call, want none", n)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if counts.bytes.Load() == 0 {
			t.Error("nothing was sent")
		}
	})
}

// TestModeOnAWire: over a link of a given rate all modes carry the same, and no
// more than it can: choosing and sleeping do not show.
func TestModeOnAWire(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	// tbf counts 1514 bytes for 1448 of payload.
	const limit = 200e6 * 1448 / 1514
	for _, mode := range []string{"", flow.ModeAuto, flow.ModeSplice, flow.ModeCopy} {
		t.Run(cmp.Or(mode, "unsaid"), func(t *testing.T) {
			t.Parallel() // most of it is the making of two hosts
			r := pair(t, pairTask{
				Flows:    requests(1, message.FlowRequest{Spec: flow.Spec{Mode: mode, CongestionControl: "cubic"}}),
				Duration: 700 * time.Millisecond,
				Shape:    []string{"tbf", "rate", "200mbit", "burst", "256k", "limit", "500k"},
			})
			part := r.BitsPerSecond / limit
			t.Logf("%.2f %% of the limit; %s: %s", 100*part, r.Sent[0].Mode, r.Sent[0].ModeNote)
			if part > 1.02 || part < 0.9 {
				t.Errorf("%.1f %% of what the link can carry", 100*part)
			}
			if r.Received[0].ReceivedBytes != r.Sent[0].WrittenBytes && r.Sent[0].UnsentBytes == 0 {
				t.Errorf("received %d of %d bytes", r.Received[0].ReceivedBytes, r.Sent[0].WrittenBytes)
			}
		})
	}
}
