package export

import (
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestSwitchesOfDocument: of the trial that is shown there is the forwarding table as well.
func TestSwitchesOfDocument(t *testing.T) {
	trial := &record.Trial{Switches: []record.SwitchReading{
		{Switch: "sg300", FDB: []netstate.FDBEntry{{MAC: "02:00:00:00:00:01", Interface: "gi1"}}}}}
	for _, shown := range []bool{true, false} {
		if d := documentOfTrial(trial, shown); len(d.Switches) != 1 || d.Switches[0].Switch != "sg300" ||
			len(d.Switches[0].FDB) > 0 != shown {
			t.Errorf("shown %t: %+v", shown, d.Switches)
		}
	}
	if len(trial.Switches[0].FDB) != 1 {
		t.Error("the trial itself was changed")
	}
}

func TestSwitches(t *testing.T) {
	run := &record.Run{ID: "r",
		Trials: []record.Trial{{Order: 1, Block: 1, Treatment: "t", Switches: []record.SwitchReading{
			{Switch: "sg300", RefreshS: 5, Ports: []record.SwitchPort{
				{Port: "nas-eth0", Peer: "nas.eth0", Name: "gi7", Index: 7, SpeedBps: 1e9, Bits: 64, FromNs: 1e9,
					ToNs: 21e9, DoubtS: 0.25, Counters: record.SwitchCounters{InOctets: 1500, InUcast: 1,
						OutErrors: 9}},
				{Port: "b-eth0", Peer: "b.eth0", Missing: "not found"}}},
			{Switch: "dead", Missing: "no answer"}}}}}
	var b strings.Builder
	table, err := Find("switches")
	if err == nil {
		err = CSV(&b, table, run)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := `run,trial,block,treatment,switch,port,peer,if_name,if_alias,if_index,speed_bps,counter_bits,refresh_s,missing,seconds,doubt_s,in_octets,out_octets,in_ucast,out_ucast,in_multicast,out_multicast,in_broadcast,out_broadcast,in_discards,out_discards,in_errors,out_errors
r,1,1,t,sg300,nas-eth0,nas.eth0,gi7,,7,1e+09,64,5,,20,0.25,1500,0,1,0,0,0,0,0,0,0,0,9
r,1,1,t,sg300,b-eth0,b.eth0,,,0,0,0,5,not found,,,,,,,,,,,,,,
r,1,1,t,dead,,,,,0,0,0,0,no answer,,,,,,,,,,,,,,
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
