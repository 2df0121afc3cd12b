package trust

import (
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

func trial(fix int, direction string) record.Trial {
	return sciencetest.Trial(sciencetest.Fixes[fix], direction, 1, 3, rand.New(rand.NewPCG(3, 3)))
}

// Records of a sound measurement pass every check, whatever its treatment.
func TestSoundTrialsPass(t *testing.T) {
	all := []string{Connected, Alive, Conservation, Wire, Limit, Steady, Generator, Foreign, Clock}
	for i, fix := range sciencetest.Fixes {
		for _, direction := range []string{"writes", "reads"} {
			var names []string
			for _, c := range Trial(trial(i, direction), nil) {
				names = append(names, c.Check)
				if !c.Pass || c.Detail == "" || c.Trial != 3 {
					t.Errorf("%s, %s: %+v", direction, fix, c)
				}
			}
			if strings.Join(names, " ") != strings.Join(all, " ") {
				t.Errorf("%s, %s: checks %v, want %v", direction, fix, names, all)
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
		detail string
	}{
		{"a flow did not open", Connected, func(t *record.Trial) { t.Flows[2].Connected, t.Flows[2].Error = false, "refused" }, "1 of 8 flows could not connect (f3"},
		{"no flow at all", Connected, func(t *record.Trial) { t.Flows = nil }, "no flow"},
		{"a flow broke off", Alive, func(t *record.Trial) { t.Flows[2].Alive = false }, "1 of 8"},
		{"more received than written", Conservation, func(t *record.Trial) { t.Flows[1].WrittenBytes = t.Flows[1].ReceivedBytes * 9 / 10 }, "received exceeds written"},
		{"more received than sent", Conservation, func(t *record.Trial) { edge(t, 100_000); t.Flows[1].SentBytes = t.Flows[1].ReceivedBytes - 100_000 }, "received exceeds sent"},
		{"more received than one write explains", Conservation, func(t *record.Trial) { edge(t, 190_000) }, "received exceeds written by 190 kB"},
		{"acknowledged is not what was read", Conservation, func(t *record.Trial) { t.Flows[1].AckedBytes = t.Flows[1].ReceivedBytes * 9 / 10 }, "received and acknowledged differ"},
		{"the wire carried less", Wire, func(t *record.Trial) { shrink(t, 0.98) }, "apart"},
		{"the wire carried more", Wire, func(t *record.Trial) { shrink(t, 1.02) }, "apart"},
		{"somebody else's traffic", Foreign, func(t *record.Trial) { shrink(t, 1.05) }, "belongs to no flow"},
		{"faster than the path", Limit, func(t *record.Trial) { t.GoodputBps = full * 1.01 }, "of the limit"},
		{"senders' own averages", SenderSide, func(t *record.Trial) { t.AccountSender, t.SenderReportedBps = true, full*1.4 }, "is 1.4× the limit of its path, 3.826 Gbit/s: it counts bytes still in send buffers"},
		{"still speeding up", Steady, func(t *record.Trial) {
			for i := range t.Flows {
				t.Flows[i].Bins[0] /= 2
			}
		}, "the first"},
		{"generator at its end", Generator, func(t *record.Trial) { t.Hosts[1].GeneratorCPU, t.GoodputBps = 0.99, full/2 }, "99 % of a CPU (client1)"},
		{"machine at its end", Generator, func(t *record.Trial) { t.Hosts[1].CPUBusy, t.GoodputBps = 0.97, full/2 }, "may have been the limit"},
		{"an edge read late", Clock, func(t *record.Trial) { t.Hosts[2].End.EndedNs += 30e6 }, "30.9 ms (client2)"},
		{"clocks not known", Clock, func(t *record.Trial) { t.Clocks[1].UncertaintyNs = 20e6 }, "20 ms (client1)"},
		{"no window", Clock, func(t *record.Trial) { t.WindowS = 0 }, "no window"},
	} {
		t.Run(test.name, func(t *testing.T) {
			doctored := trial(4, "writes")
			test.doctor(&doctored)
			var found bool
			for _, c := range Trial(doctored, nil) {
				if c.Check == test.check {
					found = true
					if c.Pass || !strings.Contains(c.Detail, test.detail) {
						t.Errorf("%+v; want a failure that says %q", c, test.detail)
					}
				}
			}
			if !found {
				t.Errorf("no check %q", test.check)
			}
		})
	}
}

// shrink scales what the server's ports took in during the window.
func shrink(t *record.Trial, factor float64) {
	for i, end := range t.Hosts[0].End.Ports {
		begin := t.Hosts[0].Begin.Ports[i]
		t.Hosts[0].End.Ports[i].RxBytes = begin.RxBytes + uint64(float64(end.RxBytes-begin.RxBytes)*factor)
	}
}

// edge lets a slow flow of small buffers have received more than was written:
// what of it arrived before the write returned that it was part of.
func edge(t *record.Trial, bytes int64) {
	f := &t.Flows[1]
	f.ReceivedBytes, f.AckedBytes, f.WrittenBytes, f.UnsentBytes = 250_000, 250_000, 250_000-bytes, 0
	f.SenderInfo.SndCwnd, f.ReceiverInfo.RcvSpace = 10, 14_000
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
	busyAtLimit := trial(4, "writes")
	busyAtLimit.Hosts[0].CPUBusy = 0.99
	pass("busy, but at the limit", Generator, busyAtLimit)

	idle := trial(4, "writes")
	idle.Hosts[0].CPUBusy, idle.GoodputBps = 0.99, 0
	for i := range idle.Flows {
		idle.Flows[i].Connected = false
	}
	pass("busy, but not with flows: none connected", Generator, idle)

	resent := trial(4, "writes")
	shrink(&resent, 1.02)
	for i := range resent.Flows {
		resent.Flows[i].RetransBytes = resent.Flows[i].ReceivedBytes / 50
	}
	pass("duplicates of retransmissions", Wire, resent)
	pass("duplicates of retransmissions", Foreign, resent)

	unfinished := trial(4, "writes")
	edge(&unfinished, 43_440)
	unfinished.Flows[1].SentBytes = unfinished.Flows[1].ReceivedBytes - 43_440
	pass("a write that had not returned", Conservation, unfinished)

	honest := trial(4, "writes")
	honest.AccountSender, honest.SenderReportedBps = true, sciencetest.Limit
	pass("honest senders", SenderSide, honest)

	for _, c := range Trial(trial(5, "writes"), nil) {
		if c.Check == Connected && !strings.Contains(c.Detail, "6 of 8 flows could not connect, as the treatment allows") {
			t.Errorf("unreachable treatment: %+v", c)
		}
	}
}

// Other headers, other bonds: the arithmetic follows the flows and the ports.
func TestWireFollowsHeadersAndPorts(t *testing.T) {
	v6 := record.Flow{Destination: "[fd00::1]:5201", SenderInfo: &record.TCPInfo{Options: 7}}
	if got := headers(v6); got != 86 {
		t.Errorf("IPv6 with timestamps: %d bytes of headers, want 86", got)
	}
	if got := headers(record.Flow{Destination: "10.0.0.1:5201", SenderInfo: &record.TCPInfo{Options: 6}}); got != 54 {
		t.Errorf("IPv4 without timestamps: %d bytes of headers, want 54", got)
	}
	// A bond counts what its members have counted.
	bonded := trial(4, "writes")
	server := &bonded.Hosts[0]
	var begin, end record.PortCounters
	for i := range server.End.Ports {
		begin.RxBytes += server.Begin.Ports[i].RxBytes
		begin.RxPackets += server.Begin.Ports[i].RxPackets
		end.RxBytes += server.End.Ports[i].RxBytes
		end.RxPackets += server.End.Ports[i].RxPackets
		server.Snapshot.Ports[i].Master = "bond0"
	}
	begin.Port, begin.AtNs = "bond0", server.Begin.Ports[0].AtNs
	end.Port, end.AtNs = "bond0", server.End.Ports[0].AtNs
	server.Begin.Ports = append(server.Begin.Ports, begin)
	server.End.Ports = append(server.End.Ports, end)
	server.Snapshot.Ports = append(server.Snapshot.Ports, record.PortSnapshot{Port: "bond0", Kind: "bond"})
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
		} else if c.Trial != 0 || !strings.HasPrefix(c.Detail, "all 4 trials") {
			t.Errorf("not a summary: %+v", c)
		}
		if c.Check == Generator && !strings.Contains(c.Detail, "trial 7") {
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
