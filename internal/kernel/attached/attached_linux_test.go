package attached

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "say" {
		fmt.Println("said")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAttached: a program with an attached one is still executed itself, and the attached one from memory. A second
// Append replaces the first.
func TestAttached(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := file(t, "program", own)
	if f, err := Open(program); f != nil || err != nil {
		t.Errorf("%v, %v of a program without an attached one", f, err)
	}
	for _, other := range []string{file(t, "other", []byte("\x7fELF, and no more")), self} {
		if err := Append(program, map[Kind]string{Lab: other, Carried: self}); err != nil {
			t.Fatal(err)
		}
	}
	compressed, err := Packed(program)
	if err != nil || len(compressed) == 0 {
		t.Fatalf("%d bytes, %v", len(compressed), err)
	}
	if info, err := os.Stat(program); err != nil || info.Size() != int64(2*len(own)+len(compressed)+2*trailer) {
		t.Errorf("%v, %v, want twice %d and %d", info, err, len(own), len(compressed))
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	if carried, err := io.ReadAll(r); err != nil || !bytes.Equal(carried, own) {
		t.Errorf("%d bytes, %v, want %d", len(carried), err, len(own))
	}
	f, err := Open(program)
	if f == nil || err != nil {
		t.Fatal(f, err)
	}
	defer f.Close()
	for _, path := range []string{program, Path(f)} {
		if out, err := exec.Command(path, "say").CombinedOutput(); err != nil || string(out) != "said\n" {
			t.Errorf("%s: %v, %q", path, err, out)
		}
	}
}

// TestNotAttached: a file that only ends as one with an attached program is an error, and is not executed.
func TestNotAttached(t *testing.T) {
	for name, data := range map[string]string{
		"larger than the file": "\x7fELF\x00\x00\x00\x00\x00\x00\x00\xff" + string(Lab),
		"no size":              "\xff\xff\xff\xff\xff\xff\xff\xff" + string(Lab),
		"no program":           "#!/bin/sh\x00\x00\x00\x00\x00\x00\x00\x09" + string(Lab),
	} {
		if f, err := Open(file(t, "x", []byte(data))); f != nil || err == nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	text := file(t, "y", []byte(strings.Repeat("text", 100)))
	if err := Append(file(t, "x", nil), map[Kind]string{Lab: text}); err == nil {
		t.Error("a text was attached")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
