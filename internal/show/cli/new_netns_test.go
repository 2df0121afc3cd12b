//go:build linux

package cli

import (
	"path/filepath"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestNewStudiesRun: what templates make is run, with few and short trials.
func TestNewStudiesRun(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.RequireNamespaces(t)
	for _, test := range []struct {
		kind       string
		arguments  []string
		treatments int
	}{
		{"nas", []string{"--rate", "20mbit", "--client-rate", "20mbit", "--clients", "2"}, 6},
		{"fabric", []string{"--rate", "20mbit", "--flows", "4"}, 2},
	} {
		t.Run(test.kind, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, test.kind+".yaml")
			args := append([]string{"new", test.kind, "-o", file}, test.arguments...)
			if out, err := command(t, t.Context(), dir, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			run := runLab(t, dir, file, "--replicates", "1", "--set", "workload.duration=300ms", "--seed", "7")
			if len(run.Treatments) != test.treatments || run.Study != test.kind {
				t.Errorf("%s: %d treatments, want %d", run.Study, len(run.Treatments), test.treatments)
			}
			for _, made := range run.Treatments {
				if made.LimitBps == 0 || made.Goodput.MeanBps == 0 || made.Unconnected > 0 {
					t.Errorf("%s: goodput %.0f, limit %.0f, %d flows not connected", made.Name, made.Goodput.MeanBps,
						made.LimitBps, made.Unconnected)
				}
			}
		})
	}
}
