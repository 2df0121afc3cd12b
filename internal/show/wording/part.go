package wording

import (
	"slices"

	"linerate/internal/model/record"
	diagfacts "linerate/internal/science/diagnose/facts"
)

// Part puts a part of a host's snapshot into words.
type Part struct {
	// Name is what a sentence calls the part, and Command what prints it. Command is empty for what
	// only linerate itself reads.
	Name, Command string
}

// parts are in the order in which more rules need them.
var parts = []struct {
	id string
	Part
}{
	{"interfaces", Part{"interfaces", "ip -d address"}},
	{diagfacts.Base(diagfacts.Counters()), Part{"counters of interfaces", "ip -s -s link"}},
	{"addresses", Part{"addresses", "ip -d address"}},
	{"mtus", Part{"MTUs", "ip -d address"}},
	{"macs", Part{"MAC addresses", "ip -d address"}},
	{"bridges", Part{"bridges", "ip -d address"}},
	{"interface flags", Part{"flags of interfaces", "ip -d address"}},
	{"carrier", Part{"carriers", "ip -d address"}},
	{"nics", Part{"NICs", "ethtool IF"}},
	{"duplex", Part{"link settings", "ethtool IF"}},
	{"link modes", Part{"link settings", "ethtool IF"}},
	{"autonegotiation", Part{"link settings", "ethtool IF"}},
	{"driver", Part{"drivers", "ethtool -i IF"}},
	{"statistics", Part{"counters of drivers", "ethtool -S IF"}},
	{"hardware", Part{"drivers", "ethtool -i IF"}},
	{"features", Part{"offloads", "ethtool -k IF"}},
	{"rx-lro", Part{"offloads", "ethtool -k IF"}},
	{"rings", Part{"rings", "ethtool -g IF"}},
	{"channels", Part{"channels", "ethtool -l IF"}},
	{"cpus", Part{"number of CPUs", "lscpu"}},
	{"coalescing", Part{"coalescing", "ethtool -c IF"}},
	{"interrupts", Part{"CPUs of interrupts", ""}},
	{"receive queues", Part{"receive queues", "grep . /sys/class/net/*/queues/rx-*/rps_*"}},
	{"queue lengths", Part{"transmit queues", "ip -d address"}},
	{"pcie", Part{"PCIe links", "lspci -vv"}},
	{"usb", Part{"USB", ""}},
	{diagfacts.WiFi, Part{"wireless links", "iw dev IF link"}},
	{"wireless", Part{"wireless links", "iw dev"}},
	{"carrier changes", Part{"changes of carriers", "ip -s -s link; uptime"}},
	{"bonds", Part{"bonds", "cat /proc/net/bonding/*"}},
	{diagfacts.DriverCounters, Part{"counters of drivers", "ethtool -S IF"}},
	{diagfacts.RingStates, Part{"states of rings", ""}},
	{diagfacts.InterruptCounts, Part{"interrupts of queues", ""}},
	{diagfacts.BufferPools, Part{"memory for packets", ""}},
	{"snmp", Part{"protocol counters", "nstat -az"}},
	{"sockets", Part{"sockets", "ss -tuanpmieo"}},
	{"connections", Part{"connections", "ss -tuanpmieo"}},
	{"tcp info", Part{"state of TCP", "ss -tuanpmieo"}},
	{diagfacts.Paths, Part{"state of TCP", "ss -tuanpmieo"}},
	{diagfacts.Transfers, Part{"transfers of iperf", ""}},
	{"tcp timers", Part{"timers of TCP", "ss -tuanpmieo"}},
	{"tcp listeners", Part{"listeners", "ss -tuanpmieo"}},
	{"udp sockets", Part{"UDP sockets", "ss -tuanpmieo"}},
	{"socket drops", Part{"drops of UDP sockets", "ss -tuanpmieo"}},
	{"qdiscs", Part{"queues", "tc -s qdisc"}},
	{"softnet", Part{"receive work of CPUs", "cat /proc/net/softnet_stat"}},
	{"parameters", Part{"kernel parameters", "sysctl -a"}},
	{"parameter files", Part{"files of parameters", "tail -n +1 /etc/sysctl.conf /etc/sysctl.d/*"}},
	{"routes", Part{"routes", "ip route show table all; ip -6 route show table all; ip rule"}},
	{diagfacts.EveryRoute, Part{"routes", "ip route show table all; ip -6 route show table all; ip rule"}},
	{"rules", Part{"routing rules", "ip route show table all; ip -6 route show table all; ip rule"}},
	{"every table", Part{"every routing table", "ip route show table all; ip -6 route show table all; ip rule"}},
	{"neighbours", Part{"neighbours", "ip neigh"}},
	{"neighbour tables", Part{"sizes of the neighbour tables", "ip neigh"}},
	{"kernel log", Part{"kernel log", "dmesg"}},
	{"sockstat", Part{"memory of sockets", "cat /proc/net/sockstat"}},
	{"nexthops", Part{"next hops", "ip nexthop"}},
	{"nftables", Part{"packet filter", "nft list ruleset"}},
	{"conntrack", Part{"connection tracking", "conntrack -C; conntrack -S"}},
	{"cpu", Part{"load of CPUs", "mpstat -P ALL 1 3"}},
	{"lldp", Part{"switches (LLDP)", "lldpctl"}},
	{"memory", Part{"memory", "cat /proc/meminfo"}},
	{"resolver", Part{"name resolution", ""}},
	{"clock", Part{"clock", ""}},
	{"clock sources", Part{"clock", "grep . /sys/devices/system/clocksource/clocksource0/*_clocksource"}},
	{"synchronisation", Part{"clock", "timedatectl"}},
	{"frequency governors", Part{"CPU frequency", ""}},
	{"open files", Part{"open files", "cat /proc/sys/fs/file-nr"}},
	{record.ByTracepoint, Part{"reasons of drops", ""}},
	{"probe", Part{"probes", ""}},
	{"echo", Part{"probes", "ping -c 10 PEER"}},
	{"path mtu", Part{"path MTU", "tracepath -n PEER"}},
	{"lookups", Part{"lookups of names", ""}},
	{"connects", Part{"attempts to connect", ""}},
	{diagfacts.Measurement, Part{"what a measurement shows", ""}},
}

