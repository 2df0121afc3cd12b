package facts

import (
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
)

// Parts that only the BSDs and macOS have.
const (
	BufferPools     = "buffer pools"
	RingStates      = "ring states"
	InterruptCounts = "interrupt counts"
)

// foreignParts are the parts that commands of the BSDs and macOS print. Of counters, the details say which.
var foreignParts = []string{"interfaces", "addresses", "mtus", "macs", "bridges", "interface flags", "carrier", "nics",
	"duplex", "link modes", "autonegotiation", "wireless", "bonds", "routes", EveryRoute, "neighbours", "sockets",
	"connections", Paths, Transfers,
	"tcp listeners", "udp sockets", "kernel log", "echo", "lldp", "cpus", "snmp", "interface counters",
	BufferPools, RingStates, InterruptCounts, Measurement}

// Foreign reports whether the system of the host is not Linux and prints nothing that has a part.
func (h *Host) Foreign(part string) bool {
	if h.System == "" {
		return false
	}
	base, details, _ := strings.Cut(part, "/")
	if h.reads(part) {
		return false
	}
	has := func(known func(string) bool) bool {
		return details == "" || slices.ContainsFunc(strings.Split(details, "|"), known)
	}
	some := h.System == opsystem.OtherBSD
	switch {
	case !slices.Contains(foreignParts, base):
		return true
	case base == "snmp", base == "interface counters":
		return !has(func(name string) bool { return netstate.PrintedBy(h.System, name) })
	case base == RingStates:
		return !some && h.System != opsystem.FreeBSD
	case base == BufferPools:
		return !some && h.System != opsystem.FreeBSD && h.System != opsystem.OpenBSD
	case base == "tcp listeners": // netstat -L
		return !some && h.System != opsystem.FreeBSD && h.System != opsystem.MacOS
	case base == InterruptCounts:
		return h.System == opsystem.MacOS
	}
	return false
}
