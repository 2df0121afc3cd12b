package stream

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// TestConservation: whatever is read was written; what was written is with the
// receiver, acknowledged, or waiting; and after the end all of it has arrived.
func TestConservation(t *testing.T) {
	for _, m := range []struct {
		name string
		backend
	}{{"platform", platform}, {"portable", portable}} {
		for _, direction := range []struct {
			name        string
			openerSends bool
		}{{"write", true}, {"read", false}} {
			t.Run(m.name+"/"+direction.name, func(t *testing.T) {
				opener, acceptor := engine(t, m.backend), engine(t, m.backend)
				join(t, opener, acceptor, loopback, requests(4, message.FlowRequest{Spec: flow.Spec{RateCap: 100e6}}),
					direction.openerSends)
				sender, receiver := opener, acceptor
				if !direction.openerSends {
					sender, receiver = acceptor, opener
				}
				at, stop := start(400*time.Millisecond, opener, acceptor)
				for sched.Now() < stop {
					received, written := receiver.Read(), sender.Read()
					for i := range received {
						// A write shows in the counts when it returns, and its
						// first bytes may have arrived by then.
						if got, most := received[i].ReceivedBytes, written[i].WrittenBytes+chunkBytes; got > most {
							t.Fatalf("%s: received %d of %d bytes written", received[i].ID, got,
								written[i].WrittenBytes)
						}
						if !received[i].Alive || !written[i].Alive {
							t.Fatalf("not alive: %q, %q", received[i].Error, written[i].Error)
						}
					}
					time.Sleep(10 * time.Millisecond)
				}
				eventually(t, "everything written is received", func() bool {
					received, written := receiver.Read(), sender.Read()
					for i := range received {
						if received[i].ReceivedBytes != written[i].WrittenBytes || written[i].UnsentBytes != 0 {
							return false
						}
					}
					return true
				})
				for _, end := range slices.Concat(receiver.Read(), sender.Read()) {
					if !end.Alive || end.Error != nil {
						t.Errorf("%s after the stop: alive %v, %q; want alive, as nothing broke off", end.ID,
							end.Alive, end.Error)
					}
					if end.FirstNs < at || end.LastNs < end.FirstNs {
						t.Errorf("%s: first %d, latest %d; want both after the start %d, in this order", end.ID,
							end.FirstNs, end.LastNs, at)
					}
					if end.ReceivedBytes+end.WrittenBytes == 0 {
						t.Errorf("%s moved nothing", end.ID)
					}
				}
			})
		}
	}
}

