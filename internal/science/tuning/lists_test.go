package tuning

import "testing"

// TestLists: lists of settings in the forms in which people have them are read in whole, or what was not
// read is listed, and judged as the comment says. Lines are as in TestCases.
func TestLists(t *testing.T) {
	const rmem, control = "net.ipv4.tcp_rmem", "net.ipv4.tcp_congestion_control"
	checkCases(t, map[string]judged{
		// CR LF and tabs are blanks for procps and systemd; a byte order mark is part of the first name.
		"90-lists/crlf.conf": {4, 0, 0, []string{"3 lowers warning " + rmem, "! 1 syntax *"}},
		"90-lists/tabs.conf": {3, 0, 0, []string{"2 lowers warning " + rmem, "3 as-it-is note net.ipv4.tcp_wmem"}},
		"90-lists/bom.conf":  {2, 0, 1, []string{"1 syntax error net.core.default_qdisc", "! 2 syntax *"}},
		// A comment becomes part of the value, and of a name the kernel refuses it.
		"90-lists/trailing.conf": {5, 0, 2, []string{"1 syntax warning net.ipv4.tcp_fin_timeout",
			"2 syntax error " + control, "3 syntax error net.core.default_qdisc",
			"4 syntax warning net.ipv4.ip_local_port_range", "5 syntax warning net.core.rmem_max"}},
		// "-" ignores errors, other lines have each parameter that a pattern matches, and slashes separate
		// where the first separator is one.
		"90-lists/dash.conf": {6, 0, 0, []string{"3 script warning *", "4 apart note *", "7 as-it-is note net.ipv4.tcp_syncookies",
			"! 1 syntax *", "! 6 syntax *", "! 8 syntax *"}},
		"90-lists/quoted.conf": {7, 0, 7, []string{"2 syntax error " + rmem, "3 syntax error net.ipv4.tcp_wmem",
			"4 syntax error " + control, "5 syntax error net.core.rmem_max", "6 syntax error net.core.wmem_max",
			"7 syntax error net.ipv4.tcp_sack", "8 syntax error *", "9 refused error net.core.netdev_max_backlog",
			"10 syntax error *", "11 syntax error *"}},
		"90-lists/mistakes.conf": {17, 0, 7, []string{"1 twice warning " + rmem, "1 autotuning-off warning " + rmem,
			"2 autotuning-off warning net.ipv4.tcp_wmem", "3 unit warning net.ipv4.tcp_mem",
			"4 refused error net.core.rmem_max", "6 lowers warning net.core.somaxconn",
			"7 ignored error net.ipv4.tcp_keepalive_time", "8 unit warning net.ipv4.udp_mem",
			"9 refused error net.core.wmem_max", "10 refused error net.ipv4.ip_local_port_range",
			"12 removed warning net.ipv4.tcp_adv_win_scale", "13 order warning " + rmem,
			"14 order warning net.ipv4.tcp_wmem", "15 refused error net.core.default_qdisc",
			"16 refused error net.ipv4.tcp_ecn", "17 renamed error net.ipv4.tcp_westwood",
			"18 no-effect warning net.core.rmem_default", "19 slip note net.ipv4.tcp_max_syn_backlog",
			"20 unit warning " + rmem, "20 lowers warning " + rmem}},
		// limits.conf is another file, of which no line sets a parameter.
		"90-lists/limits.conf": {1, 0, 0, []string{"1 syntax error *", "2 syntax error *", "! 3 syntax *"}},
		// What sysctl prints is a list, too.
		"90-lists/printed.txt": {5, 0, 0, []string{"1 lowers warning net.core.rmem_max", "3 lowers warning " + rmem,
			"4 as-it-is note net.ipv4.tcp_wmem", "5 as-it-is note " + control}},
		"90-lists/tuned.conf": {8, 2, 1, []string{"6 lowers warning " + rmem, "7 as-it-is note net.core.somaxconn",
			"8 not-network note vm.dirty_ratio", "16 apart note *", "16 refused error net.core.rmem_max"}},
		"90-lists/app.ini":      {1, 1, 0, []string{"2 lowers warning " + rmem}},
		"90-lists/grub":         {1, 0, 0, []string{"3 apart note *", "3 harmful warning net.ipv4.tcp_sack"}},
		"90-lists/modules.conf": {0, 6, 0, nil},
		"90-lists/loader.conf":  {4, 0, 0, []string{"4 apart note *", "! 3 boot-time *"}},
		"90-lists/freebsd.conf": {6, 0, 1, []string{"4 module note net.inet.tcp.cc.algorithm",
			"6 removed error net.inet.tcp.recvbuf_inc", "! 4 syntax *"}},
		"90-lists/openbsd.conf": {4, 0, 0, []string{"! 2 *", "! 4 *"}},

		"91-documents/ansible.yml": {4, 0, 1, []string{"5 removed error net.ipv4.tcp_tw_recycle", "20 apart note *"}},
		"91-documents/puppet.pp":   {2, 1, 0, []string{"2 lowers warning " + rmem}},
		"91-documents/salt.sls": {2, 0, 0, []string{"1 lowers warning " + rmem,
			"6 harmful warning net.ipv4.tcp_syncookies"}},
		"91-documents/configuration.nix": {5, 0, 0, []string{"7 lowers warning " + rmem}},
		"91-documents/butane.bu":         {3, 0, 0, []string{"9 lowers warning " + rmem}},
		"91-documents/cloud.yaml": {4, 0, 1, []string{"5 unit warning net.ipv4.tcp_mem",
			"6 harmful warning net.ipv4.tcp_timestamps", "12 refused error net.core.rmem_max", "! 8 *"}},
		"91-documents/netplan.yaml": {4, 0, 0, nil},
		// The range of ports of AKS has a key for each end.
		"91-documents/nodes.tf": {6, 0, 1, []string{"8 lowers warning net.core.rmem_max",
			"9 removed error net.ipv4.tcp_tw_recycle", "20 no-effect note net.ipv4.ip_local_port_range"}},
		// What the kubelet allows pods to set is not set.
		"91-documents/kubelet.yaml": {0, 0, 0, []string{"4 apart note *", "5 apart note *"}},
		"91-documents/values.yaml": {5, 0, 1, []string{"8 refused error net.ipv4.ip_local_port_range",
			"14 lowers warning " + rmem, "! 4 twice *"}},
		"91-documents/ds.yaml": {3, 0, 0, []string{"16 no-effect warning net.core.rmem_max",
			"17 unit warning net.ipv4.tcp_mem", "26 syntax error *", "! 16 refused *"}},
		"91-documents/compose.yml": {5, 0, 2, []string{"3 removed error net.ipv4.tcp_tw_recycle",
			"9 harmful warning net.ipv4.tcp_sack", "2 as-it-is note net.core.somaxconn"}},
		// Items of lists have their own lines, and tables of a list are read, each by itself.
		"91-documents/a.toml": {2, 0, 0, []string{"3 lowers warning " + rmem}},
		"91-documents/crio.toml": {3, 0, 1, []string{"4 no-effect note net.core.somaxconn",
			"5 refused error net.core.rmem_max"}},
		"91-documents/containers.conf": {1, 0, 0, nil},
		"91-documents/list.toml": {3, 1, 1, []string{"4 refused error net.core.rmem_max",
			"9 harmful warning net.ipv4.tcp_sack", "9 lowers warning net.core.somaxconn"}},
		"91-documents/settings.json": {2, 2, 0, []string{"1 no-effect warning net.core.rmem_max"}},
		// One document that is not YAML is named, and the others are read.
		"91-documents/unreadable.yaml": {2, 0, 0, []string{"1 lowers warning net.core.somaxconn", "5 syntax error *",
			"9 harmful warning net.ipv4.tcp_syncookies"}},
		// Of a page the blocks of code are read, and not what its text warns of.
		"91-documents/page.html": {6, 2, 0, []string{"8 lowers warning " + rmem, "9 refused warning " + control,
			"12 conditional note nic eth0 features gro", "! 13 *"}},
		"91-documents/wiki.md": {2, 2, 0, []string{"10 harmful warning net.ipv4.tcp_sack",
			"14 lowers warning net.core.somaxconn"}},

		"92-commands/script-p.sh": {18, 0, 1, []string{"4 twice warning net.core.somaxconn",
			"11 harmful warning net.ipv4.tcp_sack", "14 as-it-is note net.ipv4.tcp_window_scaling",
			"15 removed warning net.ipv4.tcp_low_latency", "22 as-it-is note net.core.somaxconn"}},
		"92-commands/functions.sh": {5, 3, 0, []string{"3 lowers warning " + rmem, "14 conditional note " + control,
			"18 lowers warning net.core.somaxconn", "18 not-network note vm.swappiness"}},
		"92-commands/rc.local": {4, 0, 1, []string{"4 lowers warning " + rmem,
			"5 conditional note net.ipv4.tcp_tw_recycle", "5 removed error net.ipv4.tcp_tw_recycle"}},
		"92-commands/docker-run.sh": {4, 0, 1, []string{"1 harmful warning net.ipv4.tcp_syncookies",
			"1 refused error net.core.rmem_max", "! 2 refused *"}},
		"92-commands/cmds.txt":      {7, 3, 0, nil},
		"92-commands/uci.sh":        {1, 3, 0, nil},
		"92-commands/units.service": {4, 0, 0, []string{"5 no-effect warning net.core.rmem_max"}},
		"92-commands/Dockerfile":    {0, 2, 0, nil},

		// systemd takes 9K for 9216 bytes, and NetworkManager 1 for adaptive coalescing.
		"93-devices/10g.link":          {7, 0, 0, []string{"! 10 *"}},
		"93-devices/10g.network":       {2, 1, 0, nil},
		"93-devices/eth0.nmconnection": {4, 0, 0, []string{"! 12 *"}},
		"93-devices/60-net.rules":      {5, 1, 0, nil},
		"93-devices/interfaces":        {4, 0, 0, nil},
		"93-devices/mikrotik.rsc":      {0, 2, 0, nil},
		"93-devices/network.uci":       {0, 8, 0, nil},
	})
}
