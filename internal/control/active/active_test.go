package active

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/kernel/file"
)

func enter(t *testing.T, dir, what string) (*Claim, []Work) {
	t.Helper()
	c, others, err := Enter(dir, Work{What: what, Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return c, others
}

func leave(t *testing.T, c *Claim) {
	t.Helper()
	if err := c.Leave(); err != nil {
		t.Error(err)
	}
}

func TestEnterSeesOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "active")
	first, others := enter(t, dir, "run")
	if len(others) != 0 {
		t.Errorf("the first one sees %v", others)
	}
	first.Describe("run arp-flux-7")
	second, others := enter(t, dir, "measure")
	if len(others) != 1 || others[0].What != "run arp-flux-7" || time.Since(others[0].Since) > time.Minute {
		t.Errorf("the second one sees %v", others)
	}
	leave(t, first)
	third, others := enter(t, dir, "run")
	if len(others) != 1 || others[0].What != "measure" {
		t.Errorf("the third one sees %v", others)
	}
	leave(t, second)
	leave(t, third)
	var none *Claim
	none.Describe("nothing")
	leave(t, none)
}

// TestShared: every user can enter, and what is not a lock neither blocks nor counts.
func TestShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "active")
	c, _ := enter(t, dir, "run")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 || info.Mode()&os.ModeSticky == 0 {
		t.Errorf("%v, %v, want every user to have access, each to his own files", info.Mode(), err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run(); err != nil {
		t.Fatal(err)
	}
	c.lock.Describe("")
	other, others := enter(t, dir, "run")
	if len(others) != 1 || others[0].What != "another measurement" {
		t.Errorf("sees %v", others)
	}
	leave(t, c)
	leave(t, other)
}

// TestKilled: a killed process is active no more, and leaves no file for long.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("ACTIVE_CHILD"); dir != "" {
		enter(t, dir, "the child")
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Hour)
	}
	dir := filepath.Join(t.TempDir(), "active")
	child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), "ACTIVE_CHILD="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 5)); n != 5 || err != nil {
		t.Fatalf("the child said %d bytes, %v", n, err)
	}
	c, others := enter(t, dir, "run")
	if len(others) != 1 || others[0].What != "the child" {
		t.Errorf("while it lives: %v", others)
	}
	leave(t, c)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	c, others = enter(t, dir, "run")
	if len(others) != 0 {
		t.Errorf("after its death: %v", others)
	}
	leave(t, c)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWait: of several that wait, one is active at a time.
func TestWait(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "active")
	first, _ := enter(t, dir, "run arp-flux-7")
	var inside, waited atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := Wait(t.Context(), dir, Work{What: "run"}, nil, func(others []Work) {
				if len(others) > 0 {
					waited.Add(1)
				}
			})
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d are active at once", n)
			}
			time.Sleep(20 * time.Millisecond)
			inside.Add(-1)
			leave(t, c)
		})
	}
	for deadline := time.Now().Add(10 * time.Second); waited.Load() < 4 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if inside.Load() != 0 {
		t.Error("one did not wait")
	}
	leave(t, first)
	wg.Wait()

	// What is active elsewhere counts, and waiting ends with its context.
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Wait(ctx, dir, Work{What: "run"}, func() []Work { return []Work{{What: "a run"}} }, func([]Work) {
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v, want %v", err, context.Canceled)
	}
}

// TestLookIsBounded: any user can fill the directory.
func TestLookIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range mostEntries + 100 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shared, err := file.OpenShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	look(shared) // removes what is not locked
	if left, err := os.ReadDir(dir); err != nil || len(left) != 100 {
		t.Errorf("%d files are left, %v: expected that %d were read", len(left), err, mostEntries)
	}
}
