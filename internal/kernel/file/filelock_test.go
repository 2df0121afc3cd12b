package file

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFileLockExcludesTheSecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	lock, err := LockFile(path, "process 17")
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockFile(path, "process 18")
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "process 17") {
		t.Errorf("second holder: %v, want ErrLocked that names process 17", err)
	}
	if held, err := FileLocked(path); !held || err != nil {
		t.Errorf("FileLocked = %v, %v, want true", held, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock's file is still there: %v", err)
	}
	if held, err := FileLocked(path); held || err != nil {
		t.Errorf("FileLocked after Unlock = %v, %v, want false", held, err)
	}
}

// Files are removed and created again all the time: no process may hold a lock on a
// file that has already gone, together with one who holds its successor.
func TestFileLockUnderContention(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	var inside, took atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				lock, err := LockFile(path, "me")
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				took.Add(1)
				inside.Add(-1)
				if err := lock.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if took.Load() == 0 {
		t.Error("no goroutine ever got the lock")
	}
}

// TestFileLockEndsWithItsProcess kills a holder and takes its lock over.
func TestFileLockEndsWithItsProcess(t *testing.T) {
	if path := os.Getenv("FILELOCK_CHILD"); path != "" {
		if _, err := LockFile(path, "the child"); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Hour)
	}
	path := filepath.Join(t.TempDir(), "run")
	child := exec.Command(os.Args[0], "-test.run=^TestFileLockEndsWithItsProcess$")
	child.Env = append(os.Environ(), "FILELOCK_CHILD="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 5)
	if _, err := out.Read(word); err != nil || string(word) != "held\n" {
		t.Fatalf("child said %q, %v", word, err)
	}
	if held, _ := FileLocked(path); !held {
		t.Error("the child's lock is not seen")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	lock, err := LockFile(path, "the parent")
	if err != nil {
		t.Fatalf("after the holder's death: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}
