package agent

import (
	"context"
	"errors"

	"linerate/internal/host/iperf3/client"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// A trial's flows may have an iperf3 server at their other end. The agent agrees
// with it in place of another agent; the window is its own affair as always.

// openIperf3 opens the flows of a trial.
func (a *agent) openIperf3(ctx context.Context, request message.Iperf3Request) (message.Iperf3Opened, error) {
	if name := request.Flow.CongestionControl; name != "" {
		if err := socket.TryCongestionControl(ctx, name); err != nil {
			return message.Iperf3Opened{}, err
		}
	}
	test, opened, err := client.Open(ctx, request)
	if err != nil {
		return opened, err
	}
	engine := a.trial()
	if err := engine.Include(test); err != nil {
		test.Close()
		return opened, err
	}
	a.engineMu.Lock()
	a.test = test
	a.engineMu.Unlock()
	go func() {
		select {
		case <-test.Broken():
			engine.Close() // ends a window
		case <-engine.Closed():
		}
	}()
	return opened, nil
}

// endIperf3 ends the test after the window.
func (a *agent) endIperf3(ctx context.Context, _ struct{}) (message.Iperf3Closed, error) {
	a.engineMu.Lock()
	test := a.test
	a.engineMu.Unlock()
	if test == nil {
		return message.Iperf3Closed{}, errors.New("no test with an iperf3 server is in progress")
	}
	return test.End(ctx)
}

// broken is why a window was closed, if an iperf3 server has ended the test.
func (a *agent) broken(err error) error {
	a.engineMu.Lock()
	defer a.engineMu.Unlock()
	if a.test != nil && errors.Is(err, errClosed) {
		if why := a.test.Err(); why != nil {
			return why
		}
	}
	return err
}
