//go:build linux

package run_test

import (
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
)

// TestLongPath: a window of 64 KiB is what a flow gets by its round trip, buffers
// of twice the product fill the link, marks keep a flow from losses, and a larger
// first window saves a short answer a round trip. Each shows in one trial at least,
// whatever else the machine does in the others.
func TestLongPath(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.RequireNamespaces(t)
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "long-path.yaml"), Seed: 5})
	if mode := run.Environment.Mode; !strings.Contains(mode, "delay and congestion marks by linerate's link emulator") {
		t.Errorf("the run was made %q: it does not say who carried its links", mode)
	}
	windowed, filled, marked, saved := false, false, false, false
	path := limits.Path{RTTS: 0.04, Segment: 1448}
	for _, trial := range run.Trials {
		p50 := map[string]float64{}
		for _, f := range trial.Flows {
			if f.Transactions != nil {
				if l := f.Transactions.Latency; l != nil {
					p50[f.From] = l.P50Us / 1e6
				}
				continue
			}
			if f.Expected == nil || f.SenderInfo == nil {
				t.Fatalf("%s: nothing is expected of it: %s", f.From, controltest.Figures(f))
			}
			t.Logf("%s: %.4g Mbit/s, expected %+v, held back by %q (%+v)", f.From, f.GoodputBps/1e6, *f.Expected,
				f.LimitedBy, f.LimitedFacts)
			switch f.From {
			case "a1":
				const window = 65535 * 8
				if f.GoodputBps > controltest.Fuller*window/0.04 {
					t.Errorf("%.4g Mbit/s through a window of 64 KiB in 40 ms", f.GoodputBps/1e6)
				}
				// A busy machine makes round trips longer than the link does.
				least := 0.95 * window / (float64(f.SenderInfo.RTTUs) / 1e6)
				windowed = windowed || f.GoodputBps > least && f.LimitedBy == bottleneck.ReceiverWindow
				if f.Expected.LimitedBy != bottleneck.ReceiverWindow {
					t.Errorf("expected to be held back by %q", f.Expected.LimitedBy)
				}
			case "a2":
				filled = filled || f.GoodputBps >= 0.9*f.LimitBps
			case "a3":
				marked = marked || f.SenderInfo.DeliveredCE > 0 && f.RetransBytes == 0 && f.Alive
			}
		}
		trips, _ := path.Answer(64e3, limits.FirstWindow)
		fewer, _ := path.Answer(64e3, 40)
		usual, larger := float64(trips), float64(fewer)
		t.Logf("an answer took %.4g s, and %.4g s with a larger first window", p50["a4"], p50["a5"])
		switch {
		case len(p50) < 2: // a machine that came to nothing
			continue
		case usual != 4 || larger != 3 || p50["a4"] < 0.99*usual*path.RTTS || p50["a5"] < 0.99*larger*path.RTTS:
			t.Errorf("64 kB took %.4g s and %.4g s, less than %g and %g round trips", p50["a4"], p50["a5"],
				usual, larger)
		}
		saved = saved || p50["a5"] < p50["a4"]
		if len(trial.Hosts) == 0 || len(trial.Hosts[0].End.Events) == 0 || trial.Hosts[0].End.Memory == nil {
			t.Error("the machine was not watched")
		}
	}
	if !windowed || !filled || !marked || !saved {
		t.Errorf("windowed %v, filled %v, marked %v, saved %v", windowed, filled, marked, saved)
	}
}
