package netstate

import (
	"regexp"
	"slices"
)

// Meaning names what counters of several drivers count under different names.
type Meaning struct {
	Name, About string
}

// Meanings lists the meanings that counters of drivers are mapped to.
var Meanings = []Meaning{
	{"rx_no_buffer", "packets for which the receive ring had no buffer: the host took them too slowly"},
	{"rx_fifo_full", "packets dropped because the NIC's own memory was full"},
	{"rx_no_memory", "receive buffers that could not be allocated"},
	{"rx_damaged", "frames with a wrong frame check sequence, and symbol errors"},
	{"rx_bad_length", "frames that are too long or too short"},
	{"rx_bad_checksum", "packets whose IP, TCP or UDP checksum the NIC found wrong"},
	{"rx_filtered", "packets that matched no queue or address and were discarded"},
	{"rx_pause", "pause frames received: the other end was full"},
	{"tx_pause", "pause frames sent: this end was full"},
	{"pause_storm", "times that pause frames were sent for too long (the driver's watchdog of flow control)"},
	{"tx_queue_full", "times a transmit queue was stopped because its ring was full"},
	{"tx_dropped", "packets that the driver did not send"},
	{"tx_timeout", "resets because the NIC did not send for seconds"},
	{"link_down", "losses of the link"},
	{"fec_corrected", "errors that forward error correction repaired"},
	{"fec_failed", "blocks that it could not repair"},
	{"pcie_stalled", "seconds in which the NIC waited for the PCIe bus for more than 30 % of the time"},
	{"pcie_dropped", "packets dropped because the PCIe bus took them too slowly"},
	{"pcie_errors", "errors of the PCIe link, from which it had to recover"},
	{"over_allowance", "packets shaped or dropped because the cloud's allowance for the machine was exceeded"},
}

// naming maps the counter names of one driver to meanings.
type naming struct {
	Driver, Source string
	patterns       []pattern
}

type pattern struct {
	meaning, names string
	compiled       *regexp.Regexp
}

// intel has the names that Intel's drivers for 1 and 10 Gbit/s share.
var intel = []pattern{
	{meaning: "rx_no_buffer", names: `rx_no_buffer_count`},
	{meaning: "rx_fifo_full", names: `rx_missed_errors`},
	{meaning: "rx_damaged", names: `rx_crc_errors`},
	{meaning: "rx_bad_length", names: `rx_long_length_errors|rx_short_length_errors`},
	{meaning: "rx_bad_checksum", names: `rx_csum_offload_errors|rx_queue_\d+_csum_err`},
	{meaning: "rx_no_memory", names: `alloc_rx_buff_failed|alloc_rx_page_failed|rx_queue_\d+_alloc_failed`},
	{meaning: "rx_pause", names: `rx_flow_control_xoff`},
	{meaning: "tx_pause", names: `tx_flow_control_xoff`},
	{meaning: "tx_queue_full", names: `tx_restart_queue|tx_queue_\d+_restart`},
	{meaning: "tx_timeout", names: `tx_timeout_count`},
}

