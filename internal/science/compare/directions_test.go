package compare

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
)

// TestBothDirections: flows that go both ways in one trial are of both directions.
func TestBothDirections(t *testing.T) {
	run := &record.Run{Study: record.MeasureStudy, Trials: []record.Trial{
		{Flows: []record.Flow{{From: "client", OpenedBy: "client"}, {From: "server", OpenedBy: "client"}}},
	}}
	if got := optionsOf(run)[0]; got != [2]string{"direction", "both"} {
		t.Error(got)
	}
}

// TestProbeIsNoFlow: a measurement with a probe of latency is compared with one without, and
// two with one show what both saw.
func TestProbeIsNoFlow(t *testing.T) {
	of := func(probe bool, p50 float64) *record.Run {
		run := &record.Run{Study: record.MeasureStudy, Responses: []string{"goodput"}, Confidence: 0.95, Margin: 0.02}
		trial := record.Trial{Treatment: "measurement", GoodputBps: 1e8, WindowS: 1,
			Flows: []record.Flow{{ID: "w1", From: "a", To: "b", Protocol: "tcp", Connected: true}}}
		if probe {
			run.Responses = append(run.Responses, "latency_p50")
			trial.Flows = append(trial.Flows, record.Flow{ID: "p1", From: "a", To: "b", Protocol: "rr",
				Connected: true})
			trial.Bufferbloat = &record.Latency{}
			trial.Latency = &record.Distribution{Count: 100, P50Us: p50}
		}
		run.Trials = []record.Trial{trial}
		conclude.Conclude(run)
		return run
	}
	if got := Runs(of(true, 10), of(false, 0)); !got.Comparable || len(got.Treatments[0].Others) != 0 {
		t.Errorf("with a probe and without: %+v", got.Treatments)
	}
	if delay, _ := metric.Find("buffer_delay"); sideOf(of(true, 10)).without(&record.Treatment{Name: "measurement"},
		delay) != "" {
		t.Error("what a probe saw is of no protocol")
	}
	got := Runs(of(true, 10), of(true, 20))
	if others := got.Treatments[0].Others; len(others) != 1 || others[0].Response != "latency_p50" ||
		others[0].From.Mean != 10 || others[0].To.Mean != 20 {
		t.Errorf("both with a probe: %+v", got.Treatments)
	}
}

// TestDirectionsOfLinks: of a link whose directions differ, that which changed is named alone.
func TestDirectionsOfLinks(t *testing.T) {
	of := func(forward, back unit.BitRate) *topology.Topology {
		l := topology.Link{From: topology.End{Node: "a", Interface: "eth0"},
			To: topology.End{Node: "b", Interface: "eth0"}}
		l.Forward, l.Reverse = &topology.Direction{Impairment: topology.Impairment{Rate: forward, Shaper: "tbf"}},
			&topology.Direction{Impairment: topology.Impairment{Rate: back, Shaper: "tbf"}}
		return &topology.Topology{Links: []topology.Link{l}}
	}
	for want, pair := range map[string][2]*topology.Topology{
		"b.eth0 → a.eth0: 300 Mbit/s by tbf → 200 Mbit/s by tbf":      {of(300e6, 300e6), of(300e6, 200e6)},
		"link a.eth0 – b.eth0: 300 Mbit/s by tbf → 200 Mbit/s by tbf": {of(300e6, 300e6), of(200e6, 200e6)},
	} {
		var l list
		l.topology(pair[0], pair[1])
		if len(l) != 1 || l[0].What+": "+l[0].From+" → "+l[0].To != want {
			t.Errorf("%+v, want %s", l, want)
		}
	}
}

// TestHalfKnownPath: what only one of two measurements knows of the path, as of an iperf3
// server's host, is no difference.
func TestHalfKnownPath(t *testing.T) {
	of := func(iface string, rate unit.BitRate) *record.Run {
		via := []string{"linerate"}
		run := &record.Run{Study: record.MeasureStudy, Trials: []record.Trial{{Block: 1, Order: 1, WindowS: 10}},
			Topology: topology.Topology{Hosts: []topology.Host{{Name: "client", Via: via}, {Name: "server", Via: via}}}}
		if iface == "" {
			run.Topology.Hosts = run.Topology.Hosts[:1]
			return run
		}
		l := topology.Link{From: topology.End{Node: "client", Interface: iface},
			To: topology.End{Node: "server", Interface: "eth0"}}
		l.Forward = &topology.Direction{Impairment: topology.Impairment{Rate: rate, Shaper: "tbf"}}
		run.Topology.Links = []topology.Link{l}
		run.Topology.Hosts[0].Interfaces = []topology.Interface{{Name: iface}}
		return run
	}
	if got := only(differences(of("eth0", 2e8), of("", 0))); len(got) != 0 {
		t.Errorf("with an iperf3 server: %+v", got)
	}
	if got := only(differences(of("eth0", 2e8), of("eth0", 1e8))); len(got) != 1 ||
		!strings.HasPrefix(got[0].What, "client.eth0 → server.eth0") {
		t.Errorf("another rate: %+v", got)
	}
	if got := only(differences(of("eth0", 2e8), of("eth1", 2e8))); !slices.Contains(got,
		record.Difference{What: "interfaces of client", From: "eth0", To: "eth1"}) {
		t.Errorf("another interface: %+v", got)
	}
}
