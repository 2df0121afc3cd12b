//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestRootInLab: what root of a lab does by mistake does not reach the machine: its processes, host name, mounts,
// interfaces and shared memory, and its parameters but those of the network, of which each host has its own. Files and
// devices are those of the user who started the lab.
func TestRootInLab(t *testing.T) {
	kerneltest.Parallel(t)
	l := labUpFor(t, "one-link.yaml")
	outside := exec.CommandContext(t.Context(), "sleep", "600")
	if err := kerneltest.Start(outside); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outside.Process.Kill(); _ = outside.Wait() }()
	there, pid := filepath.Join(l.dir, "there"), outside.Process.Pid
	name, err := os.Hostname()
	uts, _ := os.Readlink("/proc/self/ns/uts")
	if err == nil {
		err = os.Mkdir(there, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	const keep = `f() { v=$(cat "$1") && echo "$v" >"$1" && echo done; }; ` // writes what is there
	for attempt, script := range map[string]string{
		"signals":     fmt.Sprintf("kill -9 %d && echo done", pid),
		"processes":   fmt.Sprintf("test -e /proc/%d/exe && grep -q sleep /proc/%[1]d/cmdline && echo done", pid),
		"memory":      keep + "f /proc/sys/vm/swappiness",
		"the kernel":  keep + "f /proc/sys/kernel/panic",
		"files":       keep + "f /proc/sys/fs/file-max",
		"protection":  keep + "f /proc/sys/fs/protected_symlinks",
		"programs":    keep + "f /proc/sys/kernel/core_pattern",
		"sysrq":       "echo h >/proc/sysrq-trigger && echo done",
		"interrupts":  keep + "f /proc/irq/default_smp_affinity",
		"interfaces":  "ls /sys/class/net | grep -vx 'eth0\\|lo' && echo done",
		"a namespace": fmt.Sprintf("nsenter -t %d -n true && echo done", pid),
	} {
		out, _ := l.exec(t, "client", "sh", "-c", "{ "+script+"; } 2>&1").CombinedOutput()
		if strings.Contains(string(out), "done") {
			t.Errorf("%s: %s", attempt, out)
		}
	}
	// Each has its own of these.
	for script, want := range map[string]string{
		"test \"$(readlink /proc/self/ns/uts)\" != \"" + uts + "\" && hostname inside-a-lab && hostname": "inside-a-lab",
		"mount -t tmpfs inside " + there + " && touch " + there + "/x && ls " + there:                    "x",
		"sysctl -q -w net.ipv4.tcp_fin_timeout=42 && sysctl -n net.ipv4.tcp_fin_timeout":                 "42",
		"ip link add d0 type bridge && ls /sys/class/net/ | grep d0":                                     "d0",
		"echo mine >" + l.dir + "/file && cat " + l.dir + "/file":                                        "mine",
	} {
		if out := strings.TrimSpace(l.ask(t, "client", "sh", "-c", script)); out != want {
			t.Errorf("%s: %q", script, out)
		}
	}
	if now, err := os.Hostname(); now != name {
		t.Errorf("the machine's name is %q, %v", now, err)
	}
	if list, err := os.ReadDir(there); err != nil || len(list) > 0 {
		t.Errorf("a mount is seen outside: %v, %v", list, err)
	}
	if text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_fin_timeout"); err != nil || string(text) == "42\n" {
		t.Errorf("a parameter of the machine is %q, %v", text, err)
	}
	if _, err := os.Stat("/sys/class/net/d0"); err == nil {
		t.Error("an interface is the machine's")
	}
	if err := outside.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process outside: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(l.dir, "file")); err != nil || string(text) != "mine\n" {
		t.Errorf("a file is %q, %v", text, err)
	}
}