// namings has the counter names of drivers, from their sources below drivers/net/ (most in
// ethernet/) or from kernel documents. If a driver counts each queue, its totals are left out.
var namings = compiled([]naming{
	{"e1000", "intel/e1000/e1000_ethtool.c: e1000_gstrings_stats", intel},
	{"e1000e", "intel/e1000e/ethtool.c: e1000_gstrings_stats", intel},
	{"igb", "intel/igb/igb_ethtool.c: igb_gstrings_stats, igb_get_strings",
		append([]pattern{{meaning: "rx_no_buffer", names: `rx_queue_\d+_drops`}}, intel...)},
	{"igc", "intel/igc/igc_ethtool.c: igc_gstrings_stats, igc_ethtool_get_strings",
		append([]pattern{{meaning: "rx_no_buffer", names: `rx_queue_\d+_drops`}}, intel...)},
	{"ixgbe", "intel/ixgbe/ixgbe_ethtool.c: ixgbe_gstrings_stats",
		append([]pattern{{meaning: "rx_no_buffer", names: `rx_no_dma_resources`}}, intel...)},
	{"i40e", "intel/i40e/i40e_ethtool.c: i40e_gstrings_stats, i40e_gstrings_misc_stats", []pattern{
		{meaning: "rx_damaged", names: `port\.rx_crc_errors|port\.illegal_bytes`},
		{meaning: "rx_bad_length", names: `port\.rx_length_errors|port\.rx_undersize|port\.rx_oversize`},
		{meaning: "rx_fifo_full", names: `port\.rx_dropped|port\.rx_discards`},
		{meaning: "rx_no_memory", names: `rx_alloc_fail|rx_pg_alloc_fail`},
		{meaning: "rx_bad_checksum", names: `port\.rx_csum_bad`},
		{meaning: "rx_pause", names: `port\.link_xoff_rx`}, {meaning: "tx_pause", names: `port\.link_xoff_tx`},
		{meaning: "tx_queue_full", names: `tx_stopped`},
		{meaning: "tx_dropped", names: `tx_busy|port\.tx_dropped_link_down`},
		{meaning: "tx_timeout", names: `port\.tx_timeout`}}},
	{"ice", "intel/ice/ice_ethtool.c: ice_gstrings_vsi_stats, ice_gstrings_pf_stats", []pattern{
		{meaning: "rx_damaged", names: `rx_crc_errors\.nic|illegal_bytes\.nic`},
		{meaning: "rx_bad_length", names: `rx_undersize\.nic|rx_oversize\.nic|rx_length_errors\.nic`},
		{meaning: "rx_fifo_full", names: `rx_dropped\.nic`},
		{meaning: "rx_no_memory", names: `rx_alloc_fail|rx_pg_alloc_fail`},
		{meaning: "rx_bad_checksum", names: `rx_csum_bad\.nic`},
		{meaning: "rx_pause", names: `link_xoff_rx\.nic`}, {meaning: "tx_pause", names: `link_xoff_tx\.nic`},
		{meaning: "tx_queue_full", names: `tx_restart`},
		{meaning: "tx_dropped", names: `tx_busy|tx_dropped_link_down\.nic`},
		{meaning: "tx_timeout", names: `tx_timeout\.nic`}}},
	{"mlx5_core", "Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst", []pattern{
		{meaning: "rx_no_buffer", names: `rx_out_of_buffer`}, {meaning: "rx_fifo_full", names: `rx_discards_phy`},
		{meaning: "rx_no_memory", names: `rx_buff_alloc_err`},
		{meaning: "rx_damaged", names: `rx_crc_errors_phy|rx_symbol_err_phy|rx_pcs_symbol_err_phy`},
		{meaning: "rx_bad_length",
			names: `rx_in_range_len_errors_phy|rx_out_of_range_len_phy|rx_oversize_pkts_phy|rx_undersize_pkts_phy`},
		{meaning: "rx_filtered", names: `rx_steer_missed_packets`}, {meaning: "rx_pause", names: `rx_pause_ctrl_phy`},
		{meaning: "tx_pause", names: `tx_pause_ctrl_phy`},
		{meaning: "pause_storm", names: `tx_pause_storm_warning_events|tx_pause_storm_error_events`},
		{meaning: "tx_queue_full", names: `tx_queue_stopped`}, {meaning: "tx_dropped", names: `tx_queue_dropped`},
		{meaning: "link_down", names: `link_down_events_phy`},
		{meaning: "fec_corrected", names: `rx_corrected_bits_phy`},
		{meaning: "pcie_stalled", names: `outbound_pci_stalled_rd_events|outbound_pci_stalled_wr_events`},
		{meaning: "pcie_dropped", names: `outbound_pci_buffer_overflow`},
		{meaning: "pcie_errors", names: `rx_pci_signal_integrity|tx_pci_signal_integrity`}}},
	{"mlx4_en", "mellanox/mlx4/en_ethtool.c: main_strings", []pattern{
		{meaning: "tx_queue_full", names: `queue_stopped`}, {meaning: "tx_timeout", names: `tx_timeout`},
		{meaning: "rx_no_memory", names: `rx_alloc_failed`},
		{meaning: "rx_damaged", names: `rx_crc_errors`}, {meaning: "rx_no_buffer", names: `rx_dropped`}}},
	{"bnxt_en", "broadcom/bnxt/bnxt_ethtool.c: bnxt_ring_err_stats_arr, bnxt_port_stats_arr, bnxt_port_stats_ext_arr",
		[]pattern{
			{meaning: "rx_no_memory", names: `rx_total_oom_discards`},
			{meaning: "rx_no_buffer", names: `rx_total_ring_discards`},
			{meaning: "tx_dropped", names: `tx_total_ring_discards`},
			{meaning: "rx_bad_checksum", names: `rx_total_l4_csum_errors`},
			{meaning: "fec_corrected", names: `rx_fec_corrected_blocks`},
			{meaning: "fec_failed", names: `rx_fec_uncorrectable_blocks`},
			{meaning: "link_down", names: `link_down_events`},
			{meaning: "rx_damaged", names: `rx_fcs_err_frames`}, {meaning: "rx_pause", names: `rx_pause_frames`},
			{meaning: "tx_pause", names: `tx_pause_frames`}}},
	{"tg3", "broadcom/tg3.c: ethtool_stats_keys", []pattern{
		{meaning: "rx_no_buffer", names: `rxbds_empty`}, {meaning: "rx_fifo_full", names: `rx_discards`},
		{meaning: "rx_damaged", names: `rx_fcs_errors`},
		{meaning: "rx_bad_length",
			names: `rx_frame_too_long_errors|rx_undersize_packets|rx_in_length_errors|rx_out_length_errors`},
		{meaning: "rx_pause", names: `rx_xoff_pause_rcvd`}, {meaning: "tx_pause", names: `tx_xoff_sent`}}},
	{"r8169", "realtek/r8169_main.c: rtl8169_gstrings", []pattern{
		{meaning: "rx_fifo_full", names: `rx_missed`}, {meaning: "rx_damaged", names: `rx_errors|align_errors`},
		{meaning: "tx_dropped", names: `tx_errors|tx_aborted|tx_underrun`}}},
	{"virtio_net", "virtio_net.c: virtnet_rq_stats_desc, virtnet_sq_stats_desc", []pattern{
		{meaning: "rx_no_buffer", names: `rx\d+_drops|rx_queue_\d+_drops`},
		{meaning: "tx_timeout", names: `tx\d+_tx_timeouts|tx_queue_\d+_tx_timeouts`}}},
	{"ena", "amazon/ena/ena_ethtool.c: ena_stats_eni_strings, ena_stats_rx_strings", []pattern{
		{meaning: "over_allowance",
			names: `bw_in_allowance_exceeded|bw_out_allowance_exceeded|pps_allowance_exceeded|conntrack_allowance_exceeded|linklocal_allowance_exceeded`},
		{meaning: "rx_no_memory", names: `queue_\d+_rx_page_alloc_fail|queue_\d+_rx_skb_alloc_fail`},
		{meaning: "rx_no_buffer", names: `queue_\d+_rx_empty_rx_ring`},
		{meaning: "rx_bad_checksum", names: `queue_\d+_rx_csum_bad|queue_\d+_rx_bad_csum`},
		{meaning: "tx_queue_full", names: `queue_\d+_tx_queue_stop`}, {meaning: "tx_timeout", names: `tx_timeout`}}},
	{"hv_netvsc", "hyperv/netvsc_drv.c: netvsc_stats", []pattern{
		{meaning: "tx_queue_full", names: `stop_queue`},
		{meaning: "tx_dropped", names: `tx_too_big|tx_no_space|tx_no_memory`},
		{meaning: "rx_no_memory", names: `rx_no_memory`}}},
})

