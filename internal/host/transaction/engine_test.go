package transaction

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// TestTransactions: whatever the sizes, the connections and the threads, what is
// asked is answered, and both ends count the same.
func TestTransactions(t *testing.T) {
	for _, request := range []message.FlowRequest{
		{},
		{Spec: flow.Spec{Connections: 7}},
		{Spec: flow.Spec{Connections: 7, Threads: 3}},
		{Spec: flow.Spec{Connections: 2, Threads: 2}},
		{Spec: flow.Spec{Request: 100_000, Response: 300_000}},
		{Spec: flow.Spec{Request: 100_000, Response: 300_000, Connections: 5}},
		{Spec: flow.Spec{Request: 10, Response: 3_000_000, Connections: 3, Window: 20_000}},
		{Spec: flow.Spec{Pace: 500}},
		{Spec: flow.Spec{Pace: 500, Connections: 20, Threads: 2}},
		{Spec: flow.Spec{Poll: new(true)}},
		{Spec: flow.Spec{Poll: new(false)}},
		{Spec: flow.Spec{Poll: new(true), Connections: 3}},
		{Spec: flow.Spec{Poll: new(true), Pace: 500}},
		{Spec: flow.Spec{Follow: new(true)}},
		{Spec: flow.Spec{Follow: new(true), Pace: 500}},
		{Spec: flow.Spec{Protocol: flow.UDPRR}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Follow: new(true)}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 7}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 7, Threads: 3, Request: 3, Response: 2}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Connections: 2, Threads: 2, Request: 64, Response: 64}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Request: flow.MaxDatagramBytes, Response: flow.MaxDatagramBytes}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Request: 10, Response: 20_000, Connections: 5, Window: 20_000}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Pace: 500}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Pace: 500, Connections: 20, Threads: 2}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Poll: new(true)}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Poll: new(true), Connections: 3}},
		{Spec: flow.Spec{Protocol: flow.UDPRR, Poll: new(true), Pace: 500}},
		{Spec: flow.Spec{Protocol: flow.CRR}},
		{Spec: flow.Spec{Protocol: flow.CRR, Poll: new(true)}},
		{Spec: flow.Spec{Protocol: flow.CRR, Follow: new(true)}},
		{Spec: flow.Spec{Protocol: flow.CRR, Connections: 9, Threads: 2}},
		{Spec: flow.Spec{Protocol: flow.CRR, Connections: 3, Request: 100_000, Response: 300_000}},
		{Spec: flow.Spec{Protocol: flow.CRR, Pace: 500, Connections: 3}},
	} {
		name := fmt.Sprintf("%s %d×%d, %d, %d, pace %g, poll %t, follow %t", request.Protocol, request.Connections,
			request.Threads,
			request.Request, request.Response, request.Pace, flow.On(request.Poll), flow.On(request.Follow))
		t.Run(name, func(t *testing.T) {
			asker, responder := engine(t), engine(t)
			if refused(t, request) {
				return
			}
			join(t, asker, responder, requests(1, request))
			length := 150 * time.Millisecond
			if request.Response > 1e6 {
				length *= 4 // the first answers of several connections end at about the same time
			}
			w := window(length, asker, responder)
			sched.SleepUntil(w.EndNs)
			first := int64(0) // the probe before the first transaction
			if request.Protocol == flow.CRR {
				first = 1
			}
			// A paced flow makes up for what it was late with: between two of its requests,
			// none may be waiting.
			requestSize, responseSize := int64(max(1, request.Request)), int64(max(1, request.Response))
			var asked, answered message.FlowEnd
			eventually(t, "every transaction is done", func() bool {
				asked, answered = asker.Read()[0], responder.Read()[0]
				done := asked.Transactions.Done
				closed := first == 0 || asked.Transactions.Connections == 0 // of crr, a moment after its transaction
				return closed && asked.Transactions.Waiting == 0 && answered.Transactions.Done == done+first &&
					asked.WrittenBytes == done*requestSize
			})
			got := asked.Transactions
			t.Logf("%d done, %d in the window, %+v", got.Done, got.Latency.Count, got.Latency.P50Us)
			if got.Done == 0 || got.Failed+got.Unanswered+got.Late != 0 ||
				got.Connections != (1-first)*int64(max(1, request.Connections)) {
				t.Errorf("%+v", got)
			}
			if got.Latency.Count == 0 || got.Latency.Count > got.Done {
				t.Errorf("%d times of %d transactions", got.Latency.Count, got.Done)
			}
			for _, bytes := range [][2]int64{
				{asked.WrittenBytes, got.Done * requestSize},
				{answered.ReceivedBytes, (got.Done + first) * requestSize},
				{asked.ReceivedBytes, got.Done * responseSize},
				{answered.WrittenBytes, (got.Done + first) * responseSize},
			} {
				if bytes[0] != bytes[1] {
					t.Errorf("%d bytes, want %d: %+v, %+v", bytes[0], bytes[1], asked, answered)
				}
			}
			if asked.Error != nil || answered.Error != nil || !asked.Alive || !answered.Alive {
				t.Errorf("%q, %q", asked.Error, answered.Error)
			}
			alone := request.Connections <= max(1, request.Threads) && request.Poll == nil && !flow.On(request.Follow)
			if !alone && got.Spun+answered.Transactions.Spun != 0 || netlink.Available && got.Wait != map[bool]string{
				false: record.WaitSleep, true: record.WaitPoll}[flow.On(request.Poll)] {
				t.Errorf("%d responses and %d requests came while threads spun, wait %q", got.Spun,
					answered.Transactions.Spun, got.Wait)
			}
			if flow.On(request.Follow) != (strings.HasPrefix(asked.ModeNote, "asks on CPU ") &&
				strings.HasPrefix(answered.ModeNote, "responds on CPU ")) {
				t.Errorf("%q, %q", asked.ModeNote, answered.ModeNote)
			}
			if request.Pace > 0 && (got.Done < 60 || got.Done > 76) {
				t.Errorf("%d transactions in 150 ms at %g/s", got.Done, request.Pace)
			}
		})
	}
}

// TestShorten: a flow whose window is cut begins nothing after the new stop, and has its
// latencies.
func TestShorten(t *testing.T) {
	for _, spec := range []flow.Spec{{}, {Connections: 3}, {Protocol: flow.CRR}, {Protocol: flow.UDPRR}} {
		spec.Pace = 1000
		asker, responder := engine(t), engine(t)
		join(t, asker, responder, requests(1, message.FlowRequest{Spec: spec}))
		shorten(t, asker, responder, spec.Pace)
	}
}

// shorten starts a flow of a pace, cuts its window and verifies what TestShorten says.
func shorten(t *testing.T, asker, responder *Engine, pace float64) {
	t.Helper()
	w := window(time.Hour, asker, responder)
	sched.SleepUntil(w.BeginNs + int64(50*time.Millisecond))
	stop := sched.Now() + int64(50*time.Millisecond)
	for _, e := range []*Engine{asker, responder} {
		e.Shorten(stop, stop)
	}
	sched.SleepUntil(stop + int64(100*time.Millisecond))
	eventually(t, "there are latencies", func() bool {
		return tally(asker).Latency != nil &&
			tally(asker).Waiting == 0
	})
	if got, due := tally(asker).Done, 1+int64(float64(stop-w.StartNs)/1e9*pace); got > due {
		t.Errorf("%d transactions, where %d are due before the stop", got, due)
	}
}
