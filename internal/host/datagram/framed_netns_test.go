//go:build linux && !portable

package datagram

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// framesArrive sends frames over loopback, and expects the kernel of the receiver, which
// verifies checksums, to deliver every one in the order of sending.
func framesArrive(t *testing.T, mode string) {
	kerneltest.Do(t, "ip", "link", "set", "lo", "up", "mtu", "9000")
	kerneltest.Do(t, "sysctl", "-w", "net.ipv4.conf.lo.accept_local=1", "net.ipv4.conf.lo.route_localnet=1")
	for _, c := range []struct {
		at, frame string
		tuples    int
		rate      float64
		bytes     int
		back      bool // from the end that accepts
	}{
		{"127.0.0.1", "64", 1, 20_000, 18, false},
		{"127.0.0.1", "9018", 1, 1000, 9000 - 28, false},
		{"127.0.0.1", flow.IMIX, 5, 10_000, (7*18 + 4*548 + 1472 + 6) / 12, false},
		{"127.0.0.1", "64", 70_000, 0, 18, false},
		{"::1", "83:3,1518", 3, 10_000, (3*17 + 1452 + 2) / 4, false},
		{"127.0.0.1", "64", 5, 10_000, 18, true},
		{"::1", "83", 5, 10_000, 17, true},
	} {
		sender, receiver := engine(t, platform), engine(t, platform)
		request := message.FlowRequest{Spec: flow.Spec{Frame: c.frame, Tuples: c.tuples, Pace: c.rate, Mode: mode}}
		opener, acceptor := sender, receiver
		if c.back {
			opener, acceptor = receiver, sender
		}
		join(t, opener, acceptor, netip.MustParseAddr(c.at), requests(1, request), !c.back)
		_, stop := start(200*time.Millisecond, sender, receiver)
		settled(t, stop, receiver)
		s, r := sender.Read()[0], receiver.Read()[0]
		sent, got := s.Datagrams, r.Datagrams
		arrived := got.Received + got.LostInBuffer
		if s.Error != nil || r.Error != nil || sent.Sent < 100 || arrived != sent.Sent && c.rate != 0 ||
			got.Lost != got.LostInBuffer || got.Reordered != 0 || got.Duplicates != 0 || got.Stale != 0 {
			t.Errorf("%+v: sent %+v (%v), received %+v (%v)", c, sent, s.Error, got, r.Error)
		}
		// Without a rate, the last frames may have found the buffer full, which no later frame shows.
		if got.Received == sent.Sent && r.ReceivedBytes != s.WrittenBytes || sent.Bytes != c.bytes {
			t.Errorf("%+v: %d bytes written as %d each, %d received", c, s.WrittenBytes, sent.Bytes, r.ReceivedBytes)
		}
		if mode != "" && s.Mode != mode || s.Mode != packet.Program && s.Mode != packet.Socket ||
			(s.Mode == packet.Socket && mode == "") != strings.Contains(s.ModeNote, packet.Program+": ") {
			t.Errorf("%+v: sent by %q, note %q; asked for %q", c, s.Mode, s.ModeNote, mode)
		}
		late := int64(c.rate * flow.MaxLate.Seconds()) // when it had to stop
		if due := int64(c.rate * 0.2); due > 0 && (sent.Sent+sent.Skipped < due-late-1 || sent.Sent > due+1 ||
			sent.Lateness == nil) {
			t.Errorf("%+v: %d sent and %d given up of %d due; lateness %+v", c, sent.Sent, sent.Skipped, due,
				sent.Lateness)
		}
		sender.Close()
		receiver.Close()
	}
}

// TestFrames: without privileges over the machine, frames go by a packet socket.
func TestFrames(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) { framesArrive(t, "") })
}

// TestFramesByProgram: with them, by a program.
func TestFramesByProgram(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) { framesArrive(t, packet.Program) })
}

// TestFramesRefused: a frame that cannot be is refused before anything is sent, and so is
// one without the privilege to send it.
func TestFramesRefused(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up", "mtu", "1500")
		for frame, want := range map[string]string{"1519": "MTU of 1500", "64": "82 at least"} {
			opener, acceptor := engine(t, platform), engine(t, platform)
			at := netip.MustParseAddr("::1")
			accepting := requests(1, message.FlowRequest{Spec: flow.Spec{Frame: frame}, Local: at})
			opening := requests(1, message.FlowRequest{Spec: flow.Spec{Frame: frame}, Sends: true})
			opening[0].Remote = acceptor.Listen(t.Context(), accepting)[0].Local
			if o := opener.Connect(t.Context(), opening, patience)[0]; o.Error == nil ||
				!strings.Contains(o.Error.Error(), want) {
				t.Errorf("%s: %v, want %q", frame, o.Error, want)
			}
		}
	})
	if os.Geteuid() == 0 {
		return
	}
	opener, acceptor := engine(t, platform), engine(t, platform)
	accepting := requests(1, message.FlowRequest{Spec: flow.Spec{Frame: "82"}, Local: netip.MustParseAddr("::1")})
	opening := requests(1, message.FlowRequest{Spec: flow.Spec{Frame: "82"}, Sends: true})
	opening[0].Remote = acceptor.Listen(t.Context(), accepting)[0].Local
	if o := opener.Connect(t.Context(), opening, patience)[0]; o.Error == nil ||
		!strings.Contains(o.Error.Error(), "CAP_NET_RAW") {
		t.Errorf("without privileges: %v", o.Error)
	}
}
