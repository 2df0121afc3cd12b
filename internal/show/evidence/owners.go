package evidence

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// reader answers which interface a MAC or IP address belongs to, from the interfaces as
// the agents saw them and, where they saw none, from the topology.
type reader struct {
	*view.View
	owners  map[string][]topology.End     // by MAC address in lower case
	holders map[netip.Addr][]topology.End // by IP address
}

func newReader(v *view.View) reader {
	run := v.Run
	r := reader{v, map[string][]topology.End{}, map[netip.Addr][]topology.End{}}
	isSwitch := map[string]bool{}
	for _, s := range run.Topology.Switches {
		isSwitch[s.Name] = true
	}
	seen := map[topology.End]bool{}
	for _, t := range run.Trials {
		for _, h := range t.Hosts {
			if isSwitch[h.Host] {
				continue
			}
			for _, p := range h.Snapshot.Interfaces {
				end := topology.End{Node: h.Host, Interface: p.Interface}
				if p.MAC != "" && p.Kind != "loopback" {
					seen[end] = true
					mac := strings.ToLower(p.MAC)
					r.owners[mac] = words.Distinct(r.owners[mac], end)
				}
				for _, text := range p.Addresses {
					if prefix, err := netip.ParsePrefix(text); err == nil && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
						addr := prefix.Addr().Unmap()
						r.holders[addr] = words.Distinct(r.holders[addr], end)
					}
				}
			}
		}
	}
	for _, h := range run.Topology.Hosts {
		for _, p := range h.Interfaces {
			end := topology.End{Node: h.Name, Interface: p.Name}
			// A lab's own choice of MAC address holds only where linerate made the host.
			if mac := strings.ToLower(run.Topology.MAC(end)); mac != "" && !seen[end] && (len(h.Via) == 0 || p.MAC != "") {
				r.owners[mac] = words.Distinct(r.owners[mac], end)
			}
		}
	}
	return r
}

// holder lists the interfaces that hold an address.
func (r reader) holder(address string) []topology.End {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return nil
	}
	if ends := r.holders[addr.Unmap()]; len(ends) > 0 {
		return ends
	}
	if end, ok := r.Run.Topology.Holder(addr.Unmap()); ok {
		return []topology.End{end}
	}
	return nil
}

// owner lists the interfaces that have a MAC address.
func (r reader) owner(mac string) []topology.End { return r.owners[strings.ToLower(mac)] }

// wrong reports whether a neighbour entry leads elsewhere: its MAC address is
// known to belong to interfaces of which none holds the IP address. An entry with an
// unknown MAC or an unknown IP address is not called wrong.
func (r reader) wrong(n record.Neighbour) bool {
	owners, holders := r.owner(n.MAC), r.holder(n.Address)
	if n.MAC == "" || len(owners) == 0 || len(holders) == 0 {
		return false
	}
	return !slices.ContainsFunc(owners, func(e topology.End) bool { return slices.Contains(holders, e) })
}

func ends(list []topology.End) string {
	var names []string
	for _, e := range list {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ")
}
