package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// ErrLocked says that another open file holds the lock, in this process or in
// another one.
var ErrLocked = errors.New("locked by another holder")

// FileLock is an exclusive lock on a file, flock(2). The kernel drops it with
// the last descriptor, so it ends with its holder's process, even by SIGKILL.
// It excludes two holders inside one process too, unlike fcntl(2) locks.
type FileLock struct {
	path string
	file *os.File
}

// LockFile takes the lock on path without waiting, making the file when there
// is none. The file holds what, for people, until Unlock removes it; a holder
// that was killed leaves it behind unlocked, and the next one takes it over.
// The error is ErrLocked, with the holder's words, when somebody holds it.
func LockFile(path, what string) (*FileLock, error) {
	// A short wait lets somebody pass who only asks whether it is locked.
	for deadline := time.Now().Add(200 * time.Millisecond); ; {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		err = flock(file, true)
		if err == nil && current(file, path) {
			// What it says is a courtesy to people, and it may fail on a full disk.
			if file.Truncate(0) == nil {
				_, _ = file.WriteAt([]byte(what+"\n"), 0)
			}
			return &FileLock{path, file}, nil
		}
		file.Close()
		switch {
		case err == nil:
			continue // the holder before us removed it while we opened it
		case !errors.Is(err, ErrLocked):
			return nil, fmt.Errorf("flock %s: %w", path, err)
		case time.Now().After(deadline):
			words, _ := os.ReadFile(path)
			return nil, fmt.Errorf("%s: %w: %s", path, ErrLocked, strings.TrimSpace(string(words)))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// FileLocked says whether somebody holds the lock on path.
func FileLocked(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	// Shared, so that two who ask do not take each other for the holder.
	err = flock(file, false)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// Unlock gives the lock up and removes its file.
func (l *FileLock) Unlock() error {
	// Removed while it is still held: whoever opened it in the meantime sees in
	// current that this is no longer the file at its path.
	return errors.Join(os.Remove(l.path), l.file.Close())
}

// current says whether path still names the open file.
func current(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}
