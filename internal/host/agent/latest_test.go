package agent

import (
	"testing"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// TestLatest: a window can end at the latest sample after which the other host was heard of.
func TestLatest(t *testing.T) {
	read := func(bytes int64) message.FlowEnd { return message.FlowEnd{ReceivedBytes: bytes, Alive: true} }
	acked := func(bytes uint64) message.FlowEnd {
		return message.FlowEnd{Alive: true, WrittenBytes: 1 << 40, Info: &netstate.TCPInfo{BytesAcked: bytes}}
	}
	broken := func(code message.Code) message.FlowEnd {
		return message.FlowEnd{ReceivedBytes: 1, Error: &message.Error{Code: code}}
	}
	for name, test := range map[string]struct {
		ends []message.FlowEnd // of a flow at the begin, at each sample and at the end
		want int64             // the sample; 0: none
	}{
		"lost at once":            {[]message.FlowEnd{read(0), read(0), read(0), read(0)}, 0},
		"lost after a sample":     {[]message.FlowEnd{read(0), read(1), read(1), read(1)}, 0},
		"silent in the third":     {[]message.FlowEnd{read(0), read(1), read(2), read(3), read(3), read(3)}, 2},
		"acknowledgements":        {[]message.FlowEnd{acked(0), acked(1), acked(2), acked(2), acked(2)}, 1},
		"lost behind the last":    {[]message.FlowEnd{read(0), read(1), read(2), read(3)}, 2},
		"a pause":                 {[]message.FlowEnd{read(0), read(1), read(1), read(2), read(3), read(3)}, 3},
		"reset":                   {[]message.FlowEnd{read(0), read(1), broken("")}, 1},
		"given up for no answer":  {[]message.FlowEnd{read(0), read(1), broken(message.Deadline)}, 0},
		"nothing there to answer": {[]message.FlowEnd{read(0), read(1), broken(message.Unreachable)}, 0},
	} {
		n := len(test.ends) - 1
		l := &latest{last: message.Edge{Flows: test.ends[:1]}}
		for i := 1; i < n; i++ {
			l.heard(message.Edge{Reading: netstate.Reading{BeganNs: int64(i)}, Flows: test.ends[i : i+1]})
		}
		got := int64(0)
		if edge := l.end(test.ends[n:]); edge != nil {
			got = edge.Reading.BeganNs
		}
		if got != test.want {
			t.Errorf("%s: the window ends at sample %d, want %d", name, got, test.want)
		}
	}
	// Of two flows one is reset, and the other receives what was still on its way.
	two := func(at int64, received int64, alive bool) message.Edge {
		first := read(1)
		if !alive {
			first = broken("")
		}
		return message.Edge{Reading: netstate.Reading{BeganNs: at}, Flows: []message.FlowEnd{first, read(received)}}
	}
	const second = int64(time.Second)
	for name, test := range map[string]struct {
		after []int64 // samples after the reset, with data each
		want  int64
	}{
		"the other host died":          {[]int64{1, 2}, 2 * second},
		"a path of one flow is broken": {[]int64{1, 2, 3, 4, 5}, 7 * second},
	} {
		l := &latest{last: message.Edge{Flows: two(0, 0, true).Flows}}
		l.heard(two(1*second, 1, true))
		l.heard(two(2*second, 2, true))
		l.heard(two(3*second, 3, false))
		received := int64(3)
		for _, s := range test.after {
			received++
			l.heard(two((3+s)*second, received, false))
		}
		if got := l.end(two(0, received, false).Flows); got == nil || got.Reading.BeganNs != test.want {
			t.Errorf("%s: %+v, want the sample of %d ns", name, got, test.want)
		}
	}
	if edge := (*latest)(nil).end(nil); edge != nil {
		t.Errorf("not kept, and %+v", edge)
	}
}
