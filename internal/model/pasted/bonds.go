package pasted

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(&format{name: "/proc/net/bonding", part: "bonds", row: reads((*machine).bonding),
	again: (*machine).sameBond, files: []string{"net/bonding/*"},
	sure: func(line string) bool { return strings.HasPrefix(line, bondBanner) }})

// bondBanner begins the first line of each file of /proc/net/bonding.
const bondBanner = "Ethernet Channel Bonding Driver: "

// bondState is what a line of /proc/net/bonding depends on.
type bondState struct {
	// bond and slave are the indices plus 1 of the bond, and of its slave, that lines belong to. 0:
	// none.
	bond, slave int
	// partner reports whether the lines of an LACP frame are of the partner.
	partner bool
	// files is the number of files whose first line was read.
	files int
}

// bondIndex has the indices plus 1 of the machine's bonds, and the number of their members.
type bondIndex struct {
	bonds   map[string]int
	members int
}

// bondModes maps the modes of bond_mode_name (drivers/net/bonding/bond_main.c) to their options.
var bondModes = map[string]string{"load balancing (round-robin)": "balance-rr",
	"fault-tolerance (active-backup)": "active-backup", "load balancing (xor)": "balance-xor",
	"fault-tolerance (broadcast)": "broadcast", "IEEE 802.3ad Dynamic link aggregation": "802.3ad",
	"transmit load balancing": "balance-tlb", "adaptive load balancing": "balance-alb"}

// sameBond reports whether a line begins a bond that the machine already has.
func (m *machine) sameBond(line string, _ bool) bool {
	return strings.HasPrefix(line, bondBanner) && m.bonds[m.bondName(m.bond.files)] > 0
}

// bondName returns the name of the bond of one of the files that the command prints, in their order.
// Empty: it is unknown.
func (m *machine) bondName(file int) string {
	for _, w := range m.command[min(len(m.command), 1):] {
		dir, name := path.Split(w)
		if !strings.HasSuffix(dir, "/bonding/") || !ifname.MatchString(name) || strings.ContainsAny(name, "*?[{") {
			continue
		}
		if file--; file < 0 {
			return name
		}
	}
	return ""
}

// openBond returns the bond that the lines belong to, which it adds if it is new. Nil: there are too
// many. The name of the bond is empty if it is unknown.
func (m *machine) openBond() *netstate.Bond {
	list := &m.State.Bonds
	if b := m.currentBond(); b != nil {
		return b
	}
	name := m.bondName(max(m.bond.files-1, 0))
	if at := m.bonds[name]; name != "" && at > 0 { // printed again
		(*list)[at-1], m.bond.bond = netstate.Bond{Interface: name}, at
		return &(*list)[at-1]
	}
	return m.addBond(netstate.Bond{Interface: name})
}

// currentBond returns the bond that the lines belong to. Nil: there is none yet, as on a machine that
// only tries a line.
func (m *machine) currentBond() *netstate.Bond {
	if m.bond.bond > len(m.State.Bonds) {
		m.bond.bond = 0
	}
	if m.bond.bond == 0 {
		m.bond.slave = 0
		return nil
	}
	b := &m.State.Bonds[m.bond.bond-1]
	m.bond.slave = min(m.bond.slave, len(b.Slaves))
	return b
}

// addBond adds the bond that the next lines belong to. It returns nil if there are too many.
func (m *machine) addBond(b netstate.Bond) *netstate.Bond {
	added := m.newBond(b)
	if added != nil {
		m.bond.bond = len(m.State.Bonds)
	}
	return added
}

// newBond adds a bond. It returns nil if there are too many.
func (m *machine) newBond(b netstate.Bond) *netstate.Bond {
	list := &m.State.Bonds
	if len(*list) >= mostInterfaces || b.Interface != "" && m.netif(b.Interface) < 0 {
		return nil
	}
	if m.bonds == nil {
		m.bonds = map[string]int{}
	}
	*list = append(*list, b)
	if b.Interface != "" {
		m.bonds[b.Interface] = len(*list)
	}
	return &(*list)[len(*list)-1]
}

// addSlave adds a member to a bond. It returns nil if there are too many.
func (m *machine) addSlave(b *netstate.Bond, name string) *netstate.BondMember {
	at := -1
	if ifname.MatchString(name) {
		at = m.netif(name)
	}
	if at < 0 || m.members >= mostRows {
		return nil
	}
	m.members++
	b.Slaves = append(b.Slaves, netstate.BondMember{Interface: name})
	m.bond.slave, m.bond.partner = len(b.Slaves), false
	return &b.Slaves[len(b.Slaves)-1]
}

var (
	bondRow   = pattern.MustCompile(`^\s*([A-Za-z0-9][A-Za-z0-9 .()/_-]{0,50}?): ?(.*)$`)
	bondMbps  = pattern.MustCompile(`^(\d{1,9}) Mbps$`)
	hashName  = pattern.MustCompile(`^([a-z0-9+]{1,15}) \(\d\)$`)
	lacpFrame = pattern.MustCompile(`^details (actor|partner) lacp pdu:$`)
	noneAgg   = pattern.MustCompile(`^bond \S{1,15} has no active aggregator$`)
)

