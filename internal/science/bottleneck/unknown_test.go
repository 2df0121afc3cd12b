package bottleneck

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
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
	narrow := func(f *record.Flow) { f.SenderInfo.SndWnd = 20_000 }
	busyCPU := func(share float64) func(f *record.Flow, t *record.Trial) {
		return func(f *record.Flow, t *record.Trial) {
			for _, name := range []string{f.From, f.To} {
				h := reading(t, name)
				h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{CPU: 0}},
					[]netstate.CPUTimes{{CPU: 0, SoftIRQ: share, Idle: 1 - share}}
			}
		}
	}
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
		{"a send buffer that the queue fills", 1700, 5, false, sendBuffer, FullLink,
			`"least_s":0.000047,"larger":"send buffer"}},{"buffer_full":{"bytes":16384,`},
		{"hardly any queue", 80, 5, false, sendBuffer, SendBuffer,
			`"buffer_full":{"bytes":16384,"share":0.9,"all_sent":true}`},
		{"round trips that grow with the load of a host", 300, 5, false, sendBuffer, SendBuffer,
			`{"round_trip":{"seconds":0.0003,"least_s":0.000047}}`},
		{"a window that a short queue fills, of hosts with idle CPUs", 800, 5, false,
			func(f *record.Flow, t *record.Trial) {
				window(f, t)
				narrow(f)
				busyCPU(0.6)(f, t)
			}, FullLink, `"least_s":0.000047,"larger":"receiver window"}`},
		{"a window that the queue of a CPU may fill", 800, 5, false, func(f *record.Flow, t *record.Trial) {
			window(f, t)
			narrow(f)
			busyCPU(0.99)(f, t)
		}, "",
			`"queue_at":{"seconds":0.0008,"least_s":0.000047,"or_cpu":true,"larger":"receiver window"}`},
		{"a short queue, and room in the window", 1100, 5, false, busyCPU(0.6), FullLink,
			`"queue_at":{"seconds":0.0011,`},
		{"a short queue, perhaps of a CPU", 900, 5, false, busyCPU(0.99), "",
			`"queue_at":{"seconds":0.0009,"least_s":0.000047,"or_cpu":true}`},
		{"round trips that are longer, but not by far", 8000, 5, false, func(f *record.Flow, t *record.Trial) {
			sendBuffer(f, t)
			f.SenderInfo.MinRTTUs = 1000
		}, SendBuffer, `"round_trip":{"seconds":0.008,"least_s":0.001}`},
		{"an uneven rate", 1700, 50, false, sendBuffer, "",
			`"or_cpu":true,"larger":"send buffer"`},
		{"every link is known, and none is full", 1700, 5, true, sendBuffer, SendBuffer,
			`"round_trip":{"seconds":0.0017,`},
		{"delayed acknowledgements", 40_000, 5, false, func(f *record.Flow, t *record.Trial) {
			sendBuffer(f, t)
			f.GoodputBps, t.WindowS = 2*1448*8/40e-3, 10
		}, SendBuffer, `"round_trip":{"seconds":0.04,`},
		{"a window that the queue fills", 1700, 5, false, window, FullLink,
			`"larger":"receiver window"}},{"window_full":{"share":1,`},
		{"a window that the queue fills, or processors that linerate keeps busy", 1700, 5, false,
			func(f *record.Flow, t *record.Trial) {
				window(f, t)
				reading(t, f.To).GeneratorCPU = 0.6
			}, "", `"or_cpu":true,"larger":"receiver window"`},
		{"a window that was open for a part of the time", 20_700, 5, false, func(f *record.Flow, t *record.Trial) {
			t.WindowS = 2
			window(f, t)
			f.GoodputBps, f.SenderInfo.SndWnd = 24e6, 322_600
		}, ReceiverWindow, `"window_closed":{"flying_bytes":62`},
		{"one that the other host's program left closed", 20_700, 5, false, func(f *record.Flow, t *record.Trial) {
			t.WindowS = 2
			window(f, t)
			f.GoodputBps, f.SenderInfo.SndWnd, f.ClosingShare = 24e6, 20_000, 0.5
			t.Hosts = slices.DeleteFunc(t.Hosts, func(h netstate.HostReading) bool { return h.Host == f.To })
		}, SlowReader,
			`{"bytes":20000}},{"window_closing":{"share":0.5}},{"round_trip":{"seconds":0.0207,`},
		{"a window that is small", 80, 5, false, window, ReceiverWindow, `"receiver_window":{"bytes":40000,`},
		{"few segments between losses, whose acknowledgements are late", 2740, 5, false,
			func(f *record.Flow, _ *record.Trial) {
				f.GoodputBps, f.SenderInfo.RTTVarUs = 16.92e6, 3000
				f.SentBytes, f.RetransBytes = 1e6, 37_000
			}, CongestionWindow, `"sent_again":{"share":0.037}`},
		{"few segments in a short queue", 6000, 5, false, func(f *record.Flow, _ *record.Trial) {
			f.GoodputBps, f.SenderInfo.RTTVarUs = 16.92e6, 500
		}, FullLink, `"queue_at":{"seconds":0.006,`},
		{"a queue on a path that loses packets", 3000, 50, false, func(f *record.Flow, _ *record.Trial) {
			f.SentBytes, f.RetransBytes = 1e6, 37_000
		}, FullLink,
			`"queue_at":{"seconds":0.003,"least_s":0.000047,"resent":0.037}`},
		{"a busy machine", 7900, 5, false, busyMachine, FullLink, `"queue_at":{"seconds":0.0079,`},
		{"a busy machine, and no queue", 80, 5, false, busyMachine, Generator, `"busy":0.99,`},
		{"a busy machine that sends unevenly", 7900, 50, false, busyMachine, Generator, `"busy":0.99,`},
		{"a machine that is busy with the flow", 7900, 5, false, func(f *record.Flow, t *record.Trial) {
			busyMachine(f, t)
			reading(t, f.To).GeneratorCPU = 0.6
		}, Generator, `"busy":0.99,`},
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
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !shows(f.LimitedFacts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, said(f.LimitedFacts), test.want, test.why)
		}
	}
}

