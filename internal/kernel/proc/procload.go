package proc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"linerate/internal/model/record"
)

// CPUEvents reads /proc/interrupts and /proc/softirqs: what each CPU that is on
// line was interrupted for.
func (p Proc) CPUEvents() ([]record.CPUEvents, error) {
	interrupts, err := read(p, "interrupts", parseInterrupts)
	if err != nil {
		return nil, err
	}
	softirqs, err := read(p, "softirqs", parseByCPU)
	if err != nil {
		return nil, err
	}
	var list []record.CPUEvents
	for cpu, n := range interrupts {
		list = append(list, record.CPUEvents{CPU: cpu, Interrupts: n, Softirqs: softirqs[cpu]})
	}
	slices.SortFunc(list, func(a, b record.CPUEvents) int { return cmp.Compare(a.CPU, b.CPU) })
	return list, nil
}

// columnsOf reads the heading of a table by CPU: "CPU0 CPU1 CPU3".
func columnsOf(heading string) ([]int, error) {
	var cpus []int
	for _, word := range strings.Fields(heading) {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "CPU"))
		if err != nil || !strings.HasPrefix(word, "CPU") {
			return nil, fmt.Errorf("%q in the heading: expected CPU and a number", word)
		}
		cpus = append(cpus, n)
	}
	if len(cpus) == 0 {
		return nil, errors.New("the heading names no CPU")
	}
	return cpus, nil
}

// parseInterrupts adds up each CPU's column. Some lines have no columns by CPU
// (ERR, MIS), and behind the columns stands who interrupts.
func parseInterrupts(text []byte) (map[int]uint64, error) {
	heading, rest, _ := bytes.Cut(text, []byte("\n"))
	cpus, err := columnsOf(string(heading))
	if err != nil {
		return nil, err
	}
	sums := map[int]uint64{}
	for _, cpu := range cpus {
		sums[cpu] = 0
	}
	for line := range bytes.Lines(rest) {
		_, counts, found := strings.Cut(string(line), ":")
		fields := strings.Fields(counts)
		if !found || len(fields) < len(cpus) {
			continue
		}
		for i, cpu := range cpus {
			n, err := strconv.ParseUint(fields[i], 10, 64)
			if err != nil {
				break // not a column by CPU
			}
			sums[cpu] += n
		}
	}
	return sums, nil
}

// parseByCPU reads softirqs by CPU and kind.
func parseByCPU(text []byte) (map[int]map[string]uint64, error) {
	heading, rest, _ := bytes.Cut(text, []byte("\n"))
	cpus, err := columnsOf(string(heading))
	if err != nil {
		return nil, err
	}
	by := map[int]map[string]uint64{}
	for _, cpu := range cpus {
		by[cpu] = map[string]uint64{}
	}
	for line := range bytes.Lines(rest) {
		kind, counts, found := strings.Cut(string(line), ":")
		if !found {
			continue
		}
		kind = strings.TrimSpace(kind)
		// The file has a column for each possible CPU, named or not.
		for i, field := range strings.Fields(counts) {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is not a count", kind, field)
			}
			if i < len(cpus) && n > 0 {
				by[cpus[i]][kind] = n
			}
		}
	}
	return by, nil
}

// MemoryBytes is the memory that the machine has (MemTotal of proc_meminfo(5)).
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

// MemoryLoad reads /proc/meminfo, /proc/net/sockstat and, where the kernel has it
// and does it (CONFIG_PSI, Linux 4.20; psi=1), /proc/pressure/memory.
func (p Proc) MemoryLoad() (*record.MemoryLoad, error) {
	memory, err := by(p.path(""), procfs.FS.Meminfo)
	if err != nil {
		return nil, err
	}
	sockets, err := by(p.netRoot(), procfs.FS.NetSockstat)
	if err != nil {
		return nil, err
	}
	tcp := slices.IndexFunc(sockets.Protocols, func(s procfs.NetSockstatProtocol) bool { return s.Protocol == "TCP" })
	if memory.MemAvailableBytes == nil || tcp < 0 || sockets.Protocols[tcp].Mem == nil {
		return nil, errors.New("expected MemAvailable in meminfo and the memory of TCP in net/sockstat")
	}
	m := record.MemoryLoad{
		AvailableBytes: int64(*memory.MemAvailableBytes),
		TCPBytes:       int64(*sockets.Protocols[tcp].Mem) * int64(os.Getpagesize()), // pages, of all namespaces
	}
	waited, err := by(p.path(""), func(files procfs.FS) (procfs.PSIStats, error) { return files.PSIStatsForResource("memory") })
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
