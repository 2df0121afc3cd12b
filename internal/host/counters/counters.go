// Package counters reads a host's counters and tables. docs/counters.md lists every counter with its unit and
// its source in the kernel.
//
// Counters count since boot (or since an interface was created) and are returned as read; callers subtract two
// readings. A source that cannot be read, for lack of privilege or on this kernel, is listed in Missing; the
// others are still read.
package counters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/host/caused"
	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
)

// Reader reads the counters of the network namespace it was created in. Its methods are safe for concurrent
// use.
type Reader struct {
	// Silent: send no ARP requests; a snapshot then has no Answers.
	Silent bool

	mu    sync.Mutex
	conn  *netlink.Conn
	nics  *ethtool.Handle // nil: unsupported on this system
	proc  proc.Proc
	names map[int]string  // of interfaces, by index
	skip  map[string]bool // the loopback's name
}

// NotRead says what a reader cannot read on this system; empty if it can read everything.
func NotRead() []string {
	if netlink.Available {
		return nil
	}
	return []string{
		"counters of interfaces, CPUs and protocols, TCP_INFO, routes, neighbours and sysctls are not read on " +
			runtime.GOOS}
}

// New opens a reader. Where NotRead is not empty, it reads only the interfaces' names, MTUs and addresses.
func New() (*Reader, error) {
	conn, err := netlink.Dial()
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	r := &Reader{conn: conn, names: map[int]string{}}
	r.nics, _ = ethtool.Open()
	if _, err := r.links(); err != nil {
		r.Close()
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return r, nil
}

// Close closes the reader's sockets.
func (r *Reader) Close() error {
	r.nics.Close()
	return r.conn.Close()
}

// Counts reads the counters of interfaces and queueing disciplines, as close together in time as possible.
func (r *Reader) Counts(into *netstate.Reading) {
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

// interfaces reads IFLA_STATS64 of every interface, sorted by name.
func (r *Reader) interfaces() ([]netstate.InterfaceCounters, error) {
	all, err := r.conn.InterfaceCounters(r.names)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c netstate.InterfaceCounters) bool { return r.skip[c.Interface] })
	slices.SortFunc(all, func(a, b netstate.InterfaceCounters) int { return strings.Compare(a.Interface, b.Interface) })
	return all, nil
}

// qdiscs reads TCA_STATS2 of every queueing discipline, by interface and handle.
// noqueue counts nothing and is left out.
func (r *Reader) qdiscs() ([]netstate.QdiscCounters, error) {
	all, err := r.conn.Qdiscs(r.names)
	if err != nil {
		return nil, err
	}
	var list []netstate.QdiscCounters
	for _, q := range all {
		if r.skip[q.Interface] || q.Kind == "noqueue" {
			continue
		}
		list = append(list, netstate.QdiscCounters{
			Interface: q.Interface, Kind: q.Kind, Handle: q.HandleText(), Parent: q.ParentText(),
			Bytes: q.Bytes, Packets: q.Packets, Drops: q.Drops, Overlimits: q.Overlimits,
			Backlog: q.Backlog, Qlen: q.Qlen, Requeues: q.Requeues,
		})
	}
	slices.SortStableFunc(list, func(a, b netstate.QdiscCounters) int {
		return strings.Compare(a.Interface, b.Interface)
	})
	return list, nil
}

// Backlog returns the bytes waiting in the host's queues now.
func (r *Reader) Backlog() (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	qdiscs, err := r.qdiscs()
	waiting := lists.Sum(qdiscs, func(q netstate.QdiscCounters) uint64 { return q.Backlog })
	return waiting, err
}

