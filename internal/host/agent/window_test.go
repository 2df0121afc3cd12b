package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"linerate/internal/host/counters"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// here is an agent without a conductor.
func here(t *testing.T) *agent {
	t.Helper()
	reader, err := counters.New()
	if errors.Is(err, errors.ErrUnsupported) {
		kerneltest.Skip(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	a := &agent{node: "h1", reader: reader}
	t.Cleanup(a.closeEngine)
	return a
}

// windowFrom is a window that begins at an instant and lasts so long.
func windowFrom(start int64, lasts time.Duration) message.WindowRequest {
	return message.WindowRequest{StartNs: start, BeginNs: start + 1e6, EndNs: start + int64(lasts), StopNs: start +
		int64(lasts) + 1e6}
}

// TestLateWindow: what comes too late is said to be, and begins nothing.
func TestLateWindow(t *testing.T) {
	a := here(t)
	const late = int64(time.Second)
	asked := sched.Now()
	reply, err := a.window(t.Context(), windowFrom(asked-late, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if reply.LateNs < late || reply.LateNs > late+sched.Now()-asked {
		t.Errorf("late by %d ns, want %d and what the call took", reply.LateNs, late)
	}
	if a.engine != nil || reply.Reading.Host != "" {
		t.Errorf("a late request began something: %+v", reply)
	}
}

// TestBusyWindow: a window of which half has passed before its begin is read is not measured.
func TestBusyWindow(t *testing.T) {
	a := here(t)
	for _, ahead := range []time.Duration{100 * time.Millisecond, 5 * time.Second} {
		r := windowFrom(sched.Now()+int64(ahead), time.Millisecond)
		r.EndNs = r.BeginNs + 2 // no clock is read within a nanosecond
		reply, err := a.window(t.Context(), r)
		if err != nil || reply.LateNs <= 0 || reply.BeginFlows != nil || reply.Reading.Host != "" {
			t.Errorf("%+v, %v: want that it was late, and nothing else", reply, err)
		}
	}
}

// TestClosedWindow: a window ends with its trial, not an hour later.
func TestClosedWindow(t *testing.T) {
	a := here(t)
	ended := make(chan error, 1)
	go func() {
		_, err := a.window(t.Context(), windowFrom(sched.Now()+int64(time.Minute), time.Hour))
		ended <- err
	}()
	kerneltest.Await(t, "the window waits to begin", func() bool {
		a.engineMu.Lock()
		defer a.engineMu.Unlock()
		return a.engine != nil
	})
	if _, err := a.close(context.Background(), struct{}{}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, errClosed) {
			t.Errorf("%v, want %v", err, errClosed)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the window goes on after its trial was closed")
	}
}

// TestWindowRuns: one in time is carried out to its end.
func TestWindowRuns(t *testing.T) {
	a := here(t)
	var r message.WindowRequest
	var reply message.WindowReply
	// A busy machine may ask too late once, but not with seconds to spare.
	for _, ahead := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
		r = windowFrom(sched.Now()+int64(ahead), 20*time.Millisecond)
		var err error
		if reply, err = a.window(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if reply.LateNs == 0 {
			break
		}
	}
	if reply.LateNs > 0 {
		t.Fatalf("a window that was asked for 5 s ahead counts as %d ns late", reply.LateNs)
	}
	if reply.Reading.Begin.BeganNs < r.BeginNs || reply.Reading.End.BeganNs < r.EndNs || sched.Now() < r.StopNs {
		t.Errorf("read before it was due: %+v", reply.Reading)
	}
}
