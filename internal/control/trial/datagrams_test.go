package trial

import (
	"testing"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestUnfollowed: a receiver learns of a loss by a later datagram alone. What was sent while
// nothing arrived for a second is lost; what arrives late is not, and what was lost before the
// window is no loss of it.
func TestUnfollowed(t *testing.T) {
	const window = 4 // seconds; 1000 datagrams are sent in each, from 1 s before it
	edge := func(sent, received, lost int64, s int64) (from, to message.FlowEnd) {
		return message.FlowEnd{Datagrams: &record.Datagrams{Sent: sent}},
			message.FlowEnd{ID: "w1", AtNs: s * second, Datagrams: &record.Datagrams{Received: received, Lost: lost}}
	}
	for _, test := range []struct {
		name           string
		begin, end     int64 // received by the edges
		lost0, lost1   int64 // by the receiver's count
		final          int64
		samples        []int64 // received, once a second
		want, received int64
	}{
		{"all arrives", 990, 4990, 0, 0, 5000, []int64{1990, 2990, 3990}, 0, 4000},
		{"nothing arrives", 0, 0, 0, 0, 0, []int64{0, 0, 0}, 4000, 0},
		{"a path with a second of delay", 0, 4000, 0, 0, 5000, []int64{1000, 2000, 3000}, 0, 4000},
		{"nothing arrives until after the window", 0, 0, 0, 0, 10, []int64{0, 0, 0}, 0, 0},
		{"one in many arrives, the last one just now", 10, 50, 990, 3940, 50, []int64{20, 30, 40}, 2950, 40},
		{"the path ends in the window", 1000, 3000, 0, 0, 3000, []int64{2000, 3000, 3000}, 2000, 2000},
		{"the path ends just before the window's end", 1000, 4500, 0, 0, 4500, []int64{2000, 3000, 4000}, 0, 3500},
		{"the path begins in the window", 0, 1990, 0, 3000, 2000, []int64{0, 0, 990}, 2000, 1990},
	} {
		var e ends
		e.s0, e.r0 = edge(1000, test.begin, test.lost0, 0)
		e.s1, e.r1 = edge(5000, test.end, test.lost1, window)
		e.s2, e.r2 = edge(5010, test.final, test.lost1, window)
		var series []netstate.Sample
		for i, n := range test.samples {
			series = append(series, netstate.Sample{AtNs: int64(i+1) * second,
				Flows: []netstate.FlowSample{{ID: "r1", Datagrams: 7}, {ID: "w1", Datagrams: n}}})
		}
		d := datagrams(e)
		countUnfollowed(d, e, series)
		if d.Lost != test.want || d.Received != test.received || d.Received+d.Lost > d.Sent+10 {
			t.Errorf("%s: %d sent, %d received, %d lost; want %d lost", test.name, d.Sent, d.Received,
				d.Lost, test.want)
		}
	}
	countUnfollowed(nil, ends{}, nil)
	countUnfollowed(&record.Datagrams{}, ends{}, nil)
}
