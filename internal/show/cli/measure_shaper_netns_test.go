//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/show/export"
)

// TestMeasureInterrupted: the first signal ends the window, and what it measured is printed;
// before the window there is nothing to print.
func TestMeasureInterrupted(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.PlainPair(t)
		s := serving(t)
		for i, test := range []struct {
			after  time.Duration
			signal syscall.Signal
			args   []string
		}{
			{3 * time.Second, syscall.SIGINT, []string{"--json", "--rate-cap", "100mbit"}},
			{3 * time.Second, syscall.SIGTERM, []string{"--json", "--protocol", "rr"}},
			{3 * time.Second, syscall.SIGTERM, []string{"--json", "--protocol", "udp", "--rate-cap", "10mbit"}},
			{3 * time.Second, syscall.SIGINT, []string{"--rate-cap", "100mbit"}},
			{3 * time.Second, syscall.SIGINT, []string{"--warmup", "50s"}},
		} {
			cmd := in(t, "client", append([]string{"measure", "10.0.0.1", "--quiet", "--duration", "60s", "--warmup",
				"500ms"}, test.args...)...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(test.after, func() { _ = cmd.Process.Signal(test.signal) })
			_ = cmd.Wait()
			if status := cmd.ProcessState.ExitCode(); status != ExitInterrupted || time.Since(began) > 30*time.Second {
				t.Errorf("%v: exit status %d after %v: %s", test.args, status, time.Since(began), errs.String())
			}
			switch {
			case slices.Contains(test.args, "--json"):
				var m export.Measurement
				if err := json.Unmarshal(out.Bytes(), &m); err != nil {
					t.Fatalf("%v: %v\n%s", test.args, err, errs.String())
				}
				if m.PlannedS != 60 || m.DurationS <= 0 || m.DurationS >= 30 || m.GoodputBps+m.RatePerS <= 0 {
					t.Errorf("%v: %v s of %v, %v bit/s, %v/s", test.args, m.DurationS, m.PlannedS, m.GoodputBps,
						m.RatePerS)
				}
				s.until(t, " flow in ", i+1)
			case slices.Contains(test.args, "50s"):
				if out.Len() > 0 || !strings.Contains(errs.String(), "before anything was measured") {
					t.Errorf("%s%s", out.String(), errs.String())
				}
			case !strings.Contains(out.String(), "of 60 s: one value, no confidence interval"):
				t.Errorf("%s", out.String())
			}
		}
		// As timeout(1) does, to the program and its group: one interruption.
		for _, apart := range []time.Duration{time.Millisecond, 2 * sameInterruption} {
			cmd := in(t, "client", "measure", "10.0.0.1", "--quiet", "--duration", "60s", "--rate-cap", "100mbit")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(4 * time.Second)
			for range 2 {
				_ = cmd.Process.Signal(syscall.SIGINT)
				time.Sleep(apart)
			}
			_ = cmd.Wait()
			if said := errs.String(); cmd.ProcessState.ExitCode() != ExitInterrupted ||
				strings.Contains(said, "before anything was measured") {
				t.Errorf("interrupted twice, %v apart: exit status %d: %s", apart, cmd.ProcessState.ExitCode(), said)
			}
			if apart < sameInterruption && !strings.Contains(out.String(), "of 60 s: one value") {
				t.Errorf("interrupted by timeout: %s%s", out.String(), errs.String())
			}
		}
	})
}
