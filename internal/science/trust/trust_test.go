package trust

import (
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/sciencetest"
)

func trial(fix int, direction string) record.Trial {
	return sciencetest.Study.Trial(sciencetest.Fixes[fix], direction, 1, 3, rand.New(rand.NewPCG(3, 3)))
}

// Records of a sound measurement pass every check, whatever its treatment.
func TestSoundTrialsPass(t *testing.T) {
	all := []string{Connected, Alive, Conservation, Wire, Limit, Steady, Generator, Foreign, Clock}
	for i, fix := range sciencetest.Fixes {
		for _, direction := range []string{"writes", "reads"} {
			var names []string
			for _, c := range Trial(trial(i, direction), nil) {
				names = append(names, c.Check)
				if !c.Pass || c.Facts == nil || c.Trial != 3 {
					t.Errorf("%s, %s: %+v", direction, fix, c)
				}
			}
			if strings.Join(names, " ") != strings.Join(all, " ") {
				t.Errorf("%s, %s: checks %v, want %v", direction, fix, names, all)
			}
		}
	}
}

// A flow whose path was taken from it in the window, as the study has it, is not to last,
// and that it ended is said; any other is. A flow alone shows nothing of its path.
func TestWithdrawnFlowsMayEnd(t *testing.T) {
	for name, c := range map[string]struct {
		outages map[int]record.Outage // by flow
		pass    bool
		fact    string
	}{
		"its path is gone": {map[int]record.Outage{2: {AtS: 1, LostS: 1, Withdrawn: true},
			3: {AtS: 1, Resumed: true}}, true,
			`"by":"event","at_s":1`},
		"others come by it": {map[int]record.Outage{2: {AtS: 1, LostS: 1}, 3: {AtS: 1, Resumed: true}}, false,
			`"error":"reset"}]}`},
		"no other was seen there": {map[int]record.Outage{2: {AtS: 1, LostS: 1, Withdrawn: true}}, false,
			`"error":"reset"}]}`},
	} {
		trial := trial(0, "writes")
		trial.Flows[2].Alive, trial.Flows[2].Error = false, "reset"
		for i, o := range c.outages {
			trial.Flows[i].Outages = []record.Outage{o}
		}
		for _, got := range Trial(trial, nil) {
			if got.Check == Alive && (got.Pass != c.pass || !rests(got, c.fact) ||
				!rests(got, `"flows":8,"ended":[{"flow":"f3"`)) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestSilentFlows: only of a flow that had something to carry is it a fault that it carried nothing.
func TestSilentFlows(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Trial, *record.Flow)
		fails  bool
	}{
		"nothing":            {func(*record.Trial, *record.Flow) {}, true},
		"in a short window":  {func(t *record.Trial, _ *record.Flow) { t.WindowS = leastSilence - 1 }, false},
		"as allowed":         {func(t *record.Trial, _ *record.Flow) { t.Unreachable = true }, false},
		"attacked":           {func(t *record.Trial, _ *record.Flow) { t.Attacks = []record.Attack{{}} }, false},
		"of a foreign tool":  {func(_ *record.Trial, f *record.Flow) { f.Process = "p1" }, false},
		"hardly a write due": {func(_ *record.Trial, f *record.Flow) { f.WriteCapBps = 1000 }, false},
		"cut by an event": {func(_ *record.Trial, f *record.Flow) {
			f.Outages = []record.Outage{{AtS: 0.1}}
		}, false},
		"no request due": {func(_ *record.Trial, f *record.Flow) {
			f.Transactions, f.PacePerS = &record.Transactions{}, 0.1
		}, false},
	} {
		trial := trial(0, "writes")
		trial.WindowS = leastSilence
		f := &trial.Flows[2]
		f.ReceivedBytes, f.GoodputBps = 0, 0
		c.change(&trial, f)
		for _, got := range Trial(trial, nil) {
			if got.Check == Alive && got.Pass == c.fails {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// Each doctored record fails the check that is there for it.
func TestDoctoredTrialsFail(t *testing.T) {
	full := sciencetest.Limit
	for _, test := range []struct {
		name   string
		check  string
		doctor func(*record.Trial)
		fact   string
	}{
		{"a flow did not open", Connected, func(t *record.Trial) {
			t.Flows[2].Connected, t.Flows[2].Error = false, "refused"
		}, `{"flows":8,"missing":[{"flow":"f3"`},
		{"no flow at all", Connected, func(t *record.Trial) { t.Flows = nil }, `{"flows":0}`},
		{"a flow broke off", Alive, func(t *record.Trial) { t.Flows[2].Alive = false },
			`{"flows":8,"ended":[{"flow":"f3"`},
		{"a flow carried nothing", Alive, func(t *record.Trial) {
			t.WindowS = leastSilence
			t.Flows[2].ReceivedBytes, t.Flows[2].GoodputBps = 0, 0
		}, `{"flows":8,"silent":[{"flow":"f3"`},
		{"requests without a response", Alive, func(t *record.Trial) {
			t.Flows[2].Transactions = &record.Transactions{Unanswered: 50, Connections: 1}
			t.Flows[2].PacePerS, t.WindowS = 100, leastSilence
		}, `{"flows":8,"silent":[{"flow":"f3"`},
		{"more received than written", Conservation, func(t *record.Trial) {
			t.Flows[1].WrittenBytes = t.Flows[1].ReceivedBytes * 9 / 10
		}, `"counts":"written"`},
		{"more received than sent", Conservation, func(t *record.Trial) {
			edge(t, 100_000)
			t.Flows[1].SentBytes = t.Flows[1].ReceivedBytes - 100_000
		}, `"counts":"sent"`},
		{"more received than one write explains", Conservation, func(t *record.Trial) {
			edge(t, 190_000)
		}, `"counts":"written","bytes":190000,`},
		{"acknowledged is not what was read", Conservation, func(t *record.Trial) {
			t.Flows[1].AckedBytes = t.Flows[1].ReceivedBytes * 9 / 10
		}, `"counts":"acknowledged"`},
		{"the wire carried less", Wire, func(t *record.Trial) { shrink(t, 0.98) }, `"carried"`},
		{"the wire carried more", Wire, func(t *record.Trial) { shrink(t, 1.02) }, `"carried"`},
		{"other traffic", Foreign, func(t *record.Trial) { shrink(t, 1.05) }, `"no_flow"`},
		{"faster than the path", Limit, func(t *record.Trial) { t.GoodputBps = full * 1.01 }, `"limit_share"`},
		{"senders' own averages", SenderSide, func(t *record.Trial) {
			t.AccountSender, t.SenderReportedBps = true, full*1.4
		}, `"share":1.4,`},
		{"senders' own averages, hardly above", SenderSide, func(t *record.Trial) {
			t.AccountSender, t.SenderReportedBps = true, full*1.003
		}, `"share":1.003,"allowed":1.002}`},
		{"more waits unread than the socket holds", Conservation, func(t *record.Trial) {
			behind(t, 5_000_000, 2_000_000)
		}, `"counts":"acknowledged","bytes":5000000,`},
		{"still speeding up", Steady, func(t *record.Trial) {
			for i := range t.Flows {
				if bins := t.Flows[i].Bins; len(bins) > 0 {
					bins[0] /= 2
					bins[len(bins)-1] += bins[0]
				}
			}
		}, `"thirds"`},
		{"generator at its end", Generator, func(t *record.Trial) {
			t.Hosts[1].GeneratorCPU, t.GoodputBps = 0.99, full/2
		}, `{"host":"client1","generator_load":{"thread":0.99,`},
		{"a flow that its generator held back, though no processor was busy", Generator, func(t *record.Trial) {
			t.Flows[2].LimitedBy, t.GoodputBps = bottleneck.Generator, full/2
		}, `"exhausted":true,"held":["f3"]`},
		{"machine at its end", Generator, func(t *record.Trial) {
			t.Hosts[1].CPUBusy, t.GoodputBps = 0.97, full/2
		}, `"exhausted":true}`},
		{"a hypervisor that took processors", Steal, func(t *record.Trial) {
			steals(t, 0.02)
			t.GoodputBps = full * 0.99
		}, `{"host":"client1","stolen":{"share":0.02,"allowed":0.01}}`},
		{"an edge read late", Clock, func(t *record.Trial) {
			t.Hosts[2].End.EndedNs += 30e6
		}, `{"host":"client2","edges":{"late_s":0.0309,`},
		{"an edge read late by coarse timers", Clock, func(t *record.Trial) {
			t.Hosts[2].End.EndedNs += 30e6
			t.Hosts[2].Snapshot.TimerTickNs = 20e6
		}, `"tick_s":0.02`},
		{"an edge read late by more than coarse timers", Clock, func(t *record.Trial) {
			t.Hosts[2].End.EndedNs += 300e6
			t.Hosts[2].Snapshot.TimerTickNs, t.Hosts[2].CPUBusy = 10e6, 0.99
		}, `"busy":0.99`},
		{"clocks not known", Clock, func(t *record.Trial) {
			t.Clocks[1].UncertaintyNs = 20e6
		}, `"clock_host":"client1","doubt_s":0.02,`},
		{`"no_window"`, Clock, func(t *record.Trial) { t.WindowS = 0 }, `"no_window"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			doctored := trial(4, "writes")
			test.doctor(&doctored)
			var found bool
			for _, c := range Trial(doctored, nil) {
				if c.Check == test.check {
					found = true
					if c.Pass || !rests(c, test.fact) {
						t.Errorf("%+v; want a failure with %s", c, test.fact)
					}
				}
			}
			if !found {
				t.Errorf("no check %q", test.check)
			}
		})
	}
}

// shrink scales what the server's interfaces took in during the window.
// steals has a hypervisor take a share of the two processors of a trial's second host.
func steals(t *record.Trial, share float64) {
	const seconds = 50
	h := &t.Hosts[1]
	h.Begin.CPU = []netstate.CPUTimes{{CPU: -1}, {CPU: 0}, {CPU: 1}}
	h.End.CPU = []netstate.CPUTimes{
		{CPU: -1, Idle: 2 * seconds * (1 - share), Steal: 2 * seconds * share},
		{CPU: 0, Idle: seconds}, {CPU: 1, Idle: seconds * (1 - 2*share), Steal: seconds * 2 * share},
	}
}

func shrink(t *record.Trial, factor float64) {
	for i, end := range t.Hosts[0].End.Interfaces {
		begin := t.Hosts[0].Begin.Interfaces[i]
		t.Hosts[0].End.Interfaces[i].RxBytes = begin.RxBytes + uint64(float64(end.RxBytes-begin.RxBytes)*factor)
	}
}

// edge lets a slow flow of small buffers have received more than was written:
// what of it arrived before the write returned that it was part of.
func edge(t *record.Trial, bytes int64) {
	f := &t.Flows[1]
	f.ReceivedBytes, f.AckedBytes, f.WrittenBytes, f.UnsentBytes = 250_000, 250_000, 250_000-bytes, 0
	f.SenderInfo.SndCwnd, f.ReceiverInfo.RcvSpace = 10, 14_000
}

// behind leaves bytes of a flow unread that were acknowledged in the window, of a socket
// that holds so many.
func behind(t *record.Trial, bytes, buffer int64) {
	f := &t.Flows[1]
	f.ArrivedBytes, f.AckedBytes, f.WrittenBytes = f.ReceivedBytes+bytes, f.ReceivedBytes+bytes, f.ReceivedBytes+bytes
	f.RcvbufBytes = buffer
}

// What is allowed is not held against a trial.
func TestAllowed(t *testing.T) {
	pass := func(name, check string, tr record.Trial) {
		t.Helper()
		for _, c := range Trial(tr, nil) {
			if c.Check == check && !c.Pass {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
	niced := trial(4, "writes")
	h := &niced.Hosts[1]
	h.CPUBusy, niced.GoodputBps = 0.99, niced.LimitBps/2
	h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{CPU: -1}}, []netstate.CPUTimes{{CPU: -1, User: 1, Nice: 0.8}}
	pass("busy with niced programs", Generator, niced)
	held := trial(4, "writes")
	held.Hosts[1].CPUBusy, held.GoodputBps, held.LimitBps = 0.99, held.LimitBps/2, 0
	for i := range held.Flows {
		held.Flows[i].LimitedBy, held.Flows[i].LimitBps = bottleneck.FullLink, 0
	}
	pass("busy, behind a full link", Generator, held)
	held.Flows[0].LimitedBy = bottleneck.Loss
	pass("busy, and datagrams are lost on the path", Generator, held)
	busyAtLimit := trial(4, "writes")
	busyAtLimit.Hosts[0].CPUBusy = 0.99
	pass("busy, but at the limit", Generator, busyAtLimit)

	idle := trial(4, "writes")
	idle.Hosts[0].CPUBusy, idle.GoodputBps = 0.99, 0
	for i := range idle.Flows {
		idle.Flows[i].Connected = false
	}
	pass("busy, but not with flows: none connected", Generator, idle)

	robbedAtLimit := trial(4, "writes")
	steals(&robbedAtLimit, 0.2)
	robbedAtLimit.GoodputBps = sciencetest.Limit * 0.996
	pass("a hypervisor that took processors, but at the limit", Steal, robbedAtLimit)
	little := trial(0, "writes")
	steals(&little, 0.009)
	pass("a hypervisor that took little", Steal, little)

	resent := trial(4, "writes")
	shrink(&resent, 1.02)
	for i := range resent.Flows {
		resent.Flows[i].RetransBytes = resent.Flows[i].ReceivedBytes / 50
	}
	pass("duplicates of retransmissions", Wire, resent)
	pass("duplicates of retransmissions", Foreign, resent)

	filled := trial(4, "writes")
	shrink(&filled, 0.98)
	gapped(&filled, 0.02)
	pass("gaps that were filled in the window", Wire, filled)
	unseen := trial(4, "writes")
	shrink(&unseen, 0.98)
	for i := range unseen.Flows {
		f := &unseen.Flows[i]
		f.SenderInfo, f.SentBytes, f.HeldBytes = nil, 0, f.ReceivedBytes/50
	}
	pass("what a receiver held behind gaps, of a sender that is not known", Wire, unseen)
	left := trial(4, "writes")
	shrink(&left, 1.02)
	for i := range left.Flows {
		s := left.Flows[i].SenderInfo
		s.Sacked = uint32(0.02 * float64(left.Flows[i].ReceivedBytes) / float64(s.SndMSS))
	}
	pass("gaps that are left at its end", Wire, left)

	unfinished := trial(4, "writes")
	edge(&unfinished, 43_440)
	unfinished.Flows[1].SentBytes = unfinished.Flows[1].ReceivedBytes - 43_440
	pass("a write that had not returned", Conservation, unfinished)

	slow := trial(4, "writes")
	behind(&slow, 5_000_000, 6_000_000)
	pass("a reader that fell behind", Conservation, slow)

	honest := trial(4, "writes")
	honest.AccountSender, honest.SenderReportedBps = true, sciencetest.Limit
	pass("honest senders", SenderSide, honest)

	for _, c := range Trial(trial(5, "writes"), nil) {
		if c.Check == Connected &&
			(!rests(c, `"meant":true`) || len(c.Facts[0].Is.(fact.FlowsOpened).Missing) != 6) {
			t.Errorf("unreachable treatment: %+v", c)
		}
	}
}

// Other headers, other bonds: the arithmetic follows the flows and the interfaces.
func TestWireFollowsHeadersAndPorts(t *testing.T) {
	v6 := record.Flow{Destination: "[fd00::1]:5201", SenderInfo: &netstate.TCPInfo{Options: 7}}
	if got := headers(v6); got != 86 {
		t.Errorf("IPv6 with timestamps: %v bytes of headers, want 86", got)
	}
	if got := headers(record.Flow{Destination: "10.0.0.1:5201", SenderInfo: &netstate.TCPInfo{Options: 6}}); got != 54 {
		t.Errorf("IPv4 without timestamps: %v bytes of headers, want 54", got)
	}
	// A bond counts what its members have counted.
	bonded := trial(4, "writes")
	server := &bonded.Hosts[0]
	var begin, end netstate.InterfaceCounters
	for i := range server.End.Interfaces {
		begin.RxBytes += server.Begin.Interfaces[i].RxBytes
		begin.RxPackets += server.Begin.Interfaces[i].RxPackets
		end.RxBytes += server.End.Interfaces[i].RxBytes
		end.RxPackets += server.End.Interfaces[i].RxPackets
		server.Snapshot.Interfaces[i].Master = "bond0"
	}
	begin.Interface, begin.AtNs = "bond0", server.Begin.Interfaces[0].AtNs
	end.Interface, end.AtNs = "bond0", server.End.Interfaces[0].AtNs
	server.Begin.Interfaces = append(server.Begin.Interfaces, begin)
	server.End.Interfaces = append(server.End.Interfaces, end)
	server.Snapshot.Interfaces = append(server.Snapshot.Interfaces, netstate.InterfaceSnapshot{Interface: "bond0",
		Kind: "bond"})
	for _, c := range Trial(bonded, nil) {
		if (c.Check == Wire || c.Check == Foreign) && !c.Pass {
			t.Errorf("bond: %+v", c)
		}
	}
}

// A run keeps every failure, and one line for each check that none failed.
func TestRun(t *testing.T) {
	bad := trial(4, "writes")
	bad.Order, bad.GoodputBps = 9, sciencetest.Limit*1.1
	worse := bad
	worse.Order = 10
	near := trial(4, "reads")
	near.Order = 7
	near.Hosts[0].CPUBusy = 0.9
	checks := Run([]record.Trial{trial(4, "writes"), near, bad, worse}, nil)
	var failed []int
	seen := map[string]int{}
	for _, c := range checks {
		seen[c.Check]++
		if !c.Pass {
			failed = append(failed, c.Trial)
		} else if c.Trial != 0 || c.Trials != 4 {
			t.Errorf("not a summary: %+v", c)
		}
		if c.Check == Generator && c.Nearest != 7 {
			t.Errorf("the trial nearest to failing is 7: %+v", c)
		}
	}
	if len(failed) != 2 || failed[0] != 9 || failed[1] != 10 || seen[Limit] != 2 || seen[Wire] != 1 {
		t.Errorf("failures %v, checks %v", failed, seen)
	}
	if Run(nil, nil) != nil {
		t.Error("no trial, but checks")
	}
}

// Whether a trial was spoiled depends on what a hypervisor took, never on the result.
func TestStolenIsNoResult(t *testing.T) {
	for _, goodput := range []float64{0, sciencetest.Limit / 2, sciencetest.Limit} {
		taken, left := trial(4, "writes"), trial(4, "writes")
		taken.GoodputBps, left.GoodputBps = goodput, goodput
		steals(&taken, 0.02)
		steals(&left, 0.009)
		if !Stolen(taken) || Stolen(left) {
			t.Errorf("at %g bit/s: %t and %t", goodput, Stolen(taken), Stolen(left))
		}
	}
	if Stolen(trial(4, "writes")) {
		t.Error("steal was not read, and is too much")
	}
}

// What a hypervisor cost is reported with its check, once.
func TestRunTellsRemade(t *testing.T) {
	bad, good := trial(0, "writes"), trial(0, "writes")
	steals(&bad, 0.1)
	steals(&good, 0)
	bad.Repeated, good.Repeated = 2, 1
	for name, trials := range map[string][]record.Trial{"failed": {bad, good, bad}, "passed": {good, good, good}} {
		count := 0
		for _, c := range Run(trials, nil) {
			if c.Repeated > 0 {
				count++
				if c.Check != Steal || name == "passed" && c.Repeated != 3 {
					t.Errorf("%s: %+v", name, c)
				}
			}
		}
		if count != 1 {
			t.Errorf("%s: said %d times", name, count)
		}
	}
}

// What goes over the loopback meets no interface that is read: nothing is said of the
// wire, rather than that it carried nothing.
func TestLoopbackHasNoWire(t *testing.T) {
	lo := trial(0, "writes")
	for i := range lo.Flows {
		lo.Flows[i].Destination = "127.0.0.1:5202"
	}
	shrink(&lo, 0.01)
	for _, c := range Trial(lo, nil) {
		if c.Check == Wire {
			t.Errorf("a check of what was on no wire: %+v", c)
		}
	}
}
