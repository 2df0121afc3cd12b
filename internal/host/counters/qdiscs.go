package counters

import (
	"sort"

	"linerate/internal/model/record"
)

// qdiscs reads TCA_STATS2 of every queueing discipline, by interface and handle.
// noqueue counts nothing and is left out.
func (r *Reader) qdiscs() ([]record.QdiscCounters, error) {
	all, err := r.conn.Qdiscs(r.names)
	if err != nil {
		return nil, err
	}
	var list []record.QdiscCounters
	for _, q := range all {
		if !r.read(q.Interface) || q.Kind == "noqueue" {
			continue
		}
		list = append(list, record.QdiscCounters{
			Interface: q.Interface, Kind: q.Kind, Handle: q.HandleText(),
			Bytes: q.Bytes, Packets: q.Packets, Drops: q.Drops, Overlimits: q.Overlimits,
			Backlog: q.Backlog, Qlen: q.Qlen, Requeues: q.Requeues,
		})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Interface < list[j].Interface })
	return list, nil
}

// Backlog is the number of bytes that wait in the host's queues now.
func (r *Reader) Backlog() (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	qdiscs, err := r.qdiscs()
	var waiting uint64
	for _, q := range qdiscs {
		waiting += q.Backlog
	}
	return waiting, err
}
