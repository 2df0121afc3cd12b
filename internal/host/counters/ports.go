package counters

import (
	"sort"

	"linerate/internal/model/record"
)

// ports reads IFLA_STATS64 of every port, by name.
func (r *Reader) ports() ([]record.PortCounters, error) {
	all, err := r.conn.PortCounters(r.names)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, p := range all {
		if r.read(p.Port) {
			kept = append(kept, p)
		}
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].Port < kept[j].Port })
	return kept, nil
}
