package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
)

// said runs a script as a tool is run, and returns what it printed.
func said(t *testing.T, l *Launcher, script string) string {
	t.Helper()
	p, err := l.Start([]string{"sh", "-c", script}, false)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Ended():
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s did not end", script)
	}
	return strings.TrimSpace(p.Said())
}

// TestConfined: a program that is a tool by name alone writes to its own /tmp, and nowhere
// else; it cannot undo that, nor gain privileges.
func TestConfined(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir() // below /tmp as a rule, which is another one there
		l := NewLauncher(proc.Needs{})
		defer l.Close()
		mine := filepath.Join("/tmp", "mine-"+filepath.Base(filepath.Dir(dir)))
		if got := said(t, l, "echo it >"+mine+" && cat "+mine); got != "it" {
			t.Errorf("its own /tmp: %q", got)
		}
		if l.unconfined != nil {
			t.Fatalf("not confined: %v", l.unconfined)
		}
		for _, at := range []string{here, "/", "/etc", "/var", "/root", "/proc/sys/net/ipv4", "/run", "/dev"} {
			path := filepath.Join(at, "written-by-a-tool")
			if got := said(t, l, "echo x >"+path+" && echo written"); strings.HasSuffix(got, "written") {
				t.Errorf("%s was written", path)
				_ = os.Remove(path)
			}
		}
		if got := said(t, l, "echo 1 >/proc/sys/net/ipv4/ip_forward && echo written"); strings.HasSuffix(got,
			"written") {
			t.Error("a parameter was written")
		}
		if got := said(t, l, "touch "+dir+"/x && echo written"); strings.HasSuffix(got, "written") {
			t.Error("this process's files in /tmp are its own")
		}
		if _, err := os.Stat(mine); err == nil {
			t.Error("its /tmp is this process's")
		}
		if got := said(t, l,
			"mount -o remount,rw / && echo undone; mount -t tmpfs none /mnt && echo undone; umount /tmp && echo "+
				"undone"); strings.Contains(got, "undone") {
			t.Errorf("a tool undid its confinement: %s", got)
		}
		status := said(t, l, "cat /proc/self/status")
		for _, want := range []string{"NoNewPrivs:\t1", "CapBnd:\t0000000000807400", "CapEff:\t0000000000807400"} {
			if !strings.Contains(status, want+"\n") {
				t.Errorf("status has no %q:\n%s", want, status)
			}
		}
	})
}

