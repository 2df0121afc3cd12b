package bottleneck

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestBehindLink: where the network between the two ends is not known, a flow whose round trips
// are mostly waiting, and that arrives at an even rate, has all of a link there: neither its
// small buffer or window is the cause, which the queue fills, nor a machine that is busy while
// its linerate is not. One of these signs alone shows nothing.
func TestBehindLink(t *testing.T) {
	sendBuffer := func(f *record.Flow, t *record.Trial) {
		f.SndbufFullShare, f.SndbufBytes = 0.9, 16384
	}
	window := func(f *record.Flow, t *record.Trial) { f.RwndLimitedS, f.SenderInfo.SndWnd = t.WindowS, 40_000 }
	busyMachine := func(f *record.Flow, t *record.Trial) {
		h := reading(t, f.From)
		h.CPUBusy, h.GeneratorCPU = 0.99, 0.2
	}
	for _, test := range []struct {
		name      string
		rttUs     uint32
		uneven    int64 // one part's, in thousandths
		known     bool
		doctor    func(f *record.Flow, t *record.Trial)
		want, why string
	}{
		{"a send buffer that the queue fills", 1700, 5, false, sendBuffer, FullLink, "RTT 1.7 ms, without a queue 47 µs: packets were queued before a link on the path, and a larger send buffer would only lengthen that queue: its buffer of 16.38 kB"},
		{"hardly any queue", 80, 5, false, sendBuffer, SendBuffer, "16.38 kB was full"},
		{"round trips that grow with the load of a host", 300, 5, false, sendBuffer, SendBuffer, "; RTT 300 µs, without a queue 47 µs"},
		{"round trips that are longer, but not by far", 8000, 5, false, func(f *record.Flow, t *record.Trial) {
			sendBuffer(f, t)
			f.SenderInfo.MinRTTUs = 1000
		}, SendBuffer, "; RTT 8 ms, without a queue 1 ms"},
		{"an uneven rate", 1700, 50, false, sendBuffer, SendBuffer, "; RTT 1.7 ms"},
		{"every link is known, and none is full", 1700, 5, true, sendBuffer, SendBuffer, "; RTT 1.7 ms"},
		{"delayed acknowledgements", 40_000, 5, false, func(f *record.Flow, t *record.Trial) {
			sendBuffer(f, t)
			f.GoodputBps, t.WindowS = 2*1448*8/40e-3, 10
		}, SendBuffer, "; RTT 40 ms"},
		{"a window that the queue fills", 1700, 5, false, window, FullLink, "a larger receiver window would only lengthen that queue: waited for the receiver's window 100 %"},
		{"a window that is small", 80, 5, false, window, ReceiverWindow, "the window was 40 kB"},
		{"a busy machine", 7900, 5, false, busyMachine, FullLink, "RTT 7.9 ms"},
		{"a busy machine, and no queue", 80, 5, false, busyMachine, Generator, "99 % busy"},
		{"a busy machine that sends unevenly", 7900, 50, false, busyMachine, Generator, "99 % busy"},
		{"a machine that is busy with the flow", 7900, 5, false, func(f *record.Flow, t *record.Trial) {
			busyMachine(f, t)
			reading(t, f.To).GeneratorCPU = 0.6
		}, Generator, "99 % busy"},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs, f.GoodputBps = test.rttUs, 47, 190e6
		for _, host := range []string{f.From, f.To} {
			reading(&trial, host).Series = nil
		}
		f.Bins = nil
		for i := range 20 {
			bytes := int64(1e6)
			if i < 4 {
				bytes += 1000 * test.uneven
			}
			f.Bins = append(f.Bins, bytes)
		}
		test.doctor(f, &trial)
		attribute(&trial, over, test.known)
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !strings.Contains(f.LimitedWhy, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, f.LimitedWhy, test.want, test.why)
		}
	}
}
