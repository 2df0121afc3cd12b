package facts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
)

// virtualMACs are prefixes of MAC addresses that several routers share (RFC 9568, HSRP, GLBP).
var virtualMACs = []string{"00:00:5e:00:01:", "00:00:5e:00:02:", "00:00:0c:07:ac:", "00:00:0c:9f:f", "00:07:b4:00:"}

// Virtual reports whether a MAC address has one of the prefixes virtualMACs.
func Virtual(m string) bool {
	return slices.ContainsFunc(virtualMACs, func(prefix string) bool { return strings.HasPrefix(m, prefix) })
}

// MostAnswers bounds the replies to one probe that are used, and the machines that are compared. A
// snapshot may come from elsewhere and be of any size.
const MostAnswers = 64

// Answered returns the replies to ARP requests that the host received: to those of the snapshot and
// those of probes.
func (h *Host) Answered() []netstate.Neighbour {
	list := slices.Clone(h.Reading.Snapshot.Answers)
	for _, p := range h.State.Probes {
		for _, m := range p.ARP[:min(len(p.ARP), MostAnswers)] {
			list = append(list, netstate.Neighbour{Interface: p.Interface, Address: p.Address, MAC: m})
		}
		list = append(list, p.Answers[:min(len(p.Answers), MostAnswers)]...)
	}
	return list
}

// OfContainers reports whether an interface is, by its name, used for containers or virtual
// machines. Each host has such interfaces, often with the same addresses.
func OfContainers(name string) bool {
	return slices.ContainsFunc([]string{"docker", "br-", "virbr", "cni", "veth", "lxc", "lxdbr", "podman", "flannel",
		"cali"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// HolderOf returns the interface of any host that has an address, is up and has a MAC address; nil:
// there is none.
func (f Trial) HolderOf(address netip.Addr) *Interface {
	for _, h := range f.Hosts {
		if p := h.Holder(address); p != nil && p.Up && p.MAC != "" {
			return p
		}
	}
	return nil
}

// SwitchPorts returns the switch ports behind which MAC addresses are, as evidence.
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

// adjacent bounds the difference between the last bytes of MAC addresses of one card or board,
// whose ports vendors number in order.
const adjacent = 16

// Near reports whether two MAC addresses differ by a few in the last byte alone.
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

// AnswersFor returns the MAC addresses that answered ARP requests for a neighbour, in lower case.
func (h *Host) AnswersFor(n netstate.Neighbour) (macs []string) {
	for _, a := range h.Reading.Snapshot.Answers {
		if a.Interface == n.Interface && a.Address == n.Address {
			macs = append(macs, strings.ToLower(a.MAC))
		}
	}
	return macs
}

// Neighbours returns the host's entries for an address at the begin and the end of the window.
func (h *Host) Neighbours(addr netip.Addr) []netstate.Neighbour {
	var list []netstate.Neighbour
	text, seen := addr.String(), map[netstate.Neighbour]bool{}
	for _, n := range h.Entries() {
		if n.Address == text && !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// Entries returns the neighbour table at the end of the window, followed by that at its begin.
func (h *Host) Entries() []netstate.Neighbour {
	return slices.Concat(h.Reading.Snapshot.Neighbours, h.Reading.Before.Neighbours)
}

// Resolved reports whether an entry has a MAC address that the host sends to.
func Resolved(n netstate.Neighbour) bool {
	return n.MAC != "" && !Failed(n)
}

// Learned reports whether an entry was learned by ARP or neighbour discovery.
func Learned(n netstate.Neighbour) bool {
	return Resolved(n) && n.State != "PERMANENT" && n.State != "NOARP"
}

// Failed reports whether an entry is of a neighbour that does not answer.
func Failed(n netstate.Neighbour) bool { return n.State == "FAILED" || n.State == "INCOMPLETE" }

// FailedEntry returns an entry of a neighbour that does not answer, as evidence.
func FailedEntry(n netstate.Neighbour) fact.Neighbour {
	return fact.Neighbour{Address: n.Address, Interface: n.Interface, State: n.State}
}

// Unresolved returns the packets that the kernel dropped on interfaces because a neighbour did not
// answer, as evidence. A few packets, as when a host is off, are left out.
func (h *Host) Unresolved(names ...string) []any {
	const many = 10
	return h.Dropped(func(d netstate.KernelDrop) bool {
		return d.Reason == "NEIGH_FAILED" && d.Packets >= many && slices.Contains(names, d.Interface)
	})
}

// Misdirected is a peer's neighbour entry for an address of a host with the MAC address of another
// interface of that host.
type Misdirected struct {
	Peer         *Host
	Addr         netip.Addr
	Right, Wrong *Interface
}

// Misdirections returns the wrong entries that peers have learned for a host's addresses.
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