// Machine reads the counters of CPUs, memory and protocols. It takes several times as long as Counts: at the
// edge of a window, call it outside the window.
func (r *Reader) Machine(into *netstate.Reading) {
	if !netlink.Available {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	into.CPU, err = r.proc.CPUTimes()
	missing(&into.Missing, "cpu", err)
	into.Softnet, err = r.proc.Softnet()
	missing(&into.Missing, "softnet", err)
	into.Softirqs, err = r.proc.Softirqs()
	missing(&into.Missing, "softirqs", err)
	into.Events, err = r.proc.CPUEvents()
	missing(&into.Missing, "events", err)
	into.Memory, err = r.proc.MemoryLoad()
	missing(&into.Missing, "memory", err)
	into.SNMP, err = r.proc.SNMP()
	into.Own = caused.Read()
	missing(&into.Missing, "snmp", err)
	// Most of the hundreds of counters are 0, which is also the value of an absent one.
	maps.DeleteFunc(into.SNMP, func(_ string, v int64) bool { return v == 0 })
	// udev, for one, may have renamed interfaces.
	_, err = r.links()
	missing(&into.Missing, "links", err)
}

// CPU reads the times of all CPUs together, which are few bytes on machines with hundreds of CPUs.
func (r *Reader) CPU(into *netstate.Reading) {
	if !netlink.Available {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.proc.CPUTimes()
	into.CPU = slices.DeleteFunc(all, func(c netstate.CPUTimes) bool { return c.CPU >= 0 })
	missing(&into.Missing, "cpu", err)
}

// Own returns what linerate itself has caused until now of the counters that Machine reads. Unlike Machine it
// waits until other processes have shared theirs.
func (r *Reader) Own(ctx context.Context) map[string]int64 {
	select {
	case <-time.After(caused.Lag):
	case <-ctx.Done():
	}
	return caused.Read()
}

// missing appends a part that could not be read and the reason to a list.
func missing(list *[]string, part string, err error) {
	if err != nil {
		*list = append(*list, part+": "+err.Error())
	}
}

// links returns the interfaces except the loopback, by name, and updates the stored names.
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
		if l.Loopback {
			r.skip[l.Name] = true
		} else {
			kept = append(kept, l)
		}
	}
	slices.SortFunc(kept, func(a, b netlink.Link) int { return strings.Compare(a.Name, b.Name) })
	return kept, nil
}

// setUp returns the qdiscs of each interface and the one that limits its rate: the root or, if the root passes
// everything on to one child, that child. Children of a classful root do not count, since packets may take
// another class.
func (r *Reader) setUp() (slowest map[string]*netstate.Shaper, qdiscs map[string][]netstate.Qdisc, err error) {
	if !netlink.Available {
		return nil, nil, nil
	}
	all, err := r.conn.Qdiscs(r.names)
	if err != nil {
		return nil, nil, err
	}
	slowest, qdiscs = map[string]*netstate.Shaper{}, map[string][]netstate.Qdisc{}
	roots := map[string]netlink.Qdisc{}
	for _, q := range all {
		if q.IsRoot() {
			roots[q.Interface] = q
		}
	}
	for _, q := range all {
		if q.Handle != 0 || q.IsRoot() {
			qdiscs[q.Interface] = append(qdiscs[q.Interface], netstate.Qdisc{Parent: q.ParentText(), Kind: q.Kind,
				Options: q.OptionTexts()})
		}
		root := roots[q.Interface]
		inner := q.IsInner() && q.Parent>>16 == root.Handle>>16 && (root.Kind == "tbf" || root.Kind == "netem")
		if !q.IsRoot() && !inner {
			continue
		}
		shape, own := r.conn.Shape(q)
		err = errors.Join(err, own)
		if s := slowest[q.Interface]; shape.Rate > 0 && (s == nil || float64(shape.Rate) < s.RateBps) {
			slowest[q.Interface] = &netstate.Shaper{Kind: q.Kind, RateBps: float64(shape.Rate),
				OverheadBytes: shape.Overhead, BurstBytes: int64(shape.Burst), SizeTable: q.SizeTable || root.SizeTable}
		}
	}
	return slowest, qdiscs, err
}
