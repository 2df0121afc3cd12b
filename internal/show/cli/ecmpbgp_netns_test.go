//go:build linux

package cli

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// TestKilledConductorLeavesNoDaemon: daemons are other people's programs, and do not
// notice that their conductor is gone.
func TestKilledConductorLeavesNoDaemon(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "bird")
	kerneltest.RequireNamespaces(t)
	cmd := command(t, t.Context(), t.TempDir(), "lab", "up", "ecmp-bgp", "--lab", "bgp-killed")
	words, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(words)
	for said.Scan() && !strings.Contains(said.Text(), "The lab is up") {
		t.Log(said.Text())
	}
	daemons := below(cmd.Process.Pid, "bird")
	for _, pid := range daemons {
		confined(t, pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(daemons) != 4 {
		t.Fatalf("%d daemons ran, want one on each host", len(daemons))
	}
	for until := time.Now().Add(20 * time.Second); len(daemons) > 0; time.Sleep(10 * time.Millisecond) {
		daemons = slices.DeleteFunc(daemons, func(pid int) bool { return status(pid).name != "bird" })
		if len(daemons) > 0 && time.Now().After(until) {
			t.Fatalf("daemons %v outlive their conductor", daemons)
		}
	}
}

// confined checks what decision 0032 promises of a daemon: it gains no privileges, has the
// capabilities of tools alone, and can write to nothing but file systems in memory.
func confined(t *testing.T, pid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1\n", "CapBnd:\t0000000000807400\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("a daemon's status has no %q:\n%s", want, text)
		}
	}
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(mounts)) {
		// ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS … - TYPE (proc_pid_mountinfo(5)).
		fields := strings.Fields(line)
		n++
		inMemory := slices.Contains([]string{"/tmp", "/var/tmp", "/dev/shm", "/run"}, fields[4]) &&
			strings.Contains(line, " - tmpfs tmpfs ")
		if options := strings.Split(fields[5], ","); !slices.Contains(options, "nosuid") || !inMemory &&
			!slices.Contains(options, "ro") {
			t.Errorf("a daemon may write there, or gain privileges: %s", line)
		}
	}
	if n < 3 {
		t.Errorf("%d mounts:\n%s", n, mounts)
	}
}

// process is what /proc says of one.
type process struct {
	name   string
	parent int
}

func status(pid int) (p process) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch key {
		case "Name":
			p.name = value
		case "PPid":
			p.parent, _ = strconv.Atoi(value)
		}
	}
	return p
}

// below are the processes of a name that descend from another.
func below(ancestor int, name string) (list []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !isProgram(pid, name) {
			continue
		}
		for at := pid; at > 1; at = status(at).parent {
			if at == ancestor {
				list = append(list, pid)
				break
			}
		}
	}
	return list
}
