//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// A level that cannot be set up ends the run before its first trial, and the
// notebook has no run without trials.
func TestRefusedLevelEndsTheRunAtOnce(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	const late = `treatment "other" cannot be set up`
	for name, c := range map[string]struct {
		level  string
		status int
		says   []string
	}{
		"mistyped": {"settings: [{host: b, sysctl: {net.ipv4.tcp_timestampz: 1}}]", ExitUsage,
			[]string{"nothing has been created", "did you mean net.ipv4.tcp_timestamps?"}},
		"machine-wide": {"settings: [{host: b, sysctl: {net.core.rmem_max: 1000000}}]", ExitFailed,
			[]string{late, "machine-wide"}},
		"congestion control": {"workload: {congestion_control: nobodys}", ExitFailed,
			[]string{late, `congestion control "nobodys"`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := strings.Replace(refusedStudy, "LEVEL", c.level, 1)
			file := filepath.Join(dir, "refused.yaml")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			status, out := statusOf(t, command(t, t.Context(), dir, "run", file, "--seed", "1", "--quiet"))
			for _, says := range c.says {
				if status != c.status || !strings.Contains(out, says) {
					t.Errorf("status %d, want %d and %q:\n%s", status, c.status, says, out)
				}
			}
			if _, out = statusOf(t, command(t, t.Context(), dir, "runs")); strings.Contains(out, "refused-1") {
				t.Errorf("runs: %s", out)
			}
		})
	}
}

const refusedStudy = `study: refused
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 100mbit}]
workload:
  flows: [{from: a, to: b}]
  warmup: 100ms
  duration: 100ms
factors:
  f:
    levels:
      plain: {}
      other: {LEVEL}
`
