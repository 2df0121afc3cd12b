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
	{"interface counters", Part{"counters of interfaces", "ip -s -s link"}},
	{"nics", Part{"NICs", "ethtool IF; ethtool -i IF; ethtool -k IF; ethtool -g IF; ethtool -l IF; ethtool -a IF; " +
		"ethtool -c IF"}},
	{diagfacts.DriverCounters, Part{"counters of drivers", "ethtool -S IF"}},
	{"snmp", Part{"protocol counters", "nstat -az"}},
	{"sockets", Part{"sockets", "ss -tuanpmie"}},
	{"qdiscs", Part{"queues", "tc -s qdisc"}},
	{"softnet", Part{"receive work of CPUs", "cat /proc/net/softnet_stat"}},
	{"parameters", Part{"kernel parameters", "sysctl -a"}},
	{"parameter files", Part{"files of parameters", "tail -n +1 /etc/sysctl.conf /etc/sysctl.d/*"}},
	{"routes", Part{"routes", "ip route show table all; ip -6 route show table all; ip rule"}},
	{diagfacts.EveryRoute, Part{"routes", "ip route show table all; ip -6 route show table all; ip rule"}},
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
	{"frequency governors", Part{"CPU frequency", ""}},
	{"open files", Part{"open files", "cat /proc/sys/fs/file-nr"}},
	{record.ByTracepoint, Part{"reasons of drops", ""}},
	{"probe", Part{"probes", ""}},
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

// PartCommands returns the commands that print parts, those that more rules need first.
func PartCommands(ids []string) (commands []string) {
	for _, p := range parts {
		if slices.Contains(ids, p.id) && p.Command != "" && !slices.Contains(commands, p.Command) {
			commands = append(commands, p.Command)
		}
	}
	return commands
}