// TestHostilePrograms: a program that is a tool by name alone cannot make processes without bound, sees none but those
// of its launcher, is the first that the kernel kills when memory runs out, and leaves nothing behind, whatever it
// does to stay.
func TestHostilePrograms(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		l := NewLauncher(proc.Needs{})
		defer l.Close()
		if got := said(t, l, "sleep 0.2; cat /proc/self/oom_score_adj"); got != "1000" {
			t.Errorf("its score is %q", got)
		}
		if l.unconfined != nil {
			t.Fatalf("not confined: %v", l.unconfined)
		}
		here := must(os.Readlink("/proc/self/ns/pid"))
		// What follows would be an attack.
		if got := said(t, l, "readlink /proc/self/ns/pid"); got == here || got == "" {
			t.Fatalf("its PID namespace is %q, and this process's %s", got, here)
		}
		outside := exec.CommandContext(t.Context(), "sleep", "60")
		if err := outside.Start(); err != nil {
			t.Fatal(err)
		}
		pid := outside.Process.Pid
		for attempt, script := range map[string]string{
			"a signal":         fmt.Sprintf("kill -9 %d && echo done", pid),
			"all processes":    "trap '' TERM; kill -TERM -1; sleep 0.1",
			"its parent":       "kill -9 $PPID && echo done",
			"its first":        "kill -9 1; sleep 0.1; kill -0 1 || echo done",
			"memory of others": fmt.Sprintf("head -c 1 /proc/%d/mem && echo done", os.Getpid()),
			"files of others":  fmt.Sprintf("ls /proc/%d/fd/ /proc/%d/root/ && echo done", os.Getpid(), os.Getpid()),
			"a score":          "echo 0 >/proc/self/oom_score_adj && echo done",
			"sysrq":            "echo h >/proc/sysrq-trigger && echo done",
			"modules":          "echo x | insmod /dev/stdin && echo done; modprobe dummy && echo done",
			"a bound":          "echo 30000 >/proc/sys/kernel/pid_max && echo done",
			"a namespace":      "unshare -m true && echo done; nsenter -t 1 -m true && echo done",
			"a device":         "mknod /dev/shm/m c 1 1 && echo done; mknod /tmp/m c 1 1 && echo done",
			"a full /tmp": "dd if=/dev/zero of=/tmp/a bs=1M count=100 2>&1 | grep -q 'No space' || echo done; rm " +
				"-f /tmp/a",
		} {
			if got := said(t, l, "{ "+script+"; } 2>/dev/null"); strings.Contains(got, "done") {
				t.Errorf("%s: %s", attempt, got)
			}
		}
		if err := outside.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("a process outside: %v", err)
		}
		_ = outside.Process.Kill()
		if err := outside.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("a process outside has ended: %v", err)
		}

		mark := fmt.Sprint(600000 + os.Getpid()) // sleeps so long
		left := func() (n int) {
			for _, at := range must(filepath.Glob("/proc/[0-9]*/cmdline")) {
				if text, _ := os.ReadFile(at); string(text) == "sleep\x00"+mark+"\x00" {
					n++
				}
			}
			return n
		}
		// It ignores signals, in a session of its own.
		said(t, l, "(trap '' TERM INT HUP; setsid setsid sleep "+mark+" >/dev/null 2>&1 </dev/null &)")
		kerneltest.Await(t, "a process that stays", func() bool { return left() == 1 })
		bomb := "i=0; while [ $i -lt 6000 ]; do sleep " + mark + " >/dev/null 2>&1 & i=$((i+1)); done; echo done"
		var major, minor int
		if _, err := fmt.Sscanf(proc.Release(), "%d.%d", &major, &minor); err != nil {
			t.Error(err)
		}
		if major > 6 || major == 6 && minor >= 14 {
			if got := said(t, l, "("+bomb+") 2>/dev/null"); strings.Contains(got, "done") {
				t.Error("it has 6000 processes")
			}
			if n := left(); n < 100 || n > 4096 {
				t.Errorf("it has %d processes", n)
			}
		}
		l.Close()
		kerneltest.Await(t, "the end of what it has left", func() bool { return left() == 0 })
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestUnconfined: what an agent without root starts cannot gain privileges, and the reason
// why it can write is known.
func TestUnconfined(t *testing.T) {
	kerneltest.Parallel(t)
	if os.Geteuid() == 0 {
		asUser(t)
		return
	}
	l := NewLauncher(proc.Needs{})
	defer l.Close()
	p, err := l.Start([]string{"cat", "/proc/self/status"}, false)
	if err != nil {
		t.Fatal(err)
	}
	p.End(t.Context(), false)
	if said := p.Said(); !strings.Contains(said, "NoNewPrivs:\t1\n") ||
		!strings.Contains(said, "CapEff:\t0000000000000000\n") {
		t.Errorf("it can gain privileges:\n%s", said)
	}
	if why := p.Printed("p1", 100).NotConfined; !strings.Contains(why,
		"unshare(CLONE_NEWNS): operation not permitted") {
		t.Errorf("not confined: %q", why)
	}
	// su(1) and sudo(8) are such programs: as root's they would be another user's.
	if said := said(t, l, "test -u /bin/su && /bin/su -s /bin/sh -c id root </dev/null"); strings.Contains(
		said, "uid=0") {
		t.Errorf("a set-user-ID program has its owner's rights: %s", said)
	}
}

// asUser runs the test as an ordinary user.
func asUser(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64322, Gid: 64322}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}
