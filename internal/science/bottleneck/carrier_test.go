package bottleneck

import (
	"strings"
	"testing"

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
		{"taken down", 1, "", 0.4, true, 1, [2]int{8, 20}, true, NoCarrier, " was down for 600 ms of the window of 1 s"},
		{"lost", 0, "", 0.4, false, 1, [2]int{8, 20}, true, NoCarrier, "client1.eth0 had no carrier for 600 ms"},
		{"lost, on a path that is not known", 0, "", 0.4, false, 1, [2]int{8, 20}, false, NoCarrier, "client1.eth0 had no carrier for 600 ms"},
		{"for a while, of which the intervals at its ends have some", 0, "", 0.43, false, 0.62, [2]int{9, 12}, true, NoCarrier, "had no carrier for 190 ms"},
		{"before what was on its way had arrived", 0, "", 0.38, false, 1, [2]int{9, 20}, true, NoCarrier, "had no carrier for 620 ms"},
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
			receiver.Series = append(receiver.Series, record.Sample{AtNs: receiver.Begin.ScheduledNs + int64(i+1)*50e6})
		}
		end := f.Ends()[test.on]
		if test.iface != "" {
			end.Interface = test.iface
		}
		reading(&trial, end.Node).CarrierLosses = []record.CarrierLoss{{Interface: end.Interface, FromS: test.fromS, ToS: test.toS, Down: test.down}}
		if !test.pathKnown {
			f.Path = nil
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !strings.Contains(f.LimitedWhy, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, f.LimitedWhy, test.want, test.why)
		}
	}
}
