package bottleneck

import (
	"math/rand/v2"
	"slices"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
)

// sound is a trial whose flows were busy all the time, over links that are full.
func sound() (record.Trial, *topology.Topology) {
	t := sciencetest.Study.Trial(sciencetest.Fixes[4], "writes", 1, 1, rand.New(rand.NewPCG(3, 3)))
	for i := range t.Flows {
		t.Flows[i].BusyS, t.Flows[i].SendMode = t.WindowS, flow.ModeCopy
	}
	over := sciencetest.Study.Topology()
	return t, &over
}

// idleLinks makes the links so fast that none is full.
func idleLinks(over *topology.Topology) {
	for i := range over.Links {
		over.Links[i].Rate *= 100
	}
}

// A case doctors the first flow of a sound trial.
type doctored func(f *record.Flow, t *record.Trial, over *topology.Topology)

// idly is a case on links that are not full.
func idly(doctor func(f *record.Flow, t *record.Trial)) doctored {
	return func(f *record.Flow, t *record.Trial, over *topology.Topology) {
		idleLinks(over)
		doctor(f, t)
	}
}

func TestFlows(t *testing.T) {
	for _, test := range []struct {
		name   string
		doctor doctored
		want   string
		why    string
	}{
		{"a full link", func(*record.Flow, *record.Trial, *topology.Topology) {}, FullLink, `"rate_bps":1000000000`},
		{"a busy machine on full links", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			t.Hosts[0].CPUBusy = 0.99
		}, FullLink, ""},
		{"a window that has its part of a full link", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			f.RwndLimitedS = t.WindowS
		}, FullLink, ""},
		{"a window that keeps it from its part", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			f.RwndLimitedS, f.GoodputBps = t.WindowS, f.GoodputBps/4
		}, ReceiverWindow, `"window_full":{"share":1,`},
		{"less than its part for no reason of its own", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			f.GoodputBps /= 4
		}, FullLink, ""},

		{"congestion control", idly(func(f *record.Flow, _ *record.Trial) {
			f.SentBytes, f.RetransBytes = 1e6, 1e4
		}), CongestionWindow, `"sent_again":{"share":0.01}`},
		{"a window shorter than round trips that retransmissions make long",
			idly(func(f *record.Flow, _ *record.Trial) {
				f.SentBytes, f.RetransBytes, f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs = 1e6, 2e5, 230e3, 20
			}), CongestionWindow, `"sent_again":{"share":0.2}`},
		{"a busy program", idly(func(f *record.Flow, t *record.Trial) { reading(t, f.From).GeneratorCPU = 0.95 }),
			Generator, `{"host":"client1","thread_cpu":{"share":0.95}}`},
		{"a busy receiver", idly(func(f *record.Flow, t *record.Trial) { reading(t, f.To).GeneratorCPU = 0.96 }),
			Generator, `{"host":"server","thread_cpu"`},
		{"a program that is nearly busy", idly(func(f *record.Flow, t *record.Trial) {
			reading(t, f.From).GeneratorCPU = 0.94
		}), CongestionWindow, ""},
		{"a busy machine", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.From)
			h.CPUBusy, h.GeneratorCPU = 0.95, 0.2
		}), Generator, `"busy":0.95,`},
		{"a machine that is busy with other things", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.From)
			h.CPUBusy, h.GeneratorCPU = 0.99, 0.19
		}), "", `"no_window_full"`},
		{"a machine that is busy with niced programs", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.From)
			h.CPUBusy, h.GeneratorCPU = 0.99, 0.2
			h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{CPU: -1}}, []netstate.CPUTimes{{CPU: -1, User: 1, Nice: 0.5}}
		}), CongestionWindow, ""},
		{"a CPU of its own that is busy", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.From)
			h.CPUBusy, h.GeneratorCPU, h.AllowedCPUs = 0.5, 0.6, []int{1}
			h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{CPU: 0}, {CPU: 1}}, []netstate.CPUTimes{{CPU: 0, Idle: 1},
				{CPU: 1, System: 1}}
		}), Generator, `"cpus_busy":{"host":"client1","usable":true,"busy":1,`},
		{"losses on such a machine", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.From)
			h.CPUBusy, h.GeneratorCPU = 0.99, 0.19
			f.SentBytes, f.RetransBytes = 1e6, 1e3
		}), CongestionWindow, `"share":0.001}`},

		{"a congestion window that is not full", idly(func(f *record.Flow, _ *record.Trial) {
			f.SenderInfo.Unacked, f.SenderInfo.SndCwnd = 100, 4000
		}), "", `"allowed_bytes":5792000}`},
		{"such a window, and one CPU that is busy with packets", idly(func(f *record.Flow, t *record.Trial) {
			f.SenderInfo.Unacked, f.SenderInfo.SndCwnd = 100, 4000
			h := reading(t, f.To)
			h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{CPU: 0}, {CPU: 1}}, []netstate.CPUTimes{{CPU: 0, Idle: 1},
				{CPU: 1, System: 0.2, SoftIRQ: 0.78, Idle: 0.02}}
		}), Generator, `"host":"server","cpu_busy":{"cpu":1,"busy":0.98,"kernel":0.78}`},
		{"such a window, and one CPU that is busy with another program", idly(func(f *record.Flow, t *record.Trial) {
			f.SenderInfo.Unacked, f.SenderInfo.SndCwnd = 100, 4000
			h := reading(t, f.To)
			h.GeneratorCPU = 0.1
			h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{CPU: 0}, {CPU: 1}}, []netstate.CPUTimes{{CPU: 0, Idle: 1},
				{CPU: 1, User: 1}}
		}), "", `"no_window_full"`},

		{"the receiver's window", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.SenderInfo.SndWnd = 0.5*t.WindowS, 20_000
		}), ReceiverWindow, `"share":0.5,"receiver":"server"}},{"receiver_window":{"bytes":20000,`},
		{"less than half of the time", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS = 0.49 * t.WindowS
		}), CongestionWindow, ""},
		{"the receiver's window, on a busy machine", idly(func(f *record.Flow, t *record.Trial) {
			reading(t, f.To).CPUBusy = 1
			f.RwndLimitedS, f.SenderInfo.SndWnd = 0.9*t.WindowS, 20_000
		}), ReceiverWindow, ""},
		{"a slow reader", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.GoodputBps = t.WindowS, 20_000, 20_000, 160e6
		}), SlowReader, `"receiver_window":{"bytes":20000,"unread":{"bytes":20000,"seconds":0.001}}`},
		{"a reader that is not slow enough", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.GoodputBps = t.WindowS, 20_000, 19_999, 160e6
		}), ReceiverWindow, ""},
		{"a small window that is read as soon as the reader wakes", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.GoodputBps = t.WindowS, 0, 20_000, 161e6
		}), ReceiverWindow, `"unread":{"bytes":20000,"seconds":0.000993`},
		{"a reader that reads what it may", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.ReadCapBps = t.WindowS, f.GoodputBps
		}), SlowReader, `"read_cap"`},
		{"a reader that got no processor", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.GoodputBps = t.WindowS, 0, 100_000, 1e6
			reading(t, f.To).CPUBusy = 0.99
		}), Generator, `"unread_for":{"bytes":100000}`},
		{"a large window, filled in turns by a busy machine", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.To)
			h.CPUBusy, h.GeneratorCPU = 1, 0.4
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.RcvbufBytes, f.GoodputBps = t.WindowS, 18e6,
				1_500_000, 2_500_000, 25e9
		}), Generator, `"unread_for":{"bytes":1500000}`},
		{"a small one on such a machine", idly(func(f *record.Flow, t *record.Trial) {
			h := reading(t, f.To)
			h.CPUBusy, h.GeneratorCPU = 1, 0.4
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.RcvbufBytes, f.GoodputBps = t.WindowS, 13_312, 13_218,
				16_384, 4.5e9
		}), ReceiverWindow, ""},
		{"a reader that is slow on purpose, on a busy machine", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes, f.ReadCapBps, f.GoodputBps = t.WindowS, 0,
				100_000, 1e6, 1e6
			reading(t, f.To).GeneratorCPU = 0.99
		}), SlowReader, ""},

		{"the send buffer, as the kernel counts", idly(func(f *record.Flow, t *record.Trial) {
			f.SndbufLimitedS = 0.5 * t.WindowS
		}), SendBuffer, `"buffer_full":{"bytes":0,"share":0.5}`},
		{"the send buffer, as it was seen", idly(func(f *record.Flow, t *record.Trial) {
			f.DryShare, f.SndbufFullShare, f.SndbufBytes = 0.5, 0.5, 32768
		}), SendBuffer, `"buffer_full":{"bytes":32768,"share":0.5,"all_sent":true}`},
		{"much of both", idly(func(f *record.Flow, t *record.Trial) {
			f.SndbufLimitedS, f.RwndLimitedS = 0.4*t.WindowS, 0.21*t.WindowS
		}), "", `"waited_for":{"window":0.21,"buffer":0.4}`},
		{"more of the one", idly(func(f *record.Flow, t *record.Trial) {
			f.SndbufLimitedS, f.RwndLimitedS = 0.4*t.WindowS, 0.2*t.WindowS
		}), SendBuffer, `"buffer_full":{"bytes":0,"share":0.4}`},
		{"more of the other", idly(func(f *record.Flow, t *record.Trial) {
			f.SndbufLimitedS, f.RwndLimitedS = 0.1*t.WindowS, 0.4*t.WindowS
		}), ReceiverWindow, `"window_full":{"share":0.4,`},
		{"a little of both", idly(func(f *record.Flow, t *record.Trial) {
			f.SndbufLimitedS, f.RwndLimitedS = 0.1, 0.1
		}), CongestionWindow, ""},

		{"nothing to send", idly(func(f *record.Flow, t *record.Trial) {
			f.BusyS, f.SendMode = 0.89*t.WindowS, ""
		}), Application, `"busy_for":{"share":0.89}`},
		{"nearly always something to send", idly(func(f *record.Flow, t *record.Trial) {
			f.BusyS, f.SendMode = 0.91*t.WindowS, ""
		}), CongestionWindow, ""},
		{"nothing to send, far away", idly(func(f *record.Flow, t *record.Trial) { f.DryShare, f.SendMode = 0.5, "" }),
			Application, `"nothing_to_send":{"share":0.5}`},
		{"our own program does not come to write", idly(func(f *record.Flow, t *record.Trial) {
			f.BusyS = 0.5 * t.WindowS
		}), Generator, ""},
		{"little to write", idly(func(f *record.Flow, _ *record.Trial) { f.WriteCapBps = f.GoodputBps / 0.901 }),
			Application, `"cap":"write",`},
		{"its own pacing", idly(func(f *record.Flow, _ *record.Trial) { f.RateCapBps = f.GoodputBps / 0.901 }),
			RateCap, `"cap":"pace",`},
		{"pacing that it does not reach", idly(func(f *record.Flow, _ *record.Trial) {
			f.RateCapBps = f.GoodputBps / 0.89
		}), CongestionWindow, ""},
		{"its own pacing on a full link", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) {
			f.RateCapBps = f.GoodputBps
		}, RateCap, ""},

		{"nothing comes back", idly(func(f *record.Flow, _ *record.Trial) {
			f.AckedBytes, f.SenderInfo.Backoff = 0, 2
		}), NoAnswer, `"no_acknowledgement":{"timeouts":2}`},
		{"one timeout", idly(func(f *record.Flow, _ *record.Trial) { f.AckedBytes, f.SenderInfo.Backoff = 0, 1 }),
			CongestionWindow, ""},
		{"a receiver that takes nothing, and says so", idly(func(f *record.Flow, t *record.Trial) {
			f.AckedBytes, f.SenderInfo.Backoff = 0, 5
			f.RwndLimitedS, f.SenderInfo.SndWnd, f.UnreadBytes = t.WindowS, 0, 65_000
		}), SlowReader, ""},

		{"no connection", idly(func(f *record.Flow, _ *record.Trial) { f.Connected = false }), "", ""},
		{"no TCP_INFO", idly(func(f *record.Flow, _ *record.Trial) { f.SenderInfo = nil }), "", ""},
		{"transactions", idly(func(f *record.Flow, _ *record.Trial) { f.Protocol = flow.RR }), "", ""},
		{"a kernel that does not count", idly(func(f *record.Flow, _ *record.Trial) {
			f.BusyS, f.SenderInfo.Lacks = 0, []string{"busy_us", "snd_wnd_bytes"}
		}), "", `"not_reported"`},
		{"a window that the kernel does not report", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.UnreadBytes, f.SenderInfo.SndWnd, f.SenderInfo.Lacks = t.WindowS, 1<<20, 0,
				[]string{"snd_wnd_bytes"}
		}), "", `"not_reported"`},
		{"such a window that is read at once", idly(func(f *record.Flow, t *record.Trial) {
			f.RwndLimitedS, f.UnreadBytes, f.SenderInfo.SndWnd, f.SenderInfo.Lacks = t.WindowS, 1000, 0,
				[]string{"snd_wnd_bytes"}
		}), ReceiverWindow, `"unread_for":{"bytes":1000,"seconds"`},
		{"a short window", idly(func(_ *record.Flow, t *record.Trial) { t.WindowS = 0.3 }), "",
			`"short_window":{"window_s":0.3,"rtt_s":0.009}`},
		{"few round trips", idly(func(f *record.Flow, _ *record.Trial) { f.SenderInfo.RTTUs = 30_000 }), "",
			`"short_window":{"window_s":1,"rtt_s":0.03}`},
		{"few round trips on a full link", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) {
			f.SenderInfo.RTTUs = 30_000
		}, FullLink, `"rate_bps":1000000000`},
		{"datagrams at their rate", idly(func(f *record.Flow, _ *record.Trial) { udp(f, 0.95) }), RateCap, ""},
		{"datagrams on a full link", func(f *record.Flow, _ *record.Trial, _ *topology.Topology) {
			udp(f, 0.95)
		}, FullLink, ""},
		{"datagrams of a busy program", idly(func(f *record.Flow, t *record.Trial) {
			udp(f, 0.5)
			reading(t, f.From).GeneratorCPU = 1
		}), Generator, ""},
		{"datagrams that wait for room", idly(func(f *record.Flow, t *record.Trial) {
			udp(f, 0.5)
			f.Datagrams = &record.Datagrams{Sent: 500, Received: 500, Skipped: 500, BlockedUs: int64(0.6e6 * t.WindowS)}
		}), InterfaceQueue, `"socket_full":{"share":0.6,"by_interface":true}`},
		{"datagrams that wait for a shaper which gets too little CPU time", func(f *record.Flow, t *record.Trial,
			over *topology.Topology) {
			for i := range over.Links {
				over.Links[i].Rate = over.Links[i].Rate * 14 / 10
			}
			udp(f, 0.5)
			f.Datagrams = &record.Datagrams{Sent: 500, Received: 500, Skipped: 500, BlockedUs: int64(0.6e6 * t.WindowS)}
		}, FullLink, `"socket_full":{"share":0.6}`},
		{"datagrams that are late", idly(func(f *record.Flow, _ *record.Trial) {
			udp(f, 0.5)
			f.Datagrams = &record.Datagrams{Sent: 600, Received: 600, Skipped: 400}
		}), Generator, `"given_up":{"share":0.4,`},
		{"datagrams of which few are late, and most lost", idly(func(f *record.Flow, _ *record.Trial) {
			udp(f, 0.5)
			f.Datagrams = &record.Datagrams{Sent: 990, Received: 910, Lost: 80, Skipped: 10}
		}), "", ""},
		{"datagrams that go missing", idly(func(f *record.Flow, _ *record.Trial) { udp(f, 0.5) }), "", ""},
	} {
		trial, over := sound()
		test.doctor(&trial.Flows[0], &trial, over)
		attribute(&trial, over, true)
		f := trial.Flows[0]
		if f.LimitedBy != test.want || !shows(f.LimitedFacts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, said(f.LimitedFacts), test.want, test.why)
		}
		if f.LimitedBy != "" && f.LimitedFacts == nil {
			t.Errorf("%s: no evidence", test.name)
		}
	}
}

