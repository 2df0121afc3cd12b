package notebook

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestJoin: what an earlier version kept as a trial for each direction is one trial for each mode, with the
// readings of hosts, the probe of latency and each failed check once. A run of today's version is not changed.
func TestJoin(t *testing.T) {
	client, server := record.NodeClient, record.NodeServer
	run := &record.Run{Study: record.MeasureStudy}
	for i, mode := range []string{"auto", "copy"} {
		started := time.Unix(int64(i), 0)
		for k, way := range []string{"write", "read"} {
			order := len(run.Trials) + 1
			from, to := client, server
			if way == "read" {
				from, to = to, from
			}
			trial := record.Trial{
				Order: order, Started: started, Treatment: mode + ", " + way, WindowS: 1,
				Levels:   map[string]string{"mode": mode, "direction": way},
				LimitBps: 100, LimitWhy: way, GoodputBps: float64(10 * order), Bufferbloat: &record.Latency{},
				Flows: []record.Flow{{ID: way, From: from, To: to, Protocol: "tcp", GoodputBps: float64(10 * order)},
					{ID: "p1", From: client, To: server, Protocol: "rr"}},
			}
			if k == 0 { // with the first of them
				trial.Hosts = []netstate.HostReading{{Host: client}}
			}
			run.Trials = append(run.Trials, trial)
			run.Trust = append(run.Trust, record.Check{Check: "steady", Trial: order})
		}
	}
	for range 2 {
		if err := Join(run); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, trial := range run.Trials {
			got = append(got, fmt.Sprintf("%d %s %v %v %d hosts", trial.Order, trial.Treatment, trial.GoodputBps,
				trial.LimitBps, len(trial.Hosts)))
			for _, f := range trial.Flows {
				got = append(got, fmt.Sprintf("%s probe %t", f.ID, f.Probe))
			}
		}
		if want := []string{"1 auto 30 200 1 hosts", "write probe false", "read probe false", "p1 probe true",
			"2 copy 70 200 1 hosts", "write probe false", "read probe false", "p1 probe true"}; !slices.Equal(
			got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if want := []record.Check{{Check: "steady", Trial: 1}, {Check: "steady", Trial: 2}}; !reflect.DeepEqual(
			run.Trust, want) {
			t.Errorf("checks %+v", run.Trust)
		}
		of := run.TrialsOf("copy, read")
		if len(of) != 1 || of[0].GoodputBps != 40 || of[0].LimitWhy != "read" || len(of[0].Flows) != 2 ||
			!reflect.DeepEqual(of[0].Levels, map[string]string{"mode": "copy", "direction": "read"}) {
			t.Errorf("%+v", of)
		}
	}
	one := &record.Run{Study: record.MeasureStudy, Trials: []record.Trial{{Order: 1, Treatment: "measurement",
		GoodputBps: 5, Flows: []record.Flow{{From: client, To: server, GoodputBps: 5}}}}}
	if err := Join(one); err != nil || len(one.Trials) != 1 || len(one.Trials[0].Parts) != 1 ||
		one.Trials[0].Parts[0].GoodputBps != 5 || one.Trials[0].Treatment != "measurement" {
		t.Errorf("one direction: %+v, %v", one.Trials, err)
	}
}
