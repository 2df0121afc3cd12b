package report

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/conclude"
)

// reader answers which interface a MAC or IP address belongs to, from the interfaces as
// the agents saw them and, where they saw none, from the topology.
type reader struct {
	topo    *topology.Topology
	owners  map[string][]topology.End     // by MAC address in lower case
	holders map[netip.Addr][]topology.End // by IP address
}

func newReader(run *record.Run) reader {
	r := reader{&run.Topology, map[string][]topology.End{}, map[netip.Addr][]topology.End{}}
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
					addEnd(r.owners, strings.ToLower(p.MAC), end)
				}
				for _, text := range p.Addresses {
					if prefix, err := netip.ParsePrefix(text); err == nil && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
						addEnd(r.holders, prefix.Addr().Unmap(), end)
					}
				}
			}
		}
	}
	for _, h := range run.Topology.Hosts {
		for _, p := range h.Interfaces {
			end := topology.End{Node: h.Name, Interface: p.Name}
			// A lab's own choice of MAC address holds only where linerate made the host.
			if mac := run.Topology.MAC(end); mac != "" && !seen[end] && (len(h.Via) == 0 || p.MAC != "") {
				addEnd(r.owners, strings.ToLower(mac), end)
			}
		}
	}
	return r
}

func addEnd[K comparable](index map[K][]topology.End, key K, end topology.End) {
	if !slices.Contains(index[key], end) {
		index[key] = append(index[key], end)
	}
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
	if end, ok := r.topo.Holder(addr.Unmap()); ok {
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

// findFocus is the host whose interfaces the run is about (conclude.Focus).
// Where there is none, figures are arranged around the flows' end with the most
// interfaces; the first of several.
func (v *view) findFocus() string {
	if asked := conclude.Focus(v.run); asked.Host != "" {
		return asked.Host
	}
	isEnd := map[string]bool{}
	for _, t := range v.run.Trials {
		for _, f := range t.Flows {
			isEnd[f.From], isEnd[f.To] = true, true
		}
	}
	count := map[string]map[string]bool{}
	var order []string
	for _, t := range v.run.Treatments {
		for _, p := range t.Interfaces {
			if _, isSwitch := v.run.Topology.Switch(p.Host); isSwitch || len(isEnd) > 0 && !isEnd[p.Host] {
				continue
			}
			if count[p.Host] == nil {
				count[p.Host] = map[string]bool{}
				order = append(order, p.Host)
			}
			count[p.Host][p.Interface] = true
		}
	}
	best := ""
	for _, host := range order {
		if best == "" || len(count[host]) > len(count[best]) {
			best = host
		}
	}
	return best
}

// traffic names what the shares of the focus are of: of one direction where data
// flows both ways and this one is shared less evenly.
func (v *view) traffic() string {
	directions := map[string]bool{}
	both := false
	for _, t := range v.run.Treatments {
		for _, p := range portsOf(&t, v.focus) {
			directions[p.Direction] = true
			both = both || p.ShareRx != nil && p.ShareTx != nil
		}
	}
	switch {
	case both && len(directions) == 1 && directions[record.Tx]:
		return "what " + v.focus + " sent"
	case both && len(directions) == 1:
		return "what " + v.focus + " received"
	}
	return "the traffic of " + v.focus
}

// portsOf lists those of a host's loads in a treatment that have a share, eth2
// before eth10: none where the host carried no data.
func portsOf(t *record.Treatment, host string) []record.TreatmentInterface {
	var out []record.TreatmentInterface
	if t == nil {
		return nil
	}
	directed, shared := false, false // runs of older versions have shares without a direction
	for _, p := range t.Interfaces {
		directed = directed || p.Host == host && p.Direction != ""
		shared = shared || p.Host == host && p.Share > 0
	}
	for _, p := range t.Interfaces {
		if p.Host == host && (p.Direction != "" || shared && !directed) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b record.TreatmentInterface) int { return natural(a.Interface, b.Interface) })
	return out
}

// natural compares names so that their numbers count as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// load is an interface's traffic in its busier direction.
func load(p record.TreatmentInterface) float64 { return max(p.RxBps, p.TxBps) }

// carrying counts the interfaces that carry a part worth naming: a twentieth of
// their host's traffic, or half an equal share where there are many.
func carrying(ports []record.TreatmentInterface) int {
	n := 0
	for _, p := range ports {
		if p.Share >= min(0.05, 0.5/float64(len(ports))) {
			n++
		}
	}
	return n
}
