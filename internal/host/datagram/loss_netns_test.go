//go:build linux && !portable

package datagram

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// qdisc is what tc(8) says of loopback's queue.
func qdisc(t *testing.T) (drops, overlimits int64) {
	t.Helper()
	var all []struct {
		Kind              string
		Drops, Overlimits int64
	}
	if err := json.Unmarshal([]byte(kerneltest.Do(t, "tc", "-s", "-j", "qdisc", "show", "dev", "lo")),
		&all); err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		if q.Kind == "tbf" {
			return q.Drops, q.Overlimits
		}
	}
	t.Fatal("loopback has no token bucket")
	return 0, 0
}

// bufferErrors is how often some socket here had no room.
func bufferErrors(t *testing.T) int64 {
	t.Helper()
	counters, err := proc.Proc{}.SNMP()
	if err != nil {
		t.Fatal(err)
	}
	return counters["Udp.RcvbufErrors"]
}

// TestLossInTheNetwork: what a full queue on the path dropped is what the
// receiver counts as lost, and nothing of it was lost in its buffer; over IPv4 and
// IPv6, in whatever mode datagrams are sent.
func TestLossInTheNetwork(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up", "mtu", "1500")
		// Too little burst for a packet of several segments: these are cut here, and
		// each counts when it is dropped.
		kerneltest.Do(t, "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "8mbit", "burst", "1600",
			"limit", "20000")
		for _, at := range []string{"127.0.0.1", "::1"} {
			for _, mode := range []string{flow.ModeGSO, flow.ModeSendmmsg, flow.ModeCopy} {
				before, _ := qdisc(t)
				sender, receiver := engine(t, platform), engine(t, platform)
				join(t, sender, receiver, netip.MustParseAddr(at),
					requests(1, message.FlowRequest{Spec: flow.Spec{Mode: mode, RateCap: 16e6}}), true)
				_, stop := start(300*time.Millisecond, sender, receiver)
				settled(t, stop, receiver)
				drops, _ := qdisc(t)
				drops -= before
				s, r := sender.Read()[0].Datagrams, receiver.Read()[0].Datagrams
				if s.Sent != r.Received+drops || drops < s.Sent/10 {
					t.Errorf("%s, %s: %d sent, %d received, and the queue dropped %d", at, mode, s.Sent,
						r.Received, drops)
				}
				// Those after the last that arrived are not known to be missing.
				if tail := drops - r.Lost; tail < 0 || tail > s.Sent/10 {
					t.Errorf("%s, %s: %d lost of %d dropped", at, mode, r.Lost, drops)
				}
				if r.LostInBuffer != 0 || r.Duplicates != 0 || r.Reordered != 0 {
					t.Errorf("%s, %s: %+v", at, mode, r)
				}
				if want := map[string]int{"127.0.0.1": 1472, "::1": 1452}[at]; s.Bytes != want || s.MTU != 1500 {
					t.Errorf("%s: datagrams of %d bytes at an MTU of %d, want %d", at, s.Bytes, s.MTU, want)
				}
				sender.Close()
				receiver.Close()
			}
		}
	})
}

// TestMTUOfTheReading: the path's MTU is that which the kernel knows at the reading; routers with
// a smaller one report it to the first datagrams.
func TestMTUOfTheReading(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up", "mtu", "1500")
		sender, receiver := engine(t, platform), engine(t, platform)
		join(t, sender, receiver, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 16e6}}), true)
		kerneltest.Do(t, "ip", "link", "set", "lo", "mtu", "1400")
		_, stop := start(50*time.Millisecond, sender, receiver)
		settled(t, stop, receiver)
		if s := sender.Read()[0].Datagrams; s.Bytes != 1472 || s.MTU != 1400 {
			t.Errorf("datagrams of %d bytes at an MTU of %d", s.Bytes, s.MTU)
		}
	})
}

// TestLossInTheBuffer: what this host's own socket had no room for is counted apart from
// what the network lost, and is what the kernel counts.
func TestLossInTheBuffer(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		sender, receiver := engine(t, platform), engine(t, platform)
		// The smallest buffer there is, and bursts that are larger.
		join(t, sender, receiver, loopback,
			requests(1, message.FlowRequest{Spec: flow.Spec{Mode: flow.ModeSendmmsg, Datagram: 1000, RateCap: 400e6,
				ReceiveBuffer: 1}}), true)
		_, stop := start(100*time.Millisecond, sender, receiver)
		settled(t, stop, receiver)
		s, r := sender.Read()[0].Datagrams, receiver.Read()[0].Datagrams
		missing := s.Sent - r.Received
		if r.Lost < 1 || r.LostInBuffer != r.Lost || r.Lost > missing {
			t.Errorf("sent %+v, received %+v", s, r)
		}
		if counted := bufferErrors(t); counted != missing {
			t.Errorf("%d are missing, and the kernel counts %d for which there was no room", missing, counted)
		}
		if r.BufferBytes <= 0 || r.BufferBytes > 65536 {
			t.Errorf("a receive buffer of %d bytes", r.BufferBytes)
		}
	})
}

// TestFragments: datagrams larger than the MTU go out in packets, and the kernel is
// not asked to cut them.
func TestFragments(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up", "mtu", "1500")
		for _, at := range []string{"127.0.0.1", "::1"} {
			sender, receiver := engine(t, platform), engine(t, platform)
			join(t, sender, receiver, netip.MustParseAddr(at),
				requests(1, message.FlowRequest{Spec: flow.Spec{Datagram: 9000, RateCap: 10e6}}), true)
			_, stop := start(100*time.Millisecond, sender, receiver)
			settled(t, stop, receiver)
			s, r := sender.Read()[0], receiver.Read()[0]
			if s.Datagrams.Sent < 1 || r.Datagrams.Received != s.Datagrams.Sent || s.Mode != flow.ModeSendmmsg ||
				s.ModeNote == "" {
				t.Errorf("%s: %+v by %s (%s), received %+v", at, s.Datagrams, s.Mode, s.ModeNote, r.Datagrams)
			}
			sender.Close()
			receiver.Close()
		}
	})
}
