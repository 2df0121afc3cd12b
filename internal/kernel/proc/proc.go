package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"linerate/internal/model/netstate"
)

// Proc reads files of a /proc tree. The zero value reads the machine's own; Root lets tests read a captured
// one.
type Proc struct{ Root string }

// path returns the path of a file. Files under net/ belong to a network namespace: they
// are those of the calling thread's.
func (p Proc) path(name string) string {
	root := p.Root
	if root == "" {
		root = "/proc"
		if strings.HasPrefix(name, "net/") {
			name = "thread-self/" + name
		}
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// netRoot returns the tree whose net/ belongs to the calling thread's network namespace.
func (p Proc) netRoot() string { return filepath.Dir(p.path("net/")) }

// by reads a file with procfs from the tree at root.
func by[T any](root string, read func(procfs.FS) (T, error)) (T, error) {
	files, err := procfs.NewFS(root)
	if err != nil {
		var none T
		return none, err
	}
	return read(files)
}

func read[T any](p Proc, name string, parse func([]byte) (T, error)) (T, error) {
	text, err := os.ReadFile(p.path(name))
	if err != nil {
		var none T
		return none, err
	}
	value, err := parse(text)
	if err != nil {
		return value, fmt.Errorf("%s: %w", p.path(name), err)
	}
	return value, nil
}

// CPUTimes reads /proc/stat: seconds since boot. The sum over all CPUs comes first, as
// CPU -1, then each CPU that is online.
func (p Proc) CPUTimes() ([]netstate.CPUTimes, error) {
	stat, err := by(p.path(""), procfs.FS.Stat)
	if err == nil && len(stat.CPU) == 0 && stat.CPUTotal == (procfs.CPUStat{}) {
		err = fmt.Errorf("%s: no line of a CPU", p.path("stat"))
	}
	if err != nil {
		return nil, err
	}
	// Guest time is contained in user and nice.
	times := func(cpu int, s procfs.CPUStat) netstate.CPUTimes {
		return netstate.CPUTimes{CPU: cpu, User: s.User + s.Nice, Nice: s.Nice, System: s.System,
			Idle: s.Idle + s.Iowait,
			IRQ:  s.IRQ, SoftIRQ: s.SoftIRQ, Steal: s.Steal}
	}
	list := []netstate.CPUTimes{times(-1, stat.CPUTotal)}
	for _, cpu := range slices.Sorted(maps.Keys(stat.CPU)) {
		list = append(list, times(int(cpu), stat.CPU[cpu]))
	}
	return list, nil
}

// CPUs returns how many CPUs are online, not only those this process may run on. If /proc/stat cannot be read,
// it returns runtime.NumCPU.
func (p Proc) CPUs() int {
	if times, err := p.CPUTimes(); err == nil && len(times) > 1 {
		return len(times) - 1 // without the total
	}
	return runtime.NumCPU()
}

// Softirqs reads /proc/softirqs: counts since boot by kind, summed over CPUs.
func (p Proc) Softirqs() (map[string]uint64, error) {
	table, err := read(p, "softirqs", parseSoftirqs)
	sums := map[string]uint64{}
	for kind, counts := range table.rows {
		for _, n := range counts {
			sums[kind] += n
		}
	}
	return sums, err
}

// Softnet reads /proc/net/softnet_stat: one entry for each CPU that is online. Before
// Linux 5.10, which does not name the CPU, CPU is the number of the line.
func (p Proc) Softnet() ([]netstate.SoftnetCounters, error) {
	stats, err := by(p.netRoot(), procfs.FS.NetSoftnetStat)
	if err == nil && len(stats) == 0 {
		err = fmt.Errorf("%s: empty", p.path("net/softnet_stat"))
	}
	if err != nil {
		return nil, err
	}
	var list []netstate.SoftnetCounters
	for _, s := range stats {
		list = append(list, netstate.SoftnetCounters{CPU: int(s.Index), Processed: uint64(s.Processed),
			Dropped:  uint64(s.Dropped),
			Squeezed: uint64(s.TimeSqueezed), Backlog: uint64(s.SoftnetBacklogLen)})
	}
	return list, nil
}

// SNMP reads the counters of /proc/net/snmp, /proc/net/netstat and, on a kernel with IPv6,
// /proc/net/snmp6, with keys such as "Tcp.RetransSegs" and "Udp6.RcvbufErrors".
func (p Proc) SNMP() (map[string]int64, error) {
	all, err := read(p, "net/snmp", parseSNMP)
	if err != nil {
		return nil, err
	}
	more, err := read(p, "net/netstat", parseSNMP)
	if err != nil {
		return nil, err
	}
	six, err := read(p, "net/snmp6", parseSNMP6)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	maps.Copy(all, more)
	maps.Copy(all, six)
	return all, nil
}

// parseSNMP6 reads lines "Udp6RcvbufErrors VALUE".
func parseSNMP6(text []byte) (map[string]int64, error) {
	values := map[string]int64{}
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) != 2 {
			return nil, fmt.Errorf("%.60q: expected a name and a value", line)
		}
		group, name, found := strings.Cut(fields[0], "6")
		if !found {
			continue
		}
		n, err := counter(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fields[0], err)
		}
		values[group+"6."+name] = n
	}
	return values, nil
}

// counter parses an unsigned long, or a negative value that means "none".
func counter(field string) (int64, error) {
	if n, err := strconv.ParseInt(field, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(field, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.60q is not a number", field)
	}
	return int64(n), nil
}

// parseSNMP reads pairs of lines: "Tcp: NAME…" and "Tcp: VALUE…".
func parseSNMP(text []byte) (map[string]int64, error) {
	values := map[string]int64{}
	heading, names := "", []string(nil)
	for line := range bytes.Lines(text) {
		group, rest, found := strings.Cut(string(line), ":")
		if !found {
			continue
		}
		fields := strings.Fields(rest)
		if names == nil || group != heading {
			heading, names = group, fields
			continue
		}
		if len(fields) != len(names) {
			return nil, fmt.Errorf("%s: %d names and %d values", group, len(names), len(fields))
		}
		for i, field := range fields {
			n, err := counter(field)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", group, names[i], err)
			}
			values[group+"."+names[i]] = n
		}
		names = nil
	}
	return values, nil
}
