package pasted

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// interfaceParts is what is known of a machine's interfaces, besides their snapshots, while its text
// is parsed.
type interfaceParts struct {
	// counted has the index in Reading.End.Interfaces of each interface with counters. Those of
	// summed are from /proc/net/dev, as tools without netlink read them.
	counted   map[string]int
	summed    map[string]bool
	addressed map[[2]string]bool // by interface and address
	notes     map[string]*interfaceNote
	noted     bool // a NIC has what a note says of it
	// known has the counters that the text has of any interface, by their names in linux/if_link.h.
	known map[string]bool
	// configured has the heads of interfaces that ifconfig printed.
	configured map[string]bool
	tabled     map[string]bool // tables of netstat and /proc/net/dev whose heads were read
}

// interfaceNote is what a text says of an interface and a NIC has a field for. Whether the NIC is
// known can depend on later lines.
type interfaceNote struct {
	queue       int    // length of the transmit queue; 0: unknown
	noCarrier   bool   // the interface is up and has no carrier
	promiscuous bool   // as ip(8) and ifconfig(8) of Linux print it
	vlan        int    // VLAN ID; 0: unknown, or not a VLAN
	over        string // the interface below it
	master      string // bridge or bond that it belongs to
	slave       bool   // a member of a bond whose name the line does not have
	bond        bool   // a bond, as its flags say
	bus         string // address of the PCI device
	flagged     bool   // the flags of the interface were read
	changes     int64  // changes of the carrier since the interface was created
}

// note returns the note of an interface of the machine.
func (m *machine) note(name string) *interfaceNote {
	if m.notes == nil {
		m.notes = map[string]*interfaceNote{}
	}
	n := m.notes[name]
	if n == nil {
		n = &interfaceNote{}
		if len(m.notes) < mostInterfaces {
			m.notes[name] = n
		}
	}
	return n
}

// behind reports whether the previous line is of the format with a name.
func (m *machine) behind(format string) bool { return m.last != nil && m.last.name == format }

