package stream

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

func TestMSS(t *testing.T) {
	needsLinux(t)
	const mss = 1000
	for name, openerSends := range map[string]bool{"write": true, "read": false} {
		t.Run(name, func(t *testing.T) {
			opener, acceptor := engine(t, platform), engine(t, platform)
			join(t, opener, acceptor, loopback,
				requests(1, message.FlowRequest{Spec: flow.Spec{MSS: mss, RateCap: 50e6}}), openerSends)
			start(time.Hour, opener, acceptor)
			moved(t, opener)
			moved(t, acceptor)
			for _, end := range slices.Concat(opener.Read(), acceptor.Read()) {
				// The segment includes the options: twelve bytes of timestamps.
				if end.Sends && (end.Info.SndMSS > mss || end.Info.SndMSS < mss-40) {
					t.Errorf("sends segments of %d bytes, want %d or a little less", end.Info.SndMSS, mss)
				}
				if end.Sends && uint64(end.Info.SegsOut)*mss < end.Info.BytesAcked {
					t.Errorf("%d bytes in %d segments: more than %d bytes each", end.Info.BytesAcked,
						end.Info.SegsOut, mss)
				}
			}
		})
	}
	if l := engine(t, platform).Listen(context.Background(),
		requests(1, message.FlowRequest{Spec: flow.Spec{MSS: 7}}))[0]; !strings.Contains(l.Error.Error(),
		"TCP_MAXSEG") {
		t.Errorf("an MSS of 7 bytes: %q, want an error that names TCP_MAXSEG", l.Error)
	}
}

// TestRateCap: the kernel paces each flow by its own cap. How well it does so on
// a machine that is busy with other work is not judged: the ratio is far from
// that of two flows without caps, which is 1, or with one cap for both.
func TestRateCap(t *testing.T) {
	needsLinux(t)
	sender, receiver := engine(t, platform), engine(t, platform)
	two := requests(2, message.FlowRequest{})
	two[0].RateCap, two[1].RateCap = 160e6, 20e6
	join(t, sender, receiver, loopback, two, true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	for i, f := range sender.Read() {
		if f.Info.PacingRateBps == 0 || f.Info.PacingRateBps > uint64(two[i].RateCap) {
			t.Errorf("flow %s is paced at %d bit/s, its cap is %s", f.ID, f.Info.PacingRateBps, two[i].RateCap)
		}
	}
	time.Sleep(200 * time.Millisecond) // past slow start
	begin := receiver.Read()
	time.Sleep(time.Second)
	end := receiver.Read()
	ratio := float64(end[0].ReceivedBytes-begin[0].ReceivedBytes) / float64(end[1].ReceivedBytes-begin[1].ReceivedBytes)
	if ratio < 4 || ratio > 16 {
		t.Errorf("caps of 160 and 20 Mbit/s gave a ratio of %.3f, want something like 8", ratio)
	}
}

func TestCongestionControl(t *testing.T) {
	needsLinux(t)
	read := func(name string) []string {
		text, err := os.ReadFile("/proc/sys/net/ipv4/" + name)
		if err != nil {
			kerneltest.Skip(t, err.Error())
		}
		return strings.Fields(string(text))
	}
	usual := read("tcp_congestion_control")[0]
	others := slices.DeleteFunc(read("tcp_allowed_congestion_control"), func(s string) bool { return s == usual })
	if len(others) == 0 {
		kerneltest.Skip(t, fmt.Sprintf("only %s is allowed here", usual))
	}
	sender, receiver := engine(t, platform), engine(t, platform)
	two := requests(2, message.FlowRequest{})
	two[0].CongestionControl = others[0]
	join(t, sender, receiver, loopback, two, false) // the accepting side sends
	for i, want := range []string{others[0], usual} {
		for _, ends := range [][]message.FlowEnd{sender.Read(), receiver.Read()} {
			if got := ends[i].CongestionControl; got != want {
				t.Errorf("%s uses %q, want %q", ends[i].ID, got, want)
			}
		}
	}
}

func TestWindow(t *testing.T) {
	needsLinux(t)
	const window = 64 << 10
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback,
		requests(1, message.FlowRequest{Spec: flow.Spec{Window: unit.Bytes(window), RateCap: 50e6}}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	for _, end := range slices.Concat(sender.Read(), receiver.Read()) {
		if end.SndbufBytes != 2*window || end.RcvbufBytes != 2*window {
			t.Errorf("granted %d to send and %d to receive, want twice %d", end.SndbufBytes, end.RcvbufBytes, window)
		}
		if end.Sends && end.Info.SndWnd > 2*window {
			t.Errorf("the receiver offers %d bytes of a buffer of %d", end.Info.SndWnd, 2*window)
		}
	}
}

// TestBuffersApart: each end has the buffer that is for it, and tunes the other
// by itself.
func TestBuffersApart(t *testing.T) {
	const send, receive = 60 << 10, 50 << 10
	for _, writes := range []bool{true, false} {
		sender, receiver := engine(t, platform), engine(t, platform)
		request := message.FlowRequest{Spec: flow.Spec{Window: 40 << 10, SendBuffer: send, ReceiveBuffer: receive,
			RateCap: 50e6}}
		if writes {
			join(t, sender, receiver, loopback, requests(1, request), true)
		} else {
			join(t, receiver, sender, loopback, requests(1, request), false)
		}
		start(time.Hour, sender, receiver)
		moved(t, receiver)
		s, r := sender.Read()[0], receiver.Read()[0]
		if s.SndbufBytes != 2*send || s.RcvbufBytes != 2*40<<10 || r.RcvbufBytes != 2*receive ||
			r.SndbufBytes != 2*40<<10 {
			t.Errorf("the sender has %d and %d, the receiver %d and %d", s.SndbufBytes, s.RcvbufBytes, r.SndbufBytes,
				r.RcvbufBytes)
		}
	}
}

func TestNoDelayAndSource(t *testing.T) {
	yes := true
	from := netip.MustParseAddr("127.0.0.9")
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback,
		requests(3, message.FlowRequest{Local: from, Spec: flow.Spec{NoDelay: &yes, RateCap: 20e6}}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	for _, end := range sender.Read() {
		if end.Local.Addr() != from || end.Local.Port() == 0 {
			t.Errorf("%s comes from %s, want %s", end.ID, end.Local, from)
		}
	}
}
