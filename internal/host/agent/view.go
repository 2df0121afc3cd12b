package agent

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// What a conductor gets to see of the host beside counters: all of it, or, as a
// client, no more than what its own flows need to be judged.

func (a *agent) tables() netstate.Tables {
	if a.client != nil {
		return netstate.Tables{}
	}
	return a.reader.Tables()
}

func (a *agent) snapshot(r message.WindowRequest) (netstate.Snapshot, error) {
	if a.client == nil && !r.Brief {
		return a.reader.Snapshot(a.node, r.Lookups, r.Sysctls)
	}
	interfaces, err := a.reader.Interfaces()
	if a.client == nil {
		return netstate.Snapshot{Host: a.node, Interfaces: interfaces}, err
	}
	var own []netip.Addr
	for _, end := range a.trial().Read() {
		own = append(own, end.Local.Addr())
	}
	return netstate.Snapshot{Host: a.node, Interfaces: visible(interfaces, own)}, err
}

// visible is what a client sees of interfaces: of their addresses those of its own flows.
func visible(interfaces []netstate.InterfaceSnapshot, own []netip.Addr) (list []netstate.InterfaceSnapshot) {
	for _, i := range interfaces {
		list = append(list, netstate.InterfaceSnapshot{
			Interface: i.Interface, Index: i.Index, MTU: i.MTU, Up: i.Up, Master: i.Master, Kind: i.Kind,
			Driver: i.Driver, SpeedBps: i.SpeedBps, Shaper: i.Shaper,
			Addresses: slices.DeleteFunc(slices.Clone(i.Addresses), func(text string) bool {
				prefix, err := netip.ParsePrefix(text)
				return err != nil || !slices.ContainsFunc(own, func(a netip.Addr) bool {
					// A link-local address is one of the interface that its zone names.
					return prefix.Addr() == a.WithZone("") &&
						slices.Contains([]string{"", i.Interface, strconv.Itoa(i.Index)}, a.Zone())
				})
			}),
		})
	}
	return list
}

// meter begins to count what this process does; the function it returns enters
// into a reading what that was since.
func (a *agent) meter() func(*netstate.HostReading) {
	cpu := a.processCPU()
	var before netstate.OtherFlows
	if a.client != nil {
		before = a.client.others()
	}
	return func(h *netstate.HostReading) {
		h.ProcessCPUS = (a.processCPU() - cpu).Seconds()
		if a.client == nil {
			return
		}
		now := a.client.others()
		others := netstate.OtherFlows{
			Clients: max(before.Clients, now.Clients), Flows: max(before.Flows, now.Flows),
			ReceivedBytes: now.ReceivedBytes - before.ReceivedBytes,
			WrittenBytes:  now.WrittenBytes - before.WrittenBytes,
		}
		if others != (netstate.OtherFlows{}) {
			h.Others = &others
		}
	}
}

// processCPU is the processor time of this process, and of those that hold a part
// of its connections.
func (a *agent) processCPU() time.Duration {
	return proc.TotalCPUTime() + a.trial().Outside()
}
