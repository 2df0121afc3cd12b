package measure

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestSamplesFit: a window has as many samples as the server's reply has room for, and each is
// as large as is reckoned.
func TestSamplesFit(t *testing.T) {
	session := func(streams, counted int, o Options) *session {
		o.Flows = flow.Spec{Protocol: flow.TCP, Direction: flow.Write, Streams: streams}
		return &session{options: o, hellos: map[string]message.Hello{record.NodeServer: {Counted: counted}}}
	}
	o := Options{Duration: 5 * time.Minute, Interval: 100 * time.Millisecond}
	for _, c := range []struct{ streams, counted int }{{1, 2}, {1, 300}, {128, 1000}, {1, math.MaxInt}, {1, -1}} {
		s := session(c.streams, c.counted, o)
		every := s.sampling()
		samples := int64(o.Duration / every)
		if each := int64(c.streams+max(0, min(c.counted, 1<<20))) * sampleBytes; samples < 2 || samples > 500 ||
			samples > 2 && samples*each > samplesBytes {
			t.Errorf("%+v: %d samples, every %v", c, samples, every)
		}
	}
	if few, many := session(1, 300, o).sampling(), session(1, 2, o).sampling(); few <= many ||
		session(1, 300, Options{Duration: 10 * time.Second, Interval: time.Second}).sampling() != time.Second {
		t.Errorf("every %v with 300 counters, every %v with 2", few, many)
	}
	const large = 1 << 50
	for _, of := range []any{
		netstate.InterfaceCounters{Interface: "enp129s0f1np1", RxBytes: large, TxBytes: large, RxPackets: large / 1000,
			TxPackets: large / 1000, RxDropped: 1e9, RxCRC: 1e6, RxNoHandler: 1e6, AtNs: large},
		netstate.QdiscCounters{Interface: "enp129s0f1np1", Kind: "fq_codel", Handle: "8001:", Parent: "8001:1f",
			Bytes: large, Packets: large / 1000, Drops: 1e9, Overlimits: 1e9, Backlog: 1e7, Qlen: 1e4, Requeues: 1e9},
		netstate.FlowSample{ID: "w128", AckedBytes: large, RTTUs: 1e6, SndCwnd: 1e6, Unacked: 1e6, NotsentBytes: 1e7,
			SndWnd: 1e7},
	} {
		text, err := json.Marshal(of)
		if err != nil || len(text) > sampleBytes {
			t.Errorf("%d bytes (%v): %s", len(text), err, text)
		}
	}
}
