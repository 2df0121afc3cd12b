package transaction

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/host/handshake/handshaketest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// across connects an asker to a responder by a path that does with datagrams what fate
// says.
func across(t *testing.T, request message.FlowRequest, fate func(back bool, n int) handshaketest.Fate) (asker,
	responder *Engine) {
	t.Helper()
	asker, responder = engine(t), engine(t)
	request.ID, request.Protocol, request.Local = "f1", flow.UDPRR, loopback
	l := responder.Listen(context.Background(), []message.FlowRequest{request})[0]
	if l.Error != nil {
		t.Fatal(l.Error)
	}
	request.Remote = handshaketest.Relay(t, l.Local, fate)
	if o := asker.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	eventually(t, "the flow is open", responder.Settled)
	return asker, responder
}

// waitingModes are the modes of waiting for a response: each kind of thread.
var waitingModes = []message.FlowRequest{{}, {Spec: flow.Spec{Poll: new(true)}}, {Spec: flow.Spec{Connections: 3}},
	{Spec: flow.Spec{Connections: 3, Poll: new(true)}}, {Spec: flow.Spec{Pace: 300}},
	{Spec: flow.Spec{Pace: 300, Connections: 3}}}

// opening is how many datagrams of a flow's opening go in each direction.
func opening(request message.FlowRequest) int { return 2 * max(1, request.Connections) }

// TestLostDatagrams: a request that is lost and a response that is lost have no
// response; each is counted once, and the flow goes on.
func TestLostDatagrams(t *testing.T) {
	for _, request := range waitingModes {
		t.Run("", func(t *testing.T) {
			if refused(t, request) {
				return
			}
			t.Parallel() // it mostly waits
			from := opening(request)
			a, r := across(t, request, func(back bool, n int) handshaketest.Fate {
				if !back && n == from+10 || back && n == from+20 {
					return handshaketest.Lost
				}
				return handshaketest.Passed
			})
			window(time.Hour, a, r)
			eventually(t, "both are given up", func() bool { return tally(a).Unanswered == 2 })
			before := tally(a).Done
			eventually(t, "others follow", func() bool { return tally(a).Done > before+20 })
			asked := a.Read()[0]
			if x := asked.Transactions; x.Unanswered != 2 || x.Late != 0 || x.Failed != 0 || !asked.Alive ||
				asked.Error != nil {
				t.Errorf("%+v: %+v", asked, x)
			}
			a.Close() // nothing is asked any more
			asked = a.Read()[0]
			// Some may be in flight, one for each connection; the responder counts when it
			// has sent.
			done, under := asked.Transactions.Done, int64(max(1, request.Connections))
			eventually(t, "the responder has counted", func() bool { return tally(r).Done > done })
			if answered := tally(r).Done; answered > done+1+under {
				t.Errorf("%d answered, %d done and one response lost", answered, done)
			}
			if asked.WrittenBytes < done+2 || asked.WrittenBytes > done+2+under || asked.ReceivedBytes != done {
				t.Errorf("%d bytes written, %d received for %d transactions of a byte", asked.WrittenBytes,
					asked.ReceivedBytes, done)
			}
		})
	}
}

// TestLateDatagrams: a response that comes when its request has been given up, and
// one that comes twice, are counted as late, and are no other request's response.
func TestLateDatagrams(t *testing.T) {
	for _, request := range waitingModes {
		t.Run("", func(t *testing.T) {
			if refused(t, request) {
				return
			}
			t.Parallel()
			from := opening(request)
			a, r := across(t, request, func(back bool, n int) handshaketest.Fate {
				switch {
				case back && n == from+10:
					return handshaketest.Fate{responseTimeout + 300*time.Millisecond}
				case back && n == from+20:
					return handshaketest.Fate{0, 0, 5 * time.Millisecond}
				}
				return handshaketest.Passed
			})
			w := window(responseTimeout+time.Second, a, r)
			eventually(t, "three come late", func() bool { return tally(a).Late == 3 })
			sched.SleepUntil(w.EndNs)
			var x record.Transactions
			eventually(t, "none is in flight, and the responder has counted", func() bool {
				x = tally(a)
				return x.Waiting == 0 && tally(r).Done == x.Done+1
			})
			if x.Unanswered != 1 || x.Late != 3 || x.Latency == nil ||
				x.Latency.MaxUs > 1e6*1.5*responseTimeout.Seconds() {
				t.Errorf("%+v", x)
			}
		})
	}
}

// TestSilence: where no response comes any more, the flow says so; and that it is
// over, when it is.
func TestSilence(t *testing.T) {
	for _, request := range []message.FlowRequest{{}, {Spec: flow.Spec{Connections: 3}}} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			var silent atomic.Bool
			a, r := across(t, request, func(back bool, n int) handshaketest.Fate {
				if back && silent.Load() {
					return handshaketest.Lost
				}
				return handshaketest.Passed
			})
			window(time.Hour, a, r)
			eventually(t, "transactions are done", func() bool { return tally(a).Done > 50 })
			silent.Store(true)
			eventually(t, "it is noticed", func() bool { return !a.Read()[0].Alive })
			if end := a.Read()[0]; !strings.Contains(end.Error.Error(), "no response to 3 requests in a row") ||
				end.Transactions.Unanswered < maxUnanswered {
				t.Errorf("%q, %+v", end.Error, end.Transactions)
			}
			silent.Store(false)
			eventually(t, "it is over", func() bool { end := a.Read()[0]; return end.Alive && end.Error == nil })
		})
	}
}

