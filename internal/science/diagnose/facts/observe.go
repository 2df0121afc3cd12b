package facts

import (
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/hostload"
)

// Observe arranges snapshots for rules. If boot is set, counters are compared with those of the
// boot instead of the first reading.
func Observe(list []netstate.HostSnapshot, boot bool) Trial {
	var t topology.Topology
	var trial record.Trial
	for _, s := range list {
		r := s.Reading
		r.Snapshot.Host = r.Host
		// Rules of trials compare each interface with each neighbour of other hosts.
		r.Snapshot.Neighbours = r.Snapshot.Neighbours[:min(len(r.Snapshot.Neighbours), mostNeighbours)]
		r.Before.Neighbours = r.Before.Neighbours[:min(len(r.Before.Neighbours), mostNeighbours)]
		r.Snapshot.FDB = r.Snapshot.FDB[:min(len(r.Snapshot.FDB), mostForwarded)]
		r.Snapshot.Answers = r.Snapshot.Answers[:min(len(r.Snapshot.Answers), mostNeighbours)]
		r.Snapshot.Interfaces = addressedFirst(r.Snapshot.Interfaces)
		if boot {
			r.Begin = readingAtBoot(r)
		} else if s.OverS == 0 {
			r.Begin = r.End // nothing grew, as far as is known
		}
		t.Hosts = append(t.Hosts, topology.Host{Name: r.Host, Via: []string{"snapshot"}}) // none that linerate made
		trial.Hosts = append(trial.Hosts, r)
	}
	f := Gather(trial, &t)
	for i, h := range f.Hosts {
		h.foreign = map[string]bool{}
		for _, other := range f.Hosts {
			for _, p := range other.Interfaces {
				if other != h && p.MAC != "" {
					h.foreign[p.MAC] = true
				}
			}
		}
		s := list[i]
		h.Intervals = s.Intervals
		h.State, h.OverS, h.Boot, h.CPUs, h.Pasted = s.State, s.OverS, boot, s.Host.CPUs, s.Pasted
		h.System, h.Names = opsystem.Foreign(s.Host.OS), s.CounterNames
		h.Counted, h.Queued = Counted(h.Reading), queued(h.Reading)
		h.Shared = hostload.ForeignAt(f.Trial.Hosts, h.Name)
		if k := s.State.KernelDrops; k != nil {
			h.trace(k.Rows)
		}
	}
	return f
}

// mostNeighbours bounds the neighbour entries of a host, and mostForwarded the entries of a
// forwarding table, that rules see.
const mostNeighbours, mostForwarded = 2000, 20_000

// addressedFirst returns a host's interfaces, at most MostInterfaces: if there are more, those with
// addresses first. A snapshot may come from elsewhere and be of any size.
func addressedFirst(list []netstate.InterfaceSnapshot) []netstate.InterfaceSnapshot {
	if len(list) <= MostInterfaces {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b netstate.InterfaceSnapshot) int {
		return min(len(b.Addresses), 1) - min(len(a.Addresses), 1)
	})
	return list[:MostInterfaces]
}

// readingAtBoot returns the reading of a host at its boot, with all counters 0.
func readingAtBoot(r netstate.HostReading) (b netstate.Reading) {
	if len(r.Begin.Interfaces) > 0 {
		r.End = r.Begin
	}
	for _, i := range r.End.Interfaces {
		b.Interfaces = append(b.Interfaces, netstate.InterfaceCounters{Interface: i.Interface})
	}
	return b
}
