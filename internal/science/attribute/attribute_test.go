package attribute

import (
	"math/rand/v2"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
)

// sound is a trial whose flows were busy all the time, over links that are full.
func sound() (record.Trial, *topology.Topology) {
	t := sciencetest.Trial(sciencetest.Fixes[4], "writes", 1, 1, rand.New(rand.NewPCG(3, 3)))
	for i := range t.Flows {
		t.Flows[i].BusyS = t.WindowS
	}
	over := sciencetest.Topology()
	return t, &over
}

// idleLinks makes the links so fast that none is full.
func idleLinks(over *topology.Topology) {
	for i := range over.Links {
		over.Links[i].Rate *= 100
	}
}

func TestFlow(t *testing.T) {
	for _, test := range []struct {
		name   string
		doctor func(f *record.Flow, t *record.Trial, over *topology.Topology)
		want   string
	}{
		{"a full link", func(*record.Flow, *record.Trial, *topology.Topology) {}, Network},
		{"congestion control", func(_ *record.Flow, _ *record.Trial, over *topology.Topology) { idleLinks(over) }, Network},
		{"a busy machine on idle links", func(f *record.Flow, t *record.Trial, over *topology.Topology) {
			idleLinks(over)
			t.Hosts[0].CPUBusy = 0.99
		}, ""},
		{"a busy machine on full links", func(f *record.Flow, t *record.Trial, _ *topology.Topology) { t.Hosts[0].CPUBusy = 0.99 }, Network},
		{"the receiver's window", func(f *record.Flow, t *record.Trial, _ *topology.Topology) { f.RwndLimitedS = 0.7 * t.WindowS }, ReceiverWindow},
		{"the send buffer", func(f *record.Flow, t *record.Trial, _ *topology.Topology) { f.SndbufLimitedS = 0.7 * t.WindowS }, SendBuffer},
		{"a little of both", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			f.SndbufLimitedS, f.RwndLimitedS = 0.1, 0.1
		}, Network},
		{"much of both", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			f.SndbufLimitedS, f.RwndLimitedS = 0.4, 0.4
		}, ""},
		{"nothing to send", func(f *record.Flow, t *record.Trial, _ *topology.Topology) { f.BusyS = t.WindowS / 2 }, Application},
		{"its own pacing", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.RateCapBps = f.GoodputBps * 1.05 }, RateCap},
		{"pacing that it does not reach", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.RateCapBps = f.GoodputBps * 1.5 }, Network},
		{"nothing comes back", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.AckedBytes, f.SenderInfo.Backoff = 0, 4 }, Network},
		{"no connection", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.Connected = false }, ""},
		{"no TCP_INFO", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.SenderInfo = nil }, ""},
		{"a kernel that does not count", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.BusyS = 0 }, ""},
		{"a short window", func(f *record.Flow, t *record.Trial, _ *topology.Topology) { t.WindowS = 0.3 }, ""},
		{"few round trips", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) { f.SenderInfo.RTTUs = 30_000 }, ""},
	} {
		trial, over := sound()
		test.doctor(&trial.Flows[0], &trial, over)
		Flows(&trial, over)
		if got := trial.Flows[0].LimitedBy; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
