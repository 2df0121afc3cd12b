//go:build linux

package run_test

import (
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/model/record"
)

// TestDatagramsBeyondTheLink: loss is judged, by its difference where nothing was
// lost before, and the goodput that it came with stands beside it.
func TestDatagramsBeyondTheLink(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "overrun.yaml")})
	half, twice := controltest.Treatment(t, run, "half the rate"), controltest.Treatment(t, run, "twice the rate")
	if half.LostShare == nil || twice.LostShare == nil || *twice.LostShare < 0.3 || *twice.LostShare > 0.7 ||
		*half.LostShare > *twice.LostShare/3 {
		t.Fatalf("lost: %v of half the rate, %v of twice the rate", half.Responses, twice.Responses)
	}
	if e := twice.Responses; len(e) != 2 || e[0].Response != "lost" || e[0].Mean != *twice.LostShare ||
		e[1].Mean != twice.Goodput.MeanBps {
		t.Errorf("responses %+v", e)
	}
	loss, goodput := run.Effects[0], run.Effects[0].Beside[0]
	if loss.Verdict != record.Worsens && loss.Verdict != record.Inconclusive {
		t.Errorf("loss: %+v", loss)
	}
	if *half.LostShare == 0 && (!loss.Ratio.None || loss.Difference == nil ||
		loss.Difference.Mean != *twice.LostShare) {
		t.Errorf("from no loss at all: %+v", loss)
	}
	if goodput.Ratio.Mean < 1.3 {
		t.Errorf("goodput: %+v", goodput)
	}
	for _, trial := range run.Trials {
		if share, ok := trial.Datagrams.LostShare(); !ok || share < 0 || share > 1 {
			t.Errorf("trial %d: of %+v %g is lost", trial.Order, trial.Datagrams, share)
		}
	}
}

// TestRateWithoutLoss: a search finds what the treatment's path carries, with its
// settings on, in trials that are all reported.
func TestRateWithoutLoss(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "loss-free.yaml")})
	if e := run.Treatments[0].Responses; len(e) != 1 || e[0].Response != "loss_free" || e[0].Mean <= 0 {
		t.Errorf("responses %+v", e)
	}
	for _, trial := range run.Trials {
		l := trial.LossFree
		// 5 Mbit/s × 1000/1042; a busy machine sends less.
		if l == nil || l.RateBps > 5.3e6 || l.RateBps < 2.4e6 || trial.LimitBps > 5e6 || l.DatagramBytes != 1000 {
			t.Fatalf("%s: of a limit of %.0f %+v", trial.Treatment, trial.LimitBps, l)
		}
		if last := l.Trials[len(l.Trials)-1]; !last.Confirms || !last.Pass || trial.Datagrams.Sent != last.Sent ||
			trial.Latency == nil {
			t.Errorf("%s: the trial is not the one that confirmed the rate: %+v, %+v", trial.Treatment,
				trial.Datagrams, last)
		}
	}
}
