package tuning

import "linerate/internal/model/record"

// parameter is what is known of one kernel parameter that lists like to set.
type parameter struct {
	key string
	// values is how many numbers it has; 0: it holds words.
	values   int
	min, max int64 // what the kernel takes for each number
	// unit is what a number counts, if not plain things: bytes, pages, s, ms, µs.
	unit string
	// scope as on kernels of today.
	scope string
	// tcp is why the parameter does nothing, or little, for bulk data over TCP.
	tcp string
}

const (
	most  = 1<<31 - 1
	byte8 = 255 // a u8 in the kernel: larger numbers are refused since 5.14 or so
	own   = record.ScopeNamespace
	wide  = record.ScopeMachine

	bytes = "bytes"
	pages = "pages"
)

// Why some well-loved parameters do nothing for a TCP connection.
const (
	startsElsewhere = "TCP's sockets begin with the second value of %s: this is where those of UDP and others begin"
	boundsAsking    = "it bounds what programs may ask for with %s; of the others TCP sizes the buffers itself, up to the third value of %s"
	onlySpecial     = "it bounds control messages and the notes of zero-copy sends, not data"
	onlyWaiting     = "it is about connections that wait to be accepted, not about those that move data"
	noNAPI          = "packets wait there only on interfaces without NAPI (loopback, veth) or with RPS; a network card's driver polls its own ring"
)

