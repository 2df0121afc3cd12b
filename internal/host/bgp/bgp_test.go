package bgp

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFind: the program itself is found, also by a link.
func TestFind(t *testing.T) {
	there, links := t.TempDir(), t.TempDir()
	program := filepath.Join(there, "bird-2.17")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(links, Program)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", links)
	want, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	if path, err := find(); err != nil || path != want {
		t.Errorf("%s is at %q, %v; want %q", Program, path, err, want)
	}
}
