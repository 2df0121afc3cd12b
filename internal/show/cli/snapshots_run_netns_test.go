//go:build linux

package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestRunKeepsSnapshots: a run keeps snapshots of real hosts from before its first trial and
// after its last. That another process has changed one meanwhile is a warning, compare lists
// it first, and the host rules find what the change brought about. Trials have the load of the
// machines and their kernels' logs.
func TestRunKeepsSnapshots(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		_, real := controltest.RealHosts(t, dir)
		one := []string{real, "--seed", "7", "--replicates", "1"}
		before := runLab(t, dir, one...)
		ended := startLab(t, dir, one...)
		awaitSnapshots(t, dir, before.ID+"_2")
		kerneltest.Do(t, "ip", "netns", "exec", "server", "sysctl", "-w", "net.ipv4.tcp_sack=0")
		changed := ended()
		after := runLab(t, dir, one...)

		run := func(args ...string) string {
			out, err := command(t, t.Context(), dir, args...).Output()
			if err != nil && len(out) == 0 {
				t.Fatalf("%v: %v %s", args, err, stderr(err))
			}
			return string(out)
		}
		const warning = "server was changed while the run was made, and not by its settings: parameters " +
			"net.ipv4.tcp_sack: 1 → 0."
		for r, want := range map[*record.Run]bool{before: false, changed: true, after: false} {
			if got := strings.Contains(strings.Join(strings.Fields(run("report", r.ID)), " "), warning); got != want {
				t.Errorf("run %s warns of the change: %t, want %t", r.ID, got, want)
			}
		}
		compared := strings.Join(strings.Fields(run("compare", before.ID, after.ID)), " ")
		first, others := strings.Index(compared,
			"What differs on server, before the first trials parameters net.ipv4.tcp_sack: 1 → 0"),
			strings.Index(compared, "What else differs")
		if first < 0 || others >= 0 && others < first || strings.Contains(compared, "What differs on client") {
			t.Errorf("compared: %s", compared)
		}
		for r, want := range map[*record.Run]bool{before: false, after: true} {
			got := slices.ContainsFunc(r.Findings, func(f record.Finding) bool {
				return f.ID == "sack-off" && f.Host == "server"
			})
			if got != want {
				t.Errorf("run %s: finding sack-off %t, want %t: %+v", r.ID, got, want, r.Findings)
			}
		}

		for _, h := range after.Trials[0].Hosts {
			loads := slices.ContainsFunc(h.Series, func(s netstate.Sample) bool {
				return len(s.CPU) > 0 && len(s.Events) > 0
			})
			slow := slices.ContainsFunc(h.Begin.Missing, func(m string) bool {
				return strings.HasPrefix(m, "load: a reading takes")
			})
			if loads == slow || h.Log == nil {
				t.Errorf("%s: the samples have the machine's load: %t, missing %q; log %+v", h.Host, loads,
					h.Begin.Missing, h.Log)
			}
		}

		run("export", changed.ID, "--snapshots", "-o", "around/")
		out, _ := command(t, t.Context(), dir, "diff", filepath.Join("around", "server-before.json"),
			filepath.Join("around", "server-after.json")).Output()
		if !strings.Contains(string(out), "net.ipv4.tcp_sack") {
			t.Errorf("diff of the exported snapshots:\n%s", out)
		}
	})
}

// awaitSnapshots waits until a run has its first snapshots.
func awaitSnapshots(t *testing.T, dir, id string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		store, err := sqlite.OpenReadOnly(t.Context(), filepath.Join(dir, "notebook.db"))
		if err != nil {
			continue
		}
		run, err := store.Run(t.Context(), id)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil && len(run.Snapshots) > 0 {
			return
		}
	}
	t.Fatalf("run %s has no snapshots", id)
}
