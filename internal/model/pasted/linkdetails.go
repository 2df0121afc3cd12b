package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// pciAddress matches the address of a PCI device, with its domain.
var pciAddress = pattern.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// kindDetails reads a line of ip -d that begins with the kind of an interface: "vlan protocol 802.1Q
// id 100 <REORDER_HDR>", "bond mode 802.3ad miimon 100 …", "bridge forward_delay 1500 … vlan_filtering
// 0 …".
func (m *machine) kindDetails(i *netstate.InterfaceSnapshot, words []string) {
	line := command(words)
	switch words[0] {
	case "vlan":
		m.vlanID(i, line.after("id"))
	case "bond":
		b := m.bondOf(i.Interface)
		b.Mode, b.HashPolicy = line.after("mode"), line.after("xmit_hash_policy")
		b.MIIMonMs = number(line.after("miimon"))
		if b.Mode == "802.3ad" {
			b.LACPRate = line.after("lacp_rate")
			if b.LACPRate == "" {
				b.LACPRate = line.after("ad_lacp_rate")
			}
		}
	case "bridge":
		b := m.bridgeOf(i.Interface)
		b.STP = slices.Contains([]string{"1", "2"}, line.after("stp_state"))
		b.VLANFiltering = line.after("vlan_filtering") == "1"
	}
}

// vlanID stores the VLAN of an interface.
func (m *machine) vlanID(i *netstate.InterfaceSnapshot, word string) {
	if id, err := strconv.Atoi(word); err == nil && id > 0 && id < 4095 {
		m.note(i.Interface).vlan = id
	}
}

// slaveDetails reads a line of ip -d about a member of a bond: "bond_slave state ACTIVE mii_status UP
// link_failure_count 1 perm_hwaddr 02:00:00:00:00:01 queue_id 0 ad_aggregator_id 1 …".
func (m *machine) slaveDetails(i *netstate.InterfaceSnapshot, words []string) {
	if i.Master == "" {
		return
	}
	line, s := command(words), m.member(i.Master, i.Interface)
	s.State = strings.ToLower(line.after("state"))
	s.Link = strings.ReplaceAll(strings.ToLower(line.after("mii_status")), "_", " ")
	s.LinkFailures, s.Aggregator = number(line.after("link_failure_count")), number(line.after("ad_aggregator_id"))
}
