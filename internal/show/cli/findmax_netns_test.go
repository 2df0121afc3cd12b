//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/limits"
	"linerate/internal/show/export"
)

// TestFindMax: the highest rate of responses that a link carries in time is found within what the
// link has for their bytes; it stands in the notebook's run as well; and an interrupted search has
// what is known until then.
func TestFindMax(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "20mbit", "client")
		serving(t)
		const body, head = 10_000, 150
		knee := 20e6 / 8 * limits.Frame{Shaped: true}.Fraction() / (body + head)
		search := []string{"10.0.0.1", "--protocol", "http", "--response", "10kB", "--connections", "8", "--duration",
			"1s", "--warmup", "300ms",
			"--find-max", "latency_p90 <= 100ms and errors <= 1%", "--repeats", "2"}
		m, status, said := measuredPlainly(t, "client", search...)
		f := m.FindMax
		if f == nil || !f.Found() || f.RatePerS < knee*0.9 || f.RatePerS > knee*1.1 || f.FailedAtPerS <= f.RatePerS ||
			f.FailedAtPerS > f.RatePerS*1.06 || f.Confirmed != 2 {
			t.Fatalf("%+v, want about %.4g/s; exit status %d: %s", f, knee, status, said)
		}
		if last := f.Trials[len(f.Trials)-1]; f.BoundedBy == "" || f.Trials[0].AskedPerS != 0 || !last.Pass ||
			!last.Confirms || m.RatePerS < f.RatePerS*0.95 || m.RatePerS != last.AnsweredPerS {
			t.Errorf("%g/s, %+v", m.RatePerS, f)
		}

		// Progress is printed every 10 s at most: with longer trials the second line is of one in the middle.
		cmd := in(t, "client", append(append([]string{"measure", "--json"}, search...), "--duration", "3s")...)
		var out bytes.Buffer
		cmd.Stdout = &out
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines, sent := bufio.NewScanner(errs), false; lines.Scan(); {
			if text := lines.Text(); !sent && strings.Contains(text, "trial ") && !strings.Contains(text, "trial 1 ") {
				sent = true
				_ = cmd.Process.Signal(syscall.SIGINT)
			}
		}
		_ = cmd.Wait()
		m = export.Measurement{}
		if err := json.Unmarshal(out.Bytes(), &m); err != nil || cmd.ProcessState.ExitCode() != ExitInterrupted {
			t.Fatalf("%v: %s, exit status %d", err, out.String(), cmd.ProcessState.ExitCode())
		}
		if f := m.FindMax; f == nil || f.Found() || f.Why != "the search was interrupted" || len(f.Trials) == 0 {
			t.Errorf("%+v", f)
		}
	})
}
