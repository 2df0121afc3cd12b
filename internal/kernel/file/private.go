package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// OpenPrivate opens an existing file for reading and writing that only this user and root can have written: a
// regular file of at most most bytes, owned by one of them and not writable by others, in a directory of which
// the same holds. It does not follow symbolic links or wait for special files.
func OpenPrivate(path string, most int64) (*os.File, error) {
	dir, err := os.Stat(filepath.Dir(path))
	if err == nil {
		err = private(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", filepath.Dir(path), err)
	}
	return openTrusted(path, most)
}

func openTrusted(path string, most int64) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) { // EMLINK on FreeBSD
		return nil, errors.New("it is a symbolic link: expected a regular file")
	}
	if err != nil {
		return nil, err
	}
	return trusted(file, most)
}

// trusted returns the file if it is a regular one of at most most bytes that others than this user and root cannot
// write. Otherwise it closes it.
func trusted(file *os.File, most int64) (*os.File, error) {
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("it has mode %v: expected a regular file", info.Mode())
	case info.Size() > most:
		err = fmt.Errorf("it has %d bytes: expected at most %d", info.Size(), most)
	default:
		err = private(info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// private returns an error if others than this user and root can write a file.
func private(info fs.FileInfo) error {
	switch uid := owner(info); {
	case uid < 0:
		return errors.ErrUnsupported
	case uid != 0 && uid != os.Geteuid():
		return fmt.Errorf("it is owned by uid %d: expected uid %d or root", uid, os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("it has mode %#o, so that others can write it: expected %#o", info.Mode().Perm(),
			info.Mode().Perm()&^0o022)
	}
	return nil
}

// Lock takes the exclusive lock (flock(2)) of an open file; closing the file releases it. If another holder
// keeps it for more than a moment, the error wraps ErrLocked.
func Lock(file *os.File) error { return lockWithin(file, momentary) }

// Readable reports whether this process may read an existing file. It does not open it: closing it would drop
// the process's fcntl(2) locks on it.
func Readable(path string) bool { return unix.Access(path, unix.R_OK) == nil }

// NotLinked returns an error if a file, or one whose name has one of the endings in addition, is a symbolic link or has
// other names, in a directory that others than this user and root can write: they would choose the file that is
// written.
func NotLinked(path string, endings ...string) error {
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil || private(dir) == nil {
		return nil // it is made, or its owner chose
	}
	for _, ending := range append([]string{""}, endings...) {
		info, err := os.Lstat(path + ending)
		if err != nil {
			continue
		}
		if stat, is := info.Sys().(*syscall.Stat_t); info.Mode()&fs.ModeSymlink != 0 || is && stat.Nlink > 1 {
			return fmt.Errorf("%s is a link, in a directory that others can write: expected a file", path+ending)
		}
	}
	return nil
}
