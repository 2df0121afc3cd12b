package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFind: the program itself is found, also by a link; one that is missing is named with
// its package.
func TestFind(t *testing.T) {
	there, links := t.TempDir(), t.TempDir()
	program := filepath.Join(there, "served-2.17")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(links, "served")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", links)
	want, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	if path, err := find("served", "served-server"); err != nil || path != want {
		t.Errorf("served is at %q, %v; want %q", path, err, want)
	}
	if _, err := find("served-none", "served-server"); err == nil ||
		!strings.Contains(err.Error(), "apt-get install served-server") {
		t.Errorf("of a program that is missing: %v", err)
	}
}
