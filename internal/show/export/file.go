package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"linerate/internal/kernel/file"
)

// Writable returns an error if files cannot be created in a directory or below it. It leaves
// nothing there.
func Writable(dir string) error {
	// A missing directory would be created below the nearest existing one.
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".linerate-*")
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // without the name of the temporary file
		}
		return fmt.Errorf("write in %s: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteFile writes a temporary file beside path and renames it when it is complete and on disk, so
// that a reader never sees an incomplete file and a full disk leaves the old content. Its mode
// follows the umask. It writes directly to devices and pipes, such as /dev/stdout. Errors name
// path, never the temporary file.
func WriteFile(path string, write func(io.Writer) error) error {
	return writeFile(path, 0o666, write)
}

// WritePrivate is WriteFile with mode 0600.
func WritePrivate(path string, write func(io.Writer) error) error {
	return writeFile(path, 0o600, write)
}

func writeFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return unwritable(path, err)
		}
		return unwritable(path, errors.Join(write(f), f.Close()))
	}
	return unwritable(path, file.Replace(path, mode, write))
}

// unwritable returns an error that says why a file cannot be written, and what to do.
func unwritable(path string, err error) error {
	if err == nil {
		return nil
	}
	reason, dir := error(nil), filepath.Dir(path)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		reason = failed.Err // without the name of the temporary file
	} else if failed, ok := errors.AsType[*os.LinkError](err); ok {
		reason = failed.Err
	} else {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	help := ""
	switch {
	case errors.Is(reason, fs.ErrNotExist):
		help = "; make the directory " + dir + " first"
	case errors.Is(reason, fs.ErrPermission), errors.Is(reason, syscall.EROFS):
		help = "; name a file in another directory than " + dir
	case errors.Is(reason, syscall.ENOSPC), errors.Is(reason, syscall.EDQUOT):
		help = "; make room, or name a file on another disk"
	}
	return fmt.Errorf("%s: cannot be written: %w%s", path, reason, help)
}
