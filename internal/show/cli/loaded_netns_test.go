package cli

import (
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// TestLatencyUnderLoad: requests beside bulk flows wait for a deep queue, which
// carries no more than a short one; a study says both, and can be compared,
// exported and plotted by what it is judged by.
func TestLatencyUnderLoad(t *testing.T) {
	dir := t.TempDir()
	run := runLab(t, dir, labFile(t, "loaded.yaml"), "--out", dir+"/page")
	if bad := failures(run); bad != "" {
		t.Errorf("trust checks failed:\n%s", bad)
	}
	t.Log(run.Answer)
	if len(run.Effects) != 1 || len(run.Effects[0].Beside) != 1 {
		t.Fatalf("effects %+v", run.Effects)
	}
	// 24 KiB and 512 KiB wait for 10 ms and 210 ms; how full the deeper one is by
	// the time of the window is up to TCP.
	latency, goodput := run.Effects[0], run.Effects[0].Beside[0]
	if latency.Response != "latency_p90" || latency.Verdict != record.Worsens &&
		latency.Verdict != record.Inconclusive || latency.Ratio.Mean < 1.5 {
		t.Errorf("latency: %+v", latency)
	}
	// A tenth of the requests may wait for a busy machine; not half of them.
	short, deep := treatment(t, run, "short queue").Latency, treatment(t, run, "deep queue").Latency
	if short == nil || deep == nil || deep.P50Us < 4*short.P50Us {
		t.Errorf("latency with the short queue %+v, with the deep one %+v", short, deep)
	}
	if goodput.Verdict == record.Worsens || goodput.Ratio.Mean < 0.9 || goodput.Ratio.Mean > 1.1 {
		t.Errorf("goodput: %+v", goodput)
	}
	for _, trial := range run.Trials {
		bulk, probe := 0.0, record.Flow{}
		for _, f := range trial.Flows {
			if f.Protocol == flow.RR {
				probe = f
			} else {
				bulk += f.GoodputBps
			}
		}
		if trial.GoodputBps != bulk || probe.LimitBps != 0 || trial.LimitBps == 0 {
			t.Errorf("trial %d: goodput %g of a limit of %g, bulk flows %g; the probe's limit is %g", trial.Order,
				trial.GoodputBps, trial.LimitBps, bulk, probe.LimitBps)
		}
		if done := probe.Transactions; done == nil || trial.Latency == nil ||
			trial.Latency.Count != done.Latency.Count || trial.TransactionsPerS != probe.TransactionsPerS {
			t.Errorf("trial %d: latency %+v of transactions %+v", trial.Order, trial.Latency, done)
		}
	}
	for name, want := range map[string]string{
		"export latest --csv --table responses":       "short queue,short queue,latency_p90,us,3,",
		"report latest":                               "latency p90",
		"plot latest -o p90.svg":                      "",
		"plot latest -o goodput.svg --figure goodput": "",
	} {
		cmd := command(t, t.Context(), dir, strings.Fields(name)...)
		// A report of a machine with steal ends with a status of its own.
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != ExitDoubt ||
			!strings.Contains(string(out), want) {
			t.Errorf("%s: %v, and no %q in\n%s", name, err, want, out)
		}
	}
}

// TestDatagramsBeyondTheLink: loss is judged, by its difference where nothing was
// lost before, and the goodput that it came with stands beside it.
func TestDatagramsBeyondTheLink(t *testing.T) {
	run := runLab(t, t.TempDir(), labFile(t, "overrun.yaml"))
	t.Log(run.Answer)
	half, twice := treatment(t, run, "half the rate"), treatment(t, run, "twice the rate")
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
	run := runLab(t, t.TempDir(), labFile(t, "loss-free.yaml"))
	t.Log(run.Answer)
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