// TestLossyOpening: what is lost of the opening is said again, also where the
// responder polls.
func TestLossyOpening(t *testing.T) {
	for name, lost := range map[string]func(back bool, n int) bool{
		"hello": func(back bool, n int) bool { return !back && n < 2 }, "challenge": func(back bool, n int) bool {
			return back && n == 0
		},
		"answer": func(back bool, n int) bool { return !back && n == 1 }, "ready": func(back bool, n int) bool {
			return back && (n == 1 || n == 2)
		},
	} {
		for _, request := range waitingModes {
			t.Run(name, func(t *testing.T) {
				if refused(t, request) {
					return
				}
				t.Parallel()
				a, r := across(t, request, func(back bool, n int) handshaketest.Fate {
					if lost(back, n) {
						return handshaketest.Lost
					}
					return handshaketest.Passed
				})
				window(time.Hour, a, r)
				eventually(t, "transactions are done", func() bool { return tally(a).Done > 5 })
				if x, y := tally(a), tally(r); x.Connections != y.Connections || x.Failed+x.Unanswered != 0 {
					t.Errorf("asked %+v, answered %+v", x, y)
				}
			})
		}
	}
}

// TestSharedListenerOverUDP: sockets come with a flow's cookie to a listener that flows
// share; those with other cookies are refused, and so are more than requested.
func TestSharedListenerOverUDP(t *testing.T) {
	a, r := engine(t), engine(t)
	listener, err := handshake.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		listener.Serve(handshake.Handler{Expects: r.Expects, Accept: func(cookie message.Cookie, c handshake.Client) {
			r.Admit(cookie, c)
		}})
	})
	defer serving.Wait()
	defer listener.Close()
	threads := 1
	if netlink.Available {
		threads = 2
	}
	accepting := requests(2, message.FlowRequest{Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 5,
		Threads: threads}})
	accepting[0].Cookie, accepting[1].Cookie = message.Cookie{1}, message.Cookie{2}
	for _, l := range r.Listen(t.Context(), accepting) {
		if l.Error != nil || l.Local.IsValid() {
			t.Fatalf("%+v", l)
		}
	}
	asking := slices.Clone(accepting)
	for i := range asking {
		asking[i].Remote = listener.Addr()
	}
	for _, o := range a.Connect(t.Context(), asking, waitAtMost) {
		if o.Error != nil {
			t.Fatal(o.Error)
		}
	}
	eventually(t, "all have arrived", r.Settled)
	stranger := asking[0]
	for _, cookie := range []message.Cookie{{}, {1}, {3}} {
		stranger.Cookie, stranger.Connections = cookie, 1
		if o := engine(t).Connect(t.Context(), []message.FlowRequest{stranger},
			200*time.Millisecond)[0]; !strings.Contains(o.Error.Error(), "no answer") {
			t.Errorf("with cookie %v: %+v", cookie, o)
		}
	}
	window(time.Hour, a, r)
	eventually(t, "both flows go on", func() bool {
		ends := a.Read()
		return ends[0].Transactions.Done > 100 && ends[1].Transactions.Done > 100
	})
	for _, end := range append(a.Read(), r.Read()...) {
		if !end.Alive || end.Error != nil || end.Transactions.Connections != 5 {
			t.Errorf("%+v", end)
		}
	}
}

// TestRestrained: a responder that is held to a rate keeps to it.
func TestRestrained(t *testing.T) {
	for _, connections := range []int{1, 3} {
		a, r := engine(t), engine(t)
		// 2,000 responses of 1,000 bytes a second for each connection.
		request := requests(1, message.FlowRequest{Spec: flow.Spec{Protocol: flow.UDPRR, Connections: connections,
			Response: 1000}, Local: loopback})[0]
		capped := request
		capped.RateCap = 16e6
		request.Remote = r.Listen(t.Context(), []message.FlowRequest{capped})[0].Local
		if o := a.Connect(t.Context(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
			t.Fatal(o.Error)
		}
		w := window(500*time.Millisecond, a, r)
		sched.SleepUntil(w.EndNs)
		done, since := tally(r).Done, float64(sched.Now()-w.StartNs)/1e9
		if most := 2000*float64(connections)*since + 1; float64(done) > most || done < 20 {
			t.Errorf("%d connections: %d responses in %.3f s, at most %.0f are allowed", connections, done, since, most)
		}
	}
}

// TestSlowlyRestrained: what could not be answered within a second at the rate that is
// allowed is not answered at all, however small that is, and what is answered is not
// late.
func TestSlowlyRestrained(t *testing.T) {
	for _, rate := range []unit.BitRate{1e-12, 20_000} {
		a, r := engine(t), engine(t)
		request := requests(1, message.FlowRequest{Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 20,
			Response: 1000}, Local: loopback})[0]
		capped := request
		capped.RateCap = rate // of each connection; of all 20 together one response in 20 ms
		request.Remote = r.Listen(t.Context(), []message.FlowRequest{capped})[0].Local
		if o := a.Connect(t.Context(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
			t.Fatal(o.Error)
		}
		w := window(1500*time.Millisecond, a, r)
		sched.SleepUntil(w.EndNs)
		x := tally(a)
		t.Logf("at %s: %+v", rate, x)
		if rate < 1 && x.Done > 1 || rate > 1 && (x.Done < 10 || x.Done > 80) || x.Late > 10 {
			t.Errorf("at %s: %+v", rate, x)
		}
	}
}
