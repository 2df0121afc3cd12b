package report

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// neighbourTable is one host's ARP or neighbour-discovery table, read against
// who holds the addresses.
type neighbourTable struct {
	Host string
	Rows []neighbourRow
	// Wrong counts the rows that lead to an interface that does not hold the address.
	Wrong int
}

type neighbourRow struct {
	Address, Interface, MAC, State string
	HeldBy                         string // the interface that holds the address
	BelongsTo                      string // the interface whose MAC address it is
	Delivers                       string // where the switch's forwarding table sends frames for the MAC address
	Wrong                          bool
}

type fdbTable struct {
	Switch string
	Rows   []fdbRow
}

type fdbRow struct{ MAC, Interface, Peer, BelongsTo string }

// tables reads the neighbour tables of the hosts that hold data flows' ends
// and the forwarding tables of the switches, in one trial. Only addresses that
// somebody in the run holds are listed: the rest of a real host's table is none
// of this study's business.
func (v *view) tables(t *record.Trial) (hosts []neighbourTable, switches []fdbTable) {
	delivers := map[string][]string{}
	for _, h := range t.Hosts {
		if len(h.Snapshot.FDB) == 0 {
			continue
		}
		table := fdbTable{Switch: h.Host}
		for _, e := range h.Snapshot.FDB {
			if e.Local {
				continue
			}
			far := e.Peer
			if far == "" {
				far = e.Interface
			}
			mac := strings.ToLower(e.MAC)
			if !slices.Contains(delivers[mac], far) {
				delivers[mac] = append(delivers[mac], far)
			}
			table.Rows = append(table.Rows, fdbRow{e.MAC, e.Interface, e.Peer, ends(v.reads.owner(e.MAC))})
		}
		slices.SortStableFunc(table.Rows, func(a, b fdbRow) int { return cmp.Or(natural(a.Peer, b.Peer), natural(a.Interface, b.Interface)) })
		switches = append(switches, table)
	}
	for _, h := range t.Hosts {
		table := neighbourTable{Host: h.Host}
		for _, n := range h.Snapshot.Neighbours {
			holders := v.reads.holder(n.Address)
			if len(holders) == 0 {
				continue
			}
			r := neighbourRow{Address: n.Address, Interface: n.Interface, MAC: n.MAC, State: n.State, HeldBy: ends(holders),
				BelongsTo: ends(v.reads.owner(n.MAC)), Delivers: strings.Join(delivers[strings.ToLower(n.MAC)], ", "), Wrong: v.reads.wrong(n)}
			if r.Wrong {
				table.Wrong++
			}
			table.Rows = append(table.Rows, r)
		}
		if len(table.Rows) == 0 {
			continue
		}
		slices.SortStableFunc(table.Rows, func(a, b neighbourRow) int {
			x, _ := netip.ParseAddr(a.Address)
			y, _ := netip.ParseAddr(b.Address)
			return cmp.Or(x.Compare(y), natural(a.Interface, b.Interface))
		})
		hosts = append(hosts, table)
	}
	// The clients first: what they believe decides where the data arrives.
	slices.SortStableFunc(hosts, func(a, b neighbourTable) int {
		return cmp.Or(cmp.Compare(b2i(a.Host == v.focus), b2i(b.Host == v.focus)), natural(a.Host, b.Host))
	})
	return hosts, switches
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// wrongEntries counts, over the hosts of the trial shown for a treatment, the
// entries that lead elsewhere.
func (v *view) wrongEntries(t *record.Treatment) (wrong, all int) {
	trial := v.shown(t)
	if trial == nil {
		return 0, 0
	}
	hosts, _ := v.tables(trial)
	for _, h := range hosts {
		wrong += h.Wrong
		all += len(h.Rows)
	}
	return wrong, all
}

// shown is the trial whose tables and time series stand for a treatment.
func (v *view) shown(t *record.Treatment) *record.Trial {
	if t == nil {
		return nil
	}
	return metric.Typical(v.run, t)
}

// affected counts a treatment's trials in which some entry was wrong.
func (v *view) affected(t *record.Treatment) (n, of int) {
	for _, trial := range trialsOf(v.run, t.Name) {
		of++
		hosts, _ := v.tables(trial)
		if slices.ContainsFunc(hosts, func(h neighbourTable) bool { return h.Wrong > 0 }) {
			n++
		}
	}
	return n, of
}