// PartOf returns the words for a part of a snapshot.
func PartOf(id string) Part {
	for _, p := range parts {
		if p.id == id {
			return p.Part
		}
	}
	return Part{Name: id}
}

// PartNames returns the names of parts in one order, each once.
func PartNames(ids []string) (names []string) {
	for _, p := range parts {
		if slices.Contains(ids, p.id) && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	for _, id := range ids {
		if name := PartOf(id).Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// LackingNames returns the names of parts that are lacking, in one order, each once. What was judged of a part of the
// same name was not all of it.
func LackingNames(ids, judged []string) (names []string) {
	known := PartNames(judged)
	for _, name := range PartNames(ids) {
		if slices.Contains(known, name) {
			name = "other " + name
		}
		names = append(names, name)
	}
	return names
}

// PartCommands returns the commands that print parts of a host of a system, those that more rules need first. The
// system is as in record.Unevaluated; empty: Linux.
func PartCommands(system string, ids []string) (commands []string) {
	for _, p := range parts {
		command := p.Command
		if system != "" {
			command = foreignCommand(system, p.id)
		}
		if slices.Contains(ids, p.id) && command != "" && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	return commands
}

// foreignCommand returns the command of another system than Linux that prints a part. Empty: none does.
func foreignCommand(system, id string) string {
	switch id {
	case "interfaces", "addresses", "mtus", "macs", "bridges", "interface flags", "carrier", "nics", "duplex",
		"autonegotiation", "wireless", "bonds":
		return "ifconfig -a"
	case "link modes":
		if system == openBSD {
			return "ifconfig IF media"
		}
		return "ifconfig -m IF"
	case diagfacts.Base(diagfacts.Counters()):
		if system == openBSD {
			return "netstat -i; netstat -id"
		}
		return "netstat -idn"
	case "snmp", diagfacts.BufferPools:
		return "netstat -s; netstat -m" + map[string]string{freeBSD: "; netstat -Q",
			openBSD: "; sysctl net.inet.ip.ifq"}[system]
	case diagfacts.RingStates:
		return "sysctl dev"
	case diagfacts.InterruptCounts:
		return "vmstat -i"
	case "sockets", "connections", "udp sockets":
		return "netstat -an"
	case "tcp listeners":
		return "netstat -Lan"
	case "routes", diagfacts.EveryRoute:
		return "netstat -rn"
	case "neighbours":
		return "arp -an; ndp -an"
	case "kernel log":
		return "dmesg"
	case "cpus":
		return "sysctl hw.ncpu"
	case "echo":
		return "ping -c 10 PEER"
	}
	return ""
}