func attribute(t *record.Trial, over *topology.Topology, complete bool) {
	for i, v := range Attribute(*t, over, complete) {
		t.Flows[i].LimitedBy, t.Flows[i].LimitedFacts = v.By, v.Facts
	}
}

func reading(t *record.Trial, host string) *netstate.HostReading {
	for i := range t.Hosts {
		if t.Hosts[i].Host == host {
			return &t.Hosts[i]
		}
	}
	panic("no host " + host)
}

// udp makes datagrams of a flow, at that share of its rate.
func udp(f *record.Flow, share float64) {
	f.Protocol, f.SenderInfo, f.RateCapBps = flow.UDP, nil, f.GoodputBps/share
}

// TestOtherDirection: a link that is full in the other direction does not hold a flow back
// as its own does, but its acknowledgements wait before it, unless the flow has round trips
// without a queue, or loses.
func TestOtherDirection(t *testing.T) {
	for _, test := range []struct {
		name   string
		doctor func(f *record.Flow)
		want   string
	}{
		{"a queue", func(f *record.Flow) {}, Acknowledgements},
		{"no queue", func(f *record.Flow) { f.SenderInfo.RTTUs = f.SenderInfo.MinRTTUs + 100 }, CongestionWindow},
		{"losses", func(f *record.Flow) { f.SentBytes, f.RetransBytes = 1e6, 1e4 }, CongestionWindow},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		f.From, f.To = f.To, f.From
		slices.Reverse(f.Path)
		test.doctor(f)
		attribute(&trial, over, true)
		if f.LimitedBy != test.want {
			t.Errorf("%s: %q (%s), want %q", test.name, f.LimitedBy, said(f.LimitedFacts), test.want)
		}
	}
}

