package datagram

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// movers are tested alike.
var movers = map[string]backend{"portable": portable, "platform": platform}

// settled waits until senders have stopped and the rest has arrived.
func settled(t *testing.T, stop int64, to *Engine) {
	t.Helper()
	sched.SleepUntil(stop)
	var before int64
	eventually(t, "nothing arrives any more", func() bool {
		received, _ := to.Moved()
		still := received == before
		before = received
		time.Sleep(20 * time.Millisecond)
		return still && sched.Now() > stop
	})
}

// TestFlow: what the one end sends the other receives, whichever opened the flow,
// of whatever size and in whatever mode; and each of them says the same of it.
func TestFlow(t *testing.T) {
	for name, m := range movers {
		for _, openerSends := range []bool{true, false} {
			for _, request := range []message.FlowRequest{
				{}, {Spec: flow.Spec{Datagram: 16}}, {Spec: flow.Spec{Datagram: 64}}, {Spec: flow.Spec{Datagram: 1448}},
				{Spec: flow.Spec{Datagram: 65507}},
				{Spec: flow.Spec{Datagram: 64, Mode: flow.ModeSendmmsg}},
				{Spec: flow.Spec{Datagram: 1448, Mode: flow.ModeCopy}},
				{Spec: flow.Spec{Datagram: 1448, Window: 1 << 20}},
			} {
				request.RateCap = 5e6
				t.Run(fmt.Sprintf("%s/opener sends %v/%d bytes %s", name, openerSends, request.Datagram, request.Mode),
					func(t *testing.T) {
						t.Parallel() // it mostly waits
						opener, acceptor := engine(t, m), engine(t, m)
						join(t, opener, acceptor, loopback, requests(2, request), openerSends)
						_, stop := start(250*time.Millisecond, opener, acceptor)
						from, to := opener, acceptor
						if !openerSends {
							from, to = to, from
						}
						settled(t, stop, to)
						sent, got := from.Read(), to.Read()
						for i := range sent {
							s, r := sent[i], got[i]
							if !s.Alive || !r.Alive || s.Error != nil || r.Error != nil || !s.Sends || r.Sends {
								t.Errorf("alive: %v %q, %v %q", s.Alive, s.Error, r.Alive, r.Error)
							}
							if s.Datagrams.Sent < 1 || r.Datagrams.Received != s.Datagrams.Sent ||
								r.Datagrams.Lost != 0 ||
								r.Datagrams.Duplicates != 0 {
								t.Errorf("sent %+v, received %+v", s.Datagrams, r.Datagrams)
							}
							if request.Datagram != 0 && s.Datagrams.Bytes != int(request.Datagram) {
								t.Errorf("datagrams of %d bytes, requested were %d", s.Datagrams.Bytes,
									request.Datagram)
							}
							if want := s.Datagrams.Sent * int64(s.Datagrams.Bytes); s.WrittenBytes != want ||
								r.ReceivedBytes != want {
								t.Errorf("written %d, received %d, want %d", s.WrittenBytes, r.ReceivedBytes, want)
							}
							if d := r.Datagrams.Delay; d == nil || d.Count < 1 || d.Count > r.Datagrams.Received {
								t.Errorf("delays of %d datagrams: %+v", r.Datagrams.Received, d)
							}
							if strings.Contains(s.ModeNote, "given up") != (s.Datagrams.Skipped > 0) ||
								!strings.Contains(s.ModeNote, "paced") || s.Datagrams.Lateness == nil || s.Mode == "" ||
								r.Mode == "" || s.Local.Port() == 0 {
								t.Errorf("modes %q and %q, note %q, at %s", s.Mode, r.Mode, s.ModeNote, s.Local)
							}
							if r.Datagrams.BufferBytes <= 0 || (request.Window != 0) != (r.RcvbufBytes != 0) {
								t.Errorf("buffer %d, %d", r.Datagrams.BufferBytes, r.RcvbufBytes)
							}
						}
					})
			}
		}
	}
}