// bonding parses a line of /proc/net/bonding/BOND (drivers/net/bonding/bond_procfs.c):
//
//	Aggregator ID: 2
func (m *machine) bonding(line string) bool {
	if strings.HasPrefix(line, bondBanner) {
		m.bond = bondState{files: m.bond.files + 1}
		return m.ignore()
	}
	if m.bond.files == 0 && m.command.prints() == "" {
		return false // such lines are printed by other tools too
	}
	if f := lacpFrame.FindStringSubmatch(line); f != nil {
		m.bond.partner = f[1] == "partner"
		return m.ignore()
	}
	if line == "802.3ad info" || noneAgg.MatchString(line) {
		return m.ignore()
	}
	row := bondRow.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	key, value := row[1], strings.TrimSpace(row[2])
	if unusedOfBond[key] {
		return m.ignore()
	}
	if !slices.Contains(bondKeys, key) {
		return false
	}
	b := m.openBond()
	if b == nil {
		return true
	}
	if key == "Slave Interface" {
		m.addSlave(b, value)
		return true
	}
	if m.bond.slave > 0 {
		return m.bondSlave(&b.Slaves[m.bond.slave-1], key, value)
	}
	switch key {
	case "Bonding Mode":
		mode, _, _ := strings.Cut(value, " (fail_over_mac")
		b.Mode = bondModes[mode]
		if b.Mode == "" {
			b.Mode = plain.Short(mode, longestName)
		}
	case "Transmit Hash Policy":
		if name := hashName.FindStringSubmatch(value); name != nil {
			b.HashPolicy = name[1]
		}
	case "Currently Active Slave":
		if value != "None" && ifname.MatchString(value) {
			b.ActiveMember = value
		}
	case "MII Status":
		b.Link = upOrDown(value)
	case "MII Polling Interval (ms)":
		b.MIIMonMs = number(value)
	case "LACP rate":
		b.LACPRate = plain.Short(value, longestName)
	case "Aggregator ID":
		b.Aggregator = number(value)
	case "Number of ports":
		b.Ports = number(value)
	case "Partner Mac Address":
		b.PartnerMAC, _ = mac(value)
	default:
		return false
	}
	return true
}

// bondKeys are the keys that are stored, of the bond or of a member.
var bondKeys = []string{"Bonding Mode", "Transmit Hash Policy", "Currently Active Slave", "MII Status",
	"MII Polling Interval (ms)", "LACP rate", "Aggregator ID", "Number of ports", "Partner Mac Address",
	"Slave Interface", "Speed", "Duplex", "Link Failure Count", "Actor Churn State", "Partner Churn State",
	"system mac address", "port state"}

// unusedOfBond are keys that no rule uses.
var unusedOfBond = map[string]bool{"Primary Slave": true, "Up Delay (ms)": true, "Down Delay (ms)": true,
	"Peer Notification Delay (ms)": true, "ARP Polling Interval (ms)": true, "ARP Missed Max": true,
	"ARP IP target/s (n.n.n.n form)": true, "NS IPv6 target/s (xx": true, "LACP active": true, "Min links": true,
	"Aggregator selection policy (ad_select)": true, "System priority": true, "System MAC address": true,
	"Active Aggregator Info": true, "Actor Key": true, "Partner Key": true, "Permanent HW addr": true,
	"Slave queue ID": true, "Actor Churned Count": true, "Partner Churned Count": true, "system priority": true,
	"port key": true, "port priority": true, "port number": true, "oper key": true, "Primary Reselect": true}

func upOrDown(text string) string {
	if text == "up" || text == "down" {
		return text
	}
	return ""
}

// bondSlave stores a value of a slave.
func (m *machine) bondSlave(s *netstate.BondMember, key, value string) bool {
	frame := map[bool]struct {
		mac   *string
		state **int
	}{false: {&s.ActorMAC, &s.ActorState}, true: {&s.PartnerMAC, &s.PartnerState}}[m.bond.partner]
	switch key {
	case "MII Status":
		s.Link = plain.Short(value, longestName)
	case "Speed":
		if n := bondMbps.FindStringSubmatch(value); n != nil {
			s.SpeedMbps = int64(number(n[1]))
		}
	case "Duplex":
		if value == "full" || value == "half" {
			s.Duplex = value
		}
	case "Link Failure Count":
		s.LinkFailures = number(value)
	case "Aggregator ID":
		s.Aggregator = number(value) // N/A: none
	case "Actor Churn State":
		s.ActorChurn = plain.Short(value, longestName)
	case "Partner Churn State":
		s.PartnerChurn = plain.Short(value, longestName)
	case "system mac address":
		*frame.mac, _ = mac(value)
	case "port state":
		if n, err := strconv.ParseUint(value, 10, 8); err == nil {
			bits := int(n)
			*frame.state = &bits
		}
	default:
		return false
	}
	return true
}

// finishBonds adds what requires the whole text: the names of bonds, which their members tell if they
// were read, and otherwise bond0, bond1, …; and the states of the members of an active-backup bond.
func (m *machine) finishBonds() {
	for i := range m.State.Bonds {
		b := &m.State.Bonds[i]
		for k := 0; b.Interface == "" && k < len(b.Slaves); k++ {
			at := m.netif(b.Slaves[k].Interface)
			if at < 0 {
				continue
			}
			if name := m.Reading.Snapshot.Interfaces[at].Master; m.bonds[name] == 0 && isName(name) {
				b.Interface = name
			}
		}
		for n := 0; b.Interface == ""; n++ {
			if name := "bond" + strconv.Itoa(n); m.bonds[name] == 0 {
				b.Interface = name
			}
		}
		m.bonds[b.Interface] = i + 1
		at := m.netif(b.Interface)
		if at < 0 {
			continue
		}
		m.Reading.Snapshot.Interfaces[at].Kind = map[bool]string{true: "team", false: "bond"}[b.Kind != ""]
		for _, s := range b.Slaves {
			if at := m.netif(s.Interface); at >= 0 {
				m.Reading.Snapshot.Interfaces[at].Master = b.Interface
			}
		}
		if b.Mode != "active-backup" || b.ActiveMember == "" {
			continue
		}
		for k := range b.Slaves {
			b.Slaves[k].State = "backup"
			if b.Slaves[k].Interface == b.ActiveMember {
				b.Slaves[k].State = "active"
			}
		}
	}
}
