package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked means that another open file holds the lock, in this process or another.
var ErrLocked = errors.New("locked by another holder")

const (
	// momentary is how long a lock may be held just to see who holds it.
	momentary = 200 * time.Millisecond
	lockPoll  = 10 * time.Millisecond
)

// FileLock is an exclusive lock on a file (flock(2)). The kernel releases it with the last
// descriptor, so it ends with its holder's process, also by SIGKILL. Unlike fcntl(2)
// locks it excludes two holders in one process.
type FileLock struct {
	in   *os.Root // the directory of the file
	name string
	file *os.File
}

// LockFile locks path, creating it if necessary. The file contains what, as information for people, until
// Unlock removes it; a killed holder leaves it unlocked, and the next one reuses it. If another holder has the
// lock, the error wraps ErrLocked and includes the holder's text.
func LockFile(path, what string) (*FileLock, error) {
	in, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	lock, err := lockIn(in, filepath.Base(path), what)
	if err != nil {
		in.Close()
	}
	return lock, err
}

// lockIn locks a file in a directory, which the lock closes in the end.
func lockIn(in *os.Root, name, what string) (*FileLock, error) {
	for deadline := time.Now().Add(momentary); ; {
		file, err := in.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		err = flock(file, true)
		if named, missing := in.Lstat(name); err == nil && missing == nil && isFile(file, named) {
			lock := &FileLock{in, name, file}
			lock.Describe(what)
			return lock, nil
		}
		file.Close()
		switch {
		case err == nil:
			continue // the previous holder removed it while we opened it
		case !errors.Is(err, ErrLocked):
			return nil, fmt.Errorf("flock %s: %w", name, err)
		case time.Now().After(deadline):
			_, text, _ := lockText(in, name)
			return nil, fmt.Errorf("%s: %w: %s", filepath.Join(in.Name(), name), ErrLocked, text)
		}
		time.Sleep(lockPoll)
	}
}

// Describe replaces the lock's text. It ignores errors such as a full disk.
func (l *FileLock) Describe(what string) {
	if l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt([]byte(what+"\n"), 0)
	}
}

// FileLocked reports whether path is locked; false if it does not exist.
func FileLocked(path string) (bool, error) {
	in, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	locked, _, err := lockText(in, filepath.Base(path))
	return locked, err
}

// mostLockText limits how much of a lock's text is read, since others may write it.
const mostLockText = 4 << 10

// lockText reports whether a file is locked, and the holder's text. It fails on a pipe or another special file,
// because the directory may be shared with other users.
func lockText(in *os.Root, name string) (locked bool, text string, err error) {
	file, err := in.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, "", nil
	}
	if err != nil {
		return false, "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, "", errors.Join(fmt.Errorf("%s: expected a regular file", name), err)
	}
	// Shared, so that two concurrent calls do not see each other.
	err = flock(file, false)
	if !errors.Is(err, ErrLocked) {
		return false, "", err
	}
	bytes, err := io.ReadAll(io.LimitReader(file, mostLockText))
	return true, strings.TrimSpace(string(bytes)), err
}

// LockDirectory locks a directory itself, which any user who may read it can do. It fails on a symbolic link.
// It waits for other holders until the timeout; then the error wraps ErrLocked.
func LockDirectory(path string, timeout time.Duration) (unlock func() error, err error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := lockWithin(dir, timeout); err != nil {
		dir.Close()
		return nil, err
	}
	return dir.Close, nil
}

// lockWithin locks an open file. It waits for other holders until the timeout.
func lockWithin(file *os.File, timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; time.Sleep(lockPoll) {
		err := flock(file, true)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrLocked) || time.Now().After(deadline) {
			return fmt.Errorf("flock %s: %w", file.Name(), err)
		}
	}
}

// Unlock releases the lock and removes its file.
func (l *FileLock) Unlock() error {
	// Removed while locked: LockFile in another process that has opened it sees that it is no
	// longer the file of that name.
	return errors.Join(l.in.Remove(l.name), l.file.Close(), l.in.Close())
}

// Current reports whether path still names the open file.
func Current(file *os.File, path string) bool {
	named, err := os.Stat(path)
	return err == nil && isFile(file, named)
}

// isFile reports whether what a name stands for is the open file.
func isFile(file *os.File, named fs.FileInfo) bool {
	opened, err := file.Stat()
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
