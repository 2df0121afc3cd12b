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

// MemoryLoad reads /proc/meminfo, /proc/net/sockstat and, where the kernel has it
// and does it (CONFIG_PSI, Linux 4.20; psi=1), /proc/pressure/memory.
func (p Proc) MemoryLoad() (*record.MemoryLoad, error) {
	var m record.MemoryLoad
	available, err := read(p, "meminfo", func(text []byte) (int64, error) { return lineOf(text, "MemAvailable:", 1) })
	if err != nil {
		return nil, err
	}
	m.AvailableBytes = available << 10
	// "TCP: inuse 1 orphan 0 tw 0 alloc 4 mem 49": pages, of all namespaces.
	pages, err := read(p, "net/sockstat", func(text []byte) (int64, error) { return lineOf(text, "TCP:", 10) })
	if err != nil {
		return nil, err
	}
	m.TCPBytes = pages * int64(os.Getpagesize())
	waited, err := read(p, "pressure/memory", parsePressure)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	m.SomeWaitedUs, m.AllWaitedUs = waited[0], waited[1]
	return &m, nil
}

// lineOf is a number in the line that begins with a word.
func lineOf(text []byte, word string, place int) (int64, error) {
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) > place && fields[0] == word {
			return strconv.ParseInt(fields[place], 10, 64)
		}
	}
	return 0, fmt.Errorf("expected a line %s with a number in column %d", word, place+1)
}

// parsePressure reads the totals of "some avg10=0.00 … total=0" and "full …"
// (Documentation/accounting/psi.rst), in microseconds.
func parsePressure(text []byte) (waited [2]uint64, err error) {
	found := 0
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		which := slices.Index([]string{"some", "full"}, fields[0])
		total, ok := strings.CutPrefix(fields[len(fields)-1], "total=")
		if which < 0 || !ok {
			return waited, fmt.Errorf("%q: expected some or full, and a total", strings.TrimSpace(string(line)))
		}
		if waited[which], err = strconv.ParseUint(total, 10, 64); err != nil {
			return waited, fmt.Errorf("total %q is not a number of microseconds", total)
		}
		found++
	}
	if found == 0 {
		return waited, errors.New("empty")
	}
	return waited, nil
}
