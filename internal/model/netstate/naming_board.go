package netstate

// realtek has the names that r8169 and the vendor's drivers share.
var realtek = []counterNames{
	{meaning: "rx_damaged", names: `rx_errors`, again: true},
	{meaning: "rx_damaged", names: `align_errors`, again: true},
	{meaning: "tx_dropped", names: `tx_errors`, again: true},
	{meaning: "tx_dropped", names: `tx_aborted|tx_underrun`, again: true},
}

// boardNamings has the names of the drivers of NICs that are parts of boards and appliances.
var boardNamings = []naming{
	{Driver: "r8169", Source: "realtek/r8169_main.c: rtl8169_gstrings",
		patterns: append([]counterNames{{meaning: "rx_fifo_full", names: `rx_missed`}}, realtek...),
		others:   `tx_(single|multi)_collisions|unicast|broadcast`},
	{Driver: "r8125", Source: "the vendor's driver, src/r8125_n.c: rtl8125_gstrings",
		aliases: []string{"r8126", "r8127", "r8168"},
		patterns: append([]counterNames{
			{meaning: "rx_fifo_full", names: `rx_missed`, again: true},
			{meaning: "rx_fifo_full", names: `rx_mac_missed`, again: true},
			{meaning: "rx_no_buffer", names: `rdu`},
			{meaning: "rx_damaged", names: `rx_mac_error`, again: true},
			{meaning: "rx_damaged", names: `align_errors32`, again: true},
			{meaning: "rx_bad_length", names: `rx_frame_too_long|rx_runt`},
			{meaning: "rx_filtered", names: `rx_tcam_dropped|rx_unknown_opcode`},
			{meaning: "rx_pause", names: `rx_pause_on`}, {meaning: "tx_pause", names: `tx_pause_on`},
			{meaning: "tx_dropped", names: `tx_aborted32|tx_underrun32`, again: true}}, realtek...),
		others: `tx_(single|multi)_collisions|unicast|broadcast|[rt]x_octets|[rt]x_(uni|multi|broad)cast64|` +
			`[rt]x_pause_(off|all)|tx_deferred|tx_(late|all)_collision|tdu`},
	{Driver: "atlantic",
		Source: "aquantia/atlantic/aq_ethtool.c: aq_ethtool_stat_names, aq_ethtool_queue_rx_stat_names",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `InDroppedDma`},
			{meaning: "rx_damaged", names: `InErrors`, again: true},
			{meaning: "rx_damaged", names: `(TC\d+ )?Queue\[\d+\] InErrors`, again: true},
			{meaning: "rx_no_memory", names: `(TC\d+ )?Queue\[\d+\] (Skb)?AllocFails`},
			{meaning: "tx_queue_full", names: `(TC\d+ )?Queue\[\d+\] Restarts`}},
		others: `(In|Out)([UMB]Cast)?(Packets|Octets)?(Dma)?|(TC\d+ )?Queue\[\d+\] (In|Out|Polls|Page|Xdp)\w*|` +
			`MACSec.*`},
	{Driver: "stmmac", Source: "stmicro/stmmac/stmmac_ethtool.c: stmmac_gstrings_stats, stmmac_mmc",
		aliases: []string{"st_gmac", "st_xgmac", "st_mac100"}, patterns: stmmac, others: stmmacOthers},
}

// stmmac has the names of stmmac. Which registers the device has depends on its version: the
// counters of the MAC (mmc_) and those that the driver takes from descriptors and interrupts count
// the same packets.
var stmmac = []counterNames{
	{meaning: "rx_no_buffer", names: `rx_buf_unav_irq`, again: true},
	{meaning: "rx_no_buffer", names: `rx_missed_cntr`, again: true},
	{meaning: "rx_fifo_full", names: `mmc_rx_fifo_overflow`, again: true},
	{meaning: "rx_fifo_full", names: `rx_overflow_cntr`, again: true},
	{meaning: "rx_fifo_full", names: `overflow_error|rx_gmac_overflow`, again: true},
	{meaning: "rx_fifo_full", names: `rx_overflow_irq`, again: true},
	{meaning: "rx_damaged", names: `mmc_rx_crc_error|mmc_rx_align_error`, again: true},
	{meaning: "rx_damaged", names: `rx_crc_errors|dribbling_bit|rx_mii`, again: true},
	{meaning: "rx_bad_length", names: `mmc_rx_run_error|mmc_rx_jabber_error|mmc_rx_undersize_g|mmc_rx_oversize_g|` +
		`mmc_rx_length_error|mmc_rx_watchdog_error`, again: true},
	{meaning: "rx_bad_length", names: `rx_length|rx_watchdog`, again: true},
	{meaning: "rx_bad_checksum",
		names: `mmc_rx_ipv[46]_hderr|mmc_rx_udp_err|mmc_rx_tcp_err|mmc_rx_icmp_err`, again: true},
	{meaning: "rx_bad_checksum", names: `ip_hdr_err|ip_payload_err`, again: true},
	{meaning: "rx_bad_checksum", names: `ipc_csum_error`, again: true},
	{meaning: "rx_filtered", names: `[sd]a_rx_filter_fail|sa_filter_fail`},
	{meaning: "rx_pause", names: `mmc_rx_pause_frames`}, {meaning: "tx_pause", names: `mmc_tx_pause_frame`},
	{meaning: "tx_dropped", names: `mmc_tx_underflow_error|mmc_tx_latecol|mmc_tx_exesscol|mmc_tx_carrier_error|` +
		`mmc_tx_excessdef`, again: true},
	{meaning: "tx_dropped", names: `tx_underflow|tx_carrier|tx_losscarrier|tx_jabber|tx_frame_flushed|` +
		`tx_payload_error|tx_ip_header_error`, again: true},
}

const stmmacOthers = `mmc_[rt]x_\w+|[rt]x_pkt_n|[rt]x_(normal_)?irq_n|q\d+_[rt]x_(pkt|irq)_n|napi_poll|normal_irq_n|` +
	`ip_csum_bypassed|ipv[46]_pkt_rcvd|irq_[rt]x_path_\w+|phy_eee_wakeup_error_n|threshold|[rt]x_early_irq|` +
	`ptp_\w+|m(t|mt)l_\w+|mac_\w+|tx_(clean|set_ic_bit|tso_frames|tso_nfrags)|timestamp_dropped`
