package netstate

import "linerate/internal/model/index"

// Counting describes how a driver counts the traffic of an interface.
type Counting struct {
	// FCS reports whether bytes include the frame check sequence: 4 bytes of each frame that are in
	// no packet that the kernel sees.
	FCS bool
	// Headerless reports whether received bytes exclude the Ethernet header, because the kernel
	// removes it before it counts. Sent bytes include it.
	Headerless bool
	// RefreshS is the interval at which the driver reads the counters from the hardware, in
	// seconds. 0: the driver counts by itself, or reads the hardware at each request.
	RefreshS float64
	// Source is the place in the kernel source that shows this.
	Source string
}

// countings has an entry for each driver, by the name that ethtool -i prints.
var countings = map[string]Counting{
	"bnxt_en": {RefreshS: 1,
		Source: "broadcom/bnxt/bnxt.h: BNXT_DEF_STATS_COAL_TICKS, the interval at which the NIC writes its counters"},
	"e1000": {Source: "intel/e1000/e1000_main.c: e1000_clean_rx_irq adds length - 4"},
	"e1000e": {FCS: true,
		Source: "intel/e1000e/netdev.c: e1000e_get_stats64 reads GORC and GPRC; GORC is from the destination " +
			"address to the CRC (82574 datasheet)"},
	"i40e":  {Source: "intel/i40e/i40e_txrx.c: i40e_clean_rx_irq adds skb->len"},
	"igc":   {Source: "intel/igc/igc_main.c: igc_clean_rx_irq adds skb->len"},
	"ixgbe": {Source: "intel/ixgbe/ixgbe_main.c: ixgbe_clean_rx_irq adds skb->len"},
	"tg3": {RefreshS: 1,
		Source: "broadcom/tg3.c: HOSTCC_STAT_COAL_TICKS, DEFAULT_STAT_COAL_TICKS of tg3.h is 1 s; later chips by " +
			"tg3_timer"},
	"virtio_net": {Source: "virtio_net.c: virtnet_stats adds up the receive queues'"},
	"vmxnet3": {
		Source: "vmxnet3/vmxnet3_ethtool.c: vmxnet3_get_stats64 has the device write its counters " +
			"(VMXNET3_CMD_GET_STATS), which have no CRC"},
}

// kindsCounting has entries for software devices, by the kind that ip -d link prints. Other kinds
// count whole frames.
var kindsCounting = map[string]Counting{
	"bridge": {Headerless: true, Source: "net/bridge/br_input.c: br_pass_frame_up adds skb->len after eth_type_trans"},
	"team": {Headerless: true,
		Source: "drivers/net/team/team_core.c: team_handle_frame adds skb->len after eth_type_trans"},
}

// bondKind is the link kind of bonds (drivers/net/bonding).
const bondKind = "bond"

// headerBytes is the length of the Ethernet header.
const headerBytes = 14

// fcsBytes is the length of the Ethernet frame check sequence.
const fcsBytes = 4

// counting is how an interface counts; known reports whether that is known.
type counting struct {
	Counting
	known bool
}

// countings returns how each interface of the host counts. The counters of a bond are the sums of its
// members' counters (bond_get_stats in drivers/net/bonding/bond_main.c), so it counts as they do.
// For a bond, known is false if the driver of a member is unknown or if only some members count
// frame check sequences; RefreshS is then that of the members whose driver is known.
func (s Snapshot) countings() map[string]counting {
	all := make(map[string]counting, len(s.Interfaces))
	members := index.Groups(s.Interfaces, func(i InterfaceSnapshot) string { return i.Master })
	for _, i := range s.Interfaces {
		if _, twice := all[i.Interface]; twice {
			continue
		}
		c := counting{known: true}
		if i.Kind != bondKind {
			c.Counting, c.known = i.counting()
			all[i.Interface] = c
			continue
		}
		with, without := false, false
		for _, m := range members[i.Interface] {
			member, ok := s.Interfaces[m].counting()
			c.known = c.known && ok
			with, without = with || member.FCS, without || !member.FCS
			c.RefreshS = max(c.RefreshS, member.RefreshS)
		}
		c.known = c.known && !(with && without)
		c.FCS = c.known && with
		all[i.Interface] = c
	}
	return all
}

// counting returns how an interface that is no bond counts. The kernel itself counts the traffic of
// software devices. The driver of other interfaces can be unknown.
func (i InterfaceSnapshot) counting() (c Counting, known bool) {
	if c, known = countings[i.Driver]; known {
		return c, true
	}
	return kindsCounting[i.Kind], i.Kind != "" && i.Kind != bondKind
}

// frozenStep is the traffic in bytes that an interface must carry on average between two samples,
// so that a counter that stays the same shows that it was not refreshed.
const frozenStep = 4 * 1514

// sampled is the traffic of an interface up to a sample in a window.
type sampled struct {
	atNs  int64
	bytes uint64
}

// sampled returns the samples of an interface; with an empty name those of each.
func (h HostReading) sampled(name string) map[string][]sampled {
	all := map[string][]sampled{}
	for _, s := range h.Series {
		for _, c := range s.Interfaces {
			if name == "" || c.Interface == name {
				all[c.Interface] = append(all[c.Interface], sampled{s.AtNs, c.RxBytes + c.TxBytes})
			}
		}
	}
	return all
}

// refreshS returns the interval at which the counters of an interface are refreshed, in seconds, given
// its samples and the traffic in the window in bytes: the longest time for which they stayed the same,
// if they did in at least half of the samples. 0: they change at each reading, or the interval cannot
// be seen.
func refreshS(samples []sampled, bytes float64) float64 {
	var last uint64
	var since, longest int64
	steps, same := -1, 0
	for _, now := range samples {
		if steps++; steps > 0 {
			longest = max(longest, now.atNs-since)
		}
		if steps > 0 && now.bytes == last {
			same++
		} else {
			since, last = now.atNs, now.bytes
		}
	}
	if steps < 4 || 2*same < steps || bytes < float64(steps)*frozenStep {
		return 0
	}
	return float64(longest) / 1e9
}
