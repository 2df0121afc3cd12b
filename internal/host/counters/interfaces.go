package counters

import (
	"sort"

	"linerate/internal/model/record"
)

// interfaces reads IFLA_STATS64 of every interface, sorted by name.
func (r *Reader) interfaces() ([]record.InterfaceCounters, error) {
	all, err := r.conn.InterfaceCounters(r.names)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, p := range all {
		if r.read(p.Interface) {
			kept = append(kept, p)
		}
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].Interface < kept[j].Interface })
	return kept, nil
}
