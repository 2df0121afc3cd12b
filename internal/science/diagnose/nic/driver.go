package nic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// meaningRule is a rule that goes by what drivers' own counters mean (record.Meanings), whatever a
// driver calls them.
type meaningRule struct {
	id       string
	load     bool     // as of rule
	meanings []string // whose counters have to grow
	least    int64    // by so many together
	share    float64  // and by this share of the received packets
	// confidence that the cause is the one of the summary, in which DEV is the interface.
	confidence, summary, reference string
	fix                            []string
	explains                       []string
}

var meaningRules = []meaningRule{
	{id: "link-lost", meanings: []string{"link_down"}, confidence: record.Certain, summary: "DEV loses its link",
		fix: []string{
			"replace the cable or the transceiver; see the other end's log, and energy-efficient Ethernet (ethtool --show-eee DEV)"},
		reference: "Linux Documentation/networking/operstates.rst",
		explains:  []string{"carrier-flaps", "tx-carrier", "tcp-retransmissions", "tx-dropped"}},
	{id: "transmit-timeout", meanings: []string{"tx_timeout"}, confidence: record.Certain,
		summary: "DEV did not send for seconds, so that its driver was reset",
		fix: []string{
			"see the kernel's log (NETDEV WATCHDOG); a newer driver or firmware (ethtool -i DEV); of a virtual machine: the hypervisor's load"},
		reference: "Linux Documentation/networking/netdevices.rst (ndo_tx_timeout)",
		explains: []string{"link-lost", "carrier-flaps", "tx-carrier", "tcp-retransmissions", "tx-dropped",
			"unacknowledged"}},
	{id: "frames-damaged", meanings: []string{"rx_damaged", "fec_failed"}, confidence: record.Certain,
		summary: "DEV receives damaged frames, and drops them",
		fix: []string{
			"replace the cable or the transceiver, and clean the optics; then the port at the other end; the same FEC at both ends (ethtool --show-fec DEV)"},
		reference: said.Statistics + "; IEEE 802.3",
		explains:  []string{"interface-errors", "tcp-retransmissions", "reassembly-failed"}},
	{id: "frames-wrong-length", meanings: []string{"rx_bad_length"}, confidence: record.Certain,
		summary: "DEV drops frames for their length: the other end has a larger MTU, or makes frames that are too short",
		fix:     []string{"one MTU for all hosts and ports of the subnet: ip link show dev DEV"},
		reference: said.Statistics +
			"; RFC 2665 (dot3StatsFrameTooLongs)",
		explains: []string{"frames-too-long", "interface-errors", "rx-dropped", "tcp-retransmissions"}},
	{id: "receive-buffers-missing", meanings: []string{"rx_no_memory"}, confidence: record.Certain,
		summary: "the kernel had no memory for the receive buffers of DEV",
		fix: []string{
			"a larger reserve: sysctl vm.min_free_kbytes; a smaller MTU or ring, if buffers need several pages in a row"},
		reference: "Linux Documentation/admin-guide/sysctl/vm.rst (min_free_kbytes)",
		explains:  []string{"ring-empty", "ring-overrun", "rx-dropped", "tcp-retransmissions"}},
	{id: "ring-empty", meanings: []string{"rx_no_buffer"}, least: 10, share: 1e-4, confidence: record.Likely,
		summary: "the receive ring of DEV had no buffer for packets: the host takes them too slowly",
		fix: []string{"ethtool -G DEV rx N, with N up to the maximum that ethtool -g DEV shows",
			"more queues (ethtool -L DEV), and their interrupts on CPUs that have time"}, reference: said.EthtoolPage,
		explains: []string{"nic-buffer-full", "pausing", "rx-dropped", "tcp-retransmissions"}},
	{id: "nic-buffer-full", meanings: []string{"rx_fifo_full"}, least: 10, share: 1e-4, confidence: record.Likely,
		summary: "the NIC's own buffer of DEV was full: packets were dropped before they reached the host's memory",
		fix: []string{
			"see whether the ring or the PCIe bus holds it up (ring-empty, pcie-stalled); no deep sleep of CPUs (cpupower idle-set -D 0)",
			"fewer senders at once, or pause frames on both ends: ethtool -A DEV rx on tx on"},
		reference: said.EthtoolPage,
		explains:  []string{"rx-dropped", "interface-errors", "tcp-retransmissions"}},
	{id: "paused", load: true, meanings: []string{"rx_pause"}, least: 10, confidence: record.Likely,
		summary: "the other end of the link stops DEV by pause frames: it, or what is behind it, is full",
		fix: []string{
			"find what is slow behind the switch; or, so that it drops instead of stopping all: ethtool -A DEV rx off, and flow control off at the switch's port"},
		reference: "IEEE 802.3, annex 31B; " + said.EthtoolPage,
		explains:  []string{"qdisc-drop", "tx-dropped"}},
	{id: "pausing", load: true, meanings: []string{"tx_pause"}, least: 10, confidence: record.Likely,
		summary: "DEV stops the other end by pause frames: this host takes packets too slowly, and what else goes through that port waits",
		fix: []string{
			"see what the receiving CPUs do (mpstat -P ALL 1), the ring (ethtool -g DEV) and the PCIe link"},
		reference: "IEEE 802.3, annex 31B; " + said.EthtoolPage},
	{id: "pause-storm", meanings: []string{"pause_storm"}, confidence: record.Certain,
		summary:   "DEV has sent pause frames for so long that its driver's watchdog noticed: the host took nothing",
		fix:       []string{"see whether the host hung, or a virtual machine or RDMA program holds its queue; dmesg"},
		reference: mlx5Counters,
		explains:  []string{"pausing"}},
	{id: "pcie-stalled", load: true, meanings: []string{"pcie_stalled", "pcie_dropped"}, confidence: record.Likely,
		summary: "DEV waits for the PCIe bus, which takes packets more slowly than they arrive",
		fix: []string{
			"the CPUs and memory of the card's NUMA node (cat /sys/class/net/DEV/device/numa_node); a wider slot (lspci -vv, LnkSta); IOMMU in passthrough (iommu=pt); MaxReadReq"},
		reference: mlx5Counters,
		explains:  []string{"nic-buffer-full", "ring-overrun", "pausing", "rx-dropped"}},
	{id: "pcie-errors", meanings: []string{"pcie_errors"}, confidence: record.Certain,
		summary: "the PCIe link of DEV has errors, and recovers from them",
		fix: []string{
			"another slot, riser or cable of the card; newer firmware of card and machine; dmesg (AER)"},
		reference: mlx5Counters,
		explains:  []string{"pcie-stalled", "nic-buffer-full"}},
	{id: "cloud-allowance", load: true, meanings: []string{"over_allowance"}, least: 10, confidence: record.Likely,
		summary: "the cloud shapes or drops packets of DEV: the machine exceeds what its type may send or receive",
		fix: []string{
			"a larger type of machine; fewer connections or packets; a local cache of names for linklocal_allowance_exceeded"},
		reference: "Linux Documentation/networking/device_drivers/ethernet/amazon/ena.rst",
		explains:  []string{"tcp-retransmissions", "syn-unanswered", "connect-fails", "unacknowledged"}},
}