// wordlike matches a name of an interface that a shell takes literally.
var wordlike = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@+-]{0,14}$`)

// countersOf returns the counters of an interface, and adds them if the machine has none. Summed says
// that a text has sums of several of the kernel's counters, as /proc/net/dev has them: they do not
// replace the counters themselves, which replace the sums.
func (m *machine) countersOf(name string, summed bool) *netstate.InterfaceCounters {
	if m.counted == nil {
		m.counted, m.summed = map[string]int{}, map[string]bool{}
	}
	list := &m.Reading.End.Interfaces
	at, has := m.counted[name]
	switch {
	case !has && (len(*list) >= mostInterfaces || m.netif(name) < 0), has && summed && !m.summed[name]:
		return &netstate.InterfaceCounters{} // dropped
	case !has:
		at = len(*list)
		m.counted[name] = at
		*list = append(*list, netstate.InterfaceCounters{Interface: name})
	case !summed && m.summed[name]:
		(*list)[at] = netstate.InterfaceCounters{Interface: name}
	}
	m.summed[name] = summed
	return &(*list)[at]
}

// hasCounter records that the text has a counter of interfaces, by its name in linux/if_link.h.
func (m *machine) hasCounter(name string) {
	lists.Put(&m.known, name, true)
}

// flags stores what the flags of an interface say.
func (n *interfaceNote) flags(noCarrier, promiscuous bool) {
	n.noCarrier, n.promiscuous, n.flagged = noCarrier, promiscuous, true
}

// address adds an address with its prefix length to an interface, once.
func (m *machine) address(i *netstate.InterfaceSnapshot, p netip.Prefix) {
	key := [2]string{i.Interface, p.String()}
	if m.addressed[key] || len(i.Addresses) >= mostRows {
		return
	}
	lists.Put(&m.addressed, key, true)
	i.Addresses = append(i.Addresses, key[1])
}

// duplicate adds an IPv6 address to those that duplicate address detection found on another machine.
func (m *machine) duplicate(i *netstate.InterfaceSnapshot, p netip.Prefix) {
	if text := p.String(); len(i.Duplicates) < 64 && p.Addr().Is6() && !slices.Contains(i.Duplicates, text) {
		i.Duplicates = append(i.Duplicates, text)
	}
}

// carrier stores whether an interface has a carrier.
func (m *machine) carrier(name string, has bool) {
	nic := m.nicOf(name)
	nic.Carrier, nic.OperState = has, map[bool]string{true: "up", false: "down"}[has]
}

// mostBonds limits the bonds and the bridges of a machine, and the members of each.
const mostBonds = 256

// bondOf returns a bond of the machine, which it adds if it is new.
func (m *machine) bondOf(name string) *netstate.Bond {
	if at := m.bonds[name]; at > 0 {
		return &m.State.Bonds[at-1]
	}
	if b := m.newBond(netstate.Bond{Interface: name}); b != nil {
		return b
	}
	return &netstate.Bond{} // dropped
}

// member returns a member of a bond, which it adds if it is new.
func (m *machine) member(bond, name string) *netstate.BondMember {
	b := m.bondOf(bond)
	at := slices.IndexFunc(b.Slaves, func(s netstate.BondMember) bool { return s.Interface == name })
	if at < 0 && len(b.Slaves) >= mostBonds {
		return &netstate.BondMember{} // dropped
	}
	if at < 0 {
		at = len(b.Slaves)
		b.Slaves = append(b.Slaves, netstate.BondMember{Interface: name})
	}
	return &b.Slaves[at]
}

// bridgeOf returns a bridge of the machine, which it adds if it is new.
func (m *machine) bridgeOf(name string) *netstate.Bridge {
	list := &m.State.Bridges
	at := slices.IndexFunc(*list, func(b netstate.Bridge) bool { return b.Interface == name })
	if at < 0 && len(*list) >= mostBonds {
		return &netstate.Bridge{} // dropped
	}
	if at < 0 {
		at = len(*list)
		*list = append(*list, netstate.Bridge{Interface: name})
	}
	return &(*list)[at]
}

// finishInterfaces stores what the notes have: in the NICs that the text describes, and in new ones
// if it is a sign of a fault. Members of a bond that their flags show are those of the bond with the
// same MAC address, or of the only one.
func (m *machine) finishInterfaces() {
	var bonds []netstate.InterfaceSnapshot
	index := map[string]int{}
	list := m.Reading.Snapshot.Interfaces
	for _, i := range list {
		index[i.Interface] = i.Index
		if n := m.notes[i.Interface]; n != nil && n.bond && len(bonds) < mostBonds {
			bonds = append(bonds, i)
		}
	}
	for at := range list {
		i := &list[at]
		n := m.notes[i.Interface]
		if n == nil {
			continue
		}
		if i.Master == "" {
			i.Master = n.master
		}
		if n.slave && i.Master == "" {
			i.Master = bondWith(bonds, i.MAC)
		}
		if strings.HasPrefix(i.Interface, "vboxnet") { // it has one while a virtual machine runs
			n.noCarrier = false
		}
		_, known := m.nics[i.Interface]
		if known = known || n.noCarrier || n.promiscuous || n.vlan > 0 || n.bus != ""; !known {
			continue
		}
		nic := m.nicOf(i.Interface)
		m.noted = true
		if nic.TxQueueLen == 0 {
			nic.TxQueueLen = n.queue
		}
		if n.noCarrier && nic.OperState == "" {
			nic.Carrier, nic.OperState = false, "down"
		}
		nic.Promiscuous = nic.Promiscuous || n.promiscuous
		if nic.Bus == "" {
			nic.Bus = n.bus
		}
		if n.vlan > 0 {
			nic.VLAN, nic.Peer = n.vlan, index[n.over]
		}
		if m.State.UptimeS > 0 { // a number of changes says nothing without the time in which they were
			nic.CarrierChanges = max(nic.CarrierChanges, n.changes)
		}
	}
}

// bondWith returns the name of the bond with a MAC address, or of the only bond.
func bondWith(bonds []netstate.InterfaceSnapshot, mac string) string {
	for _, b := range bonds {
		if mac != "" && b.MAC == mac {
			return b.Interface
		}
	}
	if len(bonds) == 1 {
		return bonds[0].Interface
	}
	return ""
}

// kindOfName returns the kind of an interface whose name tells it. Empty: it does not.
func kindOfName(name string) string {
	starts := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	switch {
	case starts("br", "docker", "virbr", "vmbr", "lxcbr", "lxdbr", "incusbr", "podman", "cni", "cbr0", "nerdctl",
		"mpqemubr", "kube-bridge", "waydroid"):
		return "bridge"
	case starts("bond"):
		return "bond"
	case starts("veth"):
		return "veth"
	case starts("vlan") || strings.Contains(name, "."):
		return "vlan"
	}
	return ""
}
