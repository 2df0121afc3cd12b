package caused

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func book(dir, namespace string) *ledger {
	return &ledger{dir: dir, namespace: func() (string, error) { return namespace, nil }}
}

// TestShared: what one process counts, others in its network namespace read, also after it has ended.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	measures, doctor, elsewhere := book(dir, "first"), book(dir, "first"), book(dir, "7-7")
	for range 3 {
		measures.add(Reset)
	}
	measures.add(NoRoute)
	if err := measures.flush(); err != nil {
		t.Fatal(err)
	}
	doctor.add(NoRoute)
	got := doctor.read()
	if got["Tcp.EstabResets"] != 3 || got["TcpExt.TCPAbortOnData"] != 3 || got["Ip.OutNoRoutes"] != 2 {
		t.Errorf("%v", got)
	}
	if again := doctor.read(); again["Ip.OutNoRoutes"] != 2 {
		t.Errorf("counted twice: %v", again)
	}
	if got := elsewhere.read(); len(got) != 0 {
		t.Errorf("of another namespace: %v", got)
	}
}

// TestUnshared: without a file, or with one that others may have written, a process has its own account.
func TestUnshared(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"no directory": func(t *testing.T, path string) {
			if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another's directory": func(t *testing.T, path string) {
			dir := filepath.Dir(path)
			if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
		},
		"a link to a directory": func(t *testing.T, path string) {
			real := t.TempDir()
			old := filepath.Join(real, "7-7")
			write(t, old, "{}", 0o644)
			long := time.Now().Add(-2 * keep)
			if err := errors.Join(os.Chmod(real, 0o755), os.Chtimes(old, long, long),
				os.Symlink(real, filepath.Dir(path))); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := os.Stat(old); err != nil {
					t.Errorf("a file behind a link was removed: %v", err)
				}
			})
		},
		"another's words": func(t *testing.T, path string) { write(t, path, `{"Tcp.EstabResets": 1000000}`, 0o666) },
		"a symbolic link": func(t *testing.T, path string) {
			write(t, path+".real", `{"Tcp.EstabResets": 1000000}`, 0o644)
			if err := os.Symlink(path+".real", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		l := book(dir, "first")
		prepare(t, filepath.Join(l.of(os.Geteuid()), "first"))
		l.add(Reset)
		if err := l.flush(); err == nil {
			t.Errorf("%s: flushed", name)
		}
		if got := l.read(); got["Tcp.EstabResets"] != 1 || len(got) != 3 {
			t.Errorf("%s: %v", name, got)
		}
	}
	l := book(t.TempDir(), "")
	l.namespace = func() (string, error) { return "", errors.New("unknown") }
	l.add(Unaccepted)
	if got := l.read(); got["Tcp.AttemptFails"] != 1 {
		t.Errorf("%v", got)
	}
}

// TestNoAccount: a file that is no account, or has other counters, adds nothing.
func TestNoAccount(t *testing.T) {
	for _, text := range []string{"", "{", `{"Tcp.EstabResets": -5}`, `{"Tcp.InErrs": 9}`, `[]`} {
		l := book(t.TempDir(), "first")
		write(t, filepath.Join(l.of(os.Geteuid()), "first"), text, 0o644)
		if got := l.read(); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode),
		os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}
