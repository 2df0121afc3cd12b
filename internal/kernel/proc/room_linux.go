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

// OpenFiles returns how many descriptors this process has; 0 if unknown.
func OpenFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// ThreadRoom returns how many more threads this process may have: within RLIMIT_NPROC, which counts all tasks
// of the user (getrlimit(2)), pids.max of its cgroup and those above (cgroup-v2, "PID"), and what RLIMIT_DATA and
// RLIMIT_AS leave for their stacks. why names the nearest limit; empty: none is known.
func ThreadRoom() (left int64, why string) {
	left, why = Cgroup{}.room("pids", "pids.max", "pids.current")
	for _, s := range spaces {
		if limit, is := s.limit(); is {
			// A quarter is for what clients use, and as much for garbage.
			if own := (limit/2 - statusBytes(s.used)) / threadSpace; why == "" || own < left {
				left, why = own, s.name
			}
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err != nil || limit.Cur >= math.MaxInt64 {
		return left, why
	}
	if own := int64(limit.Cur) - tasks(os.Getuid()); why == "" || own < left {
		left, why = own, "RLIMIT_NPROC"
	}
	return left, why
}

// MemoryLimit returns how much memory this process's cgroup and those above it, RLIMIT_DATA and RLIMIT_AS allow, in
// bytes; why names the limit, empty: none is known. It does not subtract memory in use, most of which may be page
// cache.
func MemoryLimit() (bytes int64, why string) {
	if bytes, why = (Cgroup{}).room("memory", "memory.max", ""); why == "" {
		bytes, why = Cgroup{}.room("memory", "memory.limit_in_bytes", "") // version 1
	}
	for _, s := range spaces {
		if limit, is := s.limit(); is && (why == "" || limit < bytes) {
			bytes, why = limit, s.name
		}
	}
	return bytes, why
}

// A space is a limit of a process's memory that the kernel enforces by failing calls, which end a Go program
// (getrlimit(2)).
type space struct {
	name     string
	resource int
	used     string // in proc_pid_status(5)
}

var spaces = []space{{"RLIMIT_DATA", unix.RLIMIT_DATA, "VmData:"}, {"RLIMIT_AS", unix.RLIMIT_AS, "VmSize:"}}

// threadSpace is what a thread takes of a space: its stack.
const threadSpace = 8 << 20

// limit returns a space's limit in bytes; false: there is none.
func (s space) limit() (bytes int64, is bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(s.resource, &limit); err != nil || limit.Cur >= math.MaxInt64 {
		return 0, false
	}
	return int64(limit.Cur), true
}

// statusBytes returns a value of /proc/self/status in bytes; 0 if unknown.
func statusBytes(key string) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "\n"+key)
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kib, 10, 64)
	return n << 10
}

// tasks returns how many threads the visible processes of a user have.
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

// Cgroup reads the limits of this process's control group. The zero value reads the machine's own files; Root
// and Self let tests read captured ones.
type Cgroup struct {
	Root string // root of the cgroup file systems, /sys/fs/cgroup
	Self string // the process's groups, /proc/self/cgroup
}

// room returns what is left below a controller's limit in the group and those above it. The file limit has the
// limit and the file used the use; used empty: the use is not subtracted.
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
