//go:build !portable

package drops

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// defaultEntries take 48 KiB, and 16 KiB for each CPU.
const defaultEntries = 2048

// Tracer counts drops from Start to Close.
type Tracer struct {
	counts *ebpf.Map
	prog   *ebpf.Program
	link   link.Link
	names  names
}

// Start starts counting. See ErrUnavailable for errors.
func Start(o Options) (*Tracer, error) {
	t := &Tracer{}
	if err := t.start(o); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tracer) start(o Options) (err error) {
	// The map first, because it is refused without privileges: loading the kernel's types takes
	// longest.
	t.counts, err = ebpf.NewMap(&ebpf.MapSpec{Name: "linerate_drops", Type: ebpf.PerCPUHash, KeySize: keyBytes,
		ValueSize: 8, MaxEntries: uint32(cmp.Or(max(o.Entries, 0), defaultEntries) + 1)})
	if err != nil {
		return refused("make a BPF map", err)
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	if err := t.counts.Put(key{}, make([]uint64, cpus)); err != nil { // the entry for lost drops
		return refused("write to a BPF map", err)
	}
	kernel := btf.NewCache()
	spec, err := kernel.Kernel()
	if err != nil {
		return fmt.Errorf("%w: the kernel does not tell its types (CONFIG_DEBUG_INFO_BTF): %w", ErrUnavailable, err)
	}
	l, err := layoutOf(spec)
	if err != nil {
		return err
	}
	t.names = newNames(kernel, l)
	instructions, err := program(l, uint32(o.Namespace), t.counts.FD())
	if err != nil {
		return err
	}
	t.prog, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_drops", Type: ebpf.RawTracepoint,
		Instructions: instructions, License: "GPL"})
	if err != nil {
		return refused("load a BPF program", err)
	}
	t.link, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: "kfree_skb", Program: t.prog})
	if err != nil {
		return refused("attach a BPF program to kfree_skb", err)
	}
	return nil
}

// refused returns an error that says what is missing.
func refused(op string, err error) error {
	lockdown, _ := os.ReadFile("/sys/kernel/security/lockdown")
	switch {
	case strings.Contains(string(lockdown), "[confidentiality]"):
		return fmt.Errorf("%w: %s: %w; the kernel is locked down (confidentiality, kernel_lockdown(7))",
			ErrUnavailable, op, err)
	case errors.Is(err, unix.EPERM):
		// without the library's advice on RLIMIT_MEMLOCK
		return fmt.Errorf(
			"%w: %s: %w; it needs root, or the capabilities CAP_BPF and CAP_PERFMON, in the machine's first user "+
				"namespace",
			ErrUnavailable, op, unix.EPERM)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: the kernel has no bpf(2)", ErrUnavailable)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// Read returns the counts since Start.
func (t *Tracer) Read() (c Counts, err error) {
	sums := map[key]int64{}
	var k key
	var perCPU []uint64
	entries := t.counts.Iterate()
	for entries.Next(&k, &perCPU) {
		for _, n := range perCPU {
			sums[k] += int64(n)
		}
	}
	if err := entries.Err(); err != nil {
		return c, fmt.Errorf("reading a BPF map: %w", err)
	}
	if stats, err := t.prog.Stats(); err == nil {
		c.Lost = int64(stats.RecursionMisses)
	}
	c.Lost += sums[key{}]
	delete(sums, key{})
	var addresses []uint64
	for k := range sums {
		addresses = append(addresses, k.Location)
	}
	place := map[uint64]string{}
	if len(addresses) > 0 {
		kallsyms, err := os.Open("/proc/kallsyms")
		if err == nil {
			place, _ = places(kallsyms, addresses) // a place that cannot be read remains empty
			kallsyms.Close()
		}
	}
	merged := map[Count]int64{}
	for k, n := range sums {
		reason := t.names.of(k.Reason)
		if reason == "NOT_SPECIFIED" {
			c.Unspecified += n
			continue
		}
		merged[Count{Reason: reason, Index: int(k.Index), Namespace: uint64(k.Namespace),
			Direction: directions[k.Direction], Protocol: protocol(k.Ether, k.IP), Place: place[k.Location]}] += n
	}
	for count, n := range merged {
		count.Packets = n
		c.List = append(c.List, count)
	}
	slices.SortFunc(c.List, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Place, b.Place))
	})
	return c, nil
}

// Close stops counting. The kernel then frees the program and the map.
func (t *Tracer) Close() (err error) {
	if t.link != nil {
		err = t.link.Close()
	}
	if t.prog != nil {
		err = errors.Join(err, t.prog.Close())
	}
	if t.counts != nil {
		err = errors.Join(err, t.counts.Close())
	}
	return err
}
