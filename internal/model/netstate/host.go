// Package netstate holds the network state of a host as linerate reads it: interfaces, addresses,
// routes, neighbours, qdiscs, sockets and settings at one time, and counters at two. A trial stores
// it for each of its hosts, and `linerate snapshot` prints it.
//
// Field names contain units: _bytes is bytes, _s seconds, _ns nanoseconds. Fields may be added at
// any time and are never renamed.
package netstate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/model/syntax"
)

// HostSnapshotSchema is the schema of HostSnapshot as a document.
const HostSnapshotSchema = "linerate.snapshot/v1"

// HostSnapshot is the network state of a host, as `linerate snapshot` prints it: tables and
// settings at one time, and counters at two times or since boot.
type HostSnapshot struct {
	Schema  string          `json:"schema" is:"word"`
	Version string          `json:"version" is:"words"` // of linerate
	Taken   time.Time       `json:"taken"`
	Host    HostEnvironment `json:"environment"`
	// OverS is the time between the readings Begin and End, in seconds. 0: there is only End, whose
	// counters are since boot.
	OverS float64 `json:"over_s"`
	// Intervals are those of which the counters and the CPU load are, where a text has several: the worst
	// ones. Absent: there was only one, or its time is not known.
	Intervals []Interval `json:"intervals,omitempty"`
	// Redacted reports whether addresses and names are replaced. Equal ones have the same
	// replacement.
	Redacted bool `json:"redacted,omitempty"`
	// Pasted names the parts of Reading and State of which something was read from the output of other
	// tools; all others are absent. Parts: interfaces, interface flags, interface counters, neighbours,
	// forwarding table, routes, rules, every table, qdiscs, nics, pci, wifi, bonds, sockets, tcp info,
	// tcp timers, transfers, sockstat, parameters, parameter files, softnet, interrupts, softirqs, cpu times, cpu
	// load, frequency governors, kernel log, snmp, nftables, conntrack, probe, lldp, memory, clock,
	// synchronisation, open files, system (none of these). "interface counters/rx_errors" says that the text has this
	// counter of an interface; others
	// are 0 because they are not known. Empty: linerate read the host itself.
	Pasted []string `json:"pasted,omitempty" is:"words"`
	// CounterNames has what a system other than Linux calls counters of Reading, by their names there: of protocols
	// the section and the words of netstat -s, "tcp: listen queue overflows"; of interfaces the head of a column of
	// netstat -i, "rx_errors": "Ierrs". Absent: as Linux does.
	CounterNames map[string]string `json:"counter_names,omitempty" is:"words,words"`

	State   HostState   `json:"state"`
	Reading HostReading `json:"reading"`
}

// HostSnapshots has the snapshots of one host that a run stores: of each real host, and of the
// first host of a lab. The hosts of a lab are configured alike on one machine.
type HostSnapshots struct {
	Host string `json:"host" is:"host"`
	// Before was taken before the first trial. After was taken after the last one, when the
	// settings of the run were reverted. Absent: not taken.
	Before *HostSnapshot `json:"before,omitempty"`
	After  *HostSnapshot `json:"after,omitempty"`
	// Missing is why a snapshot was not taken.
	Missing string `json:"missing,omitempty" is:"text"`
}

// Latest returns After or, without it, Before. Nil: there is neither.
func (s HostSnapshots) Latest() *HostSnapshot {
	return cmp.Or(s.After, s.Before)
}

