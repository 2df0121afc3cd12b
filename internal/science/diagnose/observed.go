package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// observed is a trial arranged for rules.
type observed struct {
	trial record.Trial
	over  *topology.Topology
	hosts []*host
}

// host is one host (not switch) as its reading and the topology describe it.
type host struct {
	name    string
	alone   bool // there is no other host
	reading record.HostReading
	netifs  []*netif
	deltas  map[string]record.InterfaceDelta

	byAddress map[netip.Addr]*netif
	byMAC     map[string]*netif // nil: several interfaces have it

	// Of a snapshot of the host:
	foreign map[string]bool // the MAC addresses of the other hosts
	state   record.HostState
	overS   float64 // between the readings
	boot    bool    // the first reading is that of the boot
	shared  bool    // softnet_stat is mostly of packets of other network namespaces (hostload.Foreign)
	cpus    int
	flows   []record.Flow              // of the trial, around a run
	nics    map[string]int             // of state, by interface
	pasted  []string                   // the parts that it has, of a pasted text
	counted []record.InterfaceCounters // between the readings
	queued  []queue
	traced  []record.KernelDrop // between the readings
	// Packets of traced that each counter counts: all, and those that are dropped harmlessly.
	named, benign map[tally]uint64

	gatewayed map[netip.Addr][]string // places of what leaves by each gateway, once they are asked for
}

type netif struct {
	name     string
	mac      string
	prefixes []netip.Prefix // addresses with their prefix length
	up       bool
	member   bool   // of a bond or a bridge: its master answers for it
	vrf      string // that its routes and addresses are of; empty: the host's own
}

// gather arranges a trial. Hosts are as they were read, or, without a reading, as the
// topology has them.
func gather(trial record.Trial, t *topology.Topology) observed {
	f := observed{trial: trial, over: t}
	for _, th := range t.Hosts {
		reading, _ := trial.Reading(th.Name)
		h := &host{name: th.Name, alone: len(t.Hosts) == 1, reading: reading,
			deltas: map[string]record.InterfaceDelta{}}
		for _, d := range reading.Deltas() {
			h.deltas[d.Interface] = d
		}
		for _, s := range reading.Snapshot.Interfaces {
			p := &netif{name: s.Interface, mac: strings.ToLower(s.MAC), up: s.Up, vrf: vrf(reading.Snapshot, s)}
			p.member = s.Master != "" && s.Master != p.vrf
			for _, text := range s.Addresses {
				if prefix, err := netip.ParsePrefix(text); err == nil {
					p.prefixes = append(p.prefixes, prefix)
				}
			}
			h.netifs = append(h.netifs, p)
		}
		if len(h.netifs) == 0 {
			h.netifs = declared(t, th)
		}
		f.hosts = append(f.hosts, h)
	}
	return f
}

// vrf is the VRF of an interface, whose slaves look routes up and answer ARP by themselves, among
// the addresses of their VRF (Documentation/networking/vrf.rst); empty: it is in none.
func vrf(s record.Snapshot, i record.InterfaceSnapshot) string {
	name := i.Master
	if i.Kind == "vrf" {
		name = i.Interface
	}
	if slices.ContainsFunc(s.Interfaces, func(m record.InterfaceSnapshot) bool {
		return m.Interface == name && m.Kind == "vrf"
	}) {
		return name
	}
	return ""
}

func declared(t *topology.Topology, th topology.Host) (netifs []*netif) {
	for _, tp := range th.Interfaces {
		p := &netif{name: tp.Name, mac: strings.ToLower(t.MAC(topology.End{Node: th.Name, Interface: tp.Name})),
			up: true}
		for _, a := range tp.Addresses {
			p.prefixes = append(p.prefixes, a.Prefixes()...)
		}
		netifs = append(netifs, p)
	}
	return netifs
}

// v4 are the interface's IPv4 addresses. ARP is theirs alone: neighbour discovery
// answers by the interface that holds the address, and no other (ndisc_recv_ns).
func (p *netif) v4() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(p.prefixes), func(x netip.Prefix) bool { return !x.Addr().Is4() })
}

// onSubnet lists the host's interfaces in a VRF, or in none (empty), whose prefixes hold addr and
// which answer for themselves: up, no member of a bond or bridge.
func (h *host) onSubnet(addr netip.Addr, vrf string) []*netif {
	return slices.DeleteFunc(slices.Clone(h.netifs), func(p *netif) bool {
		return !p.up || p.member || p.vrf != vrf || !slices.ContainsFunc(p.prefixes, func(x netip.Prefix) bool {
			return x.Contains(addr)
		})
	})
}

// holder is the interface that holds one of the host's addresses.
func (h *host) holder(addr netip.Addr) *netif {
	h.index()
	return h.byAddress[addr]
}

// index finds interfaces by their addresses.
func (h *host) index() {
	if h.byAddress != nil {
		return
	}
	h.byAddress, h.byMAC = map[netip.Addr]*netif{}, map[string]*netif{}
	for _, p := range h.netifs {
		for _, prefix := range p.prefixes {
			if h.byAddress[prefix.Addr()] == nil {
				h.byAddress[prefix.Addr()] = p
			}
		}
		if _, shared := h.byMAC[p.mac]; shared {
			h.byMAC[p.mac] = nil
		} else if p.mac != "" {
			h.byMAC[p.mac] = p
		}
	}
}

// owner is the interface with a MAC address, nil when several share it, as members
// of a bond do.
func (h *host) owner(mac string) *netif {
	h.index()
	return h.byMAC[strings.ToLower(mac)]
}

func (h *host) end(p *netif) string { return h.name + "." + p.name }

