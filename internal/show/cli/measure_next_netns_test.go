//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/bottleneck"
	"linerate/internal/show/export"
)

// TestMeasureNext: over a path that delays and loses, the answer says what to do, with the values that were
// measured: what cubic carries there, another congestion control, and a lab with the path's figures.
func TestMeasureNext(t *testing.T) {
	kerneltest.Parallel(t)
	l := labUpFor(t, "lossy.yaml")
	server := l.exec(t, "server", "linerate", "serve")
	said := &transcript{}
	server.Stderr = said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	kerneltest.Await(t, "the server listens", func() bool { return strings.Contains(said.String(), "listening") })
	cmd := l.exec(t, "client", "linerate", "measure", "10.0.0.2", "--json", "--quiet", "--no-save", "-C", "cubic",
		"--duration", "6s")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != ExitDoubt {
		t.Fatal(err, errs.String())
	}
	var m export.Measurement
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Flows) != 1 || m.Flows[0].LimitedBy != bottleneck.CongestionWindow {
		t.Fatalf("held back by %q: %s", m.Flows[0].LimitedBy, m.Flows[0].LimitedWhy)
	}
	next := strings.Join(m.Next, "\n")
	for _, want := range []string{`linerate measure 10\.0\.0\.2.* -C bbr`,
		`linerate new wan --rate 100mbit --rtt 4\d(\.\d+)?ms --loss \d\.\d+%`, `cubic`} {
		if !regexp.MustCompile(want).MatchString(next) {
			t.Errorf("no %q in\n%s", want, next)
		}
	}
}
