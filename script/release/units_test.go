package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mostExposed are the exposure levels, times ten, that systemd-analyze(1) may give a unit: an
// agent has capabilities over the network and writes kernel parameters. 50 is where it says
// MEDIUM.
var mostExposed = map[string]string{"linerate-serve.service": "20", "linerate-agent@.service": "40"}

// TestUnits: systemd takes the units as they are written, and judges them hardened.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("LINERATE_REQUIRE_NETNS") == "1" {
			t.Fatal("LINERATE_REQUIRE_NETNS=1, but systemd-analyze is not installed")
		}
		t.Skip("systemd-analyze is not installed")
	}
	// What is started has to exist.
	dir := t.TempDir()
	units, err := filepath.Glob("systemd/*")
	if err != nil || len(units) != 3 {
		t.Fatalf("units: %q, %v", units, err)
	}
	for i, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		units[i] = filepath.Join(dir, filepath.Base(unit))
		lines := strings.Split(strings.ReplaceAll(string(text), "=/usr/bin/linerate ", "=/bin/true "), "\n")
		for k, line := range lines {
			if strings.HasPrefix(line, "Documentation=") {
				lines[k] = ""
			}
		}
		if err := os.WriteFile(units[i], []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(analyze, append([]string{"verify"}, units...)...).CombinedOutput(); err != nil ||
		len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	for _, unit := range units {
		most, judged := mostExposed[filepath.Base(unit)]
		if !judged {
			continue
		}
		if out, err := exec.Command(analyze, "security", "--offline=yes", "--threshold="+most,
			unit).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(unit), err, out)
		}
	}
}
