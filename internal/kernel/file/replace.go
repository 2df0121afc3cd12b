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

// Replace writes a file beside its place and moves it there once it is whole and on disk,
// so that a reader never sees half of it and a full disk leaves what was there before.
// mode is before the umask.
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

// lockTimeout bounds how long Change waits for another one.
const lockTimeout = 5 * time.Second

// Change replaces a file of this user's own (ReadOwn) by what change makes of its content, nil
// where there is none; the new one has mode 0600. The file's directory, which may be a symbolic
// link, is made if it is missing, and locked meanwhile: concurrent changes are serialized, and
// readers see the content before or after. Nothing is written if change fails.
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
