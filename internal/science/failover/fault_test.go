package failover

import (
	"reflect"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

func TestFaults(t *testing.T) {
	over := &topology.Topology{
		Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}},
			{Name: "b", Interfaces: []topology.Interface{{Name: "eth0"}}}},
		Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
			To: topology.End{Node: "sw", Interface: "p1"}}},
	}
	hosts := []netstate.HostReading{
		{Host: "b", CarrierLosses: []netstate.CarrierLoss{{Interface: "eth0", FromS: 2.5, ToS: 3, Down: true}}},
		{Host: "a", CarrierLosses: []netstate.CarrierLoss{{Interface: "docker0", FromS: 1, ToS: 2, Regained: true},
			{Interface: "eth0", FromS: 1.0004, ToS: 2, Regained: true}}},
		{Host: "sw", CarrierLosses: []netstate.CarrierLoss{{Interface: "p1", FromS: 1.02, ToS: 2.04, Regained: true},
			{Interface: "p2", FromS: 1, ToS: 2}}},
	}
	cable := record.Event{Host: "a", Interface: "eth0", What: "eth0 lost its carrier", AtS: 1,
		BeganS: 1.0004, EndedS: 2}
	port := record.Event{Host: "sw", Interface: "p1", What: "p1 lost its carrier", AtS: 1, BeganS: 1.02, EndedS: 2.04}
	down := record.Event{Host: "b", Interface: "eth0", Down: true, What: "eth0 was taken down", AtS: 2.5,
		BeganS: 2.5, EndedS: 3}
	for _, test := range []struct {
		name   string
		events []record.Event
		want   []record.Event
	}{
		{"two ends of a cable, and another interface", nil, []record.Event{cable, port, down}},
		{"what an event of the study does", []record.Event{{AtS: 0.5, BeganS: 0.5, EndedS: 0.51}},
			[]record.Event{down}},
		{"an event afterwards explains nothing", []record.Event{{AtS: 2.9, BeganS: 2.9, EndedS: 2.9}},
			[]record.Event{cable, port, down}},
	} {
		if got := Faults(hosts, test.events, over); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	var flaps []netstate.CarrierLoss
	for i := range 100 {
		flaps = append(flaps, netstate.CarrierLoss{Interface: "eth0", FromS: float64(i), ToS: float64(i) + 0.5,
			Regained: true})
	}
	if got := Faults([]netstate.HostReading{{Host: "a", CarrierLosses: flaps}}, nil, over); len(got) != mostFaults {
		t.Errorf("%d faults of a link that flaps, want %d", len(got), mostFaults)
	}
}

// TestDetectUnplanned: of two flows one got nothing while the link was gone.
func TestDetectUnplanned(t *testing.T) {
	const step = 100e6
	receiver := netstate.HostReading{Host: "b", Begin: netstate.Reading{ScheduledNs: began},
		End:      netstate.Reading{ScheduledNs: ended},
		Arrivals: []netstate.Arrival{{Flow: "hit", Interface: "eth0", Packets: 9, LastNs: began + 5}}}
	hit, spared := record.Flow{ID: "hit", From: "a", To: "b", Connected: true}, record.Flow{ID: "spared", From: "a",
		To: "b", Connected: true}
	for i := range int64(30) {
		receiver.Series = append(receiver.Series, netstate.Sample{AtNs: began + (i+1)*step})
		bytes := int64(1000)
		if i >= 10 && i < 22 {
			bytes = 0
		}
		hit.Bins, spared.Bins = append(hit.Bins, bytes), append(spared.Bins, 1000)
	}
	faults := []record.Event{{Host: "a", Interface: "eth0", What: "eth0 lost its carrier", AtS: 1.03, BeganS: 1.03,
		EndedS: 2}}
	hosts := []netstate.HostReading{receiver}
	got := DetectUnplanned([]record.Flow{hit, spared}, hosts, faults, &topology.Topology{})
	if len(got) != 2 || len(got[0]) != 1 || got[0][0].LostS < 1.1 || got[0][0].LostS > 1.3 || !got[0][0].Resumed {
		t.Fatalf("the flow that was hit: %+v", got)
	}
	if len(got[1]) != 1 || got[1][0].LostS != 0 {
		t.Errorf("the flow that was spared: %+v", got[1])
	}
	if len(hosts[0].Arrivals) == 0 {
		t.Error("the readings were changed")
	}
	if DetectUnplanned([]record.Flow{hit}, hosts, nil, &topology.Topology{}) != nil {
		t.Error("outages without a fault")
	}
	sum := Sum([]record.Trial{
		{Faults: faults, Flows: []record.Flow{{ID: "hit", Outages: got[0]}}},
		{Faults: []record.Event{{Host: "a", What: "eth0 lost its carrier", AtS: 0.4}},
			Flows: []record.Flow{{ID: "hit", Outages: []record.Outage{{AtS: 0.4, LostS: 3}}}}},
	})
	if len(sum) != 1 || sum[0].Others.Flows != 2 || sum[0].Others.MostLostS != 3 ||
		sum[0].What[0] != "a: eth0 lost its carrier" {
		t.Errorf("of two trials: %+v", sum)
	}
	// A link that is lost twice in a trial: each time is an entry.
	lost := func(at ...float64) (t record.Trial) {
		var outages []record.Outage
		for _, at := range at {
			t.Faults = append(t.Faults, record.Event{Host: "a", What: "eth0 lost its carrier", AtS: at})
			outages = append(outages, record.Outage{AtS: at, LostS: at})
		}
		t.Flows = []record.Flow{{Outages: outages}, {Outages: outages}}
		return t
	}
	sum = Sum([]record.Trial{lost(1, 3), lost(2, 4), lost(5)})
	if len(sum) != 2 || sum[0].Others.Flows != 6 || sum[0].AtS != 1 || sum[1].Others.Flows != 4 ||
		sum[1].Others.MostLostS != 4 {
		t.Errorf("of a link that is lost twice: %+v", sum)
	}
}
