package counters

import (
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

// Tables reads what the network itself changes: the neighbour tables and the forwarding tables of the host's
// bridges.
func (r *Reader) Tables() netstate.Tables {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables()
}

func (r *Reader) tables() netstate.Tables {
	tables := netstate.Tables{BeganNs: sched.Now()}
	if !netlink.Available {
		return tables
	}
	neighbours, err := r.conn.Neighbours()
	missing(&tables.Missing, "neighbours", err)
	for _, n := range neighbours {
		if n.Proxy || r.skip[n.Interface] {
			continue
		}
		tables.Neighbours = append(tables.Neighbours, netstate.Neighbour{
			Interface: n.Interface, Address: n.Address.String(), MAC: n.MAC, State: n.State,
		})
	}
	tables.FDB, err = r.conn.FDB()
	missing(&tables.Missing, "forwarding tables", err)
	tables.EndedNs = sched.Now()
	return tables
}