// TestWhoseQueue: of two directions whose round trips both wait in a queue between the hosts, the
// one with an even rate fills it, though it be the slower one by far; the other's
// acknowledgements wait there. Where neither or both are even, it is not known which, unless one
// has lost something or both are about as fast.
func TestWhoseQueue(t *testing.T) {
	for _, test := range []struct {
		name            string
		uneven, against int64   // a part of the flow's own rate, and of the opposite direction's, in thousandths
		times           float64 // the opposite direction is so many times as fast
		lost            float64 // share of the flow's bytes; below 0: of the other one's
		want, why       string
	}{
		{"a slow link", 5, 200, 40, 0, FullLink, `"queue_at":{"seconds"`},
		{"the other direction's slow link", 200, 5, 0.02, 0, Acknowledgements,
			`{"from":"server","to":"client1","even":true}`},
		{"the faster of two even ones", 5, 5, 0.5, 0, "", `"either":true`},
		{"the slower of two even ones", 5, 5, 2, 0, "", `"either":true`},
		{"the faster of two uneven ones", 200, 200, 0.5, 0, "", `"either":true`},
		{"its own short queue in the other direction's long one", 200, 5, 5, 0.004, CongestionWindow,
			`"even":true`},
		{"a full link on a busy machine, beside another of its rate", 60, 5, 1.05, 0, FullLink,
			`"queue_at":{"seconds"`},
		{"the other direction's, which loses", 200, 200, 0.1, -0.004, Acknowledgements,
			`"from":"server","to":"client1"}`},
		{"two full links, of which its own is the slower one", 5, 5, 5, 0.004, FullLink,
			`"queue_at":{"seconds"`},
	} {
		trial, over := sound()
		idleLinks(over)
		f := trial.Flows[0]
		f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs, f.GoodputBps = 6000, 24, 55e6
		f.SenderInfo.Unacked, f.SenderInfo.SndCwnd = 30, 34
		other := f
		if test.lost < 0 {
			other.RetransBytes, test.lost = int64(-test.lost*float64(max(f.SentBytes, f.AckedBytes))), 0
		}
		f.RetransBytes = int64(test.lost * float64(max(f.SentBytes, f.AckedBytes)))
		other.ID, other.From, other.To, other.Path, other.GoodputBps = "other", f.To, f.From, reverse(f).Path,
			f.GoodputBps*test.times
		bins := func(uneven int64) (list []int64) {
			for i := range int64(20) {
				list = append(list, 1e6+uneven*1000*(i%8/4))
			}
			return list
		}
		f.Bins, other.Bins = bins(test.uneven), bins(test.against)
		for _, host := range []string{f.From, f.To} {
			reading(&trial, host).Series = nil
		}
		trial.Flows = []record.Flow{f, other}
		attribute(&trial, over, false)
		if got := trial.Flows[0]; got.LimitedBy != test.want || !shows(got.LimitedFacts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, got.LimitedBy, said(got.LimitedFacts), test.want,
				test.why)
		}
		// Of bbr nothing but two equal rates tells.
		trial.Flows[1].CongestionControl = "bbr"
		attribute(&trial, over, false)
		if got := trial.Flows[0]; test.times != 1.05 && (got.LimitedBy != "" ||
			!shows(got.LimitedFacts, `"either":true`)) || test.times == 1.05 &&
			got.LimitedBy != test.want {
			t.Errorf("%s, with bbr: %q (%s)", test.name, got.LimitedBy, said(got.LimitedFacts))
		}
	}
}

