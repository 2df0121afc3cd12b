// Package counters reads what a host has counted and what its tables hold: one
// file per source. docs/counters.md lists every counter with its unit and where
// in the kernel it comes from.
//
// It only reads. Counters are since boot (or since a device was made) and are
// returned as they are; whoever compares two readings takes the difference. A
// source that this kernel or this privilege does not offer is named in Missing
// and leaves the others as good as they were.
package counters

import (
	"fmt"
	"sort"
	"sync"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// Options say what to read. The zero value is right for an agent.
type Options struct {
	// Ports to read; nil means all except the loopback.
	Ports []string
	// Proc and Sysctls are the trees to read; zero values are the machine's own.
	Proc    kernel.Proc
	Sysctls kernel.Sysctls
}

// Reader reads the counters of the network namespace it was made in. Its methods
// may be called from several goroutines.
type Reader struct {
	mu      sync.Mutex
	options Options
	conn    *kernel.Conn
	names   map[int]string // of the devices, by index
	skip    map[string]bool
}

// New opens a reader.
func New(options Options) (*Reader, error) {
	conn, err := kernel.Dial()
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

// Read takes a full reading. Ports come first and closest together, since what
// is measured is compared with them.
func (r *Reader) Read() record.Reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	reading := record.Reading{BeganNs: kernel.Now()}
	missing := func(part string, err error) {
		if err != nil {
			reading.Missing = append(reading.Missing, part+": "+err.Error())
		}
	}
	var err error
	reading.Ports, err = r.ports()
	missing("ports", err)
	reading.Qdiscs, err = r.qdiscs()
	missing("qdiscs", err)
	reading.CPU, err = r.options.Proc.CPUTimes()
	missing("cpu", err)
	reading.Softnet, err = r.options.Proc.Softnet()
	missing("softnet", err)
	reading.Softirqs, err = r.options.Proc.Softirqs()
	missing("softirqs", err)
	reading.SNMP, err = r.options.Proc.SNMP()
	missing("snmp", err)
	reading.EndedNs = kernel.Now()

	// Outside the reading: names may have changed, by udev for one.
	_, err = r.links()
	missing("links", err)
	return reading
}

// Light reads what is worth reading often, the ports and their queues; what could
// not be read is nil.
func (r *Reader) Light() ([]record.PortCounters, []record.QdiscCounters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ports, err := r.ports()
	if err != nil {
		ports = nil
	}
	qdiscs, err := r.qdiscs()
	if err != nil {
		qdiscs = nil
	}
	return ports, qdiscs
}

// links lists the devices that are read, by name, and renews the names.
func (r *Reader) links() ([]kernel.Link, error) {
	links, err := r.conn.Links()
	if err != nil {
		return nil, err
	}
	clear(r.names)
	r.skip = map[string]bool{}
	wanted := map[string]bool{}
	for _, name := range r.options.Ports {
		wanted[name] = true
	}
	kept := links[:0]
	for _, l := range links {
		r.names[l.Index] = l.Name
		if wanted[l.Name] || r.options.Ports == nil && !l.Loopback {
			kept = append(kept, l)
		} else {
			r.skip[l.Name] = true
		}
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].Name < kept[j].Name })
	return kept, nil
}

// read says whether a port's counters are wanted. A port that appeared since the
// names were last renewed is.
func (r *Reader) read(port string) bool {
	if r.skip[port] {
		return false
	}
	if r.options.Ports == nil {
		return true
	}
	for _, name := range r.options.Ports {
		if name == port {
			return true
		}
	}
	return false
}
