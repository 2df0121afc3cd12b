package topology

import "linerate/internal/model/flow"

// ServiceProgram is a program that a service can use. Package internal/host/service configures and
// starts it.
type ServiceProgram struct {
	// Name is the name of the program, Package the name of its Debian package.
	Name, Package string
	// Protocols are the protocols of flows that it serves. Port is the default port.
	Protocols []string
	Port      int
	// Settings are those that a study may make: how much the program does at once, how long it
	// waits, and how it sends. A program has many more that name files to write, libraries to load
	// or commands to execute; what is not in the list is refused.
	Settings []string
}

// ServicePrograms lists the programs in the order of the reference.
var ServicePrograms = []ServiceProgram{
	{
		Name: "nginx", Package: "nginx", Protocols: []string{flow.HTTP}, Port: 80,
		// The modules core, events and http of nginx.org/en/docs/dirindex.html.
		Settings: []string{
			"accept_mutex", "accept_mutex_delay", "access_log", "aio", "chunked_transfer_encoding",
			"client_body_buffer_size", "client_body_timeout", "client_header_buffer_size", "client_header_timeout",
			"client_max_body_size", "connection_pool_size", "directio", "directio_alignment", "etag", "gzip",
			"gzip_buffers", "gzip_comp_level", "gzip_http_version", "gzip_min_length", "gzip_proxied", "gzip_vary",
			"if_modified_since", "keepalive_disable", "keepalive_requests", "keepalive_time", "keepalive_timeout",
			"large_client_header_buffers", "limit_rate", "limit_rate_after", "lingering_close", "lingering_time",
			"lingering_timeout", "listen", "max_ranges", "multi_accept", "open_file_cache",
			"open_file_cache_errors", "open_file_cache_min_uses", "open_file_cache_valid", "output_buffers", "pcre_jit",
			"postpone_output", "read_ahead", "request_pool_size", "reset_timedout_connection", "send_lowat",
			"send_timeout", "sendfile", "sendfile_max_chunk", "server_tokens", "tcp_nodelay", "tcp_nopush",
			"thread_pool", "timer_resolution", "use", "worker_aio_requests", "worker_connections",
			"worker_cpu_affinity", "worker_priority", "worker_processes", "worker_rlimit_nofile",
		},
	},
	{
		Name: "nsd", Package: "nsd", Protocols: []string{flow.DNS, flow.DNSTCP}, Port: 53,
		Settings: []string{ // nsd.conf(5)
			"confine-to-zone", "cpu-affinity", "do-ip4", "do-ip6", "hide-identity", "hide-version", "ip-freebind",
			"ip-transparent", "ipv4-edns-size", "ipv6-edns-size", "minimal-responses", "outgoing-tcp-mss",
			"receive-buffer-size", "refuse-any", "reuseport", "round-robin", "rrl-ipv4-prefix-length",
			"rrl-ipv6-prefix-length", "rrl-ratelimit", "rrl-size", "rrl-slip", "rrl-whitelist-ratelimit",
			"send-buffer-size", "server-1-cpu-affinity", "server-2-cpu-affinity", "server-3-cpu-affinity",
			"server-4-cpu-affinity", "server-count", "statistics", "tcp-count", "tcp-mss", "tcp-query-count",
			"tcp-reject-overflow", "tcp-timeout", "verbosity", "xfrd-cpu-affinity",
		},
	},
	{
		Name: "postfix", Package: "postfix", Protocols: []string{flow.SMTP}, Port: 25,
		Settings: []string{ // postconf(5)
			"anvil_rate_time_unit", "anvil_status_update_time", "application_event_drain_time",
			"default_destination_concurrency_limit", "default_destination_recipient_limit", "default_process_limit",
			"disable_vrfy_command", "duplicate_filter_limit", "enable_long_queue_ids", "fork_attempts", "fork_delay",
			"hash_queue_depth", "header_size_limit", "in_flow_delay", "initial_destination_concurrency", "ipc_idle",
			"ipc_timeout", "ipc_ttl", "line_length_limit", "max_idle", "max_use", "maximal_backoff_time",
			"message_size_limit", "minimal_backoff_time", "qmgr_clog_warn_time", "qmgr_message_active_limit",
			"qmgr_message_recipient_limit", "qmgr_message_recipient_minimum", "queue_minfree", "queue_run_delay",
			"smtpd_client_connection_count_limit", "smtpd_client_connection_rate_limit",
			"smtpd_client_message_rate_limit", "smtpd_client_recipient_rate_limit", "smtpd_delay_reject",
			"smtpd_error_sleep_time", "smtpd_hard_error_limit", "smtpd_helo_required", "smtpd_history_flush_threshold",
			"smtpd_junk_command_limit", "smtpd_peername_lookup", "smtpd_recipient_limit",
			"smtpd_recipient_overshoot_limit", "smtpd_soft_error_limit", "smtpd_starttls_timeout", "smtpd_timeout",
			"strict_rfc821_envelopes",
		},
	},
}
