package settingfile

import "strings"

// Operating systems that a file can be for.
const (
	Linux   = "linux"
	FreeBSD = "freebsd"
	OpenBSD = "openbsd"
	MacOS   = "macos"
)

// SystemNames has the names of systems for display.
var SystemNames = map[string]string{Linux: "Linux", FreeBSD: "FreeBSD", OpenBSD: "OpenBSD", MacOS: "macOS"}

// marks are prefixes of keys that only one system has. Of several that match, the first counts.
var marks = []struct{ prefix, system string }{
	{"net.ipv4.", Linux}, {"net.ipv6.", Linux}, {"net.core.", Linux}, {"net.netfilter.", Linux}, {"net.bridge.", Linux},
	{"net.mptcp.", Linux}, {"net.unix.", Linux}, {"fs.", Linux}, {"kernel.", Linux}, {"vm.swappiness", Linux},
	{"vm.dirty", Linux}, {"sunrpc.", Linux},

	{"net.inet.tcp.autorcvbuf", MacOS}, {"net.inet.tcp.autosndbuf", MacOS}, {"net.inet.tcp.win_scale_factor", MacOS},
	{"net.inet.tcp.doautorcvbuf", MacOS}, {"net.inet.tcp.doautosndbuf", MacOS}, {"net.inet.tcp.mptcp", MacOS},
	{"net.inet.tcp.rxt_find", MacOS}, {"kern.ipc.sbmb_cnt", MacOS}, {"kern.maxfilesperproc", MacOS},
	{"kern.ipc.sosendminchain", MacOS}, {"net.link.generic.system.rcvq_maxlen", MacOS}, {"iogpu.", MacOS},
	{"net.inet.tcp.ack_strategy", MacOS}, {"net.inet.tcp.l4s", MacOS}, {"net.inet.tcp.accurate_ecn", MacOS},

	{"kern.ipc.", FreeBSD}, {"hw.ix", FreeBSD}, {"hw.intr_storm", FreeBSD}, {"net.isr.", FreeBSD},
	{"net.link.", FreeBSD}, {"hw.igb.", FreeBSD}, {"hw.em.", FreeBSD}, {"hw.mlx", FreeBSD}, {"hw.cxgb", FreeBSD},
	{"hw.bge.", FreeBSD}, {"hw.bce.", FreeBSD}, {"hw.vtnet.", FreeBSD}, {"hw.pci.", FreeBSD},
	{"dev.", FreeBSD}, {"vfs.", FreeBSD}, {"net.inet.tcp.recvbuf", FreeBSD}, {"net.inet.tcp.sendbuf", FreeBSD},
	{"net.inet.tcp.cc.", FreeBSD}, {"net.inet.tcp.inflight", FreeBSD}, {"net.inet.tcp.hostcache", FreeBSD},
	{"net.inet.tcp.syncache", FreeBSD}, {"net.inet.tcp.fastopen", FreeBSD}, {"net.inet.tcp.tcbhashsize", FreeBSD},
	{"net.inet.tcp.functions", FreeBSD}, {"net.inet.tcp.rack", FreeBSD}, {"net.inet.ip.fastforwarding", FreeBSD},
	{"net.inet.ip.intr_queue", FreeBSD}, {"security.", FreeBSD}, {"kern.random.", FreeBSD}, {"kern.hz", FreeBSD},

	{"net.inet.ip.ifq.", OpenBSD}, {"net.inet.ip.mtudisc", OpenBSD}, {"net.inet.tcp.rfc3390", OpenBSD},
	{"net.inet.udp.sendspace", OpenBSD},
	{"net.inet.ip.forwarding", OpenBSD}, {"ddb.", OpenBSD}, {"machdep.", OpenBSD}, {"net.inet.tcp.ackonpush", OpenBSD},
	{"kern.bufcachepercent", OpenBSD}, {"net.inet.ip.multipath", OpenBSD}, {"net.bpf.", OpenBSD},
	{"net.inet.tcp.synuselimit", OpenBSD}, {"net.inet6.ip6.forwarding", OpenBSD}, {"kern.maxclusters", OpenBSD},
}

// SystemOf returns the system whose parameters begin as a key does. Empty: several have such a key.
func SystemOf(key string) string {
	for _, m := range marks {
		if strings.HasPrefix(key, m.prefix) {
			return m.system
		}
	}
	return ""
}

// guess detects the system that a file is for: the one with the most marks. A file without marks is
// for Linux.
func (f *File) guess() string {
	votes := map[string]int{}
	for _, l := range f.Lines {
		if system := SystemOf(l.Key); system != "" {
			votes[system]++
		}
	}
	best := Linux
	for _, system := range []string{OpenBSD, FreeBSD, MacOS} {
		if votes[system] > votes[best] {
			best = system
		}
	}
	return best
}
