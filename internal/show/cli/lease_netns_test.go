//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// changedRun starts a run on real hosts and waits until it has changed one. The mark is in
// the environment of all of its processes.
func changedRun(t *testing.T, dir, file string, args ...string) (conductor *exec.Cmd, mark string,
	output *bytes.Buffer) {
	t.Helper()
	mark, output = fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(), rand.Uint64()), &bytes.Buffer{}
	conductor = command(t, t.Context(), dir, append([]string{"run", file, "--only", "static ARP entries", "--quiet",
		"--trust"}, args...)...)
	conductor.Env = append(conductor.Env, mark)
	conductor.Stdout, conductor.Stderr = output, output
	if err := conductor.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Minute); kerneltest.Do(t, "ip", "-n", "client", "neighbour", "show", "nud",
		"permanent") == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was ever changed")
		}
	}
	return conductor, mark, output
}

// awaitState waits until the hosts are as they were, without any command.
func awaitState(t *testing.T, hosts []string, before string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		after := controltest.StateOf(t, hosts)
		if after == before {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the hosts are not as they were:\n%s", controltest.FirstDifference(before, after))
		}
	}
}

// TestKilledAgentsRevert kills the agents of real hosts together with their conductor: the
// guards restore the settings.
func TestKilledAgentsRevert(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		hosts, file := controltest.RealHosts(t, dir)
		before := controltest.StateOf(t, hosts)
		for range 3 {
			conductor, mark, _ := changedRun(t, dir, file)
			time.Sleep(rand.N(300 * time.Millisecond))
			agents := 0
			for _, process := range marked(mark) {
				pid, words, _ := strings.Cut(process, " ")
				if number, err := strconv.Atoi(pid); err == nil && strings.Contains(words, " agent --stdio") {
					_ = syscall.Kill(number, syscall.SIGKILL)
					agents++
				}
			}
			_ = conductor.Process.Kill()
			_ = conductor.Wait()
			if agents < 2 {
				t.Fatalf("%d agents were killed: the test does not test", agents)
			}
			awaitNone(t, mark, "agents and conductor were killed")
			awaitState(t, hosts, before)
		}
	})
}

// TestStoppedConductor stops a conductor for longer than the lease: the settings are
// restored, and the run fails with the reason when it goes on.
func TestStoppedConductor(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		hosts, file := controltest.RealHosts(t, dir)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range hosts {
			via := "via: [ip, netns, exec, " + host
			text = bytes.Replace(text, []byte(via), []byte(via+`, sh, -c, 'exec "$@" --lease 5s', sh`), 1)
		}
		file = filepath.Join(dir, "short.yaml")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		before := controltest.StateOf(t, hosts)
		conductor, mark, output := changedRun(t, dir, file, "--set", "workload.duration=15s")
		for changed, until := false, time.Now().Add(time.Minute); !changed; { // in a trial, not before or after it
			if time.Now().After(until) {
				t.Fatal("no trial within a minute")
			}
			if err := conductor.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond) // for requests on their way
			if changed = controltest.StateOf(t, hosts) != before; !changed {
				if err := conductor.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				time.Sleep(500 * time.Millisecond)
			}
		}
		awaitState(t, hosts, before)
		if err := conductor.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		err = conductor.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != ExitFailed ||
			!strings.Contains(output.String(), "nothing was received from the conductor") {
			t.Errorf("it ended with %v and printed:\n%s", err, output)
		}
		awaitNone(t, mark, "the run has failed")
		awaitState(t, hosts, before)
	})
}
