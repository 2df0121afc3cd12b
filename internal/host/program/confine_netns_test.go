package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
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
	case <-time.After(20 * time.Second):
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
		l := NewLauncher()
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

// TestUnconfined: what an agent without root starts cannot gain privileges, and the reason
// why it can write is known.
func TestUnconfined(t *testing.T) {
	kerneltest.Parallel(t)
	if os.Geteuid() == 0 {
		asUser(t)
		return
	}
	l := NewLauncher()
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