// HostState is what the diagnosis of a host reads besides Snapshot and Reading. Each part is read
// independently; Parts has the reasons for what is missing.
type HostState struct {
	UptimeS float64 `json:"uptime_s"`
	// FirstNamespace reports whether the network namespace is that of the first process of the
	// machine. Configuration files apply to that namespace.
	FirstNamespace bool  `json:"first_namespace"`
	NICs           []NIC `json:"nics,omitempty"`
	// Parameters has all kernel parameters below net. and some others.
	Parameters map[string]string `json:"parameters,omitempty" is:"parameter,value"`
	// Files has the lines of sysctl.d(5) files in the order in which they are applied.
	Files     []ParameterLine `json:"parameter_files,omitempty"`
	Listeners []Listener      `json:"listeners,omitempty"`
	// TCP counts connections by the state names of ss(8): "ESTAB", "CLOSE-WAIT", … Notable has at
	// most 256 connections whose state or counters are unusual (see Notable).
	TCP     map[string]int `json:"tcp,omitempty" is:"word"`
	Notable []Connection   `json:"notable_connections,omitempty"`
	// TimeWaitBetween is the largest number of connections in TIME-WAIT between one local address
	// and one remote address and port; each of them occupies a local port. Absent: there are none,
	// or their addresses are unknown.
	TimeWaitBetween int `json:"time_wait_between,omitempty"`
	// Sockstat has the values of /proc/net/sockstat under names such as "TCP.orphan". Memory is in
	// pages.
	Sockstat map[string]int64 `json:"sockstat,omitempty" is:"word"`
	// Neighbours counts the non-permanent neighbour entries of each family, "ipv4" and "ipv6".
	// gc_thresh3 limits them.
	Neighbours map[string]int `json:"neighbour_entries,omitempty" is:"word"`
	Conntrack  *Conntrack     `json:"conntrack,omitempty"`
	Bridges    []Bridge       `json:"bridges,omitempty"`
	Bonds      []Bond         `json:"bonds,omitempty"`
	// LLDP lists neighbours known to a daemon such as lldpd, at most MostLLDPNeighbours.
	LLDP []LLDPNeighbour `json:"lldp_neighbours,omitempty"`
	// Nexthops lists nexthop objects (ip-nexthop(8)), at most MostNexthops.
	Nexthops []Nexthop `json:"nexthops,omitempty"`
	// Nftables has the rules that drop or count packets. Absent: not read.
	Nftables *Nftables `json:"nftables,omitempty"`
	// Log has the kernel's log messages about the network, since boot or since the oldest message
	// that is still stored.
	Log      *KernelLog   `json:"kernel_log,omitempty"`
	Resolver *Resolver    `json:"resolver,omitempty"`
	Clock    *ClockSource `json:"clock,omitempty"`
	// Governors counts the CPU frequency policies of each governor. Absent: the kernel has none.
	Governors map[string]int `json:"cpu_governors,omitempty" is:"word"`
	// CPULoad has the shares of the time of CPUs over an interval, from mpstat(1) or sar(1). The CPU -1 is
	// all together. Absent: not read.
	CPULoad     []CPULoad `json:"cpu_load,omitempty"`
	MemoryBytes int64     `json:"memory_bytes,omitempty"`
	Firmware    *Firmware `json:"firmware,omitempty"`
	// OpenFiles and MostFiles are the open descriptors of the machine and their limit
	// (fs.file-max).
	OpenFiles int64 `json:"open_files,omitempty"`
	MostFiles int64 `json:"most_files,omitempty"`
	// KernelDrops are packets that the kernel dropped between the readings. Absent: the part
	// "kfree_skb" in Parts has the reason.
	KernelDrops *KernelDrops `json:"kernel_drops,omitempty"`
	// BufferPools are the pools of memory for packets that have a limit, of FreeBSD and OpenBSD (netstat -m).
	BufferPools []BufferPool `json:"buffer_pools,omitempty"`
	// Transfers are what tools that measure rates printed, at most MostTransfers. Absent: the host was read itself, or
	// the text has none.
	Transfers []Transfer `json:"transfers,omitempty"`
	// Probes has the results for the peers that were to be probed.
	Probes []Probe `json:"probes,omitempty"`
	// Parts says when each part was read and what is missing.
	Parts []StatePart `json:"parts"`
}

// StatePart says when a part of a HostState was read.
type StatePart struct {
	Part    string `json:"part" is:"words"`
	BeganNs int64  `json:"began_ns"` // on the host's monotonic clock
	EndedNs int64  `json:"ended_ns"`
	// Missing is why the part, or some of it, could not be read. Empty: it was read.
	Missing string `json:"missing,omitempty" is:"text"`
}

