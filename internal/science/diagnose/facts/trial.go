package facts

import (
	"net/netip"
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/science/hostload"
)

// Excess is the share of traffic by which an interface must exceed what was addressed to it before
// that is a finding.
const Excess = 0.1

// AddressShares returns each interface's share of a host's incoming or outgoing traffic according to the
// addresses of the flows. If no data flows in that direction, the shares are those of the
// acknowledgements, in proportion to the data that they acknowledge.
func (f Trial) AddressShares(h *Host, incoming bool) map[*Interface]float64 {
	data, answers := map[*Interface]float64{}, map[*Interface]float64{}
	for _, fl := range f.Trial.Flows {
		if !fl.Connected {
			continue
		}
		for _, end := range []struct {
			host     string
			address  netip.Addr
			receives bool
		}{{fl.To, fl.DestinationAddr(), true}, {fl.From, fl.SourceAddr(), false}} {
			p, to := h.Holder(end.address), data
			if end.receives != incoming {
				to = answers
			}
			if end.host == h.Name && p != nil {
				to[p] += float64(fl.ReceivedBytes)
			}
		}
	}
	if len(data) == 0 {
		data = answers
	}
	total := 0.0
	for _, bytes := range data {
		total += bytes
	}
	for p := range data {
		if total > 0 {
			data[p] /= total
		}
	}
	return data
}

const (
	// LongBacklog is the number of packets above which a CPU's backlog delays them for longer than
	// connections wait.
	LongBacklog = 300_000
)

// HostOf returns the name of the host on which the settings of a machine are changed: the host that
// was read, or hostload.This for a lab, whose hosts cannot change them.
func HostOf(m hostload.Machine) string {
	if m.Name == hostload.This {
		return m.Name
	}
	return m.Host
}

// Machines returns the machines that the hosts of the trial run on.
func (f Trial) Machines() []hostload.Machine { return hostload.Of(f.Trial, f.Topology) }

// HeldBack reports whether the flows carry clearly less than all their links could, because of
// their placement on links as far as that is known.
func (f Trial) HeldBack() bool {
	if placed := f.Trial.PlacementLimitBps; placed > 0 {
		return placed < 0.95*f.Trial.LimitBps
	}
	return f.Trial.LimitBps > 0 && f.Trial.GoodputBps < 0.95*f.Trial.LimitBps
}

// Idle is the share of traffic below which an interface counts as unused.
const Idle = 0.05

// Sends reports whether data of a flow used this route decision.
func (f Trial) Sends(h *Host, d Asymmetry) bool {
	return slices.ContainsFunc(f.Trial.Flows, func(fl record.Flow) bool {
		return fl.Connected && fl.From == h.Name && fl.ReceivedBytes > 0 &&
			fl.SourceAddr() == d.Source && fl.DestinationAddr() == d.Destination
	})
}

// Host returns the host with a name; nil: there is none.
func (f Trial) Host(name string) *Host {
	for _, h := range f.Hosts {
		if h.Name == name {
			return h
		}
	}
	return nil
}

// UnknownPath reports whether the path between the hosts is not fully known. That of a lab is
// known.
func (f Trial) UnknownPath() bool {
	for _, h := range f.Topology.Hosts {
		if len(f.Topology.Links) > 0 && len(h.Via) == 0 {
			return false
		}
	}
	return true
}
