package trial

import (
	"reflect"
	"slices"
	"testing"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

const second = int64(1e9)

// TestOnOurClock: a host whose clock is a second ahead read its counters a
// second earlier than it says.
func TestOnOurClock(t *testing.T) {
	const began, ended, sampled, port = 100 * second, 102 * second, 101 * second, 103 * second
	at := func(offset int64) netstate.HostReading {
		reading := netstate.Reading{
			ScheduledNs: began + offset - 5, BeganNs: began + offset, EndedNs: began + offset + 7,
			Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", RxBytes: 3, AtNs: port + offset}},
		}
		end := reading
		end.BeganNs = ended + offset
		end.Interfaces = slices.Clone(end.Interfaces)
		return netstate.HostReading{
			Host: "h", Begin: reading, End: end,
			Before: netstate.Tables{BeganNs: began + offset + 1, EndedNs: began + offset + 2},
			Snapshot: netstate.Snapshot{Tables: netstate.Tables{BeganNs: ended + offset + 1,
				EndedNs: ended + offset + 2}},
			Series: []netstate.Sample{{AtNs: sampled + offset, BeganNs: sampled + offset, EndedNs: sampled + offset + 3,
				Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", AtNs: port + offset}}}},
		}
	}
	for _, offset := range []int64{second, -second, 0} {
		theirs := at(offset)
		if got := onOurClock(theirs, offset); !reflect.DeepEqual(got, at(0)) {
			t.Errorf("offset %d:\n got %+v\nwant %+v", offset, got, at(0))
		}
		if !reflect.DeepEqual(theirs, at(offset)) {
			t.Errorf("offset %d: the host's own record was changed", offset)
		}
	}
}

// TestFill: differences over the window, per the receiver's own seconds.
func TestFill(t *testing.T) {
	s0 := message.FlowEnd{AtNs: 9 * second, WrittenBytes: 1000, Info: &netstate.TCPInfo{Sacked: 3, SndMSS: 1448,
		BytesAcked: 900, BytesRetrans: 10, TotalRetrans: 1, BytesSent: 950, BusyUs: 500_000, RwndLimitedUs: 100_000,
		SndbufLimited: 50_000}}
	s1 := message.FlowEnd{AtNs: 11 * second, WrittenBytes: 6000, UnsentBytes: 70, SndbufBytes: 11, RcvbufBytes: 12,
		Alive: true, CongestionControl: "cubic",
		Info: &netstate.TCPInfo{BytesAcked: 5500, BytesRetrans: 35, TotalRetrans: 4, BytesSent: 5700, BusyUs: 2_500_000,
			RwndLimitedUs: 600_000, SndbufLimited: 300_000}}
	s2 := message.FlowEnd{WrittenBytes: 8000, FirstNs: 8 * second, LastNs: 12 * second}
	// The receiver's clock is far from the sender's: only its own matters.
	r0 := message.FlowEnd{AtNs: 500 * second, ReceivedBytes: 800, Info: &netstate.TCPInfo{BytesReceived: 850}}
	r1 := message.FlowEnd{AtNs: 502 * second, ReceivedBytes: 4800, SndbufBytes: 13, RcvbufBytes: 14, Alive: true,
		Info: &netstate.TCPInfo{BytesReceived: 5000}}
	var flow record.Flow
	fill(&flow, ends{s0: s0, s1: s1, s2: s2, r0: r0, r1: r1})
	want := record.Flow{
		ReceivedBytes: 4000, WrittenBytes: 5000, UnsentBytes: 70, CongestionControl: "cubic",
		AckedBytes: 4600, RetransBytes: 25, RetransSegments: 3, SentBytes: 4750, ArrivedBytes: 4150,
		OutOfOrderBytes: 3 * 1448,
		BusyS:           2, RwndLimitedS: 0.5, SndbufLimitedS: 0.25, SndbufBytes: 11, RcvbufBytes: 14,
		GoodputBps: 16000, SenderAverageBps: 16000, Alive: true,
		SenderInfo: s1.Info, ReceiverInfo: r1.Info,
	}
	if !reflect.DeepEqual(flow, want) {
		t.Errorf("got  %+v\nwant %+v", flow, want)
	}

	// Of a sender without an agent only the receiver's memory bounds what was behind a gap.
	var alone record.Flow
	r0.HeldBytes, r1.HeldBytes = 9000, 3000
	if fill(&alone, ends{r0: r0, r1: r1}); alone.HeldBytes != 9000 || alone.SenderInfo != nil {
		t.Errorf("%+v", alone)
	}

	// Datagrams that were never sent are counted in the window, as those that were are.
	paced := func(sent, skipped int64) *record.Datagrams { return &record.Datagrams{Sent: sent, Skipped: skipped} }
	var udp record.Flow
	fill(&udp, ends{
		s0: message.FlowEnd{Datagrams: paced(100, 1170)}, s1: message.FlowEnd{Datagrams: paced(17_080, 1178)},
		r0: message.FlowEnd{Datagrams: paced(0, 0)}, r1: message.FlowEnd{Datagrams: paced(0, 0)},
	})
	if udp.Datagrams.Sent != 16_980 || udp.Datagrams.Skipped != 8 {
		t.Errorf("%+v", udp.Datagrams)
	}

	// What could not be read is not made up; an end's failure is the flow's.
	r1.Alive, r1.Error, s0.Info, r0.Info = false, &message.Error{Text: "reset by peer"}, nil, nil
	flow = record.Flow{}
	fill(&flow, ends{s0: s0, s1: s1, r0: r0, r1: r1})
	if flow.AckedBytes != 0 || flow.RetransBytes != 0 || flow.ArrivedBytes != 0 || flow.SenderAverageBps != 0 {
		t.Errorf("made up: %+v", flow)
	}
	if flow.Alive || flow.Error != "reset by peer" {
		t.Errorf("alive %t, error %q", flow.Alive, flow.Error)
	}
	fill(&flow, ends{s0: s0, s1: s1, s2: s2, r0: r0, r1: message.FlowEnd{AtNs: r0.AtNs}})
	if flow.Error != "reset by peer" {
		t.Errorf("a failure was forgotten: %q", flow.Error)
	}
}

// TestUnread: what waited for the receiver at the edges and in between.
func TestUnread(t *testing.T) {
	var reply message.WindowReply
	for _, bytes := range []int64{400, 300} {
		reply.Reading.Series = append(reply.Reading.Series, netstate.Sample{Flows: []netstate.FlowSample{
			{ID: "other", UnreadBytes: 1e9}, {ID: "f", UnreadBytes: bytes},
		}})
	}
	edge := func(bytes int64) message.FlowEnd { return message.FlowEnd{ID: "f", UnreadBytes: bytes} }
	if got := unread(edge(100), edge(200), reply); got != 250 {
		t.Errorf("%d bytes unread, want 250", got)
	}
	if got := unread(edge(100), edge(200), message.WindowReply{}); got != 150 {
		t.Errorf("without samples: %d bytes unread, want 150", got)
	}
}

func TestBins(t *testing.T) {
	sample := func(id string, bytes int64) netstate.Sample {
		return netstate.Sample{Flows: []netstate.FlowSample{{ID: "other", ReceivedBytes: 1},
			{ID: id, ReceivedBytes: bytes}}}
	}
	var reply message.WindowReply
	reply.Reading.Series = []netstate.Sample{sample("f", 130), sample("gone", 9), sample("f", 130), sample("f", 200)}
	if got := bins(reply, "f", 100, received); !slices.Equal(got, []int64{30, 0, 70}) {
		t.Errorf("bins %v, want 30, 0 and 70", got)
	}
	if got := bins(reply, "unknown", 0, received); got != nil {
		t.Errorf("bins of an unknown flow: %v", got)
	}
}
