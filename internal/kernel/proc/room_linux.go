package proc

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenFiles is how many descriptors this process has; 0: unknown.
func OpenFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// ThreadRoom is how many more threads the machine grants this process: within
// RLIMIT_NPROC, of which every task of the user counts (getrlimit(2)), and within pids.max
// of its cgroup and those above (cgroup-v2, "PID"). why names the limit that is nearest;
// empty: none is known.
func ThreadRoom() (left int64, why string) {
	left, why = Cgroup{}.room("pids", "pids.max", "pids.current")
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err != nil || limit.Cur >= math.MaxInt64 {
		return left, why
	}
	if own := int64(limit.Cur) - tasks(os.Getuid()); why == "" || own < left {
		left, why = own, "RLIMIT_NPROC"
	}
	return left, why
}

// MemoryLimit is how much memory the cgroup of this process and those above it grant, and
// why as ThreadRoom. What is in use of it is not counted: most of that may be page cache.
func MemoryLimit() (bytes int64, why string) {
	if bytes, why = (Cgroup{}).room("memory", "memory.max", ""); why != "" {
		return bytes, why
	}
	return Cgroup{}.room("memory", "memory.limit_in_bytes", "") // version 1
}

// tasks is how many threads the processes of a user have, as far as they are visible.
func tasks(uid int) (sum int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		owner, threads := -1, int64(0)
		for line := range strings.Lines(string(text)) {
			switch fields := strings.Fields(line); {
			case len(fields) < 2:
			case fields[0] == "Uid:":
				owner, _ = strconv.Atoi(fields[1])
			case fields[0] == "Threads:":
				threads, _ = strconv.ParseInt(fields[1], 10, 64)
			}
		}
		if owner == uid {
			sum += threads
		}
	}
	return sum
}

// Cgroup reads the limits of this process's control group. The zero value reads the
// machine's own files; Root and Self let tests read captured ones.
type Cgroup struct {
	Root string // of the cgroup file systems, /sys/fs/cgroup
	Self string // the process's groups, /proc/self/cgroup
}

// room is what is left below a limit of a controller, the file limit, in the group and
// those above it: the file used says how much is in use, unless that does not matter.
func (c Cgroup) room(controller, limit, used string) (left int64, why string) {
	root := cmp.Or(c.Root, "/sys/fs/cgroup")
	text, err := os.ReadFile(cmp.Or(c.Self, "/proc/self/cgroup"))
	if err != nil {
		return 0, ""
	}
	for line := range strings.Lines(string(text)) {
		// ID:CONTROLLERS:PATH; version 2 names no controllers (cgroups(7)).
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && parts[1] != controller {
			continue
		}
		mounted := filepath.Join(root, parts[1])
		for at := filepath.Join("/", parts[2]); ; at = filepath.Dir(at) {
			dir := filepath.Join(mounted, at)
			most, err := number(filepath.Join(dir, limit)) // "max" is no number
			now := int64(0)
			if used != "" && err == nil {
				now, err = number(filepath.Join(dir, used))
			}
			if err == nil && (why == "" || most-now < left) {
				left, why = most-now, limit+" of the control group "+at
			}
			if at == "/" {
				break
			}
		}
	}
	return left, why
}

func number(name string) (int64, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
