package bottleneck

import (
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestCarrier: an interface on a flow's path that had no carrier for a part of the window is what
// held it back, whatever else was full, if nothing arrived for as long. A flow that took another
// path goes on, and an interface that it does not cross is none of its own.
func TestCarrier(t *testing.T) {
	for _, test := range []struct {
		name      string
		on        int // the end of the path
		iface     string
		fromS     float64
		down      bool
		toS       float64
		silent    [2]int // bins of 20 in which nothing arrived
		pathKnown bool
		want, why string
	}{
		{"taken down", 1, "", 0.4, true, 1, [2]int{8, 20}, true, NoCarrier,
			`"down":true,"seconds":0.6,"window_s":1}`},
		{"lost", 0, "", 0.4, false, 1, [2]int{8, 20}, true, NoCarrier,
			`"no_carrier_for":{"interface":"client1.eth0","seconds":0.6,"window_s":1}`},
		{"lost, on a path that is not known", 0, "", 0.4, false, 1, [2]int{8, 20}, false, NoCarrier,
			`"no_carrier_for":{"interface":"client1.eth0","seconds":0.6,"window_s":1}`},
		{"for a while, of which the intervals at its ends have some", 0, "", 0.43, false, 0.62, [2]int{9, 12}, true,
			NoCarrier, `"no_carrier_for":{"interface":"client1.eth0","seconds":0.19,"window_s":1}`},
		{"before what was on its way had arrived", 0, "", 0.38, false, 1, [2]int{9, 20}, true, NoCarrier,
			`"no_carrier_for":{"interface":"client1.eth0","seconds":0.62,"window_s":1}`},
		{"for less than an interval", 0, "", 0.43, false, 0.54, [2]int{}, true, FullLink, ""},
		{"for an instant", 0, "", 0.95, false, 1, [2]int{19, 20}, true, FullLink, ""},
		{"of a flow that took another path", 0, "", 0.4, false, 1, [2]int{}, true, FullLink, ""},
		{"of another interface", 0, "eth9", 0.4, false, 1, [2]int{8, 20}, true, FullLink, ""},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		trial.WindowS, f.Bins = 1, nil
		receiver := reading(&trial, f.To)
		receiver.Series = nil
		for i := range 20 {
			bytes := int64(1e6)
			if i >= test.silent[0] && i < test.silent[1] {
				bytes = 0
			}
			f.Bins = append(f.Bins, bytes)
			receiver.Series = append(receiver.Series,
				netstate.Sample{AtNs: receiver.Begin.ScheduledNs + int64(i+1)*50e6,
					Flows: []netstate.FlowSample{{ID: f.ID}}})
		}
		end := f.Ends()[test.on]
		if test.iface != "" {
			end.Interface = test.iface
		}
		reading(&trial, end.Node).CarrierLosses = []netstate.CarrierLoss{{Interface: end.Interface, FromS: test.fromS,
			ToS: test.toS, Down: test.down}}
		if !test.pathKnown {
			f.Path = nil
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !shows(f.LimitedFacts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, said(f.LimitedFacts), test.want, test.why)
		}
	}
}

// TestPausedAtCap: a flow that had its cap in nearly all intervals, and lost nothing, was held by
// the cap, though a pause leaves it with less on average.
func TestPausedAtCap(t *testing.T) {
	const interval, bps = 0.05, 8e6
	for _, test := range []struct {
		name   string
		pause  float64             // seconds at the middle of the window
		asleep bool                // the sampler paused as well
		each   func(i int) float64 // share of the cap in an interval
		edit   func(*record.Flow)
		want   string
	}{
		{"a pause", 0.2, false, nil, nil, RateCap},
		{"a pause of the whole machine", 0.2, true, nil, nil, RateCap},
		{"a pause, with a write cap", 0.2, false, nil, func(f *record.Flow) {
			f.RateCapBps, f.WriteCapBps = 0, f.RateCapBps
		}, Application},
		{"a long pause", 0.3, false, nil, nil, CongestionWindow},
		{"an outage that lost packets", 0.2, false, nil, func(f *record.Flow) {
			f.RetransBytes = f.AckedBytes / 100
		}, CongestionWindow},
		{"a rate that varies", 0, false, func(i int) float64 { return 0.7 + 0.3*float64(i%2) }, nil, CongestionWindow},
		{"less throughout", 0, false, func(int) float64 { return 0.85 }, nil, CongestionWindow},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		idleLinks(over)
		receiver := reading(&trial, f.To)
		trial.WindowS, f.Bins, f.RateCapBps = 1, nil, bps
		receiver.Series = nil
		sum := int64(0)
		for i := range 20 {
			at, share := interval*float64(i+1), 1.0
			paused := test.pause > 0 && at > 0.5 && at < 0.5+test.pause+interval/2
			if test.each != nil {
				share = test.each(i)
			}
			if paused {
				share = 0
			}
			bytes := int64(share * interval * bps / 8)
			sum += bytes
			if paused && test.asleep {
				continue
			}
			f.Bins = append(f.Bins, bytes)
			receiver.Series = append(receiver.Series, netstate.Sample{AtNs: receiver.Begin.ScheduledNs + int64(at*1e9),
				Flows: []netstate.FlowSample{{ID: f.ID}}})
		}
		f.ReceivedBytes, f.GoodputBps = sum, float64(8*sum)
		if test.edit != nil {
			test.edit(f)
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != test.want {
			t.Errorf("%s: %q (%s), want %q", test.name, f.LimitedBy, said(f.LimitedFacts), test.want)
		}
	}
}