// TestKernelAgrees: acknowledged and waiting bytes make up what was written.
func TestKernelAgrees(t *testing.T) {
	needsLinux(t)
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(3, message.FlowRequest{Spec: flow.Spec{RateCap: 200e6}}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	for range 20 {
		before, after := sender.Read(), sender.Read()
		for i, end := range before {
			if end.Info == nil {
				t.Fatal("no TCP_INFO")
			}
			// The kernel's figures are read after the count of writes and before
			// the next count of writes; SYN counts as one acknowledged byte.
			known := int64(end.Info.BytesAcked) + end.UnsentBytes
			if known < end.WrittenBytes || known > after[i].WrittenBytes+chunkBytes+1 {
				t.Errorf("%s: acknowledged %d + waiting %d bytes; want from %d to %d", end.ID,
					end.Info.BytesAcked, end.UnsentBytes, end.WrittenBytes, after[i].WrittenBytes+chunkBytes+1)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestCommonWindow: readings of all flows lie inside the call, in order, and two
// readings give a window and a difference for each flow.
func TestCommonWindow(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(20, message.FlowRequest{Spec: flow.Spec{RateCap: 20e6}}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	var edges [2][]message.FlowEnd
	for i := range edges {
		began := sched.Now()
		edges[i] = receiver.Read()
		ended := sched.Now()
		previous := began
		for _, end := range edges[i] {
			if end.AtNs < previous || end.AtNs > ended {
				t.Errorf("%s was read at %d, outside of %d…%d", end.ID, end.AtNs, previous, ended)
			}
			previous = end.AtNs
		}
		time.Sleep(200 * time.Millisecond)
	}
	for i, end := range edges[1] {
		if end.ReceivedBytes <= edges[0][i].ReceivedBytes {
			t.Errorf("%s received nothing between the edges", end.ID)
		}
	}
	for i, s := range receiver.Light() {
		if s.ID != edges[1][i].ID || s.ReceivedBytes < edges[1][i].ReceivedBytes {
			t.Errorf("sample %+v after %d bytes were received", s, edges[1][i].ReceivedBytes)
		}
	}
	for _, s := range sender.Light() {
		if netlink.Available && (s.RTTUs == 0 || s.SndCwnd == 0) {
			t.Errorf("sample %+v of a sender; want round-trip time and congestion window", s)
		}
	}
}

// TestStartIsCommon: no flow writes before the instant, each stops, and only
// the first Start counts.
func TestStartIsCommon(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(10, message.FlowRequest{Spec: flow.Spec{RateCap: 100e6}}), true)
	at := sched.Now() + int64(150*time.Millisecond)
	stop := at + int64(500*time.Millisecond)
	for _, e := range []*Engine{sender, receiver} {
		e.Start(message.WindowRequest{StartNs: at, StopNs: stop})
		e.Start(message.WindowRequest{StartNs: at - int64(140*time.Millisecond), StopNs: stop + int64(time.Hour)})
	}
	moved(t, receiver)
	eventually(t, "all senders stop, and all they wrote arrives", func() bool {
		received, written := receiver.Read(), sender.Read()
		for i := range received {
			if received[i].ReceivedBytes != written[i].WrittenBytes {
				return false
			}
		}
		return sched.Now() > stop
	})
	// Not before: what a write has sent arrives before the write returns.
	for _, end := range sender.Read() {
		if end.FirstNs < at {
			t.Errorf("%s wrote %d ns before the start", end.ID, at-end.FirstNs)
		}
	}
}

func TestIPv6(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	at := netip.IPv6Loopback()
	if l := receiver.Listen(context.Background(), []message.FlowRequest{{ID: "probe", Local: at}}); l[0].Error != nil {
		kerneltest.Skip(t, "no IPv6 loopback here: "+l[0].Error.Error())
	}
	receiver = engine(t, platform)
	join(t, sender, receiver, at, requests(2, message.FlowRequest{Spec: flow.Spec{RateCap: 50e6}, Local: at}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	for _, end := range sender.Read() {
		if end.Local.Addr() != at {
			t.Errorf("%s is at %s, want %s", end.ID, end.Local, at)
		}
	}
}

// TestSourcePort: a port to connect from is kept to, and may serve
// connections to several places, but not two to the same.
func TestSourcePort(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	at, from := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.9")
	l, err := net.Listen("tcp", "127.0.0.9:0")
	if err != nil {
		kerneltest.Skip(t, fmt.Sprintf("no other address of the loopback here: %v", err))
	}
	port := socket.AddrPort(l.Addr()).Port() // free again in a moment
	l.Close()
	join(t, sender, receiver, at, requests(2, message.FlowRequest{Local: from, LocalPort: port}), true)
	for _, end := range sender.Read() {
		if end.Local.Port() != port {
			t.Errorf("%s is at %s, want port %d", end.ID, end.Local, port)
		}
	}
	again := message.FlowRequest{ID: "again", Sends: true, Local: from, LocalPort: port,
		Remote: receiver.Read()[0].Local}
	if o := sender.Connect(context.Background(), []message.FlowRequest{again}, patience)[0]; o.Error == nil {
		t.Error("two connections between the same two ends")
	}
}

// TestAnyAddress: without a local address a listener takes connections to any.
func TestAnyAddress(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	l := receiver.Listen(context.Background(), []message.FlowRequest{{ID: "f1"}})[0]
	if l.Error != nil {
		t.Fatal(l.Error)
	}
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.77"), l.Local.Port())
	o := sender.Connect(context.Background(), []message.FlowRequest{{ID: "f1", Sends: true, Remote: to}}, patience)[0]
	if o.Error != nil {
		t.Fatal(o.Error)
	}
	if end := ready(t, receiver)[0]; !end.Alive || end.Local != to {
		t.Errorf("accepted %+v, want it at %s", end, to)
	}
}
