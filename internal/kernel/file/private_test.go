package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestReadPrivate: what others may read is refused, as is what has no bound.
func TestReadPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, allowed := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o666: false,
		0o620: false, 0o601: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		text, err := ReadPrivate(path, 6)
		if allowed && (err != nil || string(text) != "secret") || !allowed &&
			(err == nil || !strings.Contains(err.Error(), "chmod 600")) {
			t.Errorf("mode %04o: %q, %v", mode, text, err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadPrivate(path, 5); err == nil {
		t.Errorf("more than 5 bytes: %q", text)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPrivate(link, 6); err != nil {
		t.Errorf("by a link, as a secret of a container is: %v", err)
	}
	if _, err := ReadOwn(link, 6); err == nil {
		t.Error("ReadOwn followed a link")
	}
	if _, err := ReadOwn(path+".none", 6); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadPrivate(filepath.Dir(path), 6); err == nil {
		t.Error("a directory was read")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, _ = w.WriteString("piped")
	w.Close()
	if text, err := ReadPrivate("/dev/fd/"+strconv.Itoa(int(r.Fd())), 6); err != nil || string(text) != "piped" {
		t.Errorf("a pipe of the shell: %q, %v", text, err)
	}
}

// TestReadPrivateOfAnother: a service's credential is root's, open to a group or by an
// access control list, which shows as the group's mode; it is never open to all.
func TestReadPrivateOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		kerneltest.Without(t, "needs root, to own files of other users")
	}
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	for mode, allowed := range map[fs.FileMode]bool{0o440: true, 0o640: true, 0o644: false, 0o602: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPrivate(path, 6); (err == nil) != allowed {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOwn(path, 6); err == nil {
		t.Error("ReadOwn read another user's file")
	}
}