// compiled compiles the patterns of each driver. Drivers may share a slice of patterns, so it is
// copied.
func compiled(list []naming) []naming {
	for i := range list {
		list[i].patterns = slices.Clone(list[i].patterns)
		for k := range list[i].patterns {
			p := &list[i].patterns[k]
			p.compiled = regexp.MustCompile("^(" + p.names + ")$")
		}
	}
	return list
}

// MeaningsOf sums the counters of a driver by meaning. Nil: none of them has a meaning, or the
// driver is unknown.
func MeaningsOf(driver string, counters map[string]int64) map[string]int64 {
	var sums map[string]int64
	for name, value := range counters {
		if meaning := MeaningOf(driver, name); meaning != "" {
			if sums == nil {
				sums = map[string]int64{}
			}
			sums[meaning] += value
		}
	}
	return sums
}

// DriverOf guesses a driver by the names of its counters, including those that are 0: the first
// driver that knows the most names. Empty: no driver knows at least three.
func DriverOf(counters map[string]int64) (driver string) {
	most := 2
	for _, n := range namings {
		known := 0
		for name := range counters {
			if slices.ContainsFunc(n.patterns, func(p pattern) bool { return p.compiled.MatchString(name) }) {
				known++
			}
		}
		if known > most {
			driver, most = n.Driver, known
		}
	}
	return driver
}

// MeaningOf returns the meaning of a counter of a driver. Empty: unknown.
func MeaningOf(driver, counter string) string {
	for _, n := range namings {
		if n.Driver != driver {
			continue
		}
		for _, p := range n.patterns {
			if p.compiled.MatchString(counter) {
				return p.meaning
			}
		}
	}
	return ""
}

// KnowsCounters reports whether the counters of a driver have meanings.
func KnowsCounters(driver string) bool {
	return slices.ContainsFunc(namings, func(n naming) bool { return n.Driver == driver })
}
