//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestToolsEndWithTheRun: a conductor that is killed leaves no program behind.
func TestToolsEndWithTheRun(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "iperf3", "iperf")
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	text, err := os.ReadFile(controltest.File(t, "tools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// Words by which these very processes are known.
	long := strings.NewReplacer("{from: a, to: b}\n", "{from: a, to: b, tool_args: [-l, 54321]}\n", "1500ms",
		"60s").Replace(string(text))
	file := filepath.Join(dir, "long.yaml")
	if err := os.WriteFile(file, []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, t.Context(), dir, "run", file, "--trust", "--quiet")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ours := func() []string {
		var pids []string
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			words, _ := os.ReadFile(file)
			if list := strings.Split(string(words), "\x00"); slices.Contains(list, "54321") &&
				strings.HasPrefix(list[0], "iperf") {
				pids = append(pids, file)
			}
		}
		return pids
	}
	deadline := time.Now().Add(time.Minute)
	for len(ours()) == 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	there := len(ours())
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if there == 0 {
		t.Fatal("no program was started within a minute")
	}
	for deadline := time.Now().Add(20 * time.Second); len(ours()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still there: %v", ours())
		}
	}
}

// TestToolNotInstalled: what has to be installed where is said before anything is
// made, and what needs no such program can be run.
func TestToolNotInstalled(t *testing.T) {
	for _, args := range [][]string{
		{"run", controltest.File(t, "tools.yaml"), "--trust", "--quiet"},
		{"check", controltest.File(t, "tools.yaml")},
	} {
		cmd := command(t, t.Context(), t.TempDir(), args...)
		cmd.Env = append(slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
			"PATH="+t.TempDir())
		text, _ := cmd.CombinedOutput()
		for _, want := range []string{"a: iperf3 is not installed: apt-get install iperf3\n",
			"b: iperf is not installed: apt-get install iperf\n", "Nothing was made"} {
			if status := cmd.ProcessState.ExitCode(); status != ExitFailed || !strings.Contains(string(text), want) {
				t.Errorf("%v: exit status %d, want %q in\n%s", args[0], status, want, text)
			}
		}
	}
}
