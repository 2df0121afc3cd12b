package hoststate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"linerate/internal/kernel/drops"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// dropTrace counts what the kernel drops in this network namespace between the readings. The
// zero value is that of a snapshot with one reading.
type dropTrace struct {
	tracer *drops.Tracer
	err    error
	part   netstate.StatePart
	drops  *netstate.KernelDrops // nil: part says why
}

func (d *dropTrace) start() {
	d.part.BeganNs = sched.Now()
	own, err := netlink.CurrentNetNS()
	if err == nil {
		d.tracer, err = drops.Start(drops.Options{Namespace: own.Inode})
	}
	d.err = err
}

// read ends the counting.
func (d *dropTrace) read() {
	d.part.Part = record.ByTracepoint
	if d.part.BeganNs == 0 {
		d.part.BeganNs, d.err = sched.Now(), errors.New("there is one reading only; --over makes two")
	}
	if d.err == nil {
		d.drops, d.err = d.rows()
	}
	d.close()
	if d.err != nil {
		d.part.Missing = d.err.Error()
	}
	d.part.EndedNs = sched.Now()
}

func (d *dropTrace) close() {
	if d.tracer != nil {
		d.err = cmp.Or(d.err, d.tracer.Close())
		d.tracer = nil
	}
}

func (d *dropTrace) rows() (*netstate.KernelDrops, error) {
	counts, err := d.tracer.Read()
	if err != nil {
		return nil, err
	}
	conn, err := netlink.Dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	links, err := conn.Links()
	if err != nil {
		return nil, err
	}
	found := &netstate.KernelDrops{Rows: []netstate.KernelDrop{}, Unspecified: counts.Unspecified, Lost: counts.Lost}
	for i, c := range counts.List { // those with the most packets first
		if i >= netstate.MostKernelDrops {
			found.Lost += c.Packets
			continue
		}
		found.Rows = append(found.Rows, netstate.KernelDrop{Reason: c.Reason, Interface: interfaceName(links, c.Index),
			Direction: c.Direction, Protocol: c.Protocol, Place: c.Place, Packets: c.Packets})
	}
	return found, nil
}

// interfaceName is empty for no interface, and "interface 7" for one that has been removed.
func interfaceName(links []netlink.Link, index int) string {
	if index == 0 {
		return ""
	}
	if i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Index == index }); i >= 0 {
		return links[i].Name
	}
	return fmt.Sprint("interface ", index)
}
