package facts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// virtualMACs begin the MAC addresses that several routers share (RFC 9568, HSRP, GLBP).
var virtualMACs = []string{"00:00:5e:00:01:", "00:00:5e:00:02:", "00:00:0c:07:ac:", "00:00:0c:9f:f", "00:07:b4:00:"}

// Virtual reports whether a MAC address is of one of VirtualMACs.
func Virtual(m string) bool {
	return slices.ContainsFunc(virtualMACs, func(prefix string) bool { return strings.HasPrefix(m, prefix) })
}

// MostAnswers bounds the answers to one probe, and the machines that are compared: a snapshot may
// be from elsewhere.
const MostAnswers = 64

// Answered are the ARP answers that a host got: to a snapshot's requests, and to a probe's.
func (h *Host) Answered() []record.Neighbour {
	list := slices.Clone(h.Reading.Snapshot.Answers)
	for _, p := range h.State.Probes {
		for _, m := range p.ARP[:min(len(p.ARP), MostAnswers)] {
			list = append(list, record.Neighbour{Interface: p.Interface, Address: p.Address, MAC: m})
		}
		list = append(list, p.Answers[:min(len(p.Answers), MostAnswers)]...)
	}
	return list
}

// OfContainers reports whether an interface is, by its name, a bridge of containers or virtual
// machines: each host has its own, often with the same addresses.
func OfContainers(name string) bool {
	return slices.ContainsFunc([]string{"docker", "br-", "virbr", "cni", "veth", "lxc", "lxdbr", "podman", "flannel",
		"cali"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// HolderOf is an interface, of any host, that holds an address.
func (f Trial) HolderOf(address netip.Addr) *Interface {
	for _, h := range f.Hosts {
		if p := h.Holder(address); p != nil && p.Up && p.MAC != "" {
			return p
		}
	}
	return nil
}

// SwitchPorts are the ports by which switches reach MAC addresses, as evidence.
func (f Trial) SwitchPorts(macs ...string) (list []fact.Fact) {
	for _, s := range f.Trial.ForwardingTables() {
		for _, e := range s.Entries {
			if !e.Local && slices.Contains(macs, strings.ToLower(e.MAC)) {
				list = append(list, fact.Fact{Host: s.Switch, Is: fact.SwitchPort{MAC: e.MAC, Port: e.Interface}})
			}
		}
	}
	return list
}

// adjacent is how far apart the last bytes of the MAC addresses of one card or board are at
// most: vendors number its ports in order.
const adjacent = 16

// Near reports whether two MAC addresses differ in the last byte alone, by a few.
func Near(a, b string) bool {
	if len(a) != 17 || len(b) != 17 || a[:15] != b[:15] {
		return false
	}
	var x, y int
	if _, err := fmt.Sscanf(a[15:]+" "+b[15:], "%x %x", &x, &y); err != nil {
		return false
	}
	return max(x, y)-min(x, y) <= adjacent
}

// AnswersFor are the MAC addresses that answered ARP requests for a neighbour.
func (h *Host) AnswersFor(n record.Neighbour) (macs []string) {
	for _, a := range h.Reading.Snapshot.Answers {
		if a.Interface == n.Interface && a.Address == n.Address {
			macs = append(macs, strings.ToLower(a.MAC))
		}
	}
	return macs
}

// Neighbours are all entries for an address that the host held at either edge.
func (h *Host) Neighbours(addr netip.Addr) []record.Neighbour {
	var list []record.Neighbour
	text, seen := addr.String(), map[record.Neighbour]bool{}
	for _, n := range h.Entries() {
		if n.Address == text && !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// Entries are the neighbour table at the window's end, and after it the one at its begin.
func (h *Host) Entries() []record.Neighbour {
	return slices.Concat(h.Reading.Snapshot.Neighbours, h.Reading.Before.Neighbours)
}

// Resolved reports whether an entry is one by which the host sends.
func Resolved(n record.Neighbour) bool {
	return n.MAC != "" && !Failed(n)
}

// Learned reports whether ARP or neighbour discovery taught the host an entry.
func Learned(n record.Neighbour) bool {
	return Resolved(n) && n.State != "PERMANENT" && n.State != "NOARP"
}

// Failed entries are of a neighbour that does not answer.
func Failed(n record.Neighbour) bool { return n.State == "FAILED" || n.State == "INCOMPLETE" }

// FailedEntry is an entry of a neighbour that does not answer, as evidence.
func FailedEntry(n record.Neighbour) fact.Neighbour {
	return fact.Neighbour{Address: n.Address, Interface: n.Interface, State: n.State}
}

// Unresolved are the packets that the kernel dropped on interfaces because a neighbour did not
// answer, as evidence, where they are more than a few tries to reach a host that is off.
func (h *Host) Unresolved(names ...string) []any {
	const many = 10
	return h.Dropped(func(d record.KernelDrop) bool {
		return d.Reason == "NEIGH_FAILED" && d.Packets >= many && slices.Contains(names, d.Interface)
	})
}

// Misdirected is a peer's entry for an address of a host at the MAC address of
// another of the host's interfaces.
type Misdirected struct {
	Peer         *Host
	Addr         netip.Addr
	Right, Wrong *Interface
}

// Misdirections lists what peers have learned wrongly of a host.
func (f Trial) Misdirections(h *Host) []Misdirected {
	var list []Misdirected
	seen := map[Misdirected]bool{}
	for _, peer := range f.Hosts {
		if peer == h {
			continue
		}
		for _, right := range h.Interfaces {
			for _, prefix := range right.V4() {
				for _, n := range peer.Neighbours(prefix.Addr()) {
					wrong := h.Owner(n.MAC)
					if !Learned(n) || wrong == nil || wrong == right || right.MAC == wrong.MAC ||
						right.VRF != wrong.VRF || right.Member || wrong.Member {
						continue
					}
					m := Misdirected{peer, prefix.Addr(), right, wrong}
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
