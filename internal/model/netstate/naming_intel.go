package netstate

import "slices"

// intel has the names that Intel's drivers for 1 and 10 Gbit/s share.
var intel = []counterNames{
	{meaning: "rx_no_buffer", names: `rx_no_buffer_count`, again: true},
	{meaning: "rx_fifo_full", names: `rx_missed_errors`},
	{meaning: "rx_damaged", names: `rx_crc_errors|rx_align_errors`},
	{meaning: "rx_bad_length", names: `rx_long_length_errors|rx_short_length_errors`},
	{meaning: "rx_bad_checksum", names: `rx_csum_offload_errors|rx_queue_\d+_csum_err`},
	{meaning: "rx_no_memory", names: `alloc_rx_buff_failed|alloc_rx_page_failed|rx_queue_\d+_alloc_failed`},
	{meaning: "rx_pause", names: `rx_flow_control_xoff`},
	{meaning: "tx_pause", names: `tx_flow_control_xoff`},
	{meaning: "tx_queue_full", names: `tx_restart_queue`, again: true},
	{meaning: "tx_queue_full", names: `tx_queue_\d+_restart`, again: true},
	{meaning: "tx_timeout", names: `tx_timeout_count`},
}

// intelOthers are names of Intel's drivers for 1 and 10 Gbit/s without a meaning.
const intelOthers = `[rt]x_(broadcast|multicast)|rx_long_byte_count|tx_abort_late_coll|` +
	`tx_deferred_ok|tx_(single|multi)_coll_ok|tx_tcp_seg_(good|failed)|[rt]x_flow_control_xon|rx_csum_offload_good|` +
	`(tx|rx|dropped)_smbus|rx_header_split`

// queueDrops adds the packets that a queue of igb or igc dropped (RQDPC), which the counter of the
// whole NIC has too.
var queueDrops = append([]counterNames{{meaning: "rx_no_buffer", names: `rx_queue_\d+_drops`, again: true}}, intel...)

const igbOthers = intelOthers + `|os2bmc_[rt]x_by_(bmc|host)|tx_dma_out_of_sync|[rt]x_queue_\d+_(packets|bytes)`

