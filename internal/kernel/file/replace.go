package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Replace writes a file beside path and renames it when it is complete and on disk, so that a reader never sees
// part of it and a full disk leaves the old one. mode is before the umask.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	name := fmt.Sprintf(".%s-%016x", filepath.Base(path), rand.Uint64())
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// lockTimeout limits how long Change waits for a concurrent one.
const lockTimeout = 5 * time.Second

// Change replaces a file of this user (ReadOwn) by the result of change, which gets the old content, nil if
// there is none. The new file has mode 0600. Its directory, which may be a symbolic link, is created if
// necessary, and locked meanwhile: concurrent changes are serialized, and readers see the content before or
// after. Nothing is written if change fails.
func Change(path string, most int, change func(old []byte) ([]byte, error)) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	unlock, err := LockDirectory(dir, lockTimeout)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	old, err := ReadOwn(path, most)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	changed, err := change(old)
	if err != nil {
		return err
	}
	return Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(changed)
		return err
	})
}
