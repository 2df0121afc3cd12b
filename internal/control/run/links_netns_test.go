//go:build linux

package run_test

import (
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestTrialsAwaitTheirLinks: a trial opens its connections once the link that the trial before
// has taken down sends again, at both ends.
func TestTrialsAwaitTheirLinks(t *testing.T) {
	kerneltest.Parallel(t)
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "link-down.yaml")})
	for _, trial := range run.Trials {
		for _, f := range trial.Flows {
			if !f.Connected {
				t.Errorf("trial %d: %s", trial.Order, f.Error)
			}
		}
	}
}
