//go:build linux && !portable

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// elsewhere makes programs sudo and ssh, which execute their further words, and a linerate of the
// host that ssh reaches, and puts them first on the PATH. It returns the file in which each start
// of that linerate is a line.
func elsewhere(t *testing.T, dir string) (path, started string) {
	t.Helper()
	own, err := exec.LookPath("linerate") // put there by TestMain
	if err != nil {
		t.Fatal(err)
	}
	started = filepath.Join(dir, "started")
	for file, text := range map[string]string{
		"bin/sudo": `exec "$@"`,
		// Options precede the host. There, no path of this machine is known.
		"bin/ssh": `while [ "$1" != nas ] && [ "$1" != pc ]; do shift; done; shift; case "$1" in linerate | sh) ;; ` +
			`*) echo "$1: not found" >&2; exit 127;; esac; PATH=` + dir + `/there:$PATH exec "$@"`,
		"there/linerate": fmt.Sprintf("echo \"$@\" >>%s; exec %s \"$@\"", started, own),
	} {
		at := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), started
}

// TestProgramBehindSSH: what every verb executes behind sudo ssh is linerate on the host's PATH, and
// never this machine's path of it.
func TestProgramBehindSSH(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		path, started := elsewhere(t, dir)
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		study := filepath.Join(dir, "study.yaml")
		if err := os.WriteFile(study, []byte(studyOfTwo("sudo, ssh, nas", "sudo, ssh, pc")), 0o644); err != nil {
			t.Fatal(err)
		}
		for name, args := range map[string][]string{
			"doctor": {"doctor", "--over", "0s", "--via", "nas=sudo ssh nas"},
			"top":    {"top", "--once", "--via", "nas=sudo ssh nas"},
			"prove":  {"prove", "sack-off", "--via", "nas=sudo ssh nas"},
			"run":    {"run", study, "--trust", "--replicates", "1", "--quiet"},
		} {
			if err := os.WriteFile(started, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, t.Context(), dir, args...)
			cmd.Env = append(cmd.Env, "PATH="+path)
			out, _ := cmd.CombinedOutput()
			there, err := os.ReadFile(started)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(there), "\nagent --stdio --node ") ||
				strings.Contains(string(out), "not found\n") {
				t.Errorf("%s: started %q\n%s", name, there, out)
			}
		}
	})
}

// TestReadWithAJournal: a host on which a killed run has left its settings is read by doctor, snapshot
// and top, which leave the journal as it is; an agent that is to change it says that there is one.
func TestReadWithAJournal(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/var/lib")
		mark := fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(), rand.Uint64())
		agent := command(t, t.Context(), dir, "agent", "--stdio", "--node", "nas")
		agent.Env = append(agent.Env, mark)
		in, err := agent.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := agent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := agent.Start(); err != nil {
			t.Fatal(err)
		}
		_, value := changedBy(t, deaf{out, in})
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, process := range marked(mark) { // the agent and its guard
				var pid int
				if _, err := fmt.Sscan(process, &pid); err == nil {
					_ = syscall.Kill(pid, signal)
				}
			}
		}
		_ = agent.Wait()
		awaitNone(t, mark, "agent and guard")
		journals, err := filepath.Glob("/var/lib/linerate/journal-*.jsonl")
		if err != nil || len(journals) != 1 || value() != "1" {
			t.Fatalf("journals %v, arp_ignore %s: %v", journals, value(), err)
		}
		before, err := os.ReadFile(journals[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"doctor", "--over", "0s", "--via", "nas=env"}, {"snapshot"},
			{"top", "--once", "--via", "nas=env"}} {
			if out, err := command(t, t.Context(), dir, args...).CombinedOutput(); bytes.Contains(out,
				[]byte("linerate recover")) || len(out) < 500 {
				t.Errorf("%s: %v\n%s", args[0], err, out)
			}
		}
		if after, err := os.ReadFile(journals[0]); err != nil || !bytes.Equal(after, before) || value() != "1" {
			t.Errorf("the journal has changed: %v\n%s\nbefore:\n%s", err, after, before)
		}
		study := filepath.Join(dir, "study.yaml")
		if err := os.WriteFile(study, []byte(studyOfTwo("env", "env")), 0o644); err != nil {
			t.Fatal(err)
		}
		said, _ := command(t, t.Context(), dir, "run", study, "--trust", "--quiet").CombinedOutput()
		if !bytes.Contains(said, []byte("linerate recover")) || !bytes.Contains(said, []byte(journals[0])) {
			t.Errorf("run: %s", said)
		}
	})
}

// studyOfTwo is a study of two real hosts.
func studyOfTwo(nas, pc string) string {
	return `study: behind
topology:
  hosts:
    nas: {via: [` + nas + `], interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
    pc: {via: [` + pc + `], interfaces: {eth0: {addresses: [10.0.0.3/24]}}}
  switches: {sw: {unmanaged: true}}
  links:
    - {from: nas.eth0, to: sw, rate: 1gbit}
    - {from: pc.eth0, to: sw, rate: 1gbit}
workload: {flows: [{from: pc, to: nas}], duration: 100ms, warmup: 10ms}
`
}
