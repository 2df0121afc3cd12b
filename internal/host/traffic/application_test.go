//go:build linux

package traffic

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// TestApplications: transactions of every application's protocol are made and answered,
// over each kind of connection, to a listener of the flow's own and to one that flows
// share; both ends agree on how many.
func TestApplications(t *testing.T) {
	specs := []flow.Spec{
		{Protocol: flow.DNS}, {Protocol: flow.DNS, Pipeline: 8, Connections: 2, Query: "AAAA"},
		{Protocol: flow.DNSTCP, Pipeline: 8}, {Protocol: flow.DNSTCP, PerConnection: 3, Pipeline: 2},
		{Protocol: flow.DoT}, {Protocol: flow.DoT, PerConnection: 1, TLS: flow.TLSResumed},
		{Protocol: flow.HTTP, Response: 5000}, {Protocol: flow.HTTP, PerConnection: 1, Request: 3000},
		{Protocol: flow.HTTP, TLS: flow.TLSFull, Connections: 4},
		{Protocol: flow.HTTP, TLS: flow.TLSResumed, PerConnection: 2},
		{Protocol: flow.HTTP2, Pipeline: 8, Response: 20_000}, {Protocol: flow.HTTP2, TLS: flow.TLSFull,
			PerConnection: 5}, {Protocol: flow.HTTP2, Request: 100_000},
		{Protocol: flow.HTTP3, Pipeline: 4, Response: 20_000}, {Protocol: flow.HTTP3, PerConnection: 2, Request: 2000},
		{Protocol: flow.SMTP, Request: 4000}, {Protocol: flow.SMTP, TLS: flow.TLSFull, PerConnection: 2},
		{Protocol: flow.HTTP, Pace: 500, Arrivals: flow.ArrivalsPoisson, Connections: 4,
			Think: unit.Duration(time.Millisecond)},
	}
	for _, spec := range specs {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s tls %s shared %t", spec.Protocol, spec.TLS, shared), func(t *testing.T) {
				opener, acceptor := New(), New()
				t.Cleanup(opener.Close)
				t.Cleanup(acceptor.Close)
				accepting := message.FlowRequest{ID: "f", Local: loopback, Spec: spec}
				opening := accepting
				opening.Sends = true
				if shared {
					accepting.Local, accepting.Cookie = netip.Addr{}, greeting.NewCookie()
					opening.Cookie = accepting.Cookie
					opening.Remote = sharedListener(t, acceptor, flow.Of(spec.Protocol).Transport, loopback)
				}
				l := acceptor.Listen(t.Context(), []message.FlowRequest{accepting})[0]
				if l.Error != nil {
					t.Fatal(l.Error)
				}
				if !shared {
					opening.Remote = l.Local
				}
				if o := opener.Connect(t.Context(), []message.FlowRequest{opening}, patience)[0]; o.Error != nil {
					t.Fatal(o.Error)
				}
				acceptor.Ready(t.Context(), patience)
				w := soon()
				acceptor.Start(w)
				opener.Start(w)
				eventually(t, "transactions are done", func() bool { return opener.Read()[0].Transactions.Done > 30 })
				opener.Close()
				asked := opener.Read()[0]
				eventually(t, "the server has counted all", func() bool {
					return acceptor.Read()[0].Transactions.Done > asked.Transactions.Done
				})
				answered := acceptor.Read()[0]
				if asked.Transactions.Failed+asked.Transactions.Unanswered+asked.Transactions.Application.Errors+
					asked.Transactions.Late != 0 {
					t.Errorf("asked %+v", asked.Transactions)
				}
				// The probes of the opening have been answered, too, and some were in flight.
				slots := int64(max(1, spec.Connections) * max(1, spec.Pipeline))
				if more := answered.Transactions.Done - asked.Transactions.Done; more < 1 || more > 2*slots+1 {
					t.Errorf("%d transactions done, %d answered", asked.Transactions.Done, answered.Transactions.Done)
				}
				if asked.ReceivedBytes <= asked.Transactions.Done*int64(spec.Response) && spec.Protocol != flow.HTTP3 {
					t.Errorf("%d bytes received for %d transactions", asked.ReceivedBytes, asked.Transactions.Done)
				}
			})
		}
	}
}