// PartNames is the part of what a snapshot leaves out because of a string that is not what its field declares.
const PartNames = "names"

// LeftOut returns the reasons of the parts PartNames.
func (s *HostState) LeftOut() (why []string) {
	for _, p := range s.Parts {
		if p.Part == PartNames {
			why = append(why, p.Missing)
		}
	}
	return why
}

// MostNexthops limits the nexthop objects of a host.
const MostNexthops = 4096

// Nexthop is a nexthop object: a single next hop or a group.
type Nexthop struct {
	ID int `json:"id"`
	// Interface is absent for groups, for VXLAN (fdb) and if it discards packets.
	Interface string `json:"interface,omitempty" is:"interface"`
	Via       string `json:"via,omitempty" is:"peer"` // absent: directly connected
	// Flags are "dead" and "linkdown", which the kernel sets, and "blackhole" and "fdb".
	Flags []string        `json:"flags,omitempty" is:"word"`
	Group []NexthopMember `json:"group,omitempty"`
	// Resilient reports whether the group hashes flows into buckets (nexthop-group-resilient.rst).
	Resilient bool `json:"resilient,omitempty"`
}

// NexthopMember is a member of a nexthop group.
type NexthopMember struct {
	ID     int `json:"id"`
	Weight int `json:"weight"`
}

// ParameterLine is a line of a sysctl.d(5) file that sets a kernel parameter.
type ParameterLine struct {
	File  string `json:"file" is:"file"`
	Line  int    `json:"line"` // 0: unknown
	Key   string `json:"key" is:"parameter"`
	Value string `json:"value" is:"value"`
}

// Listener is a TCP socket that accepts connections, or a UDP socket.
type Listener struct {
	Protocol string `json:"protocol" is:"word"` // tcp, udp
	Local    string `json:"local" is:"socket"`
	// Queued is the number of connections that wait for accept(2), at most Backlog. For UDP it is
	// the number of bytes that wait to be read.
	Queued  int64 `json:"queued"`
	Backlog int64 `json:"backlog,omitempty"`
	// BacklogUnknown reports whether Backlog was not read: the socket is from a text of netstat(8) or
	// from /proc/net/tcp, which do not have it.
	BacklogUnknown bool   `json:"backlog_unknown,omitempty"`
	Program        string `json:"program,omitempty" is:"words"` // absent: unknown, as without privileges
	// Drops counts datagrams that a UDP socket dropped because its receive buffer was full.
	Drops int64 `json:"drops,omitempty"`
	// ReceiveBuffer is the receive buffer of a UDP socket in bytes as the kernel counts it: twice
	// the requested size (socket(7)). Absent: unknown.
	ReceiveBuffer int64 `json:"receive_buffer_bytes,omitempty"`
}

// Connection is a TCP connection.
type Connection struct {
	Local             string `json:"local" is:"socket"`
	Remote            string `json:"remote" is:"socket"`
	State             string `json:"state" is:"word"`
	Program           string `json:"program,omitempty" is:"words"` // absent: unknown, as without privileges
	CongestionControl string `json:"congestion_control,omitempty" is:"word"`
	ReceiveQueue      int64  `json:"receive_queue_bytes"`
	SendQueue         int64  `json:"send_queue_bytes"`
	// ReadBps is the rate at which the program read received data between two readings, in bit/s.
	// Absent: there is one reading, or the kernel is older than 4.1.
	ReadBps *float64 `json:"read_bps,omitempty"`
	Info    *TCPInfo `json:"info,omitempty"`
}

// Conntrack is the size of the connection tracking table: entries, their limit, and hash buckets.
type Conntrack struct {
	Count   int64 `json:"count"`
	Most    int64 `json:"most"`
	Buckets int64 `json:"buckets"`
}

