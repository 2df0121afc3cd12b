package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if err := Writable(filepath.Join(dir, "runs", "x")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if Writable(file) == nil || Writable(filepath.Join(file, "runs")) == nil {
		t.Error("a file passes for a directory")
	}
}

func TestWriteFileKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write([]byte("half a pa")); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, expected the cause and %s", err, path)
	}
	if content, _ := os.ReadFile(path); string(content) != "before" {
		t.Errorf("the file now holds %q", content)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left", len(entries))
	}
}

// TestWriteFileNamesTheFile: errors name the file that was asked for, the reason and what to
// do, and never the file that is written beside it.
func TestWriteFileNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	failing := func(err error) func(io.Writer) error {
		return func(w io.Writer) error { return &fs.PathError{Op: "write", Path: w.(*os.File).Name(), Err: err} }
	}
	for _, c := range []struct {
		path  string
		write func(io.Writer) error
		want  string
	}{
		{filepath.Join(dir, "none", "x.svg"), failing(nil),
			"/none/x.svg: cannot be written: no such file or directory; make the directory " +
				filepath.Join(dir, "none") + " first"},
		{filepath.Join(plain, "x.svg"), failing(nil), "/plain/x.svg: cannot be written: not a directory"},
		{dir, failing(nil), ": cannot be written: is a directory"},
		{filepath.Join(dir, "x.svg"), failing(syscall.ENOSPC),
			"/x.svg: cannot be written: no space left on device; make room, or name a file on another disk"},
		{filepath.Join(dir, "x.svg"), failing(syscall.EACCES),
			"/x.svg: cannot be written: permission denied; name a file in another directory than " + dir},
	} {
		err := WriteFile(c.path, c.write)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.path+": ") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left", len(entries))
	}
}

// TestWriteFileKeepsPipes: what is no regular file is written into, not replaced.
func TestWriteFileKeepsPipes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	link := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink(fmt.Sprintf("/dev/fd/%d", w.Fd()), link); err != nil {
		t.Fatal(err)
	}
	err = WriteFile(link, func(w io.Writer) error {
		_, err := io.WriteString(w, "page")
		return err
	})
	w.Close()
	if text, _ := io.ReadAll(r); err != nil || string(text) != "page" {
		t.Errorf("the pipe has %q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link is %v, %v", info, err)
	}
}