// catalogue is of Linux. Bounds are those of the kernel's own tables
// (net/ipv4/sysctl_net_ipv4.c, net/core/sysctl_net_core.c); which parameters a
// namespace has of its own is asked of the kernel where there is one to ask.
// What is not in it is not judged.
var catalogue = []parameter{
	{"net.core.rmem_max", 1, 2304, most, bytes, wide, sprintf(boundsAsking, "SO_RCVBUF", "net.ipv4.tcp_rmem")},
	{"net.core.wmem_max", 1, 4608, most, bytes, wide, sprintf(boundsAsking, "SO_SNDBUF", "net.ipv4.tcp_wmem")},
	{"net.core.rmem_default", 1, 2304, most, bytes, wide, sprintf(startsElsewhere, "net.ipv4.tcp_rmem")},
	{"net.core.wmem_default", 1, 4608, most, bytes, wide, sprintf(startsElsewhere, "net.ipv4.tcp_wmem")},
	{"net.core.optmem_max", 1, 0, most, bytes, own, onlySpecial},
	{"net.core.somaxconn", 1, 0, most, "", own, onlyWaiting},
	{"net.core.netdev_max_backlog", 1, 0, most, "packets", wide, noNAPI},
	{"net.core.netdev_budget", 1, 0, most, "packets", wide, ""},
	{"net.core.netdev_budget_usecs", 1, 0, most, "µs", wide, ""},
	{"net.core.dev_weight", 1, 1, most, "packets", wide, ""},
	{"net.core.busy_poll", 1, 0, most, "µs", wide, ""},
	{"net.core.busy_read", 1, 0, most, "µs", wide, ""},
	{"net.core.default_qdisc", 0, 0, 0, "", wide, "an interface that is there keeps the queue that it has: only interfaces that come up afterwards get this one"},
	{"net.core.rps_sock_flow_entries", 1, 0, 1 << 29, "", wide, ""},

	{"net.ipv4.tcp_rmem", 3, 1, most, bytes, own, ""},
	{"net.ipv4.tcp_wmem", 3, 1, most, bytes, own, ""},
	{"net.ipv4.tcp_mem", 3, 0, 1<<63 - 1, pages, wide, ""},
	{"net.ipv4.udp_mem", 3, 0, 1<<63 - 1, pages, wide, "it is about UDP"},
	{"net.ipv4.udp_rmem_min", 1, 1, most, bytes, own, "it is about UDP"},
	{"net.ipv4.udp_wmem_min", 1, 1, most, bytes, own, "it is about UDP"},
	{"net.ipv4.tcp_congestion_control", 0, 0, 0, "", own, ""},
	{"net.ipv4.tcp_window_scaling", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_timestamps", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_sack", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_dsack", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_moderate_rcvbuf", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_slow_start_after_idle", 1, 0, byte8, "", own, "a connection that never pauses never restarts"},
	{"net.ipv4.tcp_no_metrics_save", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_mtu_probing", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_base_mss", 1, -most - 1, most, bytes, own, ""},
	{"net.ipv4.tcp_ecn", 1, 0, 5, "", own, ""},
	{"net.ipv4.tcp_fastopen", 1, -most - 1, most, "", own, "it saves a round trip when a connection opens"},
	{"net.ipv4.tcp_notsent_lowat", 1, 0, 1<<32 - 1, bytes, own, ""},
	{"net.ipv4.tcp_limit_output_bytes", 1, -most - 1, most, bytes, own, ""},
	{"net.ipv4.tcp_min_tso_segs", 1, 1, byte8, "", own, ""},
	{"net.ipv4.tcp_tso_win_divisor", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_pacing_ss_ratio", 1, 0, 1000, "%", own, ""},
	{"net.ipv4.tcp_pacing_ca_ratio", 1, 0, 1000, "%", own, ""},
	{"net.ipv4.tcp_reordering", 1, 1, most, "", own, ""},
	{"net.ipv4.tcp_max_reordering", 1, 1, most, "", own, ""},
	{"net.ipv4.tcp_early_retrans", 1, 0, 4, "", own, ""},
	{"net.ipv4.tcp_recovery", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_frto", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_app_win", 1, 0, 31, "", own, ""},
	{"net.ipv4.tcp_autocorking", 1, 0, 1, "", own, ""},
	{"net.ipv4.tcp_syncookies", 1, 0, byte8, "", own, onlyWaiting},
	{"net.ipv4.tcp_max_syn_backlog", 1, -most - 1, most, "", own, onlyWaiting},
	{"net.ipv4.tcp_synack_retries", 1, 0, byte8, "", own, onlyWaiting},
	{"net.ipv4.tcp_syn_retries", 1, 1, 127, "", own, onlyWaiting},
	{"net.ipv4.tcp_fin_timeout", 1, 0, most / 1000, "s", own, "it is about connections that have ended"},
	{"net.ipv4.tcp_tw_reuse", 1, 0, 2, "", own, "it is about ports of connections that have ended"},
	{"net.ipv4.tcp_max_tw_buckets", 1, -most - 1, most, "", own, "it is about connections that have ended"},
	{"net.ipv4.tcp_max_orphans", 1, -most - 1, most, "", wide, "it is about connections that no program holds any more"},
	{"net.ipv4.tcp_keepalive_time", 1, 0, most / 1000, "s", own, "it is about connections that are idle"},
	{"net.ipv4.tcp_keepalive_intvl", 1, 0, most / 1000, "s", own, "it is about connections that are idle"},
	{"net.ipv4.tcp_keepalive_probes", 1, 0, byte8, "", own, "it is about connections that are idle"},
	{"net.ipv4.tcp_retries1", 1, 0, byte8, "", own, ""},
	{"net.ipv4.tcp_retries2", 1, 0, byte8, "", own, "it is about when a dead connection is given up"},
	{"net.ipv4.tcp_orphan_retries", 1, 0, byte8, "", own, "it is about connections that no program holds any more"},
	{"net.ipv4.tcp_rfc1337", 1, 0, byte8, "", own, "it is about connections that have ended"},
	{"net.ipv4.tcp_abort_on_overflow", 1, 0, byte8, "", own, onlyWaiting},
	{"net.ipv4.ip_local_port_range", 2, 0, 65535, "", own, "it is about how many connections a host can open"},
	{"net.ipv4.ip_no_pmtu_disc", 1, 0, byte8, "", own, ""},
	{"net.ipv4.ip_forward", 1, -most - 1, most, "", own, ""},
	{"net.ipv4.fib_multipath_hash_policy", 1, 0, 3, "", own, ""},
	{"net.ipv4.ipfrag_high_thresh", 1, 0, 1<<63 - 1, bytes, own, "TCP is not fragmented"},
	{"net.ipv4.ipfrag_low_thresh", 1, 0, 1<<63 - 1, bytes, own, "TCP is not fragmented"},
}

// gone are parameters that kernels have lost, or kept as names alone.
type gone struct {
	key   string
	since string
	// now is what to set instead; empty: nothing.
	now string
	why string
	// kept: the name is still there, and setting it changes nothing.
	kept bool
}

var departed = []gone{
	{"net.ipv4.tcp_low_latency", "4.14", "", "TCP has no prequeue any more", true},
	{"net.ipv4.tcp_fack", "4.15", "", "RACK took its place", true},
	{"net.ipv4.tcp_adv_win_scale", "6.6", "", "the kernel measures the overhead of each connection", true},
	{"net.ipv4.route.max_size", "3.6", "", "IPv4 has no routing cache any more", true},
	{"net.ipv4.route.gc_thresh", "3.6", "", "IPv4 has no routing cache any more", true},
	{"net.ipv4.route.gc_timeout", "3.6", "", "IPv4 has no routing cache any more", true},
	{"net.ipv4.route.gc_interval", "3.6", "", "IPv4 has no routing cache any more", true},
	{"net.ipv4.route.gc_elasticity", "3.6", "", "IPv4 has no routing cache any more", true},
	{"net.ipv4.rt_cache_rebuild_count", "3.6", "", "IPv4 has no routing cache any more", false},
	{"net.ipv4.tcp_tw_recycle", "4.12", "", "it broke clients behind one address; net.ipv4.tcp_tw_reuse is something else", false},
	{"net.ipv4.tcp_frto_response", "3.10", "", "there is one response now", false},
	{"net.ipv4.tcp_abc", "3.9", "", "bytes are counted always", false},
	{"net.ipv4.tcp_max_ssthresh", "3.9", "", "limited slow start is gone", false},
	{"net.ipv4.tcp_cookie_size", "3.10", "", "cookie transactions are gone", false},
	{"net.ipv4.tcp_dma_copybreak", "3.18", "", "copying by the DMA engine is gone", false},
	{"net.ipv4.tcp_thin_dupack", "4.11", "", "RACK took its place", false},
	{"net.ipv4.tcp_bic", "2.6.13", "net.ipv4.tcp_congestion_control = cubic", "congestion control is chosen by name", false},
	{"net.ipv4.tcp_bic_low_window", "2.6.13", "", "congestion control is chosen by name", false},
	{"net.ipv4.tcp_westwood", "2.6.13", "net.ipv4.tcp_congestion_control = westwood", "congestion control is chosen by name", false},
	{"net.ipv4.tcp_vegas_cong_avoid", "2.6.13", "net.ipv4.tcp_congestion_control = vegas", "congestion control is chosen by name", false},
	{"net.ipv4.ip_conntrack_max", "", "net.netfilter.nf_conntrack_max", "it has another name", false},
	{"net.ipv4.netfilter.ip_conntrack_max", "", "net.netfilter.nf_conntrack_max", "it has another name", false},
	{"net.ipv4.netfilter.ip_conntrack_tcp_timeout_established", "", "net.netfilter.nf_conntrack_tcp_timeout_established", "it has another name", false},
}
