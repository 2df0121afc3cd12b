//go:build linux

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestMeasureKept: a measurement is a run of the notebook, with a name and a page, and every
// verb about runs takes it; --no-save keeps none.
func TestMeasureKept(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.PlainPair(t)
		serving(t)
		dir := t.TempDir()
		run := func(status int, args ...string) string {
			t.Helper()
			cmd := in(t, "client", args...)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "LINERATE_NOTEBOOK="+filepath.Join(dir, "notebook.db"))
			var errs strings.Builder
			cmd.Stderr = &errs
			out, _ := cmd.Output()
			if got := cmd.ProcessState.ExitCode(); got != status && !(status == ExitOK && got == ExitDoubt) {
				t.Fatalf("%v: exit status %d, want %d\n%s%s", args, got, status, out, errs.String())
			}
			return string(out) + errs.String()
		}
		short := []string{"--quiet", "--duration", "600ms", "--warmup", "500ms", "--rate-cap", "50mbit"}
		measure := func(args ...string) string {
			return run(ExitOK, append(append([]string{"measure", "10.0.0.1"}, short...), args...)...)
		}
		if said := measure("--name", "before the cable", "--out", "page"); !strings.Contains(
			strings.Join(strings.Fields(said), " "),
			"measure-10.0.0.1 “before the cable” (linerate report measure-10.0.0.1)") ||
			!strings.Contains(said, "page/report.html") {
			t.Errorf("%s", said)
		}
		measure("--mode", "all", "--latency=false")
		if said := measure("--no-save"); strings.Contains(said, "measure-10.0.0.1") {
			t.Errorf("--no-save: %s", said)
		}
		if _, err := os.Stat(filepath.Join(dir, "page", "report.html")); err != nil {
			t.Error(err)
		}
		run(ExitUsage, "measure", "10.0.0.1", "--no-save", "--name", "x")
		run(ExitUsage, "measure", "10.0.0.1", "--name", "measure-10.0.0.1")
		if list := run(ExitOK, "runs", "--study", "measure"); strings.Count(list, "\nmeasure-10.0.0.1") != 2 ||
			!strings.Contains(list, "before the cable") {
			t.Errorf("%s", list)
		}
		text := run(ExitOK, "report", "before the cable")
		for _, words := range []string{"oodput is ", "in a single trial", "linerate measure 10.0.0.1"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), words) {
				t.Errorf("no %q in\n%s", words, text)
			}
		}
		for line := range strings.Lines(text) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
				t.Errorf("wider than 80: %s", line)
			}
		}
		var r record.Run
		if err := json.Unmarshal([]byte(run(ExitOK, "report", "measure-10.0.0.1_2", "--json")), &r); err != nil ||
			len(r.Treatments) != 2 || len(r.Trust) == 0 {
			t.Errorf("%d treatments, %d checks: %v", len(r.Treatments), len(r.Trust), err)
		}
		run(ExitOK, "plot", "before the cable", "-o", "x.svg")
		run(ExitOK, "note", "before the cable", "a note")
		if out := run(ExitOK, "export", "latest", "--csv", "--table", "flows"); strings.Count(out, "\n") < 3 {
			t.Errorf("%s", out)
		}
		measure("--name", "with latency", "--latency")
		if out := run(ExitOK, "report", "with latency"); !strings.Contains(out, "bufferbloat") ||
			!strings.Contains(out, "latency idle") {
			t.Errorf("%s", out)
		}
		measure("--name", "after")
		if out := run(ExitOK, "compare", "before the cable", "after"); !strings.Contains(out,
			"Whether the goodput of “after” differs from") {
			t.Errorf("%s", out)
		}
		measure("--name", "both ways", "--direction", "both")
		if out := run(ExitOK, "report", "both ways"); !strings.Contains(out, " for write and ") ||
			!strings.Contains(out, "\n  r1 ") || !strings.Contains(out, "held back by") {
			t.Errorf("%s", out)
		}
		run(ExitUsage, "run", "--resume", "after", "--replicates", "4")
	})
}
