package record

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
)

// TestNothingArrived: a part whose connected flows received nothing is in doubt, whatever
// the checks say; one of requests, or without a connection, is not judged by its bytes.
func TestNothingArrived(t *testing.T) {
	run := &Run{Trials: []Trial{{
		Parts: []Part{{From: NodeClient, To: NodeServer, GoodputBps: 1e6}, {From: NodeServer, To: NodeClient}},
		Flows: []Flow{{From: NodeClient, To: NodeServer, Connected: true, ReceivedBytes: 1e6},
			{From: NodeServer, To: NodeClient, Connected: true}}}}}
	back := &run.Trials[0].Flows[1]
	if !run.Doubtful() {
		t.Error("a part in which nothing arrived is not in doubt")
	}
	back.Transactions = &Transactions{}
	if run.Doubtful() {
		t.Error("requests are judged by bytes")
	}
	back.Transactions, back.Connected = nil, false
	if run.Doubtful() {
		t.Error("a flow without a connection is judged")
	}
}

// TestSplit: each part of a trial between any hosts is a trial with its own flows, figures and levels, and
// with the probe of latency; the trial itself is not changed.
func TestSplit(t *testing.T) {
	run := &Run{Trials: []Trial{{Treatment: "alone", Order: 1}, {
		Treatment: "together", Levels: map[string]string{"mode": "copy"}, Order: 2, GoodputBps: 60,
		Hosts: []netstate.HostReading{{Host: "a", ProcessCPUS: 1}},
		Flows: []Flow{{ID: "1", From: "a", To: "b", SenderAverageBps: 11}, {ID: "2", From: "b", To: "c"},
			{ID: "3", From: "a", To: "c"}, {ID: "p", From: "a", To: "b", Probe: true}},
	}}}
	for i, way := range [][2]string{{"a", "b"}, {"b", "c"}, {"a", "c"}} {
		p := Part{From: way[0], To: way[1], GoodputBps: float64(10 * (i + 1)), LimitBps: 100}
		p.Treatment, p.Levels = p.Name(), map[string]string{"pair": p.Name()}
		run.Trials[1].Parts = append(run.Trials[1].Parts, p)
	}
	all := run.Split()
	if len(all) != 4 || all[0] != &run.Trials[0] {
		t.Fatalf("%+v", all)
	}
	of := run.TrialsOf("b → c")
	if len(of) != 1 || of[0].GoodputBps != 20 || of[0].Levels["pair"] != "b → c" || of[0].Levels["mode"] != "copy" ||
		of[0].Order != 2 || of[0].Hosts[0].ProcessCPUS != 0 || of[0].LimitBps != 100 {
		t.Errorf("%+v", of)
	}
	var ids []string
	for _, f := range of[0].Flows {
		ids = append(ids, f.ID)
	}
	if !slices.Equal(ids, []string{"2", "p"}) || all[1].SenderReportedBps != 11 {
		t.Errorf("flows %v, the senders reported %v", ids, all[1].SenderReportedBps)
	}
	if whole := run.Trials[1]; whole.Hosts[0].ProcessCPUS != 1 || len(whole.Flows) != 4 || len(whole.Levels) != 1 {
		t.Errorf("the trial was changed: %+v", whole)
	}
}
