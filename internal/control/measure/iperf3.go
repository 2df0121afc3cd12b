package measure

import (
	"context"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
)

// With an iperf3 server at the other end there is one agent, this host's, and one
// window, its own. The server's results are added to the trial.

// iperf3Port is the port on which an iperf3 server listens by default.
const iperf3Port = "5201"

// serverPause is how long a server may take to be ready for the next test.
const serverPause = 300 * time.Millisecond

// iperf3Trial is one test with the server.
func (s *session) iperf3Trial(ctx context.Context) error {
	request, err := s.iperf3Request()
	if err != nil {
		return err
	}
	tests := 0
	open := func() ([]*trial.Flow, error) {
		if tests++; tests > 1 {
			time.Sleep(serverPause)
		}
		opened, err := bus.Call(ctx, s.group.Bus, record.NodeClient, message.Iperf3, request)
		s.server = opened.Server
		return s.iperf3Flows(request, opened), err
	}
	var closed message.Iperf3Closed
	t, readings, err := s.measureOpened(ctx, open, func(ctx context.Context) (_ *trial.Peer, err error) {
		closed, err = bus.Call(ctx, s.group.Bus, record.NodeClient, message.Iperf3End, struct{}{})
		return &trial.Peer{Mode: "iperf3", Counts: closed.Counts, CongestionControl: closed.CongestionControl}, err
	})
	if err == nil {
		err = s.finish(t, readings)
	}
	if err == nil {
		enterPeer(&s.trials[len(s.trials)-1], closed)
	}
	return err
}

// iperf3Request is the request to this host's agent.
func (s *session) iperf3Request() (message.Iperf3Request, error) {
	o := s.options
	at, err := Complete(o.Addresses[0], iperf3Port)
	if err != nil {
		return message.Iperf3Request{}, err
	}
	request := message.Iperf3Request{
		Server: at, WarmupNs: int64(o.Warmup), DurationNs: int64(o.Duration), TimeoutNs: int64(connectTimeout),
		Login: o.Iperf3Login,
		Flow:  message.FlowRequest{Spec: o.Flows, Local: o.source(0)},
	}
	if o.Flows.Direction != flow.Read {
		request.Writes = o.Flows.Streams
	}
	if o.Flows.Direction != flow.Write {
		request.Reads = o.Flows.Streams
	}
	return request, nil
}

// iperf3Flows are the flows as they were opened: those to the server first.
func (s *session) iperf3Flows(request message.Iperf3Request, opened message.Iperf3Opened) []*trial.Flow {
	var flows []*trial.Flow
	for i, o := range opened.Flows {
		flows = append(flows, &trial.Flow{
			Accepted: o.Remote, Opened: o.Local,
			PlannedFlow: study.PlannedFlow{
				ID: o.ID, Opener: record.NodeClient, Acceptor: record.NodeServer,
				Source: s.options.source(0), Destination: o.Remote.Addr(), OpenerSends: i < request.Writes,
				Spec: s.options.Flows,
			},
		})
	}
	return flows
}
