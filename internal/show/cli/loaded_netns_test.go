//go:build linux

package cli

import (
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// TestLatencyUnderLoad: requests beside bulk flows wait for a deep queue, which
// carries no more than a short one; a study says both, and can be compared,
// exported and plotted by what it is judged by.
func TestLatencyUnderLoad(t *testing.T) {
	dir := t.TempDir()
	run := runLab(t, dir, controltest.File(t, "loaded.yaml"), "--out", dir+"/page")
	if bad := controltest.Failures(run.Trust); bad != "" {
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
	short, deep := controltest.Treatment(t, run, "short queue").Latency,
		controltest.Treatment(t, run, "deep queue").Latency
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
