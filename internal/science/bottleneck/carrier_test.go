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
		silent    int // bins of 20, the last ones
		pathKnown bool
		want, why string
	}{
		{"taken down", 1, "", 0.4, true, 12, true, NoCarrier, " was down for 600 ms of 1 s, and nothing arrived for 600 ms"},
		{"lost", 0, "", 0.4, false, 12, true, NoCarrier, "client1.eth0 had no carrier for 600 ms"},
		{"lost, on a path that is not known", 0, "", 0.4, false, 12, false, NoCarrier, "client1.eth0 had no carrier for 600 ms"},
		{"for an instant", 0, "", 0.95, false, 1, true, FullLink, ""},
		{"of a flow that took another path", 0, "", 0.4, false, 0, true, FullLink, ""},
		{"of another interface", 0, "eth9", 0.4, false, 12, true, FullLink, ""},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		trial.WindowS, f.Bins = 1, make([]int64, 20)
		for i := range len(f.Bins) - test.silent {
			f.Bins[i] = 1e6
		}
		end := f.Ends()[test.on]
		if test.iface != "" {
			end.Interface = test.iface
		}
		reading(&trial, end.Node).CarrierLosses = []record.CarrierLoss{{Interface: end.Interface, FromS: test.fromS, ToS: 1, Down: test.down}}
		if !test.pathKnown {
			f.Path = nil
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !strings.Contains(f.LimitedWhy, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, f.LimitedWhy, test.want, test.why)
		}
	}
}
