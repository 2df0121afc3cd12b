package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/file"
)

// Sysctls reads and writes kernel parameters. The zero value is the machine's
// /proc/sys, where net.* are those of the network namespace of the thread that
// opens them; Root lets tests use another tree.
type Sysctls struct{ Root string }

func (s Sysctls) root() string { return cmp.Or(s.Root, "/proc/sys") }

// path turns net.ipv4.conf.eth0/100.rp_filter into
// net/ipv4/conf/eth0.100/rp_filter: dots separate, and a slash stands for a dot
// inside a part, as in sysctl(8).
func (s Sysctls) path(key string) (string, error) {
	parts := strings.Split(key, ".")
	for i, part := range parts {
		part = strings.ReplaceAll(part, "/", ".")
		if part == "" || strings.Trim(part, ".") == "" || strings.ContainsAny(part, "\x00\n*?[\\") {
			return "",
				fmt.Errorf("%q is not a sysctl: expected parts with dots between them, such as net.ipv4.ip_forward",
					key)
		}
		parts[i] = part
	}
	return filepath.Join(s.root(), filepath.Join(parts...)), nil
}

// Read returns a parameter, with one space between several values. The error is a
// *kernel.Error with ENOENT if the kernel has no such parameter.
func (s Sysctls) Read(key string) (string, error) {
	path, err := s.path(key)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", &kernel.Error{Op: "read sysctl", Object: key, Err: errno(err)}
	}
	return strings.Join(strings.Fields(string(text)), " "), nil
}

// Write writes a parameter. The error is a *kernel.Error.
func (s Sysctls) Write(key, value string) error {
	path, err := s.path(key)
	if err != nil {
		return err
	}
	// Without O_CREATE, so that an unknown key is an error. One write, since the kernel takes each write as a
	// whole value.
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(value + "\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return &kernel.Error{Op: "write sysctl", Object: key + "=" + value, Err: errno(err)}
	}
	return nil
}

// Writable reports whether a parameter exists and whether this process can write it.
// It opens the file, since the kernel decides by namespace and not by the mode bits
// alone. Nothing is written.
func (s Sysctls) Writable(key string) (exists, writable bool, err error) {
	path, err := s.path(key)
	if err != nil {
		return false, false, err
	}
	if _, err := os.Stat(path); err != nil {
		return false, false, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return true, false, nil
	}
	return true, true, file.Close()
}

// Lock locks a parameter's file (flock(2)) until the returned file is closed. Only processes that may read the
// parameter can hold the lock, and it applies to everybody in the same network namespace who uses the same
// mount of proc(5). The error is a *kernel.Error: EPERM, or file.ErrLocked with the process that holds the
// lock.
func (s Sysctls) Lock(key string) (*os.File, error) {
	path, err := s.path(key)
	if err != nil {
		return nil, err
	}
	failure := &kernel.Error{Op: "lock sysctl", Object: key}
	f, err := os.Open(path)
	if err == nil {
		if err = file.Lock(f); err == nil {
			return f, nil
		}
		failure.Detail = lockHolder(f)
		f.Close()
	}
	if failure.Err = errno(err); errors.Is(err, fs.ErrPermission) {
		failure.Err = syscall.EPERM // not permitted, whatever the file's mode
	}
	return nil, failure
}

// lockHolder returns the process that holds the lock of an open file (/proc/locks, proc(5)); empty if it is not
// visible.
func lockHolder(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	stat := info.Sys().(*syscall.Stat_t)
	id := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(stat.Dev)), unix.Minor(uint64(stat.Dev)), stat.Ino)
	text, _ := os.ReadFile("/proc/locks") // unreadable: not visible
	for line := range strings.Lines(string(text)) {
		// 1: FLOCK  ADVISORY  WRITE 4711 00:15:177983 0 EOF
		if fields := strings.Fields(line); len(fields) > 5 && fields[1] == "FLOCK" && fields[5] == id {
			return "held by process " + fields[4]
		}
	}
	return ""
}

// Match lists the existing keys that match a pattern (glob(7)): net.ipv4.conf.*.rp_filter.
func (s Sysctls) Match(pattern string) (keys []string, err error) {
	if _, err := s.path(strings.NewReplacer("*", "x", "?", "x", "[", "x").Replace(pattern)); err != nil {
		return nil, err
	}
	swap := strings.NewReplacer(".", "/", "/", ".")
	names, err := filepath.Glob(filepath.Join(s.root(), swap.Replace(pattern)))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			keys = append(keys, swap.Replace(strings.TrimPrefix(name, s.root()+"/")))
		}
	}
	slices.Sort(keys)
	return keys, err
}

// List lists the keys directly below a directory such as net.ipv6.conf.eth0; none if it
// does not exist.
func (s Sysctls) List(prefix string) ([]string, error) {
	entries, err := s.entries(prefix)
	var keys []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			keys = append(keys, prefix+"."+strings.ReplaceAll(entry.Name(), ".", "/"))
		}
	}
	return keys, err
}

// entries reads a directory of parameters; none if it does not exist.
func (s Sysctls) entries(key string) ([]fs.DirEntry, error) {
	dir, err := s.path(key)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &kernel.Error{Op: "list sysctls", Object: key, Err: errno(err)}
	}
	return entries, nil
}

// errno returns the kernel's errno inside a file operation's error.
func errno(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// InterfaceKey returns an interface's name as part of a sysctl key: dots become slashes.
func InterfaceKey(name string) string { return strings.ReplaceAll(name, ".", "/") }
