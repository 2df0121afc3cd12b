//go:build linux

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/control/notebook"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestMeasureKilled: while it is being made, the notebook shows a measurement as running. One that is killed
// is interrupted, and has the intervals that were measured until then.
func TestMeasureKilled(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		serving(t)
		book := filepath.Join(t.TempDir(), "notebook.db")
		t.Setenv(notebook.Variable, book)
		ask := func(args ...string) string {
			cmd := in(t, "client", args...)
			cmd.Env = append(cmd.Env, notebook.Variable+"="+book)
			out, _ := cmd.CombinedOutput() // a report of what is in doubt has a status
			return string(out)
		}
		list := func() (list runList) {
			if err := json.Unmarshal([]byte(ask("runs", "--json")), &list); err != nil {
				t.Fatal(err)
			}
			return list
		}
		for protocol, figure := range map[string]string{"tcp": "Mbit/s", "rr": "/s"} {
			cmd := in(t, "client", "measure", "10.0.0.1", "--quiet", "--warmup", "500ms", "--duration", "120s",
				"--protocol", protocol, "--name", "killed "+protocol)
			cmd.Env = append(cmd.Env, notebook.Variable+"="+book)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			intervals := func() int {
				all := list().Runs
				if len(all) == 0 || all[0].Name != "killed "+protocol {
					return 0
				}
				store, err := readNotebook(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				run, err := store.Run(t.Context(), all[0].ID)
				if err != nil || run.Unfinished == nil {
					return 0
				}
				return len(run.Unfinished.Parts[0].Intervals)
			}
			kerneltest.Await(t, "two intervals are saved", func() bool { return intervals() >= 2 })
			if r := list().Runs[0]; r.Status != notebook.Running {
				t.Errorf("%s: while it is made: %+v", protocol, r)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			r := list().Runs[0]
			if r.Status != notebook.Interrupted || !strings.Contains(r.Answer, figure) ||
				strings.Contains(r.Answer, ": 0 ") {
				t.Errorf("%s: killed: %+v", protocol, r)
			}
			if text := strings.Join(strings.Fields(ask("report", r.ID)), " "); !strings.Contains(text,
				"Ended early: linerate was killed after") {
				t.Errorf("%s: %s", protocol, text)
			}
			var run record.Run
			if err := json.Unmarshal([]byte(ask("report", r.ID, "--json")), &run); err != nil || len(run.Trials) != 1 {
				t.Fatalf("%s: %v, %+v", protocol, err, run)
			}
			if trial := run.Trials[0]; trial.PlannedS != 120 || len(trial.Parts) != 1 ||
				len(trial.Parts[0].Intervals) < 2 {
				t.Errorf("%s: %+v", protocol, trial)
			}
		}
	})
}
