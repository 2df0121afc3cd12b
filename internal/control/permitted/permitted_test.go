package permitted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"linerate/internal/model/topology"
)

// state gives the test a state directory of its own, and returns the path of its list.
func state(t *testing.T) (path string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new")
	t.Setenv("XDG_STATE_HOME", dir)
	return filepath.Join(dir, "linerate", Name)
}

func command(node string, words ...string) topology.Command {
	alike := ""
	for _, w := range words {
		alike += w + "\x00"
	}
	return topology.Command{Node: node, Argv: words, Alike: alike}
}

// TestRemembered: what was permitted is, also in the next process, and nothing else.
func TestRemembered(t *testing.T) {
	path := state(t)
	ssh := command("nas", "ssh", "nas")
	list, err := Load()
	if err != nil || len(list.Without([]topology.Command{ssh})) != 1 {
		t.Fatalf("at first: %+v, %v", list, err)
	}
	if err := list.Add([]topology.Command{ssh, ssh}); err != nil {
		t.Fatal(err)
	}
	if list, err = Load(); err != nil || len(list.lines) != 1 {
		t.Fatalf("read again: %+v, %v", list, err)
	}
	others := []topology.Command{command("pc", "ssh", "nas"), command("nas", "ssh", "nas", "x"), command("nas", "ssh")}
	if got := list.Without(append(others, ssh)); len(got) != len(others) {
		t.Errorf("not permitted: %+v, want %+v", got, others)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("directory's mode %v, %v; want 0700", dir.Mode(), err)
	}
}

// TestOthersCannotPermit: a list that others may write, or have put there by a link, is
// not read.
func TestOthersCannotPermit(t *testing.T) {
	path := state(t)
	list, _ := Load()
	if err := list.Add([]topology.Command{command("nas", "ssh")}); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o602, 0o620, 0o666, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(); err == nil {
			t.Errorf("mode %04o was read", mode)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".real", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(); err == nil {
		t.Error("a symbolic link was followed")
	}
}

// TestConcurrent: what several processes permit at the same time is permitted afterwards.
func TestConcurrent(t *testing.T) {
	state := filepath.Dir(state(t)) // a link, by which a home keeps it elsewhere
	if err := errors.Join(os.MkdirAll(filepath.Dir(state), 0o700), os.Symlink(t.TempDir(), state)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var commands []topology.Command
	for n := range 12 {
		c := command(fmt.Sprint("host", n), "ssh")
		commands = append(commands, c)
		list, err := Load()
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := list.Add([]topology.Command{c}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := Load(); err != nil || len(list.Without(commands)) != 0 {
		t.Errorf("%d of %d were forgotten, %v", len(list.Without(commands)), len(commands), err)
	}
}

// TestBounded: the oldest are forgotten, and a file that is longer than any is refused.
func TestBounded(t *testing.T) {
	path := state(t)
	list, _ := Load()
	var many []topology.Command
	for i := range mostCommands {
		many = append(many, command("n", string(rune('a'+i%26)), string(rune(i))))
	}
	if err := list.Add(many); err != nil {
		t.Fatal(err)
	}
	last := command("nas", "ssh")
	if err := list.Add([]topology.Command{last}); err != nil {
		t.Fatal(err)
	}
	list, err := Load()
	if err != nil || len(list.lines) != mostCommands || len(list.Without([]topology.Command{last})) != 0 {
		t.Fatalf("%d commands, %v", len(list.lines), err)
	}
	if err := os.Truncate(path, mostBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(); err == nil {
		t.Error("a file without a bound was read")
	}
}
