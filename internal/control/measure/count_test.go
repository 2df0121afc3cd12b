package measure

import (
	"fmt"
	"testing"
	"time"

	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestIntervals: the last interval has what is left of the window, which by itself is one only
// from half an interval on.
func TestIntervals(t *testing.T) {
	const second = int64(time.Second)
	for _, test := range []struct {
		samples []int64 // ms since the window's begin
		end     int64
		want    string // ends of the intervals, in seconds
	}{
		{[]int64{1000, 2000, 3000, 4000}, 4000, "[1 2 3 4]"},
		{[]int64{1000, 2000, 3000, 4000}, 4001, "[1 2 3 4.001]"},
		{[]int64{1000, 2000, 3000}, 3499, "[1 2 3.499]"},
		{[]int64{1000, 2000, 3000}, 3500, "[1 2 3 3.5]"},
		{[]int64{999, 1998, 2997}, 3999, "[0.999 1.998 2.997 3.999]"},
		{[]int64{500, 1000, 1500, 2000}, 2000, "[1 2]"}, // sampled more often
		{nil, 300, "[0.3]"},
	} {
		const bps = 8e6 // a byte each microsecond
		begin := 77 * second
		h := netstate.HostReading{Host: record.NodeServer, Begin: netstate.Reading{BeganNs: begin},
			End: netstate.Reading{BeganNs: begin + test.end*1e6}}
		for _, ms := range test.samples {
			h.Series = append(h.Series, netstate.Sample{AtNs: begin + ms*1e6,
				Flows: []netstate.FlowSample{{ID: "w1", ReceivedBytes: 1000 + ms*1000}}})
		}
		s := session{options: Options{Interval: time.Second}}
		s.options.Flows.Protocol = flow.TCP
		list := s.intervals(&record.Trial{
			Flows: []record.Flow{{ID: "w1", From: record.NodeClient, To: record.NodeServer}},
			Hosts: []netstate.HostReading{h}}, trial.Readings{
			Replies: map[string]message.WindowReply{record.NodeServer: {
				BeginFlows: []message.FlowEnd{{ID: "w1", ReceivedBytes: 1000}},
				EndFlows:   []message.FlowEnd{{ID: "w1", ReceivedBytes: 1000 + test.end*1000}},
			}},
		}, record.Part{From: record.NodeClient, To: record.NodeServer})
		var ends []float64
		from := 0.0
		for _, i := range list {
			if ends = append(ends, i.ToS); i.FromS != from || i.GoodputBps < 0.999*bps || i.GoodputBps > 1.001*bps {
				t.Errorf("samples %v, end %d: %+v", test.samples, test.end, i)
			}
			from = i.ToS
		}
		if got := fmt.Sprint(ends); got != test.want {
			t.Errorf("samples %v, end %d: intervals end at %s, want %s", test.samples, test.end, got, test.want)
		}
	}
}
