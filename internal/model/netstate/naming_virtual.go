package netstate

// virtualNamings has the names of the drivers of virtual machines' NICs.
var virtualNamings = []naming{
	{Driver: "virtio_net", Source: "virtio_net.c: virtnet_rq_stats_desc, virtnet_sq_stats_desc, virtnet_get_hw_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_drops`, again: true},
			{meaning: "rx_no_buffer", names: `rx\d+_drops|rx_queue_\d+_drops`, again: true},
			{meaning: "rx_fifo_full", names: `rx_hw_drops`, again: true},
			{meaning: "rx_fifo_full", names: `rx\d+_hw_drops`, again: true},
			{meaning: "tx_dropped", names: `tx_hw_drops`, again: true},
			{meaning: "tx_dropped", names: `tx\d+_hw_drops`, again: true},
			{meaning: "tx_queue_full", names: `tx_stop`, again: true},
			{meaning: "tx_queue_full", names: `tx\d+_stop`, again: true},
			{meaning: "over_allowance", names: `[rt]x_hw_ratelimit_packets`, again: true},
			{meaning: "over_allowance", names: `[rt]x\d+_hw_ratelimit_packets`, again: true},
			{meaning: "tx_timeout", names: `tx_tx_timeouts`, again: true},
			{meaning: "tx_timeout", names: `tx\d+_tx_timeouts|tx_queue_\d+_tx_timeouts`, again: true}},
		others: `[rt]x(_queue)?_?(\d+_)?(kicks|xdp_(packets|tx|redirects|drops|tx_drops)|hw_drop_(overruns|` +
			`malformed)|wake)|` +
			`[rt]x_queue_\d+_(packets|bytes)`},
	{Driver: "ena", Source: "amazon/ena/ena_ethtool.c: ena_stats_global_strings, ena_stats_eni_strings, " +
		"ena_stats_tx_strings, ena_stats_rx_strings",
		patterns: []counterNames{
			{meaning: "over_allowance", names: `bw_in_allowance_exceeded|bw_out_allowance_exceeded|` +
				`pps_allowance_exceeded|conntrack_allowance_exceeded|linklocal_allowance_exceeded`},
			{meaning: "rx_no_memory", names: `queue_\d+_rx_page_alloc_fail|queue_\d+_rx_skb_alloc_fail|` +
				`queue_\d+_rx_dma_mapping_err`},
			{meaning: "rx_no_buffer", names: `queue_\d+_rx_empty_rx_ring`},
			{meaning: "rx_bad_checksum", names: `queue_\d+_rx_csum_bad|queue_\d+_rx_bad_csum`},
			{meaning: "tx_queue_full", names: `queue_\d+_tx_queue_stop`},
			{meaning: "tx_dropped", names: `queue_\d+_tx_(dma_mapping_err|prepare_ctx_err|linearize_failed)`},
			{meaning: "tx_timeout", names: `tx_timeout`, again: true},
			{meaning: "tx_timeout", names: `os_netdev_wd`, again: true}},
		others: `queue_\d+_[rt]x_(cnt|bytes|queue_wakeup|linearize|napi_comp|tx_poll|doorbells|rx_copybreak_pkt|` +
			`csum_good|refil_partial|unmask_interrupt|llq_buffer_copy)|conntrack_allowance_available|ena_\w+|` +
			`total_resets|wd_expired|interface_(up|down)|suspend|resume|admin_q_pause|suspected_poll_starvation`},
	{Driver: "gve", Source: "google/gve/gve_ethtool.c: gve_gstrings_main_stats, gve_gstrings_rx_stats, " +
		"gve_gstrings_tx_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `rx_queue_drop_cnt\[\d+\]`, again: true},
			{meaning: "rx_no_buffer", names: `rx_no_buffers_posted\[\d+\]`, again: true},
			{meaning: "rx_no_memory", names: `rx_skb_alloc_fail|rx_buf_alloc_fail|page_alloc_fail`},
			{meaning: "rx_bad_length", names: `rx_drops_packet_over_mru\[\d+\]`},
			{meaning: "rx_bad_checksum", names: `rx_drops_invalid_checksum\[\d+\]`},
			{meaning: "tx_queue_full", names: `tx_stop\[\d+\]`},
			{meaning: "tx_dropped", names: `dma_mapping_error`, again: true},
			{meaning: "tx_dropped", names: `tx_dma_mapping_error\[\d+\]`, again: true},
			{meaning: "tx_timeout", names: `tx_timeouts`}},
		others: `[rt]x_(posted_desc|completed_desc|consumed_desc|bytes|cont_packet_cnt|frag_\w+|copybreak_pkt|` +
			`copied_pkt|` +
			`dropped_pkt|wake|event_counter)\[\d+\]|adminq_\w+_cnt|interface_(up|down)_cnt|reset_cnt|` +
			`stats_report_trigger_cnt`},
	{Driver: "hv_netvsc", Source: "hyperv/netvsc_drv.c: netvsc_stats, vf_stats, pcpu_stats",
		patterns: []counterNames{
			{meaning: "tx_queue_full", names: `stop_queue`, again: true},
			{meaning: "tx_queue_full", names: `tx_busy`, again: true},
			{meaning: "tx_dropped", names: `tx_too_big|tx_no_space|tx_no_memory|vf_tx_dropped`},
			{meaning: "rx_no_memory", names: `rx_no_memory`}},
		others: `tx_scattered|tx_send_full|rx_comp_busy|wake_queue|(cpu\d+_)?vf_[rt]x_(packets|bytes)|` +
			`cpu\d+_[rt]x_(packets|bytes)|[rt]x_queue_\d+_(packets|bytes|xdp_\w+)`},
	{Driver: "vmxnet3", Source: "vmxnet3/vmxnet3_ethtool.c: vmxnet3_tq_dev_stats, vmxnet3_tq_driver_stats, " +
		"vmxnet3_rq_dev_stats, vmxnet3_rq_driver_stats",
		patterns: []counterNames{
			{meaning: "rx_no_buffer", names: `pkts rx OOB`}, {meaning: "rx_no_memory", names: `rx buf alloc fail`},
			{meaning: "tx_queue_full", names: `ring full`},
			{meaning: "tx_dropped", names: `pkts tx err|pkts tx discard`},
			{meaning: "tx_timeout", names: `tx timeout count`}},
		others: `[TR]x Queue#|(TSO|LRO|ucast|mcast|bcast) (pkts|bytes?) [rt]x|too many frags|giant hdr|hdr (err|` +
			`cloned)|` +
			`tso|pkts linearized|err|fcs|xdp (packets|tx|redirects|drops|aborted)`},
}
