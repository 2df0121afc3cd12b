package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestChildrenHaveNoSecrets: a lab's processes, what lab exec runs in it, and what is
// started by via inherit neither token nor password.
func TestChildrenHaveNoSecrets(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	t.Setenv("LINERATE_TOKEN", "hunter2-hunter2-hunter2-hunter2-hunter2")
	t.Setenv("IPERF3_PASSWORD", "hunter2")
	t.Setenv("LINERATE_TEST_KEPT", "kept")
	l := labUpFor(t, "small.yaml")
	out, err := l.exec(t, "server", "env").Output()
	if err != nil || strings.Contains(string(out), "hunter2") ||
		!strings.Contains(string(out), "LINERATE_TEST_KEPT=kept") {
		t.Errorf("lab exec: %v\n%s", err, out)
	}
	// Every process of the lab, as seen from within.
	out, err = l.exec(t, "server", "sh", "-c",
		`for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; tr '\0' ' ' <$p/environ; done`).Output()
	if text := string(out); err != nil || strings.Contains(text, "hunter2") ||
		strings.Count(text, "agent --stdio") < 2 || !strings.Contains(text, "LINERATE_TEST_KEPT=kept") {
		t.Errorf("processes of the lab: %v\n%s", err, out)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "via.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(programStudy, "touch ran", "env >ran", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _ = statusOf(t, command(t, t.Context(), dir, "lab", "up", file, "--trust"))
	if text, err := os.ReadFile(filepath.Join(dir, "ran")); err != nil || strings.Contains(string(text), "hunter2") ||
		!strings.Contains(string(text), "LINERATE_TEST_KEPT=kept") {
		t.Errorf("via: %v\n%s", err, text)
	}
}

// TestFilesAreThisUsersAlone: the notebook, a run's result and its page, with an
// ordinary umask; what is written to a path that the user names follows the umask.
func TestFilesAreThisUsersAlone(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	sh := command(t, t.Context(), dir, "run", controltest.File(t, "small.yaml"), "--seed", "7", "--quiet",
		"--replicates", "2",
		"--set", "workload.duration=100ms")
	sh.Env = append(sh.Env, "LINERATE_NOTEBOOK="+filepath.Join(dir, "book", "notebook.db"))
	umasked := func(args ...string) []string { return append([]string{"-c", `umask 022; exec "$0" "$@"`}, args...) }
	sh.Args = append([]string{"sh"}, umasked(sh.Args...)...)
	sh.Path = "/bin/sh"
	if out, err := sh.CombinedOutput(); err != nil && sh.ProcessState.ExitCode() != ExitDoubt {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for _, root := range []string{"book", "runs"} {
		err := filepath.Walk(filepath.Join(dir, root), func(path string, info os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			seen++
			// A result's directory and its page are for a browser of whatever user.
			shown := root == "runs" && (info.IsDir() || filepath.Base(path) == "report.html")
			if info.Mode().Perm()&0o077 != 0 && !shown {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if seen < 6 {
		t.Errorf("%d files and directories", seen)
	}
	export := command(t, t.Context(), dir, "report", "latest", "--html", "shared.html")
	export.Env = append(export.Env, "LINERATE_NOTEBOOK="+filepath.Join(dir, "book", "notebook.db"))
	export.Args = append([]string{"sh"}, umasked(export.Args...)...)
	export.Path = "/bin/sh"
	out, err := export.CombinedOutput()
	if status := export.ProcessState.ExitCode(); status != ExitOK && status != ExitDoubt {
		t.Fatalf("%v\n%s", err, out)
	}
	if info, err := os.Stat(filepath.Join(dir, "shared.html")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a page at a path: %v, %v; expected the umask's mode", info, err)
	}
}

// TestSecretsOfOthersAreRefused: a file with a token or a password that others may read.
func TestSecretsOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"open", "closed"} {
		mode := map[string]os.FileMode{"open": 0o644, "closed": 0o600}[name]
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat("x", 40)), mode); err != nil {
			t.Fatal(err)
		}
		_, err := readToken(path)
		if refused := err != nil; refused != (name == "open") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := (iperf3Flags{user: "u", password: path, key: path}).login(); (err != nil) != (name == "open") {
			t.Errorf("password %s: %v", name, err)
		}
	}
}
