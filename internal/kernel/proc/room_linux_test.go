package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCgroupRoom: the nearest limit counts, of the group and of those above it.
func TestCgroupRoom(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("self", "12:cpu,cpuacct:/other\n0::/system.slice/linerate.service\n")
	group := Cgroup{Root: filepath.Join(root, "fs"), Self: filepath.Join(root, "self")}
	if _, why := group.room("pids", "pids.max", "pids.current"); why != "" {
		t.Errorf("a limit where there is none: %s", why)
	}
	write("fs/system.slice/linerate.service/pids.max", "max\n")
	write("fs/system.slice/linerate.service/pids.current", "11\n")
	write("fs/system.slice/pids.max", "100\n")
	write("fs/system.slice/pids.current", "40\n")
	left, why := group.room("pids", "pids.max", "pids.current")
	if left != 60 || !strings.Contains(why, "/system.slice") {
		t.Errorf("%d left by %q", left, why)
	}
	write("fs/system.slice/linerate.service/pids.max", "50\n")
	if left, _ := group.room("pids", "pids.max", "pids.current"); left != 39 {
		t.Errorf("%d left, want 39", left)
	}
	write("self", "3:pids:/a\n")
	write("fs/pids/a/pids.max", "7\n")
	write("fs/pids/a/pids.current", "5\n")
	if left, _ := group.room("pids", "pids.max", "pids.current"); left != 2 {
		t.Errorf("version 1: %d left, want 2", left)
	}
}

// TestTasks: this process's own threads are counted.
func TestTasks(t *testing.T) {
	if n := tasks(os.Getuid()); n < 1 {
		t.Errorf("%d tasks of this user", n)
	}
	if n := OpenFiles(); n < 3 {
		t.Errorf("%d descriptors", n)
	}
}
