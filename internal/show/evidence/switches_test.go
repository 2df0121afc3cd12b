package evidence

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/document"
	"linerate/internal/show/view"
)

// TestSwitchPorts: each port has a row for each direction, with the share of the line's rate
// as frames take it, and what has no figures has the reason.
func TestSwitchPorts(t *testing.T) {
	run := sciencetest.Run(7, 2)
	conclude.Conclude(run)
	v := view.New(run)
	if SwitchPorts(v, v.Pair()) != nil {
		t.Error("a table without a switch")
	}
	for i := range run.Trials {
		run.Trials[i].Switches = []record.SwitchReading{{Switch: "sg300", RefreshS: 5, Ports: []record.SwitchPort{
			{Port: "far-eth0", Peer: "far.eth0", Name: "gi7", SpeedBps: 1e9, ToNs: 10e9, DoubtS: 0.5,
				Counters: record.SwitchCounters{InOctets: 1518e6 / 2, InUcast: 5e5, OutDiscards: 3}},
			{Port: "b-eth0", Peer: "b.eth0", Missing: "its forwarding table does not have it"}}},
			{Switch: "dead", Missing: "no answer"}}
	}
	table := SwitchPorts(v, v.Pair())
	if table == nil {
		t.Fatal("no table")
	}
	var received, sent *document.Row
	for i, r := range table.Rows {
		switch r.Cells[0].Text {
		case "received":
			received = &table.Rows[i]
		case "sent":
			sent = &table.Rows[i]
		}
	}
	if received == nil || sent == nil {
		t.Fatalf("rows %+v", table.Rows)
	}
	// 500 000 frames of 1518 bytes, or 1522 with their check sequences, and 20 bytes each.
	if got := received.Cells; got[1].Text != "607.2" || got[2].Text != "50000" || got[3].Text != "61.7 %" {
		t.Errorf("received %+v", got)
	}
	if sent.Tone != document.Wrong || sent.Cells[4].Text != "3" {
		t.Errorf("sent %+v", sent)
	}
	notes := strings.Join(table.Notes, "\n")
	for _, want := range []string{"The counters of sg300 change every 5.0 s: figures are of 10 s of the window",
		"known within 0.50 s", "Port sg300 b-eth0 has no figures: its forwarding", "dead has no figures: no answer",
		"is not known"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if len(table.Data) != 1+3*len(run.Trials) {
		t.Errorf("%d rows of data", len(table.Data))
	}
}

// TestLineOf: the rate of a real switch's link is an Ethernet's, and that of a lab's is a token
// bucket's, which counts neither frame check sequences nor gaps.
func TestLineOf(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.9": "101.6 %", "": "100.0 %"} {
		over := &topology.Topology{
			Hosts:    []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}}},
			Switches: []topology.Switch{{Name: "sw", SNMP: &topology.SNMP{Address: address}}},
			Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
				To: topology.End{Node: "sw", Interface: "a-eth0"}, Impairment: topology.Impairment{Rate: 100e6}}},
		}
		// A second of full frames of 1514 bytes at 100 Mbit/s.
		p := record.SwitchPort{Port: "a-eth0", ToNs: 1e9, Counters: record.SwitchCounters{InOctets: 12.5e6,
			InUcast: 8256}}
		row := portRow(p, true, nil, lineOf(over, topology.End{Node: "sw", Interface: "a-eth0"}, true, 0), false)
		if got := row.Cells[3].Text; got != want {
			t.Errorf("SNMP at %q: %s of the line, want %s", address, got, want)
		}
	}
}