// BufferPool is a pool of memory for packets. Used and Most are clusters, or KiB if Name says Kbytes.
type BufferPool struct {
	Name string `json:"name" is:"words"` // "mbuf clusters", "Kbytes allocated to network"
	Used int64  `json:"used"`
	Most int64  `json:"most"`
}

// Full reports whether nine tenths of the pool are in use.
func (p BufferPool) Full() bool { return p.Most > 0 && float64(p.Used) >= 0.9*float64(p.Most) }

// Resolver has the content of resolv.conf(5).
type Resolver struct {
	Servers []string `json:"servers" is:"address"`
	Search  []string `json:"search,omitempty" is:"domain"`
	Options []string `json:"options,omitempty" is:"words"`
}

// Line adds a line of the file. It reports whether the line has a keyword with a value that is used.
func (r *Resolver) Line(line string) bool {
	words := strings.Fields(line)
	if len(words) < 2 {
		return false
	}
	switch words[0] {
	case "nameserver":
		r.Servers = append(r.Servers, words[1])
	case "search", "domain":
		r.Search = words[1:] // the last one applies
	case "options":
		r.Options = append(r.Options, words[1:]...)
	default:
		return false
	}
	return true
}

// ClockSource is the clock source of the machine and the state of its synchronisation
// (adjtimex(2)).
type ClockSource struct {
	Source       string   `json:"source" is:"word"`
	Available    []string `json:"available" is:"word"`
	Synchronised bool     `json:"synchronised"`
	// MaxErrorUs is the kernel's upper bound on the clock's error.
	MaxErrorUs int64 `json:"max_error_us"`
}

// KernelDrops are packets of the host's network namespace that the kernel freed without delivering
// them, between the readings, from the tracepoint kfree_skb (Linux 5.17).
type KernelDrops struct {
	Rows []KernelDrop `json:"rows"` // those with the most packets, at most MostKernelDrops
	// Unspecified counts packets freed without a reason. Most of these are no drops.
	Unspecified int64 `json:"unspecified"`
	// Lost counts drops that are in no row because there was no room. Drops of other namespaces can
	// be among them.
	Lost int64 `json:"lost"`
}

// MostKernelDrops limits the rows of KernelDrops.
const MostKernelDrops = 512

// KernelDrop counts the drops that have the same reason, place, interface, direction and protocol.
type KernelDrop struct {
	Reason    string `json:"reason" is:"word"`                   // a name of enum skb_drop_reason: "NETFILTER_DROP"
	Interface string `json:"interface,omitempty" is:"interface"` // absent: unknown
	Direction string `json:"direction,omitempty" is:"word"`      // rx, tx; absent: unknown
	Protocol  string `json:"protocol,omitempty" is:"words"`      // "IPv4 UDP", "LLDP", "0x88B5"
	Place     string `json:"place,omitempty" is:"words"`         // the kernel function that dropped it
	Packets   int64  `json:"packets"`
}

// CPULoad is what a CPU did in an interval, as shares of its time, 0…1.
type CPULoad struct {
	CPU     int     `json:"cpu"` // -1: all together
	User    float64 `json:"user"`
	System  float64 `json:"system"`
	IRQ     float64 `json:"irq"`
	SoftIRQ float64 `json:"softirq"`
	Steal   float64 `json:"steal"`
	Idle    float64 `json:"idle"` // includes the time that waited for storage
}

// Firmware identifies the machine by its DMI data
// (Documentation/ABI/testing/sysfs-firmware-dmi-entries) or the model in its device tree. Serial
// numbers are left out.
type Firmware struct {
	Vendor  string `json:"vendor,omitempty" is:"words"`
	Product string `json:"product,omitempty" is:"words"`
	BIOS    string `json:"bios,omitempty" is:"words"` // vendor, version and date
}

// LargestHostSnapshot limits the size of a snapshot document, in bytes.
const LargestHostSnapshot = 32 << 20

// mostObjects limits the objects and lists of a snapshot document (syntax.Objects), and so the memory that it takes.
const mostObjects = 1 << 18

