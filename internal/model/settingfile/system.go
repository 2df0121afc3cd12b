package settingfile

import (
	"slices"
	"strings"

	"linerate/internal/model/opsystem"
)

// marks are prefixes of keys that only one system has. Of several that match, the first counts.
var marks = []struct {
	system   string
	prefixes []string
}{
	{opsystem.Linux, []string{"net.ipv4.", "net.ipv6.", "net.core.", "net.netfilter.", "net.bridge.", "net.mptcp.",
		"net.unix.", "fs.", "kernel.", "vm.swappiness", "vm.dirty", "sunrpc."}},
	{opsystem.MacOS, []string{"net.inet.tcp.autorcvbuf", "net.inet.tcp.autosndbuf", "net.inet.tcp.win_scale_factor",
		"net.inet.tcp.doautorcvbuf", "net.inet.tcp.doautosndbuf", "net.inet.tcp.mptcp", "net.inet.tcp.rxt_find",
		"kern.ipc.sbmb_cnt", "kern.maxfilesperproc", "kern.ipc.sosendminchain", "net.link.generic.system.rcvq_maxlen",
		"iogpu.", "net.inet.tcp.ack_strategy", "net.inet.tcp.l4s", "net.inet.tcp.accurate_ecn"}},
	{opsystem.FreeBSD, []string{"kern.ipc.", "hw.ix", "hw.intr_storm", "net.isr.", "net.link.", "hw.igb.", "hw.em.",
		"hw.mlx", "hw.cxgb", "hw.bge.", "hw.bce.", "hw.vtnet.", "hw.pci.", "dev.", "vfs.", "net.inet.tcp.recvbuf",
		"net.inet.tcp.sendbuf", "net.inet.tcp.cc.", "net.inet.tcp.inflight", "net.inet.tcp.hostcache",
		"net.inet.tcp.syncache", "net.inet.tcp.fastopen", "net.inet.tcp.tcbhashsize", "net.inet.tcp.functions",
		"net.inet.tcp.rack", "net.inet.ip.fastforwarding", "net.inet.ip.intr_queue", "security.", "kern.random.",
		"kern.hz"}},
	{opsystem.OpenBSD, []string{"net.inet.ip.ifq.", "net.inet.ip.mtudisc", "net.inet.tcp.rfc3390",
		"net.inet.udp.sendspace", "net.inet.ip.forwarding", "ddb.", "machdep.", "net.inet.tcp.ackonpush",
		"kern.bufcachepercent", "net.inet.ip.multipath", "net.bpf.", "net.inet.tcp.synuselimit",
		"net.inet6.ip6.forwarding", "kern.maxclusters"}},
}

// SystemOf returns the system whose parameters begin as a key does. Empty: several have such a key.
func SystemOf(key string) string {
	for _, m := range marks {
		if slices.ContainsFunc(m.prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return m.system
		}
	}
	return ""
}

// guess detects the system that a file is for: the one with the most marks. A file without marks is
// for Linux. macOS has many parameters of FreeBSD, and comes first where both have as many.
func (f *File) guess() string {
	votes := map[string]int{}
	for _, l := range f.Lines {
		if system := SystemOf(l.Key); system != "" {
			votes[system]++
		}
	}
	best := opsystem.Linux
	for _, system := range []string{opsystem.OpenBSD, opsystem.MacOS, opsystem.FreeBSD} {
		if votes[system] > votes[best] {
			best = system
		}
	}
	return best
}
