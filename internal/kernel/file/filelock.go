package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked is the error if another open file holds the lock, in this process or in
// another one.
var ErrLocked = errors.New("locked by another holder")

// FileLock is an exclusive lock on a file (flock(2)). The kernel releases it with the last
// descriptor, so it ends with its holder's process, also by SIGKILL. Unlike fcntl(2)
// locks it excludes two holders in one process.
type FileLock struct {
	path string
	file *os.File
}

// LockFile locks path, which is created if it does not exist. The file contains what, as
// information for people, until Unlock removes it; a killed holder leaves it unlocked,
// and the next one reuses it. If another holder has the lock the error wraps ErrLocked
// and includes the holder's text.
func LockFile(path, what string) (*FileLock, error) {
	// FileLocked holds the lock for a moment.
	for deadline := time.Now().Add(200 * time.Millisecond); ; {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		err = flock(file, true)
		if err == nil && current(file, path) {
			// Writing the text may fail on a full disk, which is no error.
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
			text, _ := os.ReadFile(path)
			return nil, fmt.Errorf("%s: %w: %s", path, ErrLocked, strings.TrimSpace(string(text)))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// FileLocked reports whether path is locked; false if it does not exist.
func FileLocked(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	// Shared, so that two concurrent calls do not see each other.
	err = flock(file, false)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// Unlock releases the lock and removes its file.
func (l *FileLock) Unlock() error {
	// Removed while it is still locked: LockFile in another process, which may have
	// opened it, detects by current that it is no longer the file at its path.
	return errors.Join(os.Remove(l.path), l.file.Close())
}

// current reports whether path still names the open file.
func current(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func flock(file *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}
