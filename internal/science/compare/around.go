package compare

import (
	"linerate/internal/model/record"
)

// snapshots lists in what hosts of one name differed before the first trials of two runs.
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

// bothBefore are a host's snapshots from before the first trials; nil: one of the runs has none.
func bothBefore(from, to *record.Run, host string) (a, b *record.HostSnapshot) {
	of := func(run *record.Run) *record.HostSnapshot {
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

// Changed lists what another than the run changed on its hosts while it was made: what differs
// between the snapshots before its first trial and after its last, when its own settings are
// reverted. What traffic changes, such as neighbours and counters, is left out.
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
