package counters

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// interfaces reads IFLA_STATS64 of every interface, sorted by name.
func (r *Reader) interfaces() ([]record.InterfaceCounters, error) {
	all, err := r.conn.InterfaceCounters(r.names)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c record.InterfaceCounters) bool { return !r.read(c.Interface) })
	slices.SortFunc(all, func(a, b record.InterfaceCounters) int { return strings.Compare(a.Interface, b.Interface) })
	return all, nil
}
