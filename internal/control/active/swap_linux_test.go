package active

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
)

// TestSwapped: another user who has created the directory replaces it by a symbolic link while root waits for its
// lock. What the link points to stays as it is.
func TestSwapped(t *testing.T) {
	if dir := os.Getenv("ACTIVE_SWAP"); dir != "" {
		swap(t, dir, os.Getenv("ACTIVE_VICTIM"))
		return
	}
	if os.Geteuid() != 0 {
		kerneltest.Skip(t, "only root can start a process of another user")
	}
	base, err := os.MkdirTemp("", "active-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if err := os.Chmod(base, 0o777); err != nil { // not sticky, as on a kernel with fs.protected_symlinks=0
		t.Fatal(err)
	}
	victim := t.TempDir()
	canary := filepath.Join(victim, "canary")
	if err := os.WriteFile(canary, []byte("root's"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "test") // where the other user can execute it
	if text, err := exec.Command("cp", os.Args[0], program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	dir := filepath.Join(base, "linerate-active")
	other := exec.Command(program, "-test.run=^TestSwapped$")
	other.Dir = base
	other.Env = append(os.Environ(), "ACTIVE_SWAP="+dir, "ACTIVE_VICTIM="+victim)
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the other user's process said %q, %v", line, err)
	}
	c, _, err := Enter(dir, Work{What: "run", Since: time.Now()})
	if err == nil {
		_ = c.Leave()
	}
	_, _ = io.Copy(io.Discard, out)
	if err := other.Wait(); err != nil {
		t.Errorf("the other user's process: %v", err)
	}
	entries, err := os.ReadDir(victim)
	if err != nil || len(entries) != 1 || entries[0].Name() != "canary" {
		t.Errorf("the directory behind the link has %v, %v, want only what it had", entries, err)
	}
	if _, _, err := Enter(dir, Work{What: "run"}); err == nil {
		t.Error("entered through a symbolic link")
	}
}

// swap locks the directory, replaces it by a link to another once another process waits for the lock, and unlocks it.
func swap(t *testing.T, dir, victim string) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	unlock, err := file.LockDirectory(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("locked\n")
	time.Sleep(patience / 10)
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, dir); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}
