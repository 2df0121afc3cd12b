//go:build linux

package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestECMPBGP: a daemon brings the routes as people's tables have them, and flows go
// as the kernels say by them. When a spine's daemon is killed, its flows and no
// others move to the other spine; before the next trial its routes are there again.
func TestECMPBGP(t *testing.T) {
	requireBird(t)
	file := slowFabric(t, "ecmp-bgp", "rate: 1gbit, mtu: 9000", "rate: 100mbit", "rate_cap: 40mbit",
		"rate_cap: 1500kbit",
		"duration: 3s", "duration: 600ms", "warmup: 300ms", "warmup: 200ms", "at: 1s", "at: 250ms",
		"      nothing:\n        about: all goes on\n", "") // the next level is the baseline then
	run := runLab(t, t.TempDir(), file, "--seed", "5", "--replicates", "2", "--only", "daemon killed")
	asSaid(t, run, 0)
	routing := run.Environment.Routing
	if routing == nil || !strings.HasPrefix(routing.Daemon, "BIRD ") || routing.ConvergedS <= 0 ||
		len(routing.Hosts) != 4 {
		t.Fatalf("the run says of its routes: %+v", routing)
	}
	whole := regexp.MustCompile(
		`^10\.0\.200\.2 proto bird metric 20 nexthop via inet6 fe80::\S+ dev eth0 weight 1 nexthop via inet6 fe80::\S+ dev eth1 weight 1$`)
	if routes := routing.Hosts[0].Routes; len(routes) != 1 || !whole.MatchString(routes[0]) {
		t.Errorf("the routes of server1 are %q", routes)
	}
	for _, trial := range run.Trials {
		if e := trial.Events; len(e) != 1 || e[0].Host != "spine1" || e[0].What != "the BGP daemon is killed" {
			t.Errorf("trial %d: what happened is %+v", trial.Order, e)
		}
		if again := trial.ConvergedS > 0; again != (trial.Order > 1) {
			t.Errorf("trial %d: routes were there again after %g s", trial.Order, trial.ConvergedS)
		}
		if left := learned(trial, "server1"); len(left) != 1 ||
			!strings.HasSuffix(left[0], " dev eth1 proto bird metric 20") {
			t.Errorf("trial %d: the routes of server1 in the end are %q", trial.Order, left)
		}
		for _, f := range trial.Flows {
			if len(f.Outages) != 1 || len(f.Predicted) == 0 {
				t.Errorf("trial %d: flow %s was predicted to go by %v, and has the outages %+v", trial.Order, f.ID,
					f.Predicted, f.Outages)
				continue
			}
			o := f.Outages[0]
			if by := f.Predicted[0] == "server1.eth0"; o.Moved != by || !slices.Contains(o.After, "spine2.down1") {
				t.Errorf("trial %d: flow %s was predicted to leave by %s: %+v", trial.Order, f.ID, f.Predicted[0], o)
			}
		}
	}
}

// learned are a host's routes by the daemon at the end of a trial.
func learned(trial record.Trial, host string) (list []string) {
	for _, h := range trial.Hosts {
		for _, r := range h.Snapshot.Routes {
			if h.Host == host && strings.Contains(r.Text, "proto bird") {
				list = append(list, r.Text)
			}
		}
	}
	return list
}

// TestKilledConductorLeavesNoDaemon: daemons are other people's programs, and do not
// notice that their conductor is gone.
func TestKilledConductorLeavesNoDaemon(t *testing.T) {
	kerneltest.Parallel(t)
	requireBird(t)
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

// requireBird skips a test that needs the daemon.
func requireBird(t *testing.T) {
	t.Helper()
	for _, place := range []string{"bird", "/usr/sbin/bird", "/usr/local/sbin/bird"} {
		if _, err := exec.LookPath(place); err == nil {
			return
		}
	}
	kerneltest.Skip(t, "BIRD is not installed: apt-get install bird2")
}
