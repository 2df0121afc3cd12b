package record

import "slices"

// Counting is how a driver counts what an interface carries.
type Counting struct {
	// FCS: the bytes of a frame include its frame check sequence, 4 bytes that are in no
	// packet that the kernel sees.
	FCS bool
	// Headerless: received bytes are without the Ethernet header, which the kernel had taken
	// off when it counted them; sent ones have it.
	Headerless bool
	// RefreshS is how many seconds apart the driver gets the counters from the hardware;
	// 0: it counts itself, or asks the hardware at each reading.
	RefreshS float64
	// Source is the place in the kernel's sources that says so.
	Source string
}

// countings are of drivers by their name (ethtool -i).
var countings = map[string]Counting{
	"bnxt_en": {RefreshS: 1,
		Source: "broadcom/bnxt/bnxt.h: BNXT_DEF_STATS_COAL_TICKS, the interval at which the NIC writes its counters"},
	"e1000": {Source: "intel/e1000/e1000_main.c: e1000_clean_rx_irq adds length - 4"},
	"e1000e": {FCS: true,
		Source: "intel/e1000e/netdev.c: e1000e_get_stats64 reads GORC and GPRC; GORC is from the destination address to the CRC (82574 datasheet)"},
	"i40e":  {Source: "intel/i40e/i40e_txrx.c: i40e_clean_rx_irq adds skb->len"},
	"igc":   {Source: "intel/igc/igc_main.c: igc_clean_rx_irq adds skb->len"},
	"ixgbe": {Source: "intel/ixgbe/ixgbe_main.c: ixgbe_clean_rx_irq adds skb->len"},
	"tg3": {RefreshS: 1,
		Source: "broadcom/tg3.c: HOSTCC_STAT_COAL_TICKS, DEFAULT_STAT_COAL_TICKS of tg3.h is 1 s; later chips by tg3_timer"},
	"virtio_net": {Source: "virtio_net.c: virtnet_stats adds up the receive queues'"},
	"vmxnet3": {
		Source: "vmxnet3/vmxnet3_ethtool.c: vmxnet3_get_stats64 has the device write its counters (VMXNET3_CMD_GET_STATS), which have no CRC"},
}

// kindsCounting are of interfaces that are no hardware, by their kind (ip -d link); those of
// other kinds count whole frames.
var kindsCounting = map[string]Counting{
	"bridge": {Headerless: true, Source: "net/bridge/br_input.c: br_pass_frame_up adds skb->len after eth_type_trans"},
	"team": {Headerless: true,
		Source: "drivers/net/team/team_core.c: team_handle_frame adds skb->len after eth_type_trans"},
}

// bondKind is the kind of bonds (drivers/net/bonding).
const bondKind = "bond"

// headerBytes is the length of Ethernet's header.
const headerBytes = 14

// fcsBytes is the length of Ethernet's frame check sequence.
const fcsBytes = 4

// counting returns how an interface of the host counts. A bond's counters are the sums of its
// members' (drivers/net/bonding/bond_main.c, bond_get_stats): it counts as they do. With
// check sequences or without is not known of it if one member's driver is not, or if members
// differ; RefreshS is then that of the members whose driver is known.
func (s Snapshot) counting(name string) (c Counting, known bool) {
	i := slices.IndexFunc(s.Interfaces, func(i InterfaceSnapshot) bool { return i.Interface == name })
	if i < 0 {
		return c, false
	}
	if s.Interfaces[i].Kind != bondKind {
		return s.Interfaces[i].counting()
	}
	with, without := false, false
	known = true
	for _, m := range s.Interfaces {
		if m.Master == name {
			member, ok := m.counting()
			known = known && ok
			with, without = with || member.FCS, without || !member.FCS
			c.RefreshS = max(c.RefreshS, member.RefreshS)
		}
	}
	known = known && !(with && without)
	c.FCS = known && with
	return c, known
}

// counting is that of an interface that is no bond. Interfaces that are no hardware are
// counted by the kernel; the driver of others may be unknown.
func (i InterfaceSnapshot) counting() (c Counting, known bool) {
	if c, known = countings[i.Driver]; known {
		return c, true
	}
	return kindsCounting[i.Kind], i.Kind != "" && i.Kind != bondKind
}

// frozenStep is the least that an interface carries on average in each step of the series,
// so that a counter which stays the same was not refreshed.
const frozenStep = 4 * 1514

// refreshS is how many seconds apart the counters of an interface are refreshed, as the
// series shows where they stay the same in at least half of its steps. 0: at each reading,
// as far as can be seen.
func (h HostReading) refreshS(d InterfaceDelta) float64 {
	var last uint64
	var since, longest int64
	steps, same := -1, 0
	for _, sample := range h.Series {
		for _, c := range sample.Interfaces {
			if c.Interface != d.Interface {
				continue
			}
			now := c.RxBytes + c.TxBytes
			if steps++; steps > 0 {
				longest = max(longest, sample.AtNs-since)
			}
			if steps > 0 && now == last {
				same++
			} else {
				since, last = sample.AtNs, now
			}
		}
	}
	if steps < 4 || 2*same < steps || d.RxBytes+d.TxBytes < float64(steps)*frozenStep {
		return 0
	}
	return float64(longest) / 1e9
}
