package compare

import (
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// snapshots lists the differences of hosts of the same name before the first trials of two runs.
func snapshots(from, to *record.Run) (list []record.SnapshotDiff) {
	for _, s := range from.Snapshots {
		a, b := bothBefore(from, to, s.Host)
		if a == nil {
			continue
		}
		kinds := []kind{machine, network, counting}
		if !from.Real(s.Host) || !to.Real(s.Host) {
			kinds = kinds[:1]
		}
		if d := between(*a, *b, kinds...); len(d.Changes) > 0 {
			list = append(list, d)
		}
	}
	return list
}

// bothBefore returns a host's snapshots from before the first trials of both runs. nil: one of the
// runs has none.
func bothBefore(from, to *record.Run, host string) (a, b *netstate.HostSnapshot) {
	of := func(run *record.Run) *netstate.HostSnapshot {
		for _, s := range run.Snapshots {
			if s.Host == host {
				return s.Before
			}
		}
		return nil
	}
	if a, b = of(from), of(to); a == nil || b == nil {
		return nil, nil
	}
	return a, b
}

// Changed lists what changed on the hosts of a run by other causes than the run: the differences
// between the snapshots before the first trial and after the last, when the run's own settings are
// reverted. Neighbours, counters and other values that traffic changes are left out.
func Changed(run *record.Run) (list []record.SnapshotDiff) {
	for _, s := range run.Snapshots {
		if s.Before == nil || s.After == nil {
			continue
		}
		kinds := []kind{machine, network}
		if !run.Real(s.Host) {
			kinds = kinds[:1]
		}
		if d := between(*s.Before, *s.After, kinds...); len(d.Changes) > 0 {
			list = append(list, d)
		}
	}
	return list
}
