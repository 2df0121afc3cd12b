package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"linerate/internal/model/record"
)

// mostParameters bounds what Tree returns: a host with a thousand interfaces has some 200,000.
const mostParameters = 1 << 18

// withheld are parameters whose values are keys of cryptography.
var withheld = []string{"tcp_fastopen_key", "stable_secret", "idgen_retries_secret"}

// Tree returns every parameter below a prefix such as "net", by key. What cannot be read, and
// what is a key of cryptography, is left out.
func (s Sysctls) Tree(prefix string) (map[string]string, error) {
	dir, err := s.path(prefix)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // an interface has gone
		}
		if slices.Contains(withheld, entry.Name()) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil // write-only, or for root
		}
		parts := strings.Split(strings.TrimPrefix(path, dir+"/"), "/")
		for i := range parts {
			parts[i] = InterfaceKey(parts[i])
		}
		all[prefix+"."+strings.Join(parts, ".")] = strings.Join(strings.Fields(string(text)), " ")
		if len(all) >= mostParameters {
			return fmt.Errorf("more than %d parameters", mostParameters)
		}
		return nil
	})
	return all, err
}

// Sockstat is /proc/net/sockstat and sockstat6 as "TCP.orphan"; memory is in pages.
func (p Proc) Sockstat() (map[string]int64, error) {
	all := map[string]int64{}
	for _, name := range []string{"net/sockstat", "net/sockstat6"} {
		text, err := os.ReadFile(p.path(name))
		if errors.Is(err, fs.ErrNotExist) && name == "net/sockstat6" {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			what, rest, ok := strings.Cut(line, ":")
			words := strings.Fields(rest)
			if !ok || len(words)%2 != 0 {
				return nil, fmt.Errorf("%s: expected pairs of a name and a number: %.60q", name, line)
			}
			for i := 0; i < len(words); i += 2 {
				n, err := strconv.ParseInt(words[i+1], 10, 64)
				if err != nil {
					return nil, fmt.Errorf("%s: %.60q: %w", name, line, err)
				}
				all[what+"."+words[i]] = n
			}
		}
	}
	return all, nil
}

// UDPDrops are the datagrams for which sockets had no room, by the inodes of the sockets.
func (p Proc) UDPDrops() (map[uint32]int64, error) {
	drops := map[uint32]int64{}
	for _, name := range []string{"net/udp", "net/udp6"} {
		text, err := os.ReadFile(p.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		scanner := bufio.NewScanner(bytes.NewReader(text))
		scanner.Scan() // the head
		for scanner.Scan() {
			words := strings.Fields(scanner.Text())
			if len(words) < 13 {
				continue
			}
			inode, _ := strconv.ParseUint(words[9], 10, 32)
			if n, err := strconv.ParseInt(words[12], 10, 64); err == nil && n > 0 {
				drops[uint32(inode)] = n
			}
		}
	}
	return drops, nil
}

// Conntrack is the connection tracking table; nil: the kernel has none loaded.
func (p Proc) Conntrack() (*record.Conntrack, error) {
	read := func(key string) (int64, error) {
		text, err := Sysctls{}.Read("net.netfilter.nf_conntrack_" + key)
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(text, 10, 64)
	}
	count, err := read("count")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	most, mostErr := read("max")
	buckets, _ := read("buckets")
	return &record.Conntrack{Count: count, Most: most, Buckets: buckets}, errors.Join(err, mostErr)
}

// UptimeS is how long ago the machine was booted, in seconds.
func (p Proc) UptimeS() (float64, error) {
	return read(p, "uptime", func(text []byte) (float64, error) {
		up, _, _ := strings.Cut(string(text), " ")
		return strconv.ParseFloat(up, 64)
	})
}

// Files are the machine's open file descriptions and their bound (/proc/sys/fs/file-nr).
func (p Proc) Files() (open, most int64, err error) {
	var unused int64
	_, err = read(p, "sys/fs/file-nr", func(text []byte) (int, error) { return fmt.Sscan(string(text), &open, &unused, &most) })
	return open, most, err
}

// Holders are the names of the processes that have sockets open, by the sockets' inodes, as
// far as this process may look into their files.
func (p Proc) Holders() map[uint32]string {
	holders := map[uint32]string{}
	all, _ := by(filepath.Dir(p.path("self")), procfs.FS.AllProcs)
	for _, one := range all {
		targets, err := one.FileDescriptorTargets()
		if err != nil {
			continue
		}
		for _, target := range targets {
			var inode uint32
			if n, _ := fmt.Sscanf(target, "socket:[%d]", &inode); n == 1 {
				if holders[inode] == "" {
					holders[inode], _ = one.Comm()
				}
			}
		}
	}
	return holders
}

// Governors are how many CPUs have each frequency governor; none: the kernel scales no
// frequencies.
func Governors() map[string]int {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	governors := map[string]int{}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			governors[strings.TrimSpace(string(text))]++
		}
	}
	return governors
}

// Resolver reads resolv.conf(5).
func Resolver() (*record.Resolver, error) {
	text, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return nil, err
	}
	var r record.Resolver
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "nameserver":
			r.Servers = append(r.Servers, words[1])
		case "search", "domain":
			r.Search = words[1:] // the last one holds
		case "options":
			r.Options = append(r.Options, words[1:]...)
		}
	}
	return &r, nil
}

// parameterDirectories are those of sysctl.d(5): a file hides one of the same name in a later
// directory.
var parameterDirectories = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// ParameterFiles are the files with kernel parameters, in the order in which `sysctl --system`
// applies them: by name, and /etc/sysctl.conf last.
func ParameterFiles() []string {
	first := map[string]string{}
	for _, dir := range parameterDirectories {
		files, _ := filepath.Glob(dir + "/*.conf")
		for _, file := range files {
			if name := filepath.Base(file); first[name] == "" {
				first[name] = file
			}
		}
	}
	var names, files []string
	for name := range first {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		files = append(files, first[name])
	}
	if _, err := os.Stat("/etc/sysctl.conf"); err == nil {
		files = append(files, "/etc/sysctl.conf")
	}
	return files
}
