package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

const (
	// drain is how long End waits for data in flight, so that both ends' counts are comparable.
	drain = 2 * time.Second
	// quiet is the time without arrivals after which everything has arrived.
	quiet = 100 * time.Millisecond
	// unread is how long a server may take to read what its kernel has acknowledged.
	unread = 50 * time.Millisecond
	// last is how long the server may take to close the connection.
	last = time.Second
)

// end tells the server that the test has ended.
func (t *Test) end() {
	t.settleWrites()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.ending || t.failure != nil {
		return
	}
	t.ending, t.elapsed = true, sched.Now()-t.began
	t.unsaid = iperf3.WriteState(t.control, iperf3.TestEnd)
	close(t.ended)
}

// End waits for the end of the test, which Start has scheduled, and exchanges results with the server.
func (t *Test) End(ctx context.Context) (message.Iperf3Closed, error) {
	defer context.AfterFunc(ctx, t.terminate)()
	select {
	case <-t.ended:
	case <-t.broken:
		return message.Iperf3Closed{}, t.Err()
	case <-ctx.Done():
		return message.Iperf3Closed{}, context.Cause(ctx)
	case <-time.After(drain + t.timeout()):
		return message.Iperf3Closed{}, errors.New("the test was never started, or was closed")
	}
	t.mu.Lock()
	unsaid, elapsed := t.unsaid, t.elapsed
	t.mu.Unlock()
	if unsaid != nil {
		return message.Iperf3Closed{}, t.refused("while the test ran", heard{err: unsaid})
	}
	// The server closes its streams before it asks for results.
	if err := t.expect(ctx, iperf3.ExchangeResults, "after the test's end"); err != nil {
		return message.Iperf3Closed{}, err
	}
	t.settleReads()
	ends := t.flows.Read()
	closed := message.Iperf3Closed{OmitS: float64(t.params.Omit)}
	for _, e := range ends {
		closed.Totals = append(closed.Totals, total(e))
	}
	if err := iperf3.WriteJSON(t.control, t.results(ends, elapsed)); err != nil {
		return closed, t.refused("after the test's end", heard{err: err})
	}
	if err := t.control.SetReadDeadline(time.Now().Add(t.timeout())); err != nil {
		return closed, err
	}
	if err := iperf3.ReadJSON(t.control, iperf3.MaxResultsBytes, &closed.Results); err != nil {
		return closed, t.refused("after it was sent our results", heard{err: err})
	}
	if err := t.understand(&closed); err != nil {
		return closed, fmt.Errorf("the results of the iperf3 server at %s: %w", t.server, err)
	}
	if h := t.hear(t.timeout()); h.state != iperf3.DisplayResults || h.err != nil {
		return closed, t.refused("after it sent its results", h)
	}
	t.leave()
	return closed, nil
}

// expect waits for one state from the listener.
func (t *Test) expect(ctx context.Context, want iperf3.State, when string) error {
	limit := time.NewTimer(t.timeout())
	defer limit.Stop()
	select {
	case h := <-t.heard:
		if h.err == nil && h.state == want {
			return nil
		}
		return t.refused(when, h)
	case <-limit.C:
		return fmt.Errorf("the iperf3 server at %s sent nothing for %v %s", t.server, t.timeout(), when)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settleWrites waits until all written data is acknowledged and read. The server counts until it receives
// TEST_END.
func (t *Test) settleWrites() {
	if t.request.Writes > 0 {
		defer time.Sleep(unread)
	}
	until(drain, func() bool {
		for _, e := range t.flows.Read() {
			if e.Sends && e.Alive && e.UnsentBytes > 1 { // a FIN counts as one byte
				return false
			}
		}
		return true
	})
}

// settleReads waits until nothing more arrives. It waits for the end of each TCP stream, which may be silent
// for long before, between two retransmissions; UDP streams have no end, so it waits for a while without
// datagrams.
func (t *Test) settleReads() {
	if t.request.Reads == 0 {
		return
	}
	before, _ := t.flows.Moved()
	since := time.Now()
	until(drain, func() bool {
		streams := false
		for _, e := range t.flows.Read() {
			if e.Sends || !e.Alive || e.Info == nil {
				continue
			}
			streams = true
			if e.Info.State == netstate.TCPEstablished || e.UnreadBytes > 0 {
				return false
			}
		}
		if now, _ := t.flows.Moved(); now != before {
			before, since = now, time.Now()
		}
		return streams || time.Since(since) > quiet
	})
}

// until calls done every few milliseconds until it returns true or limit has passed.
func until(limit time.Duration, done func() bool) {
	for end := time.Now().Add(limit); !done() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

// results returns what this side has counted since the window began.
func (t *Test) results(ends []message.FlowEnd, elapsed int64) *iperf3.Results {
	seconds := float64(elapsed) / 1e9
	r := iperf3.NewResults(iperf3.UsedCPU().Since(t.cpu), seconds)
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, e := range ends {
		s := iperf3.CountOf(e).Result(iperf3.StreamID(n), t.omitted[e.ID], max(seconds-float64(t.params.Omit), 1e-3))
		r.Add(s, e.Sends, e.CongestionControl)
	}
	return r
}

// leave sends Done and waits a moment for the server to close first, as iperf3 does.
func (t *Test) leave() {
	t.mu.Lock()
	over := t.over
	t.over = true
	t.mu.Unlock()
	if over {
		return
	}
	defer t.control.Close()
	if iperf3.WriteState(t.control, iperf3.Done) != nil {
		return
	}
	_ = t.control.CloseWrite()
	_ = t.control.SetReadDeadline(time.Now().Add(last))
	_, _ = io.Copy(io.Discard, io.LimitReader(t.control, 1<<10))
}
