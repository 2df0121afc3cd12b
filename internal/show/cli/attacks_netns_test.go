//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestAttacks: a flood of SYNs keeps honest clients from a server that keeps a place for each,
// and not from one with SYN cookies; the record, the report and the export have the attack.
func TestAttacks(t *testing.T) {
	kerneltest.Parallel(t)
	dir := t.TempDir()
	run := runLab(t, dir, controltest.File(t, "attacks.yaml"), "--replicates", "1", "--seed", "5")
	answered := map[string]float64{}
	for _, trial := range run.Trials {
		for _, r := range controltest.Treatment(t, run, trial.Treatment).Responses {
			if r.Response == "answered" {
				answered[trial.Treatment] = r.Mean
			}
		}
		if trial.Treatment == "not attacked" {
			if len(trial.Attacks) > 0 {
				t.Errorf("%+v", trial.Attacks)
			}
			continue
		}
		if len(trial.Attacks) != 1 {
			t.Fatalf("%s: %+v", trial.Treatment, trial.Attacks)
		}
		a := trial.Attacks[0]
		if a.Error != "" || a.Kind != "syn-flood" || a.From != "attacker" || a.AskedPerS != 5000 || a.SentPerS < 1000 ||
			a.SentPerS > 5200 || !strings.HasSuffix(a.Target,
			trial.Flows[0].Destination[strings.LastIndex(trial.Flows[0].Destination, ":"):]) {
			t.Errorf("%s: %+v", trial.Treatment, a)
		}
	}
	// On a busy machine some answers come after the window, attacked or not.
	if answered["no cookies"] >= min(answered["not attacked"], answered["cookies"])/2 {
		t.Errorf("answered: %v", answered)
	}
	for _, args := range [][]string{{"report", "latest"}, {"export", "latest", "--table", "attacks"}} {
		cmd := command(t, t.Context(), dir, args...)
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != ExitDoubt || !strings.Contains(string(out), "syn-flood") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// TestAttacksOfRealHosts: a study with an attack and a real host is refused before its command
// is executed.
func TestAttacksOfRealHosts(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(controltest.File(t, "attacks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	executed := filepath.Join(dir, "executed")
	real := "    nas: {via: [touch, " + executed + "], interfaces: {eth0: {addresses: [192.0.2.9/24]}}}\n"
	file := filepath.Join(dir, "real.yaml")
	spoilt := strings.Replace(string(text), "    client:", real+"    client:", 1)
	if err := os.WriteFile(file, []byte(spoilt), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, t.Context(), dir, "run", "--trust", file).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "attacks are made in labs alone, and nas is not made by linerate") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(executed); err == nil {
		t.Error("the command of the real host was executed")
	}
}
