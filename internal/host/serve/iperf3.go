package serve

import (
	"errors"
	"fmt"
	"net/netip"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/agent"
	"linerate/internal/host/budget"
	iperf3 "linerate/internal/host/iperf3/server"
)

// Iperf3 is the port for iperf3 clients, and says who may use it.
type Iperf3 struct {
	Listener *iperf3.Listener
	// Users are those who may run tests with a password; nil: any client may, or none
	// if the server requires a token.
	Users *iperf3.Users
}

// serveIperf3 serves iperf3 clients, which count as others do.
func (s *server) serveIperf3() {
	closed := ""
	if s.options.Token != "" && s.options.Iperf3.Users == nil {
		closed = "the server requires a token, which iperf3 cannot send"
	}
	// It ends with the server; before that, nothing ends it.
	_ = iperf3.Serve(s.ctx, s.options.Iperf3.Listener, iperf3.Options{
		Allowed: s.access.AllowsFrom,
		Admit:   s.admitIperf3, Pending: s.pending, Guesses: &s.guesses,
		Bounds: s.options.Bounds, Users: s.options.Iperf3.Users, Closed: closed,
		Linerate:  s.linerateElsewhere(closed == ""),
		OnSession: s.reportIperf3,
	})
}

// admitIperf3 accepts an iperf3 client with its streams.
func (s *server) admitIperf3(c iperf3.Client, from netip.Addr, streams budget.Use) (dismiss func(), err error) {
	account, err := s.budget.Admit(from)
	if err != nil {
		return nil, err
	}
	if err := account.Lease().Take(streams); err != nil {
		account.Close()
		return nil, err
	}
	s.add(c)
	return func() {
		s.remove(c)
		account.Close()
	}, nil
}

// reportIperf3 reports a test as a conductor's last window is reported.
func (s *server) reportIperf3(v iperf3.Session) {
	session := Session{From: v.From, Program: "iperf3", Version: v.Version, Began: v.Began, Err: v.Err}
	refused, ok := errors.AsType[iperf3.Refused](v.Err)
	switch {
	case v.RanS > 0:
		session.Summary = agent.Summary{Windows: 1, WindowS: v.RanS, Flows: v.Flows, Received: v.Received,
			Written: v.Sent}
	case ok:
		session.Err = greeting.Refused{Reason: refused.Reason}
	}
	s.report(session)
}

// linerateElsewhere is why a client of linerate is refused at the port for those of iperf3.
func (s *server) linerateElsewhere(open bool) string {
	text := fmt.Sprintf("port %d is for iperf3 clients; linerate's is %d: linerate measure ADDRESS:%[2]d",
		s.options.Iperf3.Listener.Addr().Port, s.port)
	if open {
		text += ", or as an iperf3 client: linerate measure --iperf3 ADDRESS"
	}
	return text
}

// iperf3Elsewhere is why an iperf3 client is refused at linerate's own port.
func (s *server) iperf3Elsewhere() string {
	if s.options.Iperf3 == nil {
		return "an iperf3 client, and none are answered here: linerate serve --iperf3 :5201 does"
	}
	return fmt.Sprintf("an iperf3 client at linerate's port; it is answered at port %d: iperf3 -c ADDRESS -p %[1]d",
		s.options.Iperf3.Listener.Addr().Port)
}