// TestNeedless: what was sent again although it had arrived says so, and that nothing was
// dropped only where that is known.
func TestNeedless(t *testing.T) {
	const dropped = `"no_drops"`
	for _, test := range []struct {
		name   string
		doctor func(f *record.Flow, sender *netstate.HostReading)
		has    []string
		lacks  string
	}{
		{"needed", func(f *record.Flow, h *netstate.HostReading) { f.SenderInfo.DsackDups = 3 }, nil, `"needless"`},
		{"needless", func(f *record.Flow, h *netstate.HostReading) {},
			[]string{`"needless":0.87,"reordered":true`, dropped}, `"missing"`},
		{"no reordering seen", func(f *record.Flow, h *netstate.HostReading) {
			f.SenderInfo.ReordSeen = 0
		}, []string{`"needless":0.87,` + dropped}, `"reordered"`},
		{"dropped by an interface", func(f *record.Flow, h *netstate.HostReading) {
			h.End.Interfaces[0].TxDropped += 5
		}, []string{`"needless"`}, dropped},
		{"dropped by a qdisc", func(f *record.Flow, h *netstate.HostReading) {
			h.End.Qdiscs = []netstate.QdiscCounters{{Kind: "tbf", Drops: 5}}
		}, []string{`"needless"`}, dropped},
		{"dropped by a backlog", func(f *record.Flow, h *netstate.HostReading) {
			h.End.Softnet = []netstate.SoftnetCounters{{Dropped: 5}}
		}, []string{`"needless"`}, dropped},
		{"not read", func(f *record.Flow, h *netstate.HostReading) {
			h.End.Softnet = nil
		}, []string{`"needless"`}, dropped},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SentBytes, f.RetransBytes = 1e6, 3e4
		f.SenderInfo.TotalRetrans, f.SenderInfo.DsackDups, f.SenderInfo.ReordSeen = 100, 87, 9
		for i := range trial.Hosts {
			h := &trial.Hosts[i]
			h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{}}, []netstate.SoftnetCounters{{}}
		}
		test.doctor(f, reading(&trial, f.From))
		attribute(&trial, over, true)
		for _, want := range test.has {
			if !shows(f.LimitedFacts, want) {
				t.Errorf("%s: no %q in %q (%s)", test.name, want, said(f.LimitedFacts), f.LimitedBy)
			}
		}
		if shows(f.LimitedFacts, test.lacks) {
			t.Errorf("%s: %q", test.name, said(f.LimitedFacts))
		}
	}
}

// opposing adds flows in the other direction, so many times as fast as all on the flow's path.
func opposing(f *record.Flow, t *record.Trial, times float64) {
	back := *f
	back.From, back.To, back.GoodputBps, back.Path = f.To, f.From, 0, reverse(*f).Path
	for _, other := range t.Flows {
		if other.From == f.From && other.To == f.To && slices.Equal(other.Path, f.Path) {
			back.GoodputBps += times * other.GoodputBps
		}
	}
	t.Flows = append(t.Flows, back)
}
