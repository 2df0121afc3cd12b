package chart

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// TestDirections: of a link with another rate in each direction, load and rate are of the same one, that of
// the treatment's data.
func TestDirections(t *testing.T) {
	l := topology.Link{From: topology.End{Node: "client", Interface: "eth0"},
		To: topology.End{Node: "server", Interface: "eth0"}}
	l.Rate = 100e6
	l.Reverse = &topology.Direction{Impairment: topology.Impairment{Rate: 300e6}}
	part := 1.0
	sends := record.TreatmentInterface{Host: "client", Interface: "eth0", TxBps: 95e6, RxBps: 275e6, LimitBps: 100e6,
		Share: 1, ShareTx: &part, Direction: record.Tx}
	reads := sends
	reads.LimitBps, reads.ShareTx, reads.ShareRx, reads.Direction = 300e6, nil, &part, record.Rx
	both := sends
	both.ShareRx = &part
	mirrored := func(p record.TreatmentInterface) record.TreatmentInterface {
		p.Host, p.RxBps, p.TxBps, p.ShareRx, p.ShareTx = "server", p.TxBps, p.RxBps, p.ShareTx, p.ShareRx
		p.Direction = map[string]string{record.Rx: record.Tx, record.Tx: record.Rx}[p.Direction]
		return p
	}
	for _, test := range []struct {
		name string
		p    record.TreatmentInterface
		want directedLoad
		full bool
	}{
		{"write", sends, directedLoad{95e6, 100e6}, true},
		{"read", reads, directedLoad{275e6, 300e6}, true},
		{"write, by the server's counters", mirrored(sends), directedLoad{95e6, 100e6}, true},
		{"read, by the server's counters", mirrored(reads), directedLoad{275e6, 300e6}, true},
		{"both: the one that is full", both, directedLoad{95e6, 100e6}, true},
	} {
		load := loadOf(&l, loadsOf([]record.TreatmentInterface{test.p}))
		if load.shown() != test.want || load.full() != test.full {
			t.Errorf("%s: %+v, full %v; want %+v", test.name, load.shown(), load.full(), test.want)
		}
		if test.full && test.p.Direction == record.Tx && view.Receives([]record.TreatmentInterface{test.p}) {
			t.Errorf("%s: the load of the other direction is drawn below the rate of this one", test.name)
		}
	}
	if view.Load(sends) != 95e6 || view.Load(reads) != 275e6 || view.Load(both) != 275e6 {
		t.Errorf("loads %g, %g, %g", view.Load(sends), view.Load(reads), view.Load(both))
	}
	other := sends
	other.LimitBps = 1e9
	for of, interfaces := range map[string][]record.TreatmentInterface{
		"rate of the link": {sends}, "rate of each link": {sends, sends, sends}, "rate of the fastest link": {sends,
			sends, other, other},
	} {
		if got := rateOf(interfaces); got.of != of {
			t.Errorf("%s, want %s", got.of, of)
		}
	}
}

// TestBothDirectionsAreDrawn: a link is drawn as one line for each direction that says something, however
// much slower it is than the other one.
func TestBothDirectionsAreDrawn(t *testing.T) {
	part := 1.0
	for _, test := range []struct {
		name   string
		rx, tx float64
		data   bool // in both directions
		drawn  bool
		title  string
	}{
		{"acknowledgements", 3e6, 180e6, false, false, "The link carries 90 % of its rate"},
		{"data, which is shaped elsewhere", 8e6, 150e6, true, true,
			"The link carries 75 % of its rate, and 4 % in the other direction"},
		{"a direction of unknown data", 48e6, 150e6, false, true,
			"The link carries 75 % of its rate, and 24 % in the other direction"},
		{"full both ways", 196e6, 197e6, true, true, "The link is full"},
		{"only the other one is full", 196e6, 100e6, false, true,
			"The link is full in the reverse direction"},
	} {
		run := sciencetest.Few(4, 4, 0)
		run.Topology = topology.Topology{Hosts: []topology.Host{{Name: "client"}, {Name: "server"}},
			Links: []topology.Link{{From: topology.End{Node: "client", Interface: "eth0"},
				To: topology.End{Node: "server", Interface: "eth0"}}}}
		p := record.TreatmentInterface{Host: "client", Interface: "eth0", RxBps: test.rx, TxBps: test.tx,
			LimitBps: 200e6, Share: 1, ShareTx: &part, Direction: record.Tx}
		if test.data {
			p.ShareRx = &part
		}
		conclude.Conclude(run)
		for i := range run.Treatments {
			run.Treatments[i].Interfaces = []record.TreatmentInterface{p}
		}
		f, ok := topologyFigure(view.New(run))
		if !ok {
			t.Fatalf("%s: not drawn", test.name)
		}
		var b strings.Builder
		if err := f.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		back := strings.Contains(b.String(), ">"+number.LinkRate(test.rx)+"<")
		there := strings.Contains(b.String(), ">"+number.LinkRate(test.tx)+"<")
		if !there || back != test.drawn {
			t.Errorf("%s: drawn %v and back %v, want %v", test.name, there, back, test.drawn)
		}
		if strings.Split(f.Title, " at ")[0] != test.title {
			t.Errorf("%s: title %q, want %q", test.name, f.Title, test.title)
		}
	}
}
