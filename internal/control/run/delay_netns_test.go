//go:build linux

package run_test

import (
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestGoodputOverADelay: a link with delay is made on every kernel; a flow with
// room enough fills it, and a small window makes window over round-trip time of it.
func TestGoodputOverADelay(t *testing.T) {
	kerneltest.Parallel(t)
	const delay = 0.010 // seconds, each way
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "delay.yaml")})
	t.Log(run.Environment.Mode)
	for _, trial := range run.Trials {
		f := trial.Flows[0]
		if f.SenderInfo == nil {
			t.Fatalf("%s: no TCP_INFO", trial.Treatment)
		}
		if rtt := float64(f.SenderInfo.MinRTTUs) / 1e6; rtt < 2*delay || rtt > 3*delay {
			t.Errorf("%s: the least round trip took %.4f s, want twice %.3f s and little more", trial.Treatment,
				rtt, delay)
		}
		got := trial.GoodputBps / trial.LimitBps
		if strings.Contains(trial.Treatment, "autotuning") {
			if got < 0.95 || got > controltest.Fuller {
				t.Errorf("%s: goodput is %.3f of the limit", trial.Treatment, got)
			}
			continue
		}
		// What the receiver advertises of the buffer is the kernel's to choose. TCP's round-trip
		// time is that of the window's last moments, in which a busy machine may be slow.
		window, least, last := 8*float64(f.SenderInfo.SndWnd), float64(f.SenderInfo.MinRTTUs)/1e6,
			float64(f.SenderInfo.RTTUs)/1e6
		if trial.GoodputBps > 1.15*window/least || trial.GoodputBps < 0.85*window/max(last, least) {
			t.Errorf(
				"%s: goodput is %.3f of window over the least round-trip time (%.4f s), %.3f of that over the last "+
					"(%.4f s)",
				trial.Treatment, trial.GoodputBps*least/window, least, trial.GoodputBps*last/window, last)
		}
		if !strings.Contains(f.LimitedBy, "window") && !strings.Contains(f.LimitedBy, "buffer") {
			t.Errorf("%s: held back by %q, want the window", trial.Treatment, f.LimitedBy)
		}
	}
	if bad := controltest.Failures(run.Trust); bad != "" {
		t.Errorf("trust checks failed:\n%s", bad)
	}
}
