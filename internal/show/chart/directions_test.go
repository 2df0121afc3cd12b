package chart

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
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
		{"read", reads, directedLoad{275e6, 300e6}, false},
		{"write, by the server's counters", mirrored(sends), directedLoad{95e6, 100e6}, true},
		{"read, by the server's counters", mirrored(reads), directedLoad{275e6, 300e6}, false},
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
