// Package counters reads what a host has counted and what its tables hold: one
// file per source. docs/counters.md lists every counter with its unit and where
// in the kernel it comes from.
//
// Counters are since boot (or since a device was made) and are returned as read;
// callers take the difference of two readings. A source that cannot be read, for want
// of privilege or on this kernel, is named in Missing; the others are read all the
// same.
package counters

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/record"
)

// Options say what to read. The zero value is right for an agent.
type Options struct {
	// Interfaces to read; nil means all except the loopback.
	Interfaces []string
	// Proc and Sysctls are the trees to read; zero values are the machine's own.
	Proc    proc.Proc
	Sysctls proc.Sysctls
}

// Reader reads the counters of the network namespace it was made in. Its methods
// may be called from several goroutines.
type Reader struct {
	mu      sync.Mutex
	options Options
	conn    *netlink.Conn
	names   map[int]string // of the devices, by index
	skip    map[string]bool
}

// New opens a reader.
func New(options Options) (*Reader, error) {
	conn, err := netlink.Dial()
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	r := &Reader{options: options, conn: conn, names: map[int]string{}}
	if _, err := r.links(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return r, nil
}

// Close gives the reader's socket back.
func (r *Reader) Close() error { return r.conn.Close() }

// Counts reads the counters of interfaces and queueing disciplines, closest together.
func (r *Reader) Counts(into *record.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	into.Interfaces, err = r.interfaces()
	missing(into, "interfaces", err)
	into.Qdiscs, err = r.qdiscs()
	missing(into, "qdiscs", err)
}

// Machine reads the counters of CPUs, memory and protocols. It takes several times as
// long as Counts: at the edge of a window it is called before or after, not between.
func (r *Reader) Machine(into *record.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	into.CPU, err = r.options.Proc.CPUTimes()
	missing(into, "cpu", err)
	into.Softnet, err = r.options.Proc.Softnet()
	missing(into, "softnet", err)
	into.Softirqs, err = r.options.Proc.Softirqs()
	missing(into, "softirqs", err)
	into.Events, err = r.options.Proc.CPUEvents()
	missing(into, "events", err)
	into.Memory, err = r.options.Proc.MemoryLoad()
	missing(into, "memory", err)
	into.SNMP, err = r.options.Proc.SNMP()
	missing(into, "snmp", err)
	// Hundreds of names, most of which stand at 0: without them they say the same.
	maps.DeleteFunc(into.SNMP, func(_ string, v int64) bool { return v == 0 })
	// Names may have changed, by udev for one.
	_, err = r.links()
	missing(into, "links", err)
}

func missing(from *record.Reading, part string, err error) {
	if err != nil {
		from.Missing = append(from.Missing, part+": "+err.Error())
	}
}

// links lists the devices that are read, by name, and renews the names.
func (r *Reader) links() ([]netlink.Link, error) {
	links, err := r.conn.Links()
	if err != nil {
		return nil, err
	}
	clear(r.names)
	r.skip = map[string]bool{}
	wanted := map[string]bool{}
	for _, name := range r.options.Interfaces {
		wanted[name] = true
	}
	kept := links[:0]
	for _, l := range links {
		r.names[l.Index] = l.Name
		if wanted[l.Name] || r.options.Interfaces == nil && !l.Loopback {
			kept = append(kept, l)
		} else {
			r.skip[l.Name] = true
		}
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].Name < kept[j].Name })
	return kept, nil
}

// read says whether an interface's counters are wanted. An interface that appeared since the
// names were last renewed is.
func (r *Reader) read(name string) bool {
	if r.skip[name] {
		return false
	}
	if r.options.Interfaces == nil {
		return true
	}
	return slices.Contains(r.options.Interfaces, name)
}
