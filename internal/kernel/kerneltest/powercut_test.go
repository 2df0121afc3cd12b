package kerneltest_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	. "linerate/internal/kernel/kerneltest"
)

// TestDisk: what a power cut may leave.
func TestDisk(t *testing.T) {
	write := func(path, data string, at int64) Call {
		return Call{Op: Write, Path: path, Data: []byte(data), Offset: at}
	}
	made := []Call{{Op: Create, Path: "/d/new"}, write("/d/new", "abcd", 0), {Op: Sync, Path: "/d/new"}}
	for name, c := range map[string]struct {
		calls            []Call
		lost, kept, torn string // contents of /d/x; "-": there is no such file
	}{
		"not synced": {[]Call{write("/d/x", "abcd", 0)}, "-", "abcd", "ab"},
		"synced": {[]Call{write("/d/x", "abcd", 0), {Op: Sync, Path: "/d/x"}, write("/d/x", "EF", 1)},
			"abcd", "aEFd", "aEcd"},
		"renamed": {append(slices.Clone(made), Call{Op: Rename, Path: "/d/new", To: "/d/x"}), "-",
			"abcd", "abcd"},
		"renamed and synced": {append(slices.Clone(made), Call{Op: Rename, Path: "/d/new", To: "/d/x"},
			Call{Op: Sync, Path: "/d"}), "abcd", "abcd", "abcd"},
		"removed": {[]Call{write("/d/x", "a", 0), {Op: Sync, Path: "/d/x"}, {Op: Remove, Path: "/d/x"}},
			"a", "-", "-"},
		"removed and made again": {[]Call{write("/d/x", "a", 0), {Op: Sync, Path: "/d/x"}, {Op: Remove, Path: "/d/x"},
			write("/d/x", "b", 0), {Op: Sync, Path: "/d/x"}, {Op: Sync, Path: "/d"}}, "b", "b", "b"},
		"a hole": {[]Call{write("/d/x", "ab", 2), {Op: Sync, Path: "/d/x"},
			{Op: Truncate, Path: "/d/x", Offset: 3}}, "\x00\x00ab", "\x00\x00a", "\x00\x00a"},
	} {
		d := NewDisk()
		for _, call := range c.calls {
			d.Do(call)
		}
		for remains, want := range []string{c.lost, c.kept, c.torn} {
			got := "-"
			if text, there := d.Cut(remains, nil)["/d/x"]; there {
				got = string(text)
			}
			if got != want {
				t.Errorf("%s, %d: %q, want %q", name, remains, got, want)
			}
		}
	}
	// Mixed is any of these, and some else.
	d := NewDisk()
	d.Do(write("/d/x", "ab", 0))
	d.Do(write("/d/x", "cd", 2))
	random, seen := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for range 200 {
		text, there := d.Cut(Mixed, random)["/d/x"]
		seen[string(text)] = true
		if !there {
			seen["-"] = true
		}
	}
	if len(seen) != 5 || !seen["-"] || !seen["\x00\x00cd"] {
		t.Errorf("mixed: %q", slices.Sorted(maps.Keys(seen)))
	}
}

// TestSupervised: each call is seen with its file and data, in order, and fails as it is
// demanded; a partial write writes its part.
func TestSupervised(t *testing.T) {
	var seen []string
	if !Supervised(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "x")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("abcd"), 0); !errors.Is(err, syscall.EIO) {
			t.Errorf("write: %v, want EIO", err)
		}
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Errorf("sync: %v, want EIO", err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "ab" {
			t.Errorf("half written: %q, %v", text, err)
		}
		if err := errors.Join(f.Truncate(1), os.Rename(path, path+"2"), os.Remove(path+"2")); err != nil {
			t.Error(err)
		}
	}, func(dir string, c Call) Fault {
		if !strings.HasPrefix(c.Path, dir) {
			return Fault{}
		}
		seen = append(seen, c.Op+" "+filepath.Base(c.Path)+" "+string(c.Data))
		if c.Op == Write || c.Op == Sync {
			return Fault{Errno: syscall.EIO, Torn: true}
		}
		return Fault{}
	}) {
		return
	}
	if got, want := strings.Join(seen, ", "),
		"create x , write x abcd, sync x , truncate x , rename x , remove x2 "; got != want {
		t.Errorf("seen: %s\nwant: %s", got, want)
	}
}
