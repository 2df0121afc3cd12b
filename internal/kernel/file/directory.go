package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Directory is an open directory below one that other users can write, such as /tmp. Its methods use the directory
// that was opened: a symbolic link that replaces its path, or a name in it, leads nowhere else (openat(2),
// unlinkat(2)).
type Directory struct{ root *os.Root }

// OpenShared opens a directory in which every user can create files, and which any user may have created. It creates
// it if necessary: each user may remove only own files (sticky(7)). It fails on a symbolic link.
func OpenShared(path string) (*Directory, error) {
	return openMade(path, 0o777|fs.ModeSticky)
}

// OpenOwn opens a directory of this user that every user can read, and creates it if necessary. It fails as OpenOf
// does.
func OpenOwn(path string) (*Directory, error) {
	d, err := openMade(path, 0o755)
	if err != nil {
		return nil, err
	}
	return d.owned(os.Geteuid())
}

// OpenOf opens a directory of a user. It fails on a symbolic link, and if others own it or can write it.
func OpenOf(path string, user int) (*Directory, error) {
	d, err := openDirectory(path)
	if err != nil {
		return nil, err
	}
	return d.owned(user)
}

// openMade opens a directory, and creates it with a mode, to which the umask does not apply.
func openMade(path string, mode fs.FileMode) (*Directory, error) {
	made := os.Mkdir(path, mode.Perm())
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return nil, made
	}
	d, err := openDirectory(path)
	if err != nil || made != nil {
		return d, err
	}
	info, err := d.root.Stat(".")
	if err == nil && owner(info) == os.Geteuid() {
		err = d.root.Chmod(".", mode)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func openDirectory(path string) (*Directory, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && (!named.IsDir() || !os.SameFile(named, opened)) {
		err = fmt.Errorf("%s has mode %v: expected a directory, and no symbolic link", path, named.Mode())
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Directory{root}, nil
}

// owned returns the directory if it is of the user and no other user can write it. Otherwise it closes it.
func (d *Directory) owned(user int) (*Directory, error) {
	info, err := d.root.Stat(".")
	switch {
	case err != nil:
	case owner(info) != user:
		err = fmt.Errorf("%s is owned by uid %d: expected uid %d", d.root.Name(), owner(info), user)
	case info.Mode().Perm()&0o022 != 0:
		err = fmt.Errorf("%s has mode %#o, so that others can write it", d.root.Name(), info.Mode().Perm())
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close closes the directory. Files that were opened stay open.
func (d *Directory) Close() error { return d.root.Close() }

// Open opens a regular file of this user or root for reading, of at most so many bytes, that no others can write.
func (d *Directory) Open(name string, most int64) (*os.File, error) {
	return d.open(name, most, os.O_RDONLY)
}

// Create is Open for reading and writing. It creates the file if there is none, readable by all.
func (d *Directory) Create(name string, most int64) (*os.File, error) {
	return d.open(name, most, os.O_RDWR|os.O_CREATE)
}

func (d *Directory) open(name string, most int64, flags int) (*os.File, error) {
	f, err := d.root.OpenFile(name, flags|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	return trusted(f, most)
}

// RemoveOld removes the files that were last written longer than age ago, of at most so many. Keep reports whether a
// name is to stay.
func (d *Directory) RemoveOld(age time.Duration, most int, keep func(name string) bool) {
	for _, name := range d.names(most) {
		if info, err := d.root.Lstat(name); err == nil && time.Since(info.ModTime()) > age && !keep(name) {
			_ = d.root.Remove(name)
		}
	}
}

// names returns at most so many names.
func (d *Directory) names(most int) []string {
	dir, err := d.root.Open(".")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(most)
	return names
}

// Alone calls f while no other process is in Alone with this directory. It waits for others until the timeout; then
// the error wraps ErrLocked.
func (d *Directory) Alone(timeout time.Duration, f func() error) error {
	dir, err := d.root.Open(".")
	if err != nil {
		return err
	}
	if err := lockWithin(dir, timeout); err != nil {
		dir.Close()
		return err
	}
	return errors.Join(f(), dir.Close())
}

// LockFile is LockFile for a name in the directory.
func (d *Directory) LockFile(name, what string) (*FileLock, error) {
	in, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	lock, err := lockIn(in, name, what)
	if err != nil {
		in.Close()
	}
	return lock, err
}

// Locked returns the texts of the files that are locked, of at most so many files, and removes those that are not:
// their holders were killed. Other users' files stay.
func (d *Directory) Locked(most int) (texts []string) {
	for _, name := range d.names(most) {
		locked, text, err := lockText(d.root, name)
		switch {
		case err != nil: // not one of our files
		case locked:
			texts = append(texts, text)
		default:
			_ = d.root.Remove(name) // fails if it is another user's
		}
	}
	return texts
}
