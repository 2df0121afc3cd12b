package export

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestLoadRows: shares and rates are of the time between two samples that have the load, and
// lines of the log have their time in the window.
func TestLoadRows(t *testing.T) {
	sample := func(at int64, user, idle float64, interrupts, rx, queue uint64) netstate.Sample {
		return netstate.Sample{AtNs: at, EndedNs: at, CPU: []netstate.CPUTimes{{CPU: 0, User: user, Idle: idle}},
			Events: []netstate.CPUEvents{{CPU: 0, Interrupts: interrupts, Softirqs: map[string]uint64{"NET_RX": rx}}},
			IRQs:   map[string]uint64{"41 eth0-rx-0": queue}}
	}
	h := netstate.HostReading{Host: "nas", Begin: netstate.Reading{ScheduledNs: 1e9},
		Series: []netstate.Sample{sample(1e9, 1, 1, 10, 5, 3), {AtNs: 2e9, EndedNs: 2e9},
			sample(3e9, 1.5, 2.5, 110, 45, 23)},
		Log: &netstate.KernelLog{Lines: []netstate.LogLine{{AtNs: 15e8, Level: 6, Text: "eth0: link is down"}}}}
	run := &record.Run{ID: "one",
		Trials: []record.Trial{{Order: 1, Block: 1, Treatment: "t", Hosts: []netstate.HostReading{h}}}}
	for name, want := range map[string][][]string{
		"load": {{"nas", "1", "0", "", "0.25", "0", "0", "0", "0", "50", "20", "0"},
			{"nas", "1", "", "41 eth0-rx-0", "", "", "", "", "", "10", "", ""}},
		"log": {{"nas", "0.5", "6", "eth0: link is down"}},
	} {
		table, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := table.Rows(run)[1:]
		if len(rows) != len(want) {
			t.Fatalf("%s: %q", name, rows)
		}
		for i, row := range rows {
			if got := row[len(row)-len(want[i]):]; !slices.Equal(got, want[i]) {
				t.Errorf("%s: %q, want %q", name, got, want[i])
			}
		}
	}
}
