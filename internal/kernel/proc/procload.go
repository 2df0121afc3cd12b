package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// CPUEvents returns how many interrupts and softirqs each online CPU has handled since boot, from
// /proc/interrupts and /proc/softirqs. It omits kinds of softirq that a CPU has never had.
func (p Proc) CPUEvents() ([]netstate.CPUEvents, error) {
	list, _, err := p.EventsAndIRQs(nil)
	return list, err
}

// EventsAndIRQs is CPUEvents plus the counts of the given interrupts on all CPUs, by number and name ("41
// eth0-rx-0").
func (p Proc) EventsAndIRQs(irqs []int) (list []netstate.CPUEvents, counts map[string]uint64, err error) {
	table, err := read(p, "interrupts", parseCPUTable)
	if err != nil {
		return nil, nil, err
	}
	softirqs, err := read(p, "softirqs", parseSoftirqs)
	if err != nil {
		return nil, nil, err
	}
	for _, irq := range irqs {
		number := strconv.Itoa(irq)
		row, is := table.rows[number]
		if !is {
			continue
		}
		if counts == nil {
			counts = map[string]uint64{}
		}
		sum := uint64(0)
		for _, n := range row {
			sum += n
		}
		counts[strings.TrimSpace(number+" "+table.names[number])] = sum
	}
	interrupts := table.sums()
	for _, cpu := range slices.Sorted(maps.Keys(interrupts)) {
		events := netstate.CPUEvents{CPU: cpu, Interrupts: interrupts[cpu], Softirqs: map[string]uint64{}}
		if column := slices.Index(softirqs.cpus, cpu); column >= 0 {
			for kind, counts := range softirqs.rows {
				if counts[column] > 0 {
					events.Softirqs[kind] = counts[column]
				}
			}
		}
		list = append(list, events)
	}
	return list, counts, nil
}

// cpuTable is a table with a column for each CPU: a heading "CPU0 CPU1 CPU3", then lines
// "NAME: COUNT COUNT COUNT TEXT".
type cpuTable struct {
	cpus []int
	rows map[string][]uint64 // the counts of a line; some lines have fewer than there are CPUs
	// names are the last words of lines, in /proc/interrupts the driver's name for the interrupt.
	names map[string]string
}

func parseCPUTable(text []byte) (cpuTable, error) {
	heading, lines, _ := bytes.Cut(text, []byte("\n"))
	t := cpuTable{rows: map[string][]uint64{}, names: map[string]string{}}
	for _, word := range strings.Fields(string(heading)) {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "CPU"))
		if err != nil || !strings.HasPrefix(word, "CPU") {
			return t, fmt.Errorf("%q in the heading: expected CPU and a number", word)
		}
		t.cpus = append(t.cpus, n)
	}
	if len(t.cpus) == 0 {
		return t, errors.New("the heading names no CPU")
	}
	for line := range bytes.Lines(lines) {
		name, rest, found := strings.Cut(string(line), ":")
		if !found {
			continue
		}
		var counts []uint64
		for _, field := range strings.Fields(rest) {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				break
			}
			counts = append(counts, n)
		}
		name = strings.TrimSpace(name)
		t.rows[name] = counts
		if words := strings.Fields(rest); len(words) > len(counts) {
			t.names[name] = plain.Short(words[len(words)-1], 60)
		}
	}
	return t, nil
}

// sums returns the number of interrupts of each online CPU. It omits lines without a column per CPU (ERR, MIS).
func (t cpuTable) sums() map[int]uint64 {
	sums := map[int]uint64{}
	for i, cpu := range t.cpus {
		sums[cpu] = 0
		for _, counts := range t.rows {
			if len(counts) >= len(t.cpus) {
				sums[cpu] += counts[i]
			}
		}
	}
	return sums
}

// parseSoftirqs parses a table with a count of each kind for each CPU.
func parseSoftirqs(text []byte) (cpuTable, error) {
	t, err := parseCPUTable(text)
	if err == nil && len(t.rows) == 0 {
		err = errors.New("no line with a kind of softirq")
	}
	for kind, counts := range t.rows {
		if len(counts) < len(t.cpus) {
			err = fmt.Errorf("%s: %d counts for %d CPUs", kind, len(counts), len(t.cpus))
		}
	}
	return t, err
}

// MemoryBytes returns the machine's memory in bytes (MemTotal of proc_meminfo(5)).
func (p Proc) MemoryBytes() (int64, error) {
	m, err := by(p.path(""), procfs.FS.Meminfo)
	if err == nil && m.MemTotalBytes == nil {
		err = errors.New("meminfo: expected a line MemTotal")
	}
	if err != nil {
		return 0, err
	}
	return int64(*m.MemTotalBytes), nil
}

// MemoryLoad reads /proc/meminfo, /proc/net/sockstat and, if the kernel has pressure
// stall information (CONFIG_PSI, Linux 4.20; psi=1), /proc/pressure/memory.
func (p Proc) MemoryLoad() (*netstate.MemoryLoad, error) {
	memory, err := by(p.path(""), procfs.FS.Meminfo)
	if err != nil {
		return nil, err
	}
	sockets, err := p.Sockstat()
	if err != nil {
		return nil, err
	}
	pages, hasTCP := sockets["TCP.mem"]
	if memory.MemAvailableBytes == nil || !hasTCP {
		return nil, errors.New("expected MemAvailable in meminfo and the memory of TCP in net/sockstat")
	}
	m := netstate.MemoryLoad{
		AvailableBytes: int64(*memory.MemAvailableBytes),
		TCPBytes:       pages * int64(os.Getpagesize()),
	}
	waited, err := by(p.path(""), func(files procfs.FS) (procfs.PSIStats, error) {
		return files.PSIStatsForResource("memory")
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
		return &m, nil
	case err != nil:
		return nil, err
	case waited.Some == nil || waited.Full == nil:
		return nil, errors.New("pressure/memory: expected lines some and full")
	}
	m.SomeWaitedUs, m.AllWaitedUs = waited.Some.Total, waited.Full.Total
	return &m, nil
}
