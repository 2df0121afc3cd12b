package program

import (
	"os"
	"path/filepath"
	"strings"
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
		if got := said(t, l, "echo 1 >/proc/sys/net/ipv4/ip_forward && echo written"); strings.HasSuffix(got, "written") {
			t.Error("a parameter was written")
		}
		if got := said(t, l, "touch "+dir+"/x && echo written"); strings.HasSuffix(got, "written") {
			t.Error("this process's files in /tmp are its own")
		}
		if _, err := os.Stat(mine); err == nil {
			t.Error("its /tmp is this process's")
		}
		if got := said(t, l, "mount -o remount,rw / && echo undone; mount -t tmpfs none /mnt && echo undone; umount /tmp && echo undone"); strings.Contains(got, "undone") {
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