const mlx5Counters = "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst"

// rule is m as a rule of a host.
func (m meaningRule) rule() rule.Rule {
	about := "A driver's counters of " + strings.Join(m.meanings, " or ") + " grew"
	if m.least > 1 {
		about += fmt.Sprintf(" by at least %d", m.least)
	}
	if m.share > 0 {
		about += fmt.Sprintf(" and %g %% of the received packets", 100*m.share)
	}
	return rule.Rule{ID: m.id, About: about + ": " + strings.ReplaceAll(m.summary, "DEV", "the interface") + ".",
		Host: true,
		Load: m.load, Growth: true,
		Parts: []string{facts.DriverCounters}, Find: rule.EachInterface(m.find), SameCause: rule.SameSummary,
		Explains: m.explains}
}

func (m meaningRule) find(p facts.Port) *record.Finding {
	type grown struct {
		name string
		by   int64
	}
	var list []grown
	var sum int64
	for name := range p.NIC.Counters {
		if by := p.Grown(name); by > 0 && slices.Contains(m.meanings, record.MeaningOf(p.NIC.Driver, name)) {
			list = append(list, grown{name, by})
			sum += by
		}
	}
	if sum < max(m.least, 1) || float64(sum) < m.share*float64(p.Counted().RxPackets) {
		return nil
	}
	slices.SortFunc(list, func(a, b grown) int { return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.name, b.name)) })
	var rows []string
	for _, g := range list[:min(len(list), 4)] {
		rows = append(rows, fmt.Sprintf("%s: %s of %s (%s) grew by %d%s", p.Interface.Interface, g.name, p.NIC.Driver,
			record.MeaningOf(p.NIC.Driver, g.name), g.by, said.Over(p.Host, p.NIC.CountedS)))
	}
	var fix []string
	for _, line := range m.fix {
		fix = append(fix, strings.ReplaceAll(line, "DEV", p.Interface.Interface))
	}
	return rule.Found(p, m.confidence, strings.ReplaceAll(m.summary, "DEV", p.Interface.Interface), m.reference,
		rows, fix...)
}

// DriverRules are about what drivers' own counters mean.
var DriverRules = func() (list []rule.Rule) {
	for _, m := range meaningRules {
		list = append(list, m.rule())
	}
	return list
}()
