// Package hoststate reads the network state of this host for diagnosis: everything in one
// document (netstate.HostSnapshot). Its parts are independent: a part that cannot be read, for
// lack of a privilege or on this kernel, is listed with the reason, and the others are read
// nevertheless. It changes nothing on the host, and sends no packets except ARP requests for the
// addresses in the neighbour table.
package hoststate

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"linerate/internal/host/counters"
	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
	"linerate/internal/model/syntax"
	"linerate/internal/version"
)

// Options of Read. The zero value reads counters once.
type Options struct {
	Name string        // name of the host in the document; empty: that of uname(2)
	Over time.Duration // time between two readings of the counters; 0: one reading, with totals since boot
	// Since is an earlier snapshot of this host. Its second reading becomes the first one of the
	// new snapshot; nil: see Over.
	Since *netstate.HostSnapshot
	// Silent says to send nothing and to execute no program. Which hosts answer ARP requests,
	// and which neighbours LLDP knows, then stays unknown.
	Silent bool
	// LLDP is for how long frames of LLDP neighbours are received if no daemon knows any. 0: not at all.
	LLDP time.Duration

	began func() // is called after the first of two readings: tests drop packets then
}

// Read reads this host. It fails only if the interfaces cannot be listed or ctx ends.
func Read(ctx context.Context, o Options) (netstate.HostSnapshot, error) {
	s := begun(o.Name)
	reader, err := counters.New()
	if err != nil {
		return s, err
	}
	defer reader.Close()
	reader.Silent = o.Silent
	var trace dropTrace
	var before earlier
	switch {
	case o.Since != nil:
		s.Reading.Before, s.Reading.Begin = o.Since.Reading.Snapshot.Tables, o.Since.Reading.End
		before = earlierState(o.Since.State)
	case o.Over > 0:
		trace.start()
		defer trace.close()
		s.Reading.Before = reader.Tables()
		read(reader, &s.Reading.Begin)
		before.take()
		if o.began != nil {
			o.began()
		}
		select {
		case <-time.After(o.Over):
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
	read(reader, &s.Reading.End)
	trace.read()
	s.Reading.End.Own = reader.Own(ctx)
	if s.Reading.Begin.BeganNs > 0 {
		s.OverS = float64(s.Reading.End.BeganNs-s.Reading.Begin.BeganNs) / 1e9
	}
	if s.Reading.Snapshot, err = reader.Snapshot(s.Reading.Host, nil, nil); err != nil {
		return s, err
	}
	s.State = stateOf(s.Reading.Snapshot, proc.Proc{}.Holders())
	before.add(&s.State)
	part(&s.State, "lldp", func() (err error) {
		s.State.LLDP, err = heardLLDP(ctx, o.Silent, o.LLDP, s.Reading.Snapshot.Interfaces)
		return err
	})
	part(&s.State, "modules", func() error { return modules(s.State.NICs) })
	part(&s.State, "kernel log", func() (err error) { s.State.Log, err = kernelLog(); return err })
	s.State.KernelDrops = trace.drops
	s.State.Parts = slices.Insert(s.State.Parts, 0, trace.part) // in the order of reading
	now := sched.Now()
	for _, why := range syntax.Prune(&s) {
		s.State.Parts = append(s.State.Parts, netstate.StatePart{Part: netstate.PartNames, BeganNs: now, EndedNs: now,
			Missing: why})
	}
	return s, ctx.Err()
}

// begun is the head of a document, with a host's name; empty: as of uname(2). A host whose name is none is localhost.
func begun(name string) netstate.HostSnapshot {
	if name == "" {
		name, _ = os.Hostname()
	}
	if name == "" || !syntax.Host.Fits(name) {
		name = "localhost"
	}
	return netstate.HostSnapshot{
		Schema: netstate.HostSnapshotSchema, Version: version.String(), Taken: time.Now().UTC().Truncate(time.Second),
		Host: netstate.HostEnvironment{Host: name, OS: runtime.GOOS, Kernel: proc.Release(), Arch: runtime.GOARCH,
			CPUs: proc.Proc{}.CPUs()},
		Reading: netstate.HostReading{Host: name},
	}
}

// read is one reading of all counters.
func read(reader *counters.Reader, into *netstate.Reading) {
	into.BeganNs = sched.Now()
	into.ScheduledNs = into.BeganNs
	reader.Counts(into)
	reader.Machine(into)
	into.EndedNs = sched.Now()
}

// part reads one part of a host's state.
func part(s *netstate.HostState, name string, read func() error) {
	p := netstate.StatePart{Part: name, BeganNs: sched.Now()}
	if err := read(); err != nil {
		p.Missing = err.Error()
	}
	p.EndedNs = sched.Now()
	s.Parts = append(s.Parts, p)
}

// stateOf reads each part of a host's state, in the order in which they are described, but those
// that are slow or long: modules and the kernel's log. Holders have its sockets.
func stateOf(snapshot netstate.Snapshot, holders map[uint32]proc.Holder) (s netstate.HostState) {
	part := func(name string, read func() error) { part(&s, name, read) }
	var p proc.Proc
	part("uptime", func() (err error) { s.UptimeS, err = p.UptimeS(); return err })
	s.FirstNamespace, _ = netlink.First()
	part("nics", func() (err error) { s.NICs, err = nics(snapshot); return err })
	part("bridges", func() (err error) {
		return withConn(func(c *netlink.Conn) (err error) { s.Bridges, err = c.Bridges(); return err })
	})
	part("bonds", func() (err error) {
		return withConn(func(c *netlink.Conn) (err error) { s.Bonds, err = c.Bonds(); return err })
	})
	part("nexthops", func() error {
		return withConn(func(c *netlink.Conn) (err error) { s.Nexthops, err = nexthops(c); return err })
	})
	part("nftables", func() (err error) { s.Nftables, err = netlink.Nftables(); return err })
	part("parameters", func() (err error) { s.Parameters, err = parameters(); return err })
	part("parameter files", func() (err error) { s.Files, err = parameterFiles(); return err })
	part("sockets", func() error { return sockets(&s, holders) })
	part("sockstat", func() (err error) { s.Sockstat, err = p.Sockstat(); return err })
	part("neighbour tables", func() error { s.Neighbours = entries(snapshot); return nil })
	part("conntrack", func() (err error) { s.Conntrack, err = p.Conntrack(); return err })
	part("resolver", func() (err error) { s.Resolver, err = proc.Resolver(); return err })
	part("clock", func() (err error) { s.Clock, err = proc.ClockSource(); return err })
	part("frequency governors", func() error { s.Governors = proc.CPUFreq("").Governors(); return nil })
	part("memory", func() (err error) { s.MemoryBytes, err = p.MemoryBytes(); return err })
	part("firmware", func() (err error) { s.Firmware, err = proc.Firmware(""); return err })
	part("open files", func() (err error) { s.OpenFiles, s.MostFiles, err = p.Files(); return err })
	return s
}

func nics(snapshot netstate.Snapshot) (list []netstate.NIC, err error) {
	h, err := ethtool.Open()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	conn, err := netlink.Dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	links, err := conn.Links()
	said := map[string]bool{}
	for _, l := range links {
		if !slices.ContainsFunc(snapshot.Interfaces, func(i netstate.InterfaceSnapshot) bool {
			return i.Interface == l.Name
		}) {
			continue // the loopback
		}
		nic, own := h.NIC(l)
		if own != nil && !said[own.Error()] {
			said[own.Error()] = true
			err = errors.Join(err, own)
		}
		list = append(list, nic)
	}
	return list, err
}

// nexthops are the nexthop objects.
func nexthops(c *netlink.Conn) (list []netstate.Nexthop, err error) {
	all, err := c.NexthopObjects()
	for _, o := range all[:min(len(all), netstate.MostNexthops)] {
		n := netstate.Nexthop{ID: o.ID, Interface: o.Interface, Resilient: o.Resilient != nil}
		if o.Via.IsValid() {
			n.Via = o.Via.String()
		}
		for _, flag := range []struct {
			set  bool
			name string
		}{{o.Dead, "dead"}, {o.LinkDown, "linkdown"}, {o.Blackhole, "blackhole"}, {o.FDB, "fdb"}} {
			if flag.set {
				n.Flags = append(n.Flags, flag.name)
			}
		}
		for _, m := range o.Group {
			n.Group = append(n.Group, netstate.NexthopMember{ID: m.ID, Weight: m.Weight})
		}
		list = append(list, n)
	}
	if len(all) > len(list) {
		err = fmt.Errorf("%d further ones", len(all)-len(list))
	}
	return list, err
}

func withConn(read func(*netlink.Conn) error) error {
	conn, err := netlink.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	return read(conn)
}

// modulesTime is after how long no further module is read: each takes some 100 ms, in which the
// kernel's lock of interfaces is held.
const modulesTime = 300 * time.Millisecond

// modules adds their pluggable modules to NICs.
func modules(nics []netstate.NIC) error {
	h, err := ethtool.Open()
	if err != nil {
		return err
	}
	defer h.Close()
	began := sched.Now()
	for i := range nics {
		if nics[i].Bus == "" {
			continue // no hardware
		}
		if took := time.Duration(sched.Now() - began); took > modulesTime {
			return fmt.Errorf("not read of %s and the interfaces after it: the ones before took %v", nics[i].Interface,
				took.Round(time.Millisecond))
		}
		nics[i].Module = h.Module(nics[i].Interface)
	}
	return nil
}

// kernelLog is what the kernel's log has about the network.
func kernelLog() (*netstate.KernelLog, error) {
	log, err := proc.OpenKernelLog(false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var lines netstate.KernelLog
	err = log.Read(lines.Add)
	return &lines, err
}

// machineParameters are those outside of net. that bear on the network.
var machineParameters = []string{"fs.file-max", "fs.nr_open", "kernel.sched_rt_runtime_us", "vm.min_free_kbytes"}

func parameters() (map[string]string, error) {
	all, err := proc.Sysctls{}.Tree("net")
	if all == nil {
		return nil, err
	}
	for _, key := range machineParameters {
		if value, readErr := (proc.Sysctls{}).Read(key); readErr == nil {
			all[key] = value
		}
	}
	return all, err
}

// entries counts the neighbour table's entries that gc_thresh3 bounds.
func entries(snapshot netstate.Snapshot) map[string]int {
	n := map[string]int{}
	for _, e := range snapshot.Neighbours {
		if e.State == "PERMANENT" || e.State == "NOARP" {
			continue
		}
		if strings.Contains(e.Address, ":") {
			n["ipv6"]++
		} else {
			n["ipv4"]++
		}
	}
	return n
}

func stateName(number uint8) string {
	if int(number) < len(netstate.TCPStates) && netstate.TCPStates[number] != "" {
		return netstate.TCPStates[number]
	}
	return fmt.Sprint("state ", number)
}

func sockets(s *netstate.HostState, holders map[uint32]proc.Holder) error {
	diag, err := netlink.DialSocketDiag()
	if err != nil {
		return err
	}
	defer diag.Close()
	tcp, err := diag.AllTCP()
	udp, udpErr := diag.UDP()
	drops, dropsErr := proc.Proc{}.UDPDrops()
	err = errors.Join(err, udpErr, dropsErr)
	s.TCP = map[string]int{}
	waiting := map[[2]netip.AddrPort]int{}
	for _, t := range tcp {
		if t.Listening {
			s.Listeners = append(s.Listeners, netstate.Listener{Protocol: "tcp", Local: t.Local.String(),
				Queued: t.ReceiveQueue, Backlog: t.SendQueue, Program: holders[t.Inode].Name})
			continue
		}
		s.TCP[stateName(t.State)]++
		if stateName(t.State) == netstate.TimeWait {
			s.CountTimeWait(waiting, t.Local, t.Remote)
		}
		if netstate.Notable(stateName(t.State), t.ReceiveQueue, t.SendQueue, t.Info) {
			s.Notable = append(s.Notable, connection(t, holders))
		}
	}
	for _, u := range udp {
		s.Listeners = append(s.Listeners, netstate.Listener{Protocol: "udp", Local: u.Local.String(),
			Queued: u.ReceiveQueue, Program: holders[u.Inode].Name, Drops: drops[u.Inode],
			ReceiveBuffer: u.ReceiveBuffer})
	}
	s.BoundSockets()
	return err
}

func connection(t netlink.Socket, holders map[uint32]proc.Holder) netstate.Connection {
	return netstate.Connection{Local: t.Local.String(), Remote: t.Remote.String(), State: stateName(t.State),
		Program:           holders[t.Inode].Name,
		CongestionControl: t.CongestionControl, ReceiveQueue: t.ReceiveQueue, SendQueue: t.SendQueue, Info: t.Info}
}