// intelNamings has the names of the drivers of Intel's NICs. Of those for 1 and 10 Gbit/s,
// rx_no_buffer_count has every packet that found no buffer in the ring, also those that the NIC
// could not keep until there was one, which are in rx_missed_errors (82576 datasheet, RNBC and MPC).
var intelNamings = []naming{
	{Driver: "e1000", Source: "intel/e1000/e1000_ethtool.c: e1000_gstrings_stats", patterns: intel,
		others: intelOthers, overlap: true},
	{Driver: "e1000e", Source: "intel/e1000e/ethtool.c: e1000_gstrings_stats",
		patterns: slices.Concat(intel, []counterNames{
			{meaning: "rx_no_memory", names: `rx_dma_failed`}, {meaning: "tx_dropped", names: `tx_dma_failed`}}),
		others: intelOthers + `|(un)?corr_ecc_errors`, overlap: true},
	{Driver: "igb", Source: "intel/igb/igb_ethtool.c: igb_gstrings_stats, igb_get_strings", patterns: queueDrops,
		others: igbOthers, overlap: true},
	{Driver: "igc", Source: "intel/igc/igc_ethtool.c: igc_gstrings_stats, igc_ethtool_get_strings",
		patterns: queueDrops, others: igbOthers + `|[rt]x_lpi_counter`, overlap: true},
	{Driver: "ixgbe", Source: "intel/ixgbe/ixgbe_ethtool.c: ixgbe_gstrings_stats",
		patterns: slices.Concat([]counterNames{
			{meaning: "rx_no_buffer", names: `rx_no_dma_resources`, again: true},
			{meaning: "rx_bad_length", names: `rx_length_errors`},
			{meaning: "rx_pause", names: `rx_pb_\d+_pxoff`}, {meaning: "tx_pause", names: `tx_pb_\d+_pxoff`},
			{meaning: "tx_queue_full", names: `tx_busy`, again: true}}, intel),
		others: intelOthers + `|[rt]x_(pkts|bytes)_nic|lsc_int|non_eop_descs|hw_rsc_(aggregated|flushed)|fdir_\w+|` +
			`alloc_rx_page|[rt]x_queue_\d+_(packets|bytes)|[rt]x_pb_\d+_pxon`},
	{Driver: "i40e", Source: "intel/i40e/i40e_ethtool.c: i40e_gstrings_stats, i40e_gstrings_misc_stats",
		patterns: []counterNames{
			// Since Linux 6.1.8 rx_missed_errors, before that rx_dropped (i40e_update_eth_stats).
			{meaning: "rx_no_buffer", names: `rx_missed_errors`, again: true},
			{meaning: "rx_no_buffer", names: `rx_dropped`, again: true},
			{meaning: "rx_fifo_full", names: `port\.rx_dropped|port\.rx_discards`},
			{meaning: "rx_damaged", names: `port\.rx_crc_errors`, again: true},
			{meaning: "rx_damaged", names: `port\.illegal_bytes`, again: true},
			{meaning: "rx_bad_length",
				names: `port\.rx_length_errors|port\.rx_undersize|port\.rx_oversize|port\.rx_fragments|` +
					`port\.rx_jabber`},
			{meaning: "rx_no_memory", names: `rx_alloc_fail|rx_pg_alloc_fail`},
			{meaning: "rx_bad_checksum", names: `port\.rx_csum_bad`},
			{meaning: "rx_pause", names: `port\.link_xoff_rx|port\.rx_priority_\d+_xoff_rx`},
			{meaning: "tx_pause", names: `port\.link_xoff_tx|port\.tx_priority_\d+_xoff_tx`},
			{meaning: "tx_queue_full", names: `tx_stopped|tx_busy`},
			{meaning: "tx_dropped", names: `port\.tx_dropped_link_down`},
			{meaning: "tx_timeout", names: `port\.tx_timeout`}},
		others: `port\.([rt]x_(bytes|unicast|multicast|broadcast|size_\w+)|fdir_\w+|link_xon_[rt]x|[rt]x_lpi_\w+)|` +
			`veb\.[rt]x_(bytes|unicast|multicast|broadcast)|[rt]x-\d+\.(packets|bytes)|tx_(linearize|force_wb|` +
			`restart)`},
	{Driver: "ice", Source: "intel/ice/ice_ethtool.c: ice_gstrings_vsi_stats, ice_gstrings_pf_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_dropped`}, {meaning: "rx_fifo_full", names: `rx_dropped\.nic`},
			{meaning: "rx_damaged", names: `rx_crc_errors\.nic`, again: true},
			{meaning: "rx_damaged", names: `illegal_bytes\.nic`, again: true},
			{meaning: "rx_bad_length",
				names: `rx_undersize\.nic|rx_oversize\.nic|rx_length_errors\.nic|rx_fragments\.nic|rx_jabber\.nic`},
			{meaning: "rx_no_memory", names: `rx_alloc_fail|rx_pg_alloc_fail`},
			{meaning: "rx_bad_checksum", names: `rx_csum_bad\.nic`},
			{meaning: "rx_pause", names: `link_xoff_rx\.nic|rx_priority_\d+_xoff\.nic`},
			{meaning: "tx_pause", names: `link_xoff_tx\.nic|tx_priority_\d+_xoff\.nic`},
			{meaning: "tx_queue_full", names: `tx_restart|tx_busy`},
			{meaning: "tx_dropped", names: `tx_dropped_link_down\.nic`},
			{meaning: "tx_timeout", names: `tx_timeout\.nic`}},
		others: `[rt]x_(bytes|unicast|multicast|broadcast|size_\w+)\.nic|link_xon_[rt]x\.nic|fdir_sb_\w+\.nic|` +
			`mac_(local|remote)_faults\.nic|tx_linearize|late_cached_phc_updates`},
}
