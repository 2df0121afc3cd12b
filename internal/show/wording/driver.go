package wording

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

const mlx5Counters = "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst"

// driver adds the text of a cause that is a group of drivers' counters, selected by their meaning.
func driver(c cause.Of[cause.None], grew, summary, reference string, fix ...string) {
	say(c, words[cause.None]{
		summary: func(f record.Finding, _ cause.None) string { return withDevice(f, summary) },
		fix:     fix,
		read:    reference,
		found:   "A driver's counters of " + grew + ": " + strings.ReplaceAll(summary, "DEV", "the interface") + ".",
	})
}

var _ = later(func() {
	driver(cause.LinkLost, "link_down grew",
		"DEV loses its link", "Linux Documentation/networking/operstates.rst",
		"replace the cable or the transceiver; see the other end's log, and energy-efficient Ethernet (ethtool "+
			"--show-eee DEV)")
	driver(cause.TransmitTimeout, "tx_timeout grew",
		"DEV did not send for seconds, so that its driver was reset",
		"Linux Documentation/networking/netdevices.rst (ndo_tx_timeout)",
		"see the kernel's log (transmit queue … timed out); a newer driver or firmware (ethtool -i DEV); of a virtual "+
			"machine: the hypervisor's load")
	driver(cause.FramesDamaged, "rx_damaged or fec_failed grew",
		"DEV receives damaged frames, and drops them", statistics+"; IEEE 802.3",
		"replace the cable or the transceiver, and clean the optics; then the port at the other end; the same FEC "+
			"at both ends (ethtool --show-fec DEV)")
	driver(cause.FramesWrongLength, "rx_bad_length grew",
		"DEV drops frames for their length: the other end has a larger MTU, or makes frames that are too short",
		statistics+"; RFC 2665 (dot3StatsFrameTooLongs)",
		"one MTU for all hosts and ports of the subnet: ip link show dev DEV")
	driver(cause.ReceiveBuffersMissing, "rx_no_memory grew",
		"the kernel had no memory for the receive buffers of DEV", "Linux Documentation/admin-guide/sysctl/vm.rst "+
			"(min_free_kbytes)",
		"a larger reserve: sysctl vm.min_free_kbytes; a smaller MTU or ring, if buffers need several pages in a row")
	driver(cause.RingEmpty, "rx_no_buffer grew by at least 10 and 0.01 % of the received packets",
		"the receive ring of DEV had no buffer for packets: the host takes them too slowly", ethtoolPage,
		"ethtool -G DEV rx N, with N up to the maximum that ethtool -g DEV shows", "more queues (ethtool -L DEV), "+
			"and their interrupts on CPUs that have time")
	driver(cause.NICBufferFull, "rx_fifo_full grew by at least 10 and 0.01 % of the received packets",
		"the NIC's own buffer of DEV was full: packets were dropped before they reached the host's memory", ethtoolPage,
		"see whether the ring or the PCIe bus holds it up (ring-empty, pcie-stalled); no deep sleep of CPUs "+
			"(cpupower idle-set -D 0)", "fewer senders at once, or pause frames on both ends: ethtool -A DEV rx "+
			"on tx on")
	driver(cause.ChecksumsByNIC, "rx_bad_checksum grew by at least 100 and 0.01 % of the received packets",
		"DEV receives packets whose IP, TCP or UDP checksum it finds wrong", offloadDocument,
		"run nstat -az '*CsumErrors' twice: if nothing grows, the kernel finds the checksums correct, and the NIC "+
			"does not parse the encapsulation; if a counter grows, packets are damaged on the path (router, tunnel, "+
			"memory)")
	driver(cause.Paused, "rx_pause grew by at least 10",
		"the other end of the link stops DEV by pause frames: it, or what is behind it, is full", "IEEE 802.3, "+
			"annex 31B; "+ethtoolPage,
		"find what is slow behind the switch; or, so that it drops instead of stopping all: ethtool -A DEV rx off, "+
			"and flow control off at the switch's port")
	driver(cause.Pausing, "tx_pause grew by at least 10",
		"DEV stops the other end by pause frames: this host takes packets too slowly, and what else goes through "+
			"that port waits", "IEEE 802.3, annex 31B; "+ethtoolPage,
		"see what the receiving CPUs do (mpstat -P ALL 1), the ring (ethtool -g DEV) and the PCIe link")
	driver(cause.PauseStorm, "pause_storm grew",
		"DEV has sent pause frames for so long that its driver's watchdog noticed: the host took nothing", mlx5Counters,
		"see whether the host hung, or a virtual machine or RDMA program holds its queue; dmesg")
	driver(cause.PCIeStalled, "pcie_stalled or pcie_dropped grew",
		"DEV waits for the PCIe bus, which takes packets more slowly than they arrive", mlx5Counters,
		"the CPUs and memory of the card's NUMA node (cat /sys/class/net/DEV/device/numa_node); a wider slot "+
			"(lspci -vv, LnkSta); IOMMU in passthrough (iommu=pt); MaxReadReq")
	driver(cause.PCIeErrors, "pcie_errors grew",
		"the PCIe link of DEV has errors, and recovers from them", mlx5Counters,
		"another slot, riser or cable of the card; newer firmware of card and machine; dmesg (AER)")
	driver(cause.CloudAllowance, "over_allowance grew by at least 10",
		"the cloud shapes or drops packets of DEV: the machine exceeds what its type may send or receive",
		"Linux Documentation/networking/device_drivers/ethernet/amazon/ena.rst",
		"a larger type of machine; fewer connections or packets; a local cache of names for "+
			"linklocal_allowance_exceeded")

	say(cause.CountersUnknown, words[cause.None]{
		summary: about("the driver of DEV counts losses or failures under names whose meaning is not known"),
		fix:     []string{"look the names up in the driver's source or its vendor's documents"},
		read:    "ethtool(8)",
		found: "A counter of a driver (ethtool -S) whose name says that something was dropped or failed, and whose " +
			"meaning " +
			"is not known, is at least 1000 and 0.01 % of the packets.",
	})
	spell(func(_ string, c fact.UnknownCounter) string {
		return fmt.Sprintf("%s: %s of %s is %d", c.Interface, c.Name, cmp.Or(c.Driver, "an unknown driver"), c.Value)
	})
	spell(func(_ string, c fact.DriverCounter) string {
		if c.Inferred {
			c.Driver += ", by the names of the counters"
		}
		return fmt.Sprintf("%s: %s of %s (%s) grew by %d%s", c.Interface, c.Name, c.Driver, c.Meaning, c.Grew,
			within(c.OverS, c.Boot))
	})
})