// MostInterfaces limits the interfaces of a host.
const MostInterfaces = 1 << 13

// ParseHostSnapshot decodes a HostSnapshot document from an untrusted source. The size of the
// document bounds its lists. It returns an error for impossible times and counters, and for strings
// that are not what their fields declare (see Check).
func ParseHostSnapshot(text []byte) (s HostSnapshot, err error) {
	if len(text) > LargestHostSnapshot {
		return s, fmt.Errorf("expected at most %d bytes", LargestHostSnapshot)
	}
	if n := syntax.Objects(text); n > mostObjects {
		return s, fmt.Errorf("%d objects and lists: expected at most %d", n, mostObjects)
	}
	if err := syntax.Sparse(text); err != nil {
		return s, err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return s, fmt.Errorf("expected a snapshot, as linerate snapshot prints it: %w", err)
	}
	if head.Schema != HostSnapshotSchema {
		return s, fmt.Errorf("expected a snapshot, as linerate snapshot prints it (schema %s): its schema is %.60q",
			HostSnapshotSchema, head.Schema)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	return s, s.Check()
}

// Check returns an error if a snapshot made by another program has the wrong schema, too long
// lists, impossible times, or a string that is not what its field declares (syntax.Check).
func (s *HostSnapshot) Check() error {
	switch {
	case s.Schema != HostSnapshotSchema:
		return fmt.Errorf("expected a snapshot of schema %s, not %.60q", HostSnapshotSchema, s.Schema)
	case s.Reading.Host == "":
		return errors.New("the snapshot names no host")
	case !(s.OverS >= 0 && s.OverS <= 86400):
		return fmt.Errorf("over_s is %v: expected seconds of at most a day", s.OverS)
	case len(s.Reading.Snapshot.Interfaces) > MostInterfaces || len(s.State.NICs) > MostInterfaces:
		return fmt.Errorf("it has %d interfaces: expected at most %d", max(len(s.Reading.Snapshot.Interfaces),
			len(s.State.NICs)), MostInterfaces)
	case s.State.KernelDrops != nil && len(s.State.KernelDrops.Rows) > MostKernelDrops:
		return fmt.Errorf("it has %d kinds of drops: expected at most %d", len(s.State.KernelDrops.Rows),
			MostKernelDrops)
	case s.State.Nftables != nil && (len(s.State.Nftables.Rules) > MostNftRules ||
		len(s.State.Nftables.Sets) > MostNftSets || len(s.State.Nftables.Objects) > MostNftSets):
		return fmt.Errorf("it has more than %d rules or %d sets or objects of nftables", MostNftRules, MostNftSets)
	case len(s.State.LLDP) > MostLLDPNeighbours:
		return fmt.Errorf("it has %d neighbours by LLDP: expected at most %d", len(s.State.LLDP), MostLLDPNeighbours)
	case len(s.State.Nexthops) > MostNexthops:
		return fmt.Errorf("it has %d nexthop objects: expected at most %d", len(s.State.Nexthops), MostNexthops)
	case s.Reading.End.BeganNs < s.Reading.Begin.BeganNs && len(s.Reading.Begin.Interfaces) > 0:
		return errors.New("its second reading is from before the first")
	}
	return syntax.Check(s)
}

// HostEnvironment describes one host.
type HostEnvironment struct {
	Host   string `json:"host" is:"host"`
	OS     string `json:"os" is:"words"`
	Kernel string `json:"kernel" is:"words"`
	Arch   string `json:"arch" is:"word"`
	CPUs   int    `json:"cpus"`
	// CongestionControl is the TCP congestion control that the flows used.
	CongestionControl string `json:"congestion_control,omitempty" is:"word"`
	// Missing lists capabilities that were probed and not found, with the reason.
	Missing []string `json:"missing,omitempty" is:"text"`
	// Version is the version of linerate on the host, if the host is the other end of a
	// measurement.
	Version string `json:"version,omitempty" is:"words"`
}
