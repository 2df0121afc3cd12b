package record

import "testing"

// TestNothingArrived: a direction whose connected flows received nothing is in doubt, whatever
// the checks say; one of requests, or without a connection, is not judged by its bytes.
func TestNothingArrived(t *testing.T) {
	m := &Measure{Directions: []MeasureDirection{{Direction: "write", GoodputBps: 1e6}, {Direction: "read"}},
		Flows: []Flow{{From: NodeClient, Connected: true, ReceivedBytes: 1e6}, {From: NodeServer, Connected: true}}}
	if !m.Doubtful() {
		t.Error("a direction in which nothing arrived is not in doubt")
	}
	m.Flows[1].Transactions = &Transactions{}
	if m.Doubtful() {
		t.Error("requests are judged by bytes")
	}
	m.Flows[1] = Flow{From: NodeServer}
	if m.Doubtful() {
		t.Error("a flow without a connection is judged")
	}
}
