package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadPrivate reads a file of at most most bytes that only its owner may read: a secret, or what decides about
// this user. As ssh(1) requires for keys, a file of this user must be closed to group and others. A file of
// another user, such as root's for a service, may be open to a group, but not to all. Pipes are exempt.
func ReadPrivate(path string, most int) ([]byte, error) {
	return readPrivate(path, most, 0)
}

// ReadOwn is ReadPrivate for a file that linerate itself created: a regular file of this user, not a symbolic
// link. A missing file is fs.ErrNotExist.
func ReadOwn(path string, most int) ([]byte, error) {
	return readPrivate(path, most, unix.O_NOFOLLOW|unix.O_NONBLOCK)
}

func readPrivate(path string, most, flags int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	own := flags != 0
	if err := checkPrivate(info, own); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s: expected a file with at most %d bytes", path, most)
	}
	return data, err
}

func checkPrivate(info fs.FileInfo, own bool) error {
	mode, mine := info.Mode(), owner(info) == os.Geteuid()
	switch {
	case mode.IsDir():
		return errors.New("a directory; expected a file")
	case own && !mode.IsRegular():
		return errors.New("expected a regular file")
	case !mode.IsRegular():
		return nil
	case own && !mine:
		return errors.New("the file is another user's")
	case mine && mode.Perm()&0o077 != 0:
		return fmt.Errorf("mode %04o: other users may read or write it; expected 0600 (chmod 600)", mode.Perm())
	case mode.Perm()&0o007 != 0:
		return fmt.Errorf("mode %04o: every user may read or write it; expected 0640 or less", mode.Perm())
	}
	return nil
}

// owner returns the user ID of a file's owner; -1 if unknown.
func owner(info fs.FileInfo) int {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return int(stat.Uid)
	}
	return -1
}
