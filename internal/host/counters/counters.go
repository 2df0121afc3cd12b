// Package counters reads what a host has counted and what its tables hold: one
// file per source. docs/counters.md lists every counter with its unit and where
// in the kernel it comes from.
//
// Counters count since boot (or since an interface was made) and are returned as read;
// callers subtract two readings. A source that cannot be read, without the privilege or
// on this kernel, is listed in Missing; the others are read all the same.
package counters

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
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
	names   map[int]string // of the interfaces, by index
	skip    map[string]bool
}

// NotRead says what a reader cannot read on this system; empty: all of it.
func NotRead() []string {
	if netlink.Available {
		return nil
	}
	return []string{"counters of interfaces, CPUs and protocols, TCP_INFO, routes, neighbours and sysctls are not read on " + runtime.GOOS}
}

// New opens a reader. Where there is something NotRead, it reads the interfaces'
// names, MTUs and addresses alone.
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

// Close closes the reader's socket.
func (r *Reader) Close() error { return r.conn.Close() }

// Counts reads the counters of interfaces and queueing disciplines, closest together.
func (r *Reader) Counts(into *record.Reading) {
	if !netlink.Available {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	into.Interfaces, err = r.interfaces()
	missing(&into.Missing, "interfaces", err)
	into.Qdiscs, err = r.qdiscs()
	missing(&into.Missing, "qdiscs", err)
}

// Machine reads the counters of CPUs, memory and protocols. It takes several times as
// long as Counts: at the edge of a window it is called before or after, not between.
func (r *Reader) Machine(into *record.Reading) {
	if !netlink.Available {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	into.CPU, err = r.options.Proc.CPUTimes()
	missing(&into.Missing, "cpu", err)
	into.Softnet, err = r.options.Proc.Softnet()
	missing(&into.Missing, "softnet", err)
	into.Softirqs, err = r.options.Proc.Softirqs()
	missing(&into.Missing, "softirqs", err)
	into.Events, err = r.options.Proc.CPUEvents()
	missing(&into.Missing, "events", err)
	into.Memory, err = r.options.Proc.MemoryLoad()
	missing(&into.Missing, "memory", err)
	into.SNMP, err = r.options.Proc.SNMP()
	missing(&into.Missing, "snmp", err)
	// Most of the hundreds of counters are 0, which is also the value of an absent one.
	maps.DeleteFunc(into.SNMP, func(_ string, v int64) bool { return v == 0 })
	// Names may have changed, by udev for one.
	_, err = r.links()
	missing(&into.Missing, "links", err)
}

// missing adds a part that could not be read, and why, to a list.
func missing(list *[]string, part string, err error) {
	if err != nil {
		*list = append(*list, part+": "+err.Error())
	}
}

// links lists the interfaces to read, by name, and updates the names.
func (r *Reader) links() ([]netlink.Link, error) {
	links, err := r.conn.Links()
	if err != nil {
		return nil, err
	}
	clear(r.names)
	r.skip = map[string]bool{}
	kept := links[:0]
	for _, l := range links {
		r.names[l.Index] = l.Name
		if slices.Contains(r.options.Interfaces, l.Name) || r.options.Interfaces == nil && !l.Loopback {
			kept = append(kept, l)
		} else {
			r.skip[l.Name] = true
		}
	}
	slices.SortFunc(kept, func(a, b netlink.Link) int { return strings.Compare(a.Name, b.Name) })
	return kept, nil
}

// read reports whether an interface's counters are wanted. An interface that appeared
// since the names were last updated is, unless only some are.
func (r *Reader) read(name string) bool {
	return !r.skip[name] && (r.options.Interfaces == nil || slices.Contains(r.options.Interfaces, name))
}
