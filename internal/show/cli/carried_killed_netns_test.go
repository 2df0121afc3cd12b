//go:build linux && !portable

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestCarriedKilled kills the conductor, an ssh, and what that executes on the host, after a setting has changed:
// nothing is left there, and settings are as before.
func TestCarriedKilled(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	agentProgram(t)
	kerneltest.AsRoot(t, func(t *testing.T) { killedAt(t, 1) })
}

// TestCarriedKilledOften is TestCarriedKilled at many instants from the start on.
func TestCarriedKilledOften(t *testing.T) {
	kerneltest.Long(t)
	agentProgram(t)
	kerneltest.AsRoot(t, func(t *testing.T) { killedAt(t, 10) })
}

// killedAt kills each of the three at a number of instants, the last of which is after a change.
func killedAt(t *testing.T, instants int) {
	hosts, file := controltest.RealHosts(t, t.TempDir())
	dir := startHost(t, "/dev/shm", "/var/lib") // the module may be in /tmp
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	behind := strings.ReplaceAll(string(text), "via: [ip, netns", "via: [ssh, -p, \""+sshdPort+
		"\", root@127.0.0.1, ip, netns")
	if behind == string(text) {
		t.Fatalf("no host of %s", text)
	}
	if err := os.WriteFile(file, []byte(behind), 0o644); err != nil {
		t.Fatal(err)
	}
	before, settings := leftOn(t), controltest.StateOf(t, hosts)
	for _, what := range []string{"conductor", "ssh", "agent"} {
		hit := 0
		for i := range instants {
			cmd := command(t, t.Context(), dir, "run", file, "--only", "static ARP entries", "--trust", "--quiet",
				"--set", "workload.duration=20s")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			when := fmt.Sprintf("%s, instant %d of %d", what, i+1, instants)
			// Instants before the last are in the first second, which carries the agents.
			if i < instants-1 {
				time.Sleep(time.Second * time.Duration(2*i+1) / time.Duration(2*instants))
			} else {
				kerneltest.Await(t, "a change", func() bool { return controltest.StateOf(t, hosts) != settings })
			}
			if n := killThe(t, what, cmd.Process.Pid); n > 0 {
				hit++
			} else { // it is too early
				killThe(t, "conductor", cmd.Process.Pid)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				_ = cmd.Process.Kill()
				<-ended
				t.Errorf("%s: the run does not end", when)
			}
			awaitNothing(t, before, when)
			awaitState(t, hosts, settings)
		}
		if hit == 0 {
			t.Errorf("no %s was killed: the test does not test", what)
		}
	}
}

// killThe kills the conductor, or all processes of ssh or of the agents that are there. It returns how many.
func killThe(t *testing.T, what string, conductor int) (number int) {
	t.Helper()
	if what == "conductor" {
		_ = syscall.Kill(conductor, syscall.SIGKILL)
		return 1
	}
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range all {
		pid, _ := strconv.Atoi(filepath.Base(process))
		words, _ := os.ReadFile(process + "/cmdline")
		list := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
		// ip netns exec has a mount namespace of its own, in which the agent is.
		agent := strings.Contains(string(words), "agent\x00--stdio") || string(words) == "sh\x00-s\x00"
		mnt, err := os.Readlink(process + "/ns/mnt")
		if err != nil {
			continue
		}
		if what == "ssh" && mnt == own && filepath.Base(list[0]) == "ssh" ||
			what == "agent" && agent && ofHost(process) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			number++
		}
	}
	return number
}

// ofHost reports whether a process is in a network namespace of the hosts client and server of this test.
func ofHost(process string) bool {
	own, err := os.Readlink(process + "/ns/net")
	if err != nil {
		return false
	}
	for _, name := range []string{"client", "server"} {
		var stat syscall.Stat_t
		if syscall.Stat("/run/netns/"+name, &stat) == nil && own == fmt.Sprintf("net:[%d]", stat.Ino) {
			return true
		}
	}
	return false
}