// TestMeanRTT: a round trip is called a mean only where it is one of the window's readings.
func TestMeanRTT(t *testing.T) {
	for _, test := range []struct {
		read []uint32
		want string
	}{
		{nil, `{"round_trip":{"seconds":0.0003,"least_s":0.000047}}`},
		{[]uint32{200, 600}, `{"round_trip":{"seconds":0.0004,"least_s":0.000047,"mean":true}}`},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs, f.SndbufFullShare, f.SndbufBytes = 300, 47, 0.9, 16384
		h := reading(&trial, f.From)
		h.Series = nil
		for _, us := range test.read {
			h.Series = append(h.Series, netstate.Sample{Flows: []netstate.FlowSample{{ID: f.ID, RTTUs: us}}})
		}
		attribute(&trial, over, false)
		if got := trial.Flows[0].LimitedFacts; !shows(got, test.want) {
			t.Errorf("%v: %s, want %q", test.read, said(got), test.want)
		}
	}
}

// TestArrived: what comes in by an interface tells a full link from one that is not, where the
// acknowledgements of the other direction take a changing part of it.
func TestArrived(t *testing.T) {
	trial, over := sound()
	idleLinks(over)
	f := trial.Flows[0]
	f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs, f.GoodputBps = 36_000, 300, 4.5e6
	f.SenderInfo.Unacked, f.SenderInfo.SndCwnd = 30, 34
	trial.WindowS, f.BusyS = 4, 4
	other := f
	other.ID, other.From, other.To, other.Path, other.GoodputBps = "other", f.To, f.From, reverse(f).Path, 12.7e6
	for i := range int64(20) {
		f.Bins = append(f.Bins, 1e6+2e4*(i%8)) // less while the other is faster
		other.Bins = append(other.Bins, 1e6+2e5*(i%8/4))
	}
	rate := func(host, name string, step func(i int64) uint64) {
		h := reading(&trial, host)
		h.Series = nil
		c := netstate.InterfaceCounters{Interface: name}
		var all []netstate.InterfaceCounters
		for i := range int64(21) {
			c.AtNs = 1 + i*2e8
			all = append(all, c)
			c.RxBytes += step(i)
		}
		h.Begin.Interfaces, h.End.Interfaces = all[:1], all[20:]
		for _, c := range all[1:20] {
			h.Series = append(h.Series, netstate.Sample{Interfaces: []netstate.InterfaceCounters{c}})
		}
	}
	in := func(f record.Flow) string { return f.Ends()[len(f.Ends())-1].Interface }
	other.Path = []string{f.Path[len(f.Path)-1], f.Path[0]}
	f.Path = []string{f.Path[0], f.Path[len(f.Path)-1]}
	rate(f.To, in(f), func(int64) uint64 { return 125_000 })
	rate(f.From, in(other), func(i int64) uint64 { return 300_000 + 40_000*uint64(i%8/4) })
	trial.Flows = []record.Flow{f, other}
	attribute(&trial, over, false)
	if got := trial.Flows[0]; got.LimitedBy != FullLink {
		t.Errorf("the full link's: %q (%s)", got.LimitedBy, said(got.LimitedFacts))
	}
	if got := trial.Flows[1]; got.LimitedBy != Acknowledgements {
		t.Errorf("the other's: %q (%s)", got.LimitedBy, said(got.LimitedFacts))
	}
}
