package trial

import (
	"net/netip"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/study"
)

// TestHowFlowsWait: threads spin only in a flow that may, unless its options say how they wait; flows
// without threads of their own have nothing to say about that.
func TestHowFlowsWait(t *testing.T) {
	for _, test := range []struct {
		protocol string
		spins    bool
		poll     *bool
		want     *bool
	}{
		{flow.RR, true, nil, nil},
		{flow.RR, false, nil, new(false)},
		{flow.RR, true, new(false), new(false)},
		{flow.RR, false, new(true), new(true)},
		{flow.HTTP, false, nil, new(false)},
		{flow.TCP, false, nil, nil},
		{flow.SMTP, false, nil, new(false)},
		{flow.HTTP2, false, nil, nil},
	} {
		f := &Flow{PlannedFlow: study.PlannedFlow{Spec: flow.Spec{Protocol: test.protocol, Poll: test.poll}},
			Spins: test.spins}
		got := request(f, true, netip.Addr{}).Poll
		if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
			t.Errorf("%+v: poll %v, want %v", test, got, test.want)
		}
	}
}
