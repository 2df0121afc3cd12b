package netstate

// serverNamings has the names of the drivers of other vendors' NICs for servers.
var serverNamings = []naming{
	{Driver: "mlx5_core", Source: "Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_out_of_buffer|dev_internal_queue_oob`},
			{meaning: "rx_fifo_full", names: `rx_discards_phy`, again: true},
			{meaning: "rx_fifo_full", names: `rx_prio\d_discards`, again: true},
			{meaning: "rx_fifo_full", names: `rx_prio\d_(buf|cong)_discard`, again: true},
			{meaning: "rx_no_memory", names: `rx_(xsk_)?buff_alloc_err`, again: true},
			{meaning: "rx_no_memory", names: `rx\d+_(xsk_)?buff_alloc_err`, again: true},
			{meaning: "rx_damaged", names: `rx_crc_errors_phy`, again: true},
			{meaning: "rx_damaged", names: `rx_symbol_err_phy`, again: true},
			{meaning: "rx_damaged", names: `rx_pcs_symbol_err_phy`, again: true},
			{meaning: "rx_bad_length", names: `rx_in_range_len_errors_phy|rx_out_of_range_len_phy|` +
				`rx_oversize_pkts_phy|` +
				`rx_undersize_pkts_phy|rx_fragments_phy|rx_jabbers_phy|rx_oversize_pkts_buffer`},
			{meaning: "rx_bad_length", names: `rx_(xsk_)?oversize_pkts_sw_drop`, again: true},
			{meaning: "rx_bad_length", names: `rx\d+_(xsk_)?oversize_pkts_sw_drop`, again: true},
			{meaning: "rx_filtered", names: `rx_steer_missed_packets|rx_unsupported_op_phy`},
			{meaning: "rx_pause", names: `rx_pause_ctrl_phy`, again: true},
			{meaning: "rx_pause", names: `rx_(global|prio\d)_pause`, again: true},
			{meaning: "tx_pause", names: `tx_pause_ctrl_phy`, again: true},
			{meaning: "tx_pause", names: `tx_(global|prio\d)_pause`, again: true},
			{meaning: "pause_storm", names: `tx_pause_storm_warning_events|tx_pause_storm_error_events`},
			{meaning: "tx_queue_full", names: `tx_queue_stopped`, again: true},
			{meaning: "tx_queue_full", names: `tx\d+_stopped`, again: true},
			{meaning: "tx_dropped", names: `tx_discards_phy|tx_errors_phy`},
			{meaning: "tx_dropped", names: `tx_queue_dropped`, again: true},
			{meaning: "tx_dropped", names: `tx\d+_dropped`, again: true},
			{meaning: "link_down", names: `link_down_events_phy`},
			{meaning: "fec_corrected", names: `rx_corrected_bits_phy`},
			{meaning: "pcie_stalled", names: `outbound_pci_stalled_rd_events|outbound_pci_stalled_wr_events`},
			{meaning: "pcie_dropped", names: `outbound_pci_buffer_overflow`},
			{meaning: "pcie_errors", names: `rx_pci_signal_integrity|tx_pci_signal_integrity`}},
		others: `rx_err_lane_\d_phy|[rt]x_tls_\w+|[rt]x\d+_tls_\w+|[rt]x_vport_\w+|[rt]x_(packets|bytes)_phy|` +
			`[rt]x_prio\d_(bytes|packets)|outbound_pci_stalled_(rd|wr)|ch\d*_\w+|rx\d*_(cache|pp|cqe_compress)_\w+`},
	{Driver: "mlx4_en", Source: "mellanox/mlx4/en_ethtool.c: main_strings",
		patterns: []counterNames{
			{meaning: "tx_queue_full", names: `queue_stopped`}, {meaning: "tx_timeout", names: `tx_timeout`},
			{meaning: "rx_no_memory", names: `rx_alloc_failed`}, {meaning: "rx_damaged", names: `rx_crc_errors`},
			{meaning: "rx_pause", names: `rx_pause`, again: true},
			{meaning: "rx_pause", names: `rx_pause_prio_\d`, again: true},
			{meaning: "tx_pause", names: `tx_pause`, again: true},
			{meaning: "tx_pause", names: `tx_pause_prio_\d`, again: true},
			{meaning: "rx_no_buffer", names: `rx_dropped`, again: true},
			{meaning: "rx_no_buffer", names: `rx\d+_dropped`, again: true}},
		others: `pf_[rt]x_(packets|bytes)|tso_packets|rx_alloc_pages|rx_csum_(good|none|complete)|tx_chksum_offload|` +
			`wake_queue|[rt]x_(prio_\d|novlan)_(packets|bytes)|rx\d+_xdp_\w+`},
	{Driver: "bnxt_en", Source: "broadcom/bnxt/bnxt_ethtool.c: bnxt_ring_rx_stats_str, bnxt_ring_err_stats_arr, " +
		"bnxt_port_stats_arr, bnxt_port_stats_ext_arr",
		patterns: []counterNames{
			{meaning: "rx_no_memory", names: `rx_total_oom_discards`},
			{meaning: "rx_no_buffer", names: `rx_total_ring_discards|rx_total_discard_pkts`, again: true},
			{meaning: "rx_no_buffer", names: `\[\d+\]: rx_(discards|drops)`, again: true},
			{meaning: "rx_fifo_full", names: `rx_discard_packets_cos\d`},
			{meaning: "tx_dropped", names: `tx_total_ring_discards|tx_total_discard_pkts`, again: true},
			{meaning: "tx_dropped", names: `\[\d+\]: tx_(discards|drops)`, again: true},
			{meaning: "tx_dropped", names: `tx_fifo_underruns`},
			{meaning: "rx_bad_checksum", names: `rx_total_l4_csum_errors`, again: true},
			{meaning: "rx_bad_checksum", names: `\[\d+\]: rx_l4_csum_errors`, again: true},
			{meaning: "fec_corrected", names: `rx_fec_corrected_blocks`},
			{meaning: "fec_failed", names: `rx_fec_uncorrectable_blocks`},
			{meaning: "link_down", names: `link_down_events`},
			{meaning: "rx_damaged", names: `rx_fcs_err_frames|rx_align_err_frames`, again: true},
			{meaning: "rx_damaged", names: `rx_pcs_symbol_err`, again: true},
			{meaning: "rx_bad_length", names: `rx_ovrsz_frames|rx_jbr_frames|rx_undrsz_frames|rx_runt_frames`},
			{meaning: "rx_pause", names: `rx_pause_frames|rx_pfc_frames`},
			{meaning: "tx_pause", names: `tx_pause_frames|tx_pfc_frames`},
			{meaning: "pause_storm", names: `continuous_pause_events`}},
		others: `(\[\d+\]: )?([rt]x_[umb]cast_(packets|bytes)|(rx_)?tpa_\w+|[rt]x_push_\w+)|` +
			`[rt]x_(good|total|ctrl|[umb]cast|\d+b)_?\w*_frames|rx_corrected_bits|[rt]x_pfc_ena_frames_pri\d|` +
			`rx_discard_bytes_cos\d|resume_pause_events|rx_buffer_passed_threshold`},
	{Driver: "tg3", Source: "broadcom/tg3.c: ethtool_stats_keys, tg3_get_nstats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rxbds_empty`}, {meaning: "rx_fifo_full", names: `rx_discards`},
			{meaning: "rx_damaged", names: `rx_fcs_errors|rx_align_errors`},
			{meaning: "rx_bad_length", names: `rx_frame_too_long_errors|rx_undersize_packets|rx_in_length_errors|` +
				`rx_out_length_errors|rx_fragments|rx_jabbers`},
			{meaning: "rx_pause", names: `rx_xoff_pause_rcvd`}, {meaning: "tx_pause", names: `tx_xoff_sent`},
			{meaning: "tx_dropped", names: `tx_discards|tx_mac_errors|tx_excessive_collisions|` +
				`tx_late_collisions`}},
		others: `[rt]x_octets|[rt]x_[umb]cast_packets|rx_\d+_(to|or)_\w+_octet_packets|rx_xon_pause_rcvd|tx_xon_sent|` +
			`rx_mac_ctrl_rcvd|rx_xoff_entered|rx_threshold_hit|tx_collide_\d+times|dma_(write|read)_?(prio)?q_full|` +
			`ring_\w+|nic_\w+|mbuf_lwm_thresh_hit`,
		overlap: true},
	{Driver: "bnx2", Source: "broadcom/bnx2.c: bnx2_stats_str_arr",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_fw_discards`},
			{meaning: "rx_fifo_full", names: `rx_discards|rx_ftq_discards`},
			{meaning: "rx_damaged", names: `rx_crc_errors|rx_align_errors`},
			{meaning: "rx_bad_length", names: `rx_fragments|rx_jabbers|rx_(under|over)size_packets`},
			{meaning: "rx_pause", names: `rx_xoff_frames`}, {meaning: "tx_pause", names: `tx_xoff_frames`},
			{meaning: "tx_dropped", names: `tx_mac_errors|tx_carrier_errors|tx_(excess|late)_collisions`}},
		others: `[rt]x_(error_)?bytes|[rt]x_[umb]cast_packets|[rt]x_\d+_(to_\d+_)?byte_packets|[rt]x_xon_frames|` +
			`tx_(single|multi|total)_collisions|tx_deferred|rx_mac_ctrl_frames|rx_filtered_packets`},
	{Driver: "enic", Source: "cisco/enic/enic_ethtool.c: enic_tx_stats, enic_rx_stats, enic_gen_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_no_bufs`}, {meaning: "rx_fifo_full", names: `rx_drop`},
			{meaning: "rx_damaged", names: `rx_crc_errors`},
			{meaning: "rx_no_memory", names: `dma_map_error`}, {meaning: "tx_dropped", names: `tx_drops`}},
		others: `[rt]x_(unicast_|multicast_|broadcast_)?(frames|bytes)_(ok|total)|rx_frames_\w+|rx_rss|tx_tso`},
	{Driver: "be2net", Source: "emulex/benet/be_ethtool.c: et_stats, et_rx_stats, et_tx_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `(rxq|RxQ)\d+: rx_drops_no_frags`},
			{meaning: "rx_no_memory", names: `(rxq|RxQ)\d+: (rx_drops_no_skbs|rx_post_fail)`},
			// A NIC of the kind Lancer has one counter for the first two.
			{meaning: "rx_fifo_full", names: `rx_input_fifo_overflow_drop`, again: true},
			{meaning: "rx_fifo_full", names: `rxpp_fifo_overflow_drop`, again: true},
			{meaning: "rx_fifo_full", names: `rx_drops_no_pbuf|rx_drops_no_erx_descr|pmem_fifo_overflow_drop|` +
				`eth_red_drops`},
			{meaning: "rx_damaged", names: `rx_crc_errors|rx_alignment_symbol_errors`},
			{meaning: "rx_bad_length", names: `rx_in_range_errors|rx_out_range_errors|rx_frame_too_long|` +
				`rx_dropped_runt|jabber_events|rx_drops_mtu|rx_drops_too_many_frags`},
			{meaning: "rx_malformed", names: `rx_dropped_too_small|rx_dropped_too_short|rx_dropped_header_too_small|` +
				`rx_dropped_tcp_length`},
			{meaning: "rx_bad_checksum", names: `rx_ip_checksum_errs|rx_tcp_checksum_errs|rx_udp_checksum_errs`},
			{meaning: "rx_filtered", names: `rx_address_filtered`},
			{meaning: "rx_pause", names: `rx_pause_frames|rx_priority_pause_frames`},
			{meaning: "tx_pause", names: `tx_pauseframes|tx_priority_pauseframes`},
			{meaning: "tx_queue_full", names: `(txq|TxQ)\d+: tx_stops`},
			{meaning: "tx_dropped", names: `(txq|TxQ)\d+: tx_(drv_drops|hdr_parse_err|dma_err|spoof_check_err|` +
				`tso_err|qinq_err|internal_parity_err|sge_err)|dma_map_errors`}},
		others: `(rxq|RxQ)\d+: rx_(bytes|pkts|compl|mcast_pkts|vxlan_offload_pkts)|(txq|TxQ)\d+: tx_(bytes|pkts|` +
			`compl|reqs)|` +
			`[rt]x_control_?frames|forwarded_packets|be_on_die_temperature`},
	{Driver: "cxgb4", Source: "chelsio/cxgb4/cxgb4_ethtool.c: stats_strings, loopback_stats_strings",
		patterns: []counterNames{
			{meaning: "rx_fifo_full", names: `rx_bg\d_frames_(dropped|trunc)`},
			{meaning: "rx_damaged", names: `rx_fcs_errors|rx_symbol_errors`},
			{meaning: "rx_bad_length", names: `rx_frames_too_long|rx_jabber_errors|rx_length_errors|rx_runt_frames`},
			{meaning: "rx_pause", names: `rx_pause_frames|rx_ppp\d_frames`},
			{meaning: "tx_pause", names: `tx_pause_frames|tx_ppp\d_frames`},
			{meaning: "tx_dropped", names: `tx_frames_dropped|tx_error_frames`}},
		others: `[rt]x_(octets|frames)_ok|[rt]x_frames_\d+(_to_\w+)?|(octets|frames)_ok|[bmu]cast_frames|` +
			`error_frames|frames_\d+(_to_\w+)?|frames_dropped|bg\d_frames_(dropped|trunc)|vlan_(extractions|` +
			`insertions)|` +
			`gro_(packets|merged)|db_(full|empty)|write_coal_\w+|tx_tls_\w+`},
	{Driver: "qede", Source: "qlogic/qede/qede_ethtool.c: qede_rqstats_arr, qede_tqstats_arr, qede_stats_arr",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `no_buff_discards`},
			{meaning: "rx_fifo_full", names: `brb_discards|brb_truncates`},
			{meaning: "rx_no_memory", names: `\d+: rx_alloc_errors`},
			{meaning: "rx_bad_checksum", names: `\d+: rx_hw_errors`},
			{meaning: "rx_damaged", names: `rx_crc_errors|rx_align_errors|rx_carrier_errors`},
			{meaning: "rx_bad_length", names: `rx_oversize_packets|rx_jabbers|rx_undersize_packets|rx_fragments|` +
				`packet_too_big_discard`},
			{meaning: "rx_filtered", names: `mac_filter_discards|mftag_filter_discards|gft_filter_drop`},
			{meaning: "rx_pause", names: `rx_pause_frames|rx_pfc_frames`},
			{meaning: "tx_pause", names: `tx_pause_frames|tx_pfc_frames`},
			{meaning: "tx_queue_full", names: `\d+(_\d+)?: stopped_cnt`},
			{meaning: "tx_dropped", names: `tx_err_drop_pkts|\d+(_\d+)?: tx_mem_alloc_err`}},
		others: `\d+(_\d+)?: (rcv_pkts|xmit_pkts|rx_ip_frags|xdp_no_pass)|[rt]x_[umb]cast_(bytes|pkts)|` +
			`[rt]x_\d+_(to_\w+_)?byte_packets|(non_)?coalesced_\w+|link_change_count`},
	{Driver: "nfp", Source: "netronome/nfp/nfp_net_ethtool.c: nfp_net_et_stats, nfp_mac_et_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `dev_rx_discards`},
			{meaning: "rx_fifo_full", names: `mac\.rx_drop_events|mac\.rx_mac_head_drop`},
			{meaning: "rx_no_memory", names: `rx_replace_buf_alloc_fail`},
			{meaning: "rx_bad_checksum", names: `hw_rx_csum_err`},
			{meaning: "rx_damaged", names: `mac\.rx_frame_check_sequence_errors|mac\.rx_alignment_errors`, again: true},
			{meaning: "rx_damaged", names: `mac\.rx_errors`, again: true},
			{meaning: "rx_bad_length", names: `mac\.rx_(frame_too_long_errors|range_length_errors|undersize_pkts|` +
				`oversize_pkts|jabbers|fragments)`},
			{meaning: "rx_pause", names: `mac\.rx_pause_mac_ctrl_frames|mac\.rx_pause_frames_class\d`},
			{meaning: "tx_pause", names: `mac\.tx_pause_mac_ctrl_frames|mac\.tx_pause_frames_class\d`},
			{meaning: "tx_queue_full", names: `rvec_\d+_tx_busy`},
			{meaning: "tx_dropped", names: `dev_tx_discards|dev_tx_errors|mac\.tx_queue_drop|mac\.tx_errors`}},
		others: `dev_[rt]x_\w*(bytes|pkts)|mac\.[rt]x_(octets|\w*pkts\w*|vlan_\w+|frames_\w+)|rvec_\d+_[rt]x_pkts|` +
			`hw_[rt]x_csum\w*|[rt]xq_\d+_(pkts|bytes)|bpf_\w+|(rx|tx|hw)_tls_\w+`},
	{Driver: "nicvf", Source: "cavium/thunder/nicvf_ethtool.c: nicvf_hw_stats, nicvf_drv_stats (ThunderX)",
		aliases: []string{"thunder-nicvf"},
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_drops`, again: true},
			{meaning: "rx_no_buffer", names: `rx_drop_red|rx_drop_overrun`, again: true},
			{meaning: "rx_no_memory", names: `rcv_buffer_alloc_failures`},
			{meaning: "rx_damaged", names: `rx_fcs_errors`, again: true},
			{meaning: "rx_damaged", names: `rx_fcs_errs`, again: true},
			{meaning: "rx_bad_length", names: `rx_jabber_errs|rx_oversize|rx_undersize|rx_l2_len_mismatch|` +
				`rx_truncated_pkts|rx_bgx_truncated_pkts`},
			{meaning: "rx_malformed", names: `rx_l2_hdr_malformed|rx_ip_ver_errs|rx_ip_hdr_malformed|` +
				`rx_ip_payload_malformed|rx_l4_malformed|rx_udp_len_errs|rx_l4_port_errs|rx_tcp_flag_errs|` +
				`rx_tcp_offset_errs`},
			{meaning: "rx_bad_checksum", names: `rx_ip_csum_errs|rx_l4_csum_errs`},
			{meaning: "rx_filtered", names: `rx_drop_(l3_)?[bm]cast`},
			{meaning: "tx_queue_full", names: `txq_stop`}, {meaning: "tx_timeout", names: `tx_timeout`},
			{meaning: "tx_dropped", names: `tx_drops`, again: true},
			{meaning: "tx_dropped", names: `tx_(desc_fault|hdr_cons_err|subdesc_err|max_size_exceeded|imm_size_oflow|` +
				`data_seq_err|mem_seq_err|lock_viol|data_fault|mem_fault|csum_overlap|csum_overflow)`, again: true}},
		others: `[rt]x_([umb]cast_)?frames|rx_drop_(red|overrun)_bytes|rx_ip_ttl_errs|[rt]xq\d+: (bytes|frames)|` +
			`txq_wake|tx_tso|bgx_[rt]xstat\d+:`},
}
