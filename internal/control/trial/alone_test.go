package trial

import (
	"errors"
	"testing"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestAlone: the readings of one node end where its window does, and are an error if it has
// no such instant.
func TestAlone(t *testing.T) {
	const second, offset = int64(time.Second), int64(7e6)
	why := errors.New("the other is gone")
	at := func(s int64) int64 { return 100*second + s*second + offset }
	reply := message.WindowReply{
		BeginFlows: []message.FlowEnd{{ID: "f"}}, EndFlows: []message.FlowEnd{{ID: "f", ReceivedBytes: 9}},
		FinalFlows: []message.FlowEnd{
			{ID: "f", ReceivedBytes: 9, Transactions: &record.Transactions{Done: 9, Latency: &record.Distribution{
				Count: 9}}}},
		Reading: netstate.HostReading{
			CarrierLosses: []netstate.CarrierLoss{{Interface: "a", FromS: 1, ToS: 3, Regained: true},
				{Interface: "b", FromS: 2.5, ToS: 4}},
			Series: []netstate.Sample{{AtNs: at(1)}, {AtNs: at(2)}, {AtNs: at(3)}},
		},
		Latest: &message.Edge{
			Reading: netstate.Reading{ScheduledNs: at(2), BeganNs: at(2)}, ProcessCPUS: 0.5,
			Flows: []message.FlowEnd{{ID: "f", ReceivedBytes: 4, Transactions: &record.Transactions{Done: 4}}},
		},
	}
	all := Readings{
		BeginNs: 100 * second, Duration: 5 * time.Second,
		Replies: map[string]message.WindowReply{"here": reply, "there": {}},
		Clocks:  map[string]record.Clock{"here": {OffsetNs: offset}, "there": {}},
	}
	got, err := all.alone("here", why)
	if err != nil {
		t.Fatal(err)
	}
	r := got.Replies["here"]
	if got.Duration != 2*time.Second || got.Planned != 5*time.Second || got.Lost != why || len(got.Replies) != 1 ||
		len(got.Clocks) != 1 {
		t.Errorf("%+v", got)
	}
	final := r.FinalFlows[0]
	if r.EndFlows[0].ReceivedBytes != 4 || final.Transactions.Done != 4 || final.Transactions.Latency.Count != 9 ||
		reply.Latest.Flows[0].Transactions.Latency != nil {
		t.Errorf("flows %+v, %+v", r.EndFlows, final.Transactions)
	}
	if len(r.Reading.Series) != 1 || r.Reading.ProcessCPUS != 0.5 {
		t.Errorf("%d samples, %v s of CPU", len(r.Reading.Series), r.Reading.ProcessCPUS)
	}
	if l := r.Reading.CarrierLosses; len(l) != 1 || l[0].ToS != 2 || l[0].Regained ||
		!reply.Reading.CarrierLosses[0].Regained {
		t.Errorf("losses of carrier %+v", l)
	}
	reply.Latest = nil
	all.Replies["here"] = reply
	if _, err := all.alone("here", why); err != why {
		t.Errorf("without such a sample: %v", err)
	}
}