// sysctl reads net.ipv4.conf.SCOPE.NAME, -1 when it was not recorded.
func (h *host) sysctl(scope, name string) int {
	value, err := strconv.Atoi(
		strings.TrimSpace(h.reading.Snapshot.Sysctls["net.ipv4.conf."+strings.ReplaceAll(scope, ".", "/")+"."+name]))
	if err != nil {
		return -1
	}
	return value
}

// effective is what holds for an interface: for arp_ignore, arp_announce, arp_filter
// and rp_filter the larger of "all" and the interface's own; -1 when unknown.
func (h *host) effective(name string, p *netif) int {
	return max(h.sysctl("all", name), h.sysctl(p.name, name))
}

// lookup is the interface by which a packet leaves, as the host's kernel said; nil: that is not
// known. The kernel is asked for no VRF, so that of an address there its answer does not hold.
func (h *host) lookup(source, destination netip.Addr) *netif {
	holder := h.holder(source)
	for _, l := range h.reading.Snapshot.Lookups {
		if l.Error == "" && l.Source == source.String() && l.Destination == destination.String() {
			i := slices.IndexFunc(h.netifs, func(p *netif) bool { return p.name == l.Interface })
			if i >= 0 && (holder == nil || holder.vrf == h.netifs[i].vrf) {
				return h.netifs[i]
			}
		}
	}
	return nil
}

// neighbours are all entries for an address that the host held at either edge.
func (h *host) neighbours(addr netip.Addr) []record.Neighbour {
	var list []record.Neighbour
	text, seen := addr.String(), map[record.Neighbour]bool{}
	for _, n := range h.entries() {
		if n.Address == text && !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// entries are the neighbour table at the window's end, and after it the one at its begin.
func (h *host) entries() []record.Neighbour {
	return slices.Concat(h.reading.Snapshot.Neighbours, h.reading.Before.Neighbours)
}

// resolved entries are what the host uses to send; learned are those that ARP
// taught it.
func resolved(n record.Neighbour) bool {
	return n.MAC != "" && !failed(n)
}
func learned(n record.Neighbour) bool {
	return resolved(n) && n.State != "PERMANENT" && n.State != "NOARP"
}

// failed entries are of a neighbour that does not answer.
func failed(n record.Neighbour) bool { return n.State == "FAILED" || n.State == "INCOMPLETE" }

// misdirected is a peer's entry for an address of a host at the MAC address of
// another of the host's interfaces.
type misdirected struct {
	peer         *host
	addr         netip.Addr
	right, wrong *netif
}

// misdirections lists what peers have learned wrongly of a host.
func (f observed) misdirections(h *host) []misdirected {
	var list []misdirected
	seen := map[misdirected]bool{}
	for _, peer := range f.hosts {
		if peer == h {
			continue
		}
		for _, right := range h.netifs {
			for _, prefix := range right.v4() {
				for _, n := range peer.neighbours(prefix.Addr()) {
					wrong := h.owner(n.MAC)
					if !learned(n) || wrong == nil || wrong == right || right.mac == wrong.mac ||
						right.vrf != wrong.vrf || right.member || wrong.member {
						continue
					}
					m := misdirected{peer, prefix.Addr(), right, wrong}
					if !seen[m] {
						seen[m] = true
						list = append(list, m)
					}
				}
			}
		}
	}
	return list
}

// rows spells misdirections, one line per peer and wrong interface.
func (h *host) rows(list []misdirected) []string {
	var lines []string
	var done []misdirected
	for _, m := range list {
		if slices.ContainsFunc(done, func(d misdirected) bool { return d.peer == m.peer && d.wrong == m.wrong }) {
			continue
		}
		done = append(done, m)
		var addrs []string
		for _, o := range list {
			if o.peer == m.peer && o.wrong == m.wrong {
				addrs = append(addrs, fmt.Sprintf("%s (%s)", o.addr, h.end(o.right)))
			}
		}
		lines = append(lines, fmt.Sprintf("%s holds %s at the address of %s, %s", m.peer.name, join(addrs),
			h.end(m.wrong), m.wrong.mac))
	}
	return lines
}

// join makes "a, b and c", and counts where there are many.
func join(list []string) string {
	switch n := len(list); {
	case n == 0:
		return ""
	case n == 1:
		return list[0]
	case n > 6:
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", n-5)
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}

// texts joins what prints itself, such as addresses: "192.0.2.1/24 and 192.0.2.2/24".
func texts[T fmt.Stringer](list []T) string {
	var all []string
	for _, x := range list {
		all = append(all, x.String())
	}
	return join(all)
}

// share is an interface's part of a total over some of its host's interfaces.
func (h *host) share(p *netif, among []*netif, of func(record.InterfaceDelta) float64) float64 {
	total := 0.0
	for _, o := range among {
		total += of(h.deltas[o.name])
	}
	if total == 0 {
		return 0
	}
	return of(h.deltas[p.name]) / total
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// setting spells the sysctls behind an effective value; empty: they are not known.
func (h *host) setting(name string, p *netif) string {
	all, own := h.sysctl("all", name), h.sysctl(p.name, name)
	if all < 0 && own < 0 {
		return ""
	}
	return fmt.Sprintf("%s: net.ipv4.conf.all.%s=%d, %s.%s=%d", h.name, name, max(all, 0), p.name, name, max(own, 0))
}

// scopes lists where a sysctl has a value: "all", or interfaces by name.
func (h *host) scopes(name string, value int) []string {
	var list []string
	if h.sysctl("all", name) == value {
		list = append(list, "all")
	}
	for _, p := range h.netifs {
		if h.sysctl(p.name, name) == value {
			list = append(list, strings.ReplaceAll(p.name, ".", "/"))
		}
	}
	return list
}
