package wording

import (
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/lists"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
	"linerate/internal/model/record"
)

// Systems other than Linux, as findings name them.
const (
	freeBSD   = opsystem.FreeBSD
	openBSD   = opsystem.OpenBSD
	macOS     = opsystem.MacOS
	netBSD    = opsystem.NetBSD
	dragonFly = opsystem.DragonFly
)

// foreignAdvice is what to do about a cause on a host of another system than Linux.
type foreignAdvice struct {
	fix []string // on all of them
	// by has a further line for some systems.
	by map[string]string
	// fixed is used instead of fix and by, if it is not nil.
	fixed func(f record.Finding) []string
	read  map[string]string // references, by system; the empty one is for those that are not in it
}

// foreignCauses are the causes whose advice names commands or parameters of those systems. All others keep the
// lines of Linux that name nothing of Linux.
var foreignCauses table[cause.Code, foreignAdvice]

// sayForeign adds the advice about a cause for other systems than Linux.
func sayForeign(c cause.Named, words foreignAdvice) {
	foreignCauses.set(c.Name(), words)
}

// onlyLinux matches programs, files and parameters that only Linux has, and what linerate does on Linux only.
var onlyLinux = pattern.MustCompile(`(?i)\b(?:ethtool|ip (?:-\S+ )*(?:a|addr|address|l|link|r|route|rule|neigh` +
	`|nexthop|xfrm|netns|tunnel|maddr)\b|ip -|tc (?:-\w+ )*\w+|ss -|nstat|bridge (?:fdb|vlan|link)|devlink|modprobe` +
	`|modinfo|nft` +
	`|iptables|ip6tables|conntrack|iw |nmcli|networkctl|systemctl|sysctl|tuned|cpupower|lscpu|numactl|perf` +
	`|dropwatch|tracepath|irqbalance|ethernet bonding|netplan|networkmanager|linux|timedatectl|chronyc` +
	`|dmesg -T|wg show|lspci|net\.(?:core|ipv4|ipv6|netfilter|bridge|mptcp)\.|vm\.|fs\.|kernel\.` +
	`|softnet\w*|napi\w*|gro|gso|tso|lro|rps|rfs|xps|tcp_\w+|udp_\w+|[rw]mem\w*|somaxconn` +
	`|txqueuelen|lacp_rate|miimon|xmit_hash\w*|arp_(?:filter|ignore|announce)|rp_filter|qdiscs?` +
	`|so_rcvbufforce|linerate (?:tune|fix|prove|doctor|top))\b|/proc/|/sys/|kfree_skb`)

// portable returns the lines that name nothing that only Linux has.
func portable(lines []string) (kept []string) {
	return lists.Where(lines, func(line string) bool { return !onlyLinux.MatchString(line) })
}

// foreignFix returns the advice about a finding on a host of another system than Linux. None: there is no equivalent.
func foreignFix(f record.Finding, ofLinux []string) (lines []string) {
	words, has := foreignCauses.of(f.ID)
	switch {
	case !has:
		return portable(ofLinux)
	case words.fixed != nil:
		return words.fixed(f)
	}
	lines = slices.Clone(words.fix)
	if line := words.by[f.System]; line != "" {
		lines = append(lines, line)
	}
	return lines
}

// foreignReference returns the reference of a finding on such a host. Empty: there is none.
func foreignReference(f record.Finding, ofLinux string) string {
	if words, has := foreignCauses.of(f.ID); has && words.read != nil {
		if read := words.read[f.System]; read != "" {
			return read
		}
		return words.read[""]
	}
	return strings.Join(portable(strings.Split(ofLinux, "; ")), "; ")
}

// deviceNode returns the sysctl(8) node of a FreeBSD NIC, such as "dev.igb.0" for igb0, or "dev.DRIVER.N" if the
// name does not show it.
func deviceNode(iface string) string {
	driver := strings.TrimRight(iface, "0123456789")
	virtual := []string{"bridge", "epair", "gif", "lagg", "tap", "tun", "vlan", "wg"}
	if driver == "" || driver == iface || strings.Contains(iface, ".") || slices.Contains(virtual, driver) {
		return "dev.DRIVER.N"
	}
	return "dev." + driver + "." + iface[len(driver):]
}
