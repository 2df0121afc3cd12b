package trial

import (
	"testing"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestWindows: what a sender waits for at its readings. A receiver's window is full where one
// segment at most has room, though the kernel counts no time for it (bbr, which sends by its
// pacing), and not where the congestion window is full as well, or where it is not known.
func TestWindows(t *testing.T) {
	const mss = 1448
	sample := func(unacked, cwnd, notsent, window uint32) netstate.FlowSample {
		return netstate.FlowSample{ID: "w1", Unacked: unacked, SndCwnd: cwnd, NotsentBytes: notsent, SndWnd: window}
	}
	for _, test := range []struct {
		name   string
		sample netstate.FlowSample
		sndbuf int64
		want   record.Flow
	}{
		{"a full window", sample(142, 316, 2_700_000, 205_056), 0, record.Flow{RwndFullShare: 1}},
		{"room for one segment", sample(6, 146, 700_000, 7*mss), 0, record.Flow{RwndFullShare: 1}},
		{"a full window, and nothing to send", sample(7, 146, 0, 7*mss), 16384, record.Flow{RwndFullShare: 1}},
		{"room in the window", sample(70, 316, 2_700_000, 205_056), 0, record.Flow{}},
		{"both windows are full", sample(142, 150, 2_700_000, 205_056), 0, record.Flow{}},
		{"a window that is not known", sample(142, 316, 2_700_000, 0), 0, record.Flow{}},
		{"nothing in flight", sample(0, 316, 2_700_000, 1000), 0, record.Flow{}},
		{"nothing to send", sample(10, 316, 100, 205_056), 1 << 20, record.Flow{DryShare: 1}},
		{"a full send buffer", sample(10, 316, 100, 205_056), 16384, record.Flow{DryShare: 1, SndbufFullShare: 1}},
	} {
		end := message.FlowEnd{ID: "w1", SndbufBytes: test.sndbuf, Info: &netstate.TCPInfo{SndMSS: mss,
			Unacked: test.sample.Unacked, SndCwnd: test.sample.SndCwnd, NotsentBytes: test.sample.NotsentBytes,
			SndWnd: test.sample.SndWnd}}
		var reply message.WindowReply
		reply.Reading.Series = []netstate.Sample{{Flows: []netstate.FlowSample{{ID: "other", SndCwnd: 1}, test.sample}}}
		var got record.Flow
		windows(end, end, reply).fill(&got)
		if got.DryShare != test.want.DryShare || got.SndbufFullShare != test.want.SndbufFullShare ||
			got.RwndFullShare != test.want.RwndFullShare {
			t.Errorf("%s: dry %v, send buffer full %v, window full %v", test.name, got.DryShare, got.SndbufFullShare,
				got.RwndFullShare)
		}
	}
}

// TestClosing: a window that grows is not closing, nor one that its kernel does not report; one
// that is zero, or has lost more than half, is.
func TestClosing(t *testing.T) {
	for _, test := range []struct {
		windows [4]uint32 // the last is the window's end
		lacks   []string
		want    float64
	}{
		{[4]uint32{10_000, 40_000, 90_000, 90_000}, nil, 0},
		{[4]uint32{90_000, 60_000, 90_000, 50_000}, nil, 0},
		{[4]uint32{90_000, 90_000, 40_000, 90_000}, nil, 0.25},
		{[4]uint32{0, 40_000, 0, 10_000}, nil, 0.75},
		{[4]uint32{}, []string{"snd_wnd_bytes"}, 0},
	} {
		end := func(window uint32) message.FlowEnd {
			return message.FlowEnd{ID: "w1", Info: &netstate.TCPInfo{SndMSS: 1448, SndCwnd: 10, SndWnd: window,
				Lacks: test.lacks}}
		}
		var reply message.WindowReply
		for _, window := range test.windows[1:3] {
			reply.Reading.Series = append(reply.Reading.Series,
				netstate.Sample{Flows: []netstate.FlowSample{{ID: "w1", SndCwnd: 10, SndWnd: window}}})
		}
		var got record.Flow
		windows(end(test.windows[0]), end(test.windows[3]), reply).fill(&got)
		if got.ClosingShare != test.want {
			t.Errorf("windows of %d bytes: closing at %v of the readings, want %v", test.windows,
				got.ClosingShare, test.want)
		}
	}
}
