//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// rootForMail skips a test for an ordinary user: Postfix changes its user.
func rootForMail(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		kerneltest.Skip(t, "Postfix needs a lab of root")
	}
}

// TestServicesEnd: services are other people's programs with processes of their own, and
// neither outlive their agent nor their conductor.
func TestServicesEnd(t *testing.T) {
	kerneltest.Parallel(t)
	rootForMail(t)
	names := []string{"nginx", "nsd", "master", "qmgr"}
	for _, name := range []string{"nginx", "nsd", "postfix"} {
		kerneltest.Program(t, name)
	}
	for _, victim := range []string{"conductor", "agent"} {
		lab := labUpFor(t, "services.yaml")
		conductor := lab.cmd.Process.Pid
		var left []int
		for _, name := range names {
			those := below(conductor, name)
			if len(those) == 0 {
				t.Fatalf("no %s runs", name)
			}
			left = append(left, those...)
		}
		pid := conductor
		if victim == "agent" {
			pid = status(below(conductor, "master")[0]).parent
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil ||
				!strings.Contains(string(text), "\x00agent\x00") {
				t.Fatalf("master is a child of %q, %v", text, err)
			}
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(20 * time.Second); len(left) > 0; time.Sleep(10 * time.Millisecond) {
			left = slices.DeleteFunc(left, func(pid int) bool { return !isProgram(pid, names...) })
			if len(left) > 0 && time.Now().After(until) {
				t.Fatalf("processes %v outlive their %s", left, victim)
			}
		}
	}
}

// isProgram says whether a process is of one of these programs; nsd's have the names of their tasks
// behind its own.
func isProgram(pid int, names ...string) bool {
	name, _, _ := strings.Cut(status(pid).name, ":")
	return slices.Contains(names, name)
}

// TestServiceNotInstalled: what has to be installed is said before anything is made.
func TestServiceNotInstalled(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
			kerneltest.Do(t, "mount", "-t", "tmpfs", "none", dir)
		}
		cmd := command(t, t.Context(), t.TempDir(), "run", controltest.File(t, "services.yaml"), "--trust", "--quiet")
		text, _ := cmd.CombinedOutput()
		for _, want := range []string{
			"nginx is not installed for service single of server: apt-get install nginx\n",
			"nsd is not installed for service nsd of server: apt-get install nsd\n",
			"postfix is not installed for service postfix of server: apt-get install postfix\n", "Nothing was made",
		} {
			if status := cmd.ProcessState.ExitCode(); status != ExitFailed || !strings.Contains(string(text), want) {
				t.Errorf("exit status %d, want %q in\n%s", status, want, text)
			}
		}
	})
}

// TestServiceEndsByItself: a service that crashes in a window fails the run, and is named.
func TestServiceEndsByItself(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Program(t, "nsd")
	file := filepath.Join(t.TempDir(), "crash.yaml")
	if err := os.WriteFile(file, []byte(`study: crash
topology:
  hosts:
    server: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}, services: {names: {program: nsd}}}
    client: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: client, to: server, rate: 10mbit}
workload:
  flows:
    - {from: client, to: server, service: names}
  protocol: dns
  pace: 100
  duration: 3s
`), 0o600); err != nil {
		t.Fatal(err)
	}
	kerneltest.RequireNamespaces(t)
	cmd := command(t, t.Context(), t.TempDir(), "run", file, "--trust")
	said := &transcript{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if servers := below(cmd.Process.Pid, "nsd"); len(servers) > 1 {
			_ = syscall.Kill(slices.Min(servers), syscall.SIGKILL)
			break
		}
		if time.Now().After(until) {
			t.Fatalf("nsd does not run: %s", said)
		}
	}
	_ = cmd.Wait()
	if text := said.String(); cmd.ProcessState.ExitCode() != ExitFailed || !strings.Contains(text, "service names") ||
		!strings.Contains(text, "ended after") {
		t.Errorf("exit status %d: %s", cmd.ProcessState.ExitCode(), text)
	}
}
