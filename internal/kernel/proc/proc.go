package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"linerate/internal/model/record"
)

// Proc reads files of a /proc tree. The zero value reads the machine's own;
// Root lets tests read a captured one.
type Proc struct{ Root string }

// path is where a file is. Files under net/ belong to a network namespace and
// are read as the calling thread sees them.
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

// netRoot is the tree whose net/ is the calling thread's namespace's.
func (p Proc) netRoot() string { return filepath.Dir(p.path("net/")) }

// by reads one of the files that procfs knows, of the tree at root.
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

// CPUTimes reads /proc/stat; the sum over all CPUs comes first, as CPU -1.
func (p Proc) CPUTimes() ([]record.CPUTimes, error) { return read(p, "stat", parseStat) }

// Softirqs reads /proc/softirqs: counts by kind, summed over CPUs.
func (p Proc) Softirqs() (map[string]uint64, error) { return read(p, "softirqs", parseSoftirqs) }

// Softnet reads /proc/net/softnet_stat: one entry per CPU that is on line, by the
// line's number before Linux 5.10, which does not name the CPU.
func (p Proc) Softnet() ([]record.SoftnetCounters, error) {
	stats, err := by(p.netRoot(), procfs.FS.NetSoftnetStat)
	if err == nil && len(stats) == 0 {
		err = fmt.Errorf("%s: empty", p.path("net/softnet_stat"))
	}
	if err != nil {
		return nil, err
	}
	var list []record.SoftnetCounters
	for _, s := range stats {
		list = append(list, record.SoftnetCounters{CPU: int(s.Index), Processed: uint64(s.Processed), Dropped: uint64(s.Dropped),
			Squeezed: uint64(s.TimeSqueezed), Backlog: uint64(s.SoftnetBacklogLen)})
	}
	return list, nil
}

// SNMP reads /proc/net/snmp and /proc/net/netstat as "Tcp.RetransSegs".
func (p Proc) SNMP() (map[string]int64, error) {
	all, err := read(p, "net/snmp", parseSNMP)
	if err != nil {
		return nil, err
	}
	more, err := read(p, "net/netstat", parseSNMP)
	if err != nil {
		return nil, err
	}
	for name, value := range more {
		all[name] = value
	}
	return all, nil
}

// UserHz is the unit of /proc/stat: ticks per second. The kernel converts to it
// from whatever it counts in; it is 100 on every architecture linerate runs on
// (USER_HZ, asm-generic/param.h).
const UserHz = 100

func parseStat(text []byte) ([]record.CPUTimes, error) {
	var list []record.CPUTimes
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		cpu := -1
		if digits := fields[0][3:]; digits != "" {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%q: expected cpu and a number", fields[0])
			}
			cpu = n
		}
		// user nice system idle iowait irq softirq steal guest guest_nice; guest
		// time is contained in user and nice. 2.6.11 and later have the first eight.
		var ticks [8]float64
		if len(fields) < 1+len(ticks) {
			return nil, fmt.Errorf("%q: expected at least %d columns, found %d", fields[0], len(ticks), len(fields)-1)
		}
		for i := range ticks {
			n, err := strconv.ParseUint(fields[1+i], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%q column %d: %q is not a number of ticks", fields[0], i+1, fields[1+i])
			}
			ticks[i] = float64(n) / UserHz
		}
		list = append(list, record.CPUTimes{
			CPU: cpu, User: ticks[0] + ticks[1], System: ticks[2], Idle: ticks[3] + ticks[4],
			IRQ: ticks[5], SoftIRQ: ticks[6], Steal: ticks[7],
		})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no line that begins with cpu")
	}
	return list, nil
}

func parseSoftirqs(text []byte) (map[string]uint64, error) {
	sums := map[string]uint64{}
	for line := range bytes.Lines(text) {
		kind, counts, found := strings.Cut(string(line), ":")
		if !found {
			continue // the heading: CPU0 CPU1 …
		}
		kind = strings.TrimSpace(kind)
		for _, field := range strings.Fields(counts) {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is not a count", kind, field)
			}
			sums[kind] += n
		}
	}
	if len(sums) == 0 {
		return nil, fmt.Errorf("no line with a softirq kind")
	}
	return sums, nil
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
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				// Counters are unsigned long: above 2^63 they would not fit.
				u, uerr := strconv.ParseUint(field, 10, 64)
				if uerr != nil {
					return nil, fmt.Errorf("%s.%s: %q is not a number", group, names[i], field)
				}
				n = int64(u)
			}
			values[group+"."+names[i]] = n
		}
		names = nil
	}
	return values, nil
}