// TestPaced: a sender keeps to its rate on the whole, however late its waits end.
func TestPaced(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 8e6, Datagram: 1000}}),
		true)
	at, stop := start(500*time.Millisecond, sender, receiver)
	settled(t, stop, receiver)
	// One each millisecond, the first at the start. What was left out is reported.
	due := (stop - at) / 1e6
	sent := sender.Read()[0].Datagrams.Sent + sender.All()[0].tally.skipped.Load()
	if sent > due+1 || sent < due-int64(flow.MaxLate/time.Millisecond) {
		t.Errorf("%d datagrams were sent or left out, due were %d", sent, due)
	}
	if n := sender.Read()[0].Datagrams.Sent; n > due+1 {
		t.Errorf("%d datagrams were sent, due were %d", n, due)
	}
}

// TestBusyWithoutWaits: of a sender that never waits, too, the time of each call counts as
// soon as it has returned.
func TestBusyWithoutWaits(t *testing.T) {
	var counted tally
	var s flowset.Signals
	s.Stop.Store(math.MaxInt64)
	w := &slowWriter{}
	w.sending = func() {
		if least := int64(w.calls) * int64(callTime); counted.busy.Load() < least {
			t.Errorf("after %d calls: busy %d ns, want at least %d", w.calls, counted.busy.Load(), least)
		}
		s.Quit.Store(w.calls == 3)
	}
	r := &sender{out: w, data: make([]byte, 64), bytes: 64}
	if v, _, err := r.step(-1, &counted, &s); v != stepDone || err != nil {
		t.Errorf("verdict %d, %v; want the end", v, err)
	}
}

// slowWriter takes what it is given, callTime later.
type slowWriter struct {
	packetWriter
	calls   int
	sending func() // before each call
}

const callTime = time.Millisecond

func (w *slowWriter) send(_, n int) (int, error) {
	w.sending()
	time.Sleep(callTime)
	w.calls++
	return n, nil
}

func (*slowWriter) room() int  { return 1 }
func (*slowWriter) batch() int { return 1 }

// TestNoRemote: a flow without an address to connect to fails with why.
func TestNoRemote(t *testing.T) {
	e := engine(t, platform)
	if o := e.Connect(t.Context(), []message.FlowRequest{{ID: "f"}}, patience)[0]; !strings.Contains(o.Error.Error(),
		"no remote address") {
		t.Errorf("connected to nowhere: %+v", o)
	}
}

// TestSourcePort: a port to connect from is kept to, and may serve flows to
// several places, each of which gets its own datagrams (others would be no flow's),
// but not two to the same.
func TestSourcePort(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	probe, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	port := probe.LocalAddr().(*net.UDPAddr).AddrPort().Port() // free again in a moment
	probe.Close()
	join(t, receiver, sender, loopback,
		requests(3, message.FlowRequest{Local: loopback, LocalPort: port, Spec: flow.Spec{RateCap: 1e6}}), false)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	var remotes []netip.AddrPort
	for i, end := range receiver.Read() {
		remotes = append(remotes, receiver.All()[i].Request.Remote)
		if end.Local.Port() != port {
			t.Errorf("%s is at %s, want port %d", end.ID, end.Local, port)
		}
	}
	twice := requests(2, message.FlowRequest{Local: loopback, LocalPort: port, Remote: remotes[0]})
	if o := engine(t, platform).Connect(t.Context(), twice, 50*time.Millisecond); !strings.Contains(o[1].Error.Error(),
		"same two ends") {
		t.Errorf("two flows between the same two ends: %+v", o)
	}
}

// TestClosed: a closed engine takes no requests, and keeps its counts.
func TestClosed(t *testing.T) {
	sender, receiver := engine(t, platform), engine(t, platform)
	join(t, sender, receiver, loopback, requests(1, message.FlowRequest{Spec: flow.Spec{RateCap: 1e6}}), true)
	start(time.Hour, sender, receiver)
	moved(t, receiver)
	sender.Close()
	receiver.Close()
	receiver.Close()
	if end := receiver.Read()[0]; end.Alive || end.Error.Error() != "closed" || end.ReceivedBytes == 0 {
		t.Errorf("after closing: %+v", end)
	}
	if l := receiver.Listen(t.Context(), requests(1, message.FlowRequest{}))[0]; l.Error == nil {
		t.Errorf("a closed engine listens: %+v", l)
	}
	if o := sender.Connect(t.Context(),
		requests(1, message.FlowRequest{Remote: netip.MustParseAddrPort("127.0.0.1:9")}), patience)[0]; o.Error == nil {
		t.Errorf("a closed engine connects: %+v", o)
	}
}
