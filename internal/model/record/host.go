package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
)

// HostSnapshotSchema is the schema of HostSnapshot as a document.
const HostSnapshotSchema = "linerate.snapshot/v1"

// HostSnapshot is the network state of a host, as `linerate snapshot` prints it: its tables
// and settings at one time, and its counters at two, or since it was booted.
type HostSnapshot struct {
	Schema  string          `json:"schema"`
	Version string          `json:"version"` // of linerate
	Taken   time.Time       `json:"taken"`
	Host    HostEnvironment `json:"environment"`
	// OverS is the time between the readings begin and end, in seconds; 0: there is only the
	// second, whose counters are since boot.
	OverS float64 `json:"over_s"`
	// Redacted: addresses and names are replaced, each always by the same one.
	Redacted bool `json:"redacted,omitempty"`
	// Pasted are the only parts of Reading that there are, where they were taken from what
	// other tools print: interfaces, interface counters, neighbours, forwarding table, routes,
	// qdiscs, nics, sockets, sockstat, parameters, softnet, kernel log, snmp.
	Pasted  []string    `json:"pasted,omitempty"`
	State   HostState   `json:"state"`
	Reading HostReading `json:"reading"`
}

// HostSnapshots are those that a run keeps of a host: of each real one and, as a lab's hosts
// are made alike on one machine, of the first of a lab.
type HostSnapshots struct {
	Host string `json:"host"`
	// Before is from before the first trial, After from after the last, when the run's own
	// settings are reverted; absent: it was not taken.
	Before *HostSnapshot `json:"before,omitempty"`
	After  *HostSnapshot `json:"after,omitempty"`
	// Missing is why one was not taken.
	Missing string `json:"missing,omitempty"`
}

// Latest is the later of the two; nil: there is none.
func (s HostSnapshots) Latest() *HostSnapshot {
	if s.After != nil {
		return s.After
	}
	return s.Before
}

// HostState is what diagnosis of a host reads besides the snapshot of a trial. Each part is
// read by itself; what could not be read is in Missing.
type HostState struct {
	UptimeS float64 `json:"uptime_s"`
	// FirstNamespace: the network namespace is that of the machine's first process, to which
	// its configuration files apply.
	FirstNamespace bool  `json:"first_namespace"`
	NICs           []NIC `json:"nics,omitempty"`
	// Parameters are all below net., and some others.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Files are the lines of sysctl.d(5) in the order in which they are applied.
	Files     []ParameterLine `json:"parameter_files,omitempty"`
	Listeners []Listener      `json:"listeners,omitempty"`
	// TCP counts connections by state ("ESTAB", "CLOSE-WAIT", … as in ss(8)), and Notable are
	// those whose state or counters stand out, at most 256.
	TCP     map[string]int `json:"tcp,omitempty"`
	Notable []Connection   `json:"notable_connections,omitempty"`
	// TimeWaitBetween is how many connections are in TIME-WAIT between one local address and one
	// remote address and port, where they are most: each has a local port of its own there.
	// Absent: there are none, or their addresses are not known.
	TimeWaitBetween int `json:"time_wait_between,omitempty"`
	// Sockstat is /proc/net/sockstat as "TCP.orphan"; memory is in pages.
	Sockstat map[string]int64 `json:"sockstat,omitempty"`
	// Neighbours are the numbers of entries by family, "ipv4" and "ipv6", permanent ones left
	// out; gc_thresh3 bounds them.
	Neighbours map[string]int `json:"neighbour_entries,omitempty"`
	Conntrack  *Conntrack     `json:"conntrack,omitempty"`
	Bridges    []Bridge       `json:"bridges,omitempty"`
	Bonds      []Bond         `json:"bonds,omitempty"`
	// LLDP are the neighbours that a daemon knows, at most MostLLDPNeighbours.
	LLDP []LLDPNeighbour `json:"lldp_neighbours,omitempty"`
	// Nexthops are next hops that routes refer to by number (ip-nexthop(8)), at most MostNexthops.
	Nexthops []Nexthop `json:"nexthops,omitempty"`
	// Nftables are the rules of nftables that drop or count packets; absent: not read.
	Nftables *Nftables `json:"nftables,omitempty"`
	// Log is what the kernel's log has about the network, since it was booted or since older
	// lines were overwritten.
	Log      *KernelLog   `json:"kernel_log,omitempty"`
	Resolver *Resolver    `json:"resolver,omitempty"`
	Clock    *ClockSource `json:"clock,omitempty"`
	// Governors are how many frequency policies have each governor; absent: the kernel has none.
	Governors   map[string]int `json:"cpu_governors,omitempty"`
	MemoryBytes int64          `json:"memory_bytes,omitempty"`
	Firmware    *Firmware      `json:"firmware,omitempty"`
	// OpenFiles and MostFiles are the machine's descriptors and their bound (fs.file-max).
	OpenFiles int64 `json:"open_files,omitempty"`
	MostFiles int64 `json:"most_files,omitempty"`
	// KernelDrops are what the kernel dropped between the readings; absent: see the part
	// "kfree_skb".
	KernelDrops *KernelDrops `json:"kernel_drops,omitempty"`
	// Probes are of the peers that were to be probed.
	Probes []Probe `json:"probes,omitempty"`
	// Parts are when each part was read, and what is missing.
	Parts []StatePart `json:"parts"`
}

// StatePart is one part of a HostState.
type StatePart struct {
	Part    string `json:"part"`
	BeganNs int64  `json:"began_ns"` // on the host's monotonic clock
	EndedNs int64  `json:"ended_ns"`
	// Missing is why it could not be read, or not all of it; empty: it was.
	Missing string `json:"missing,omitempty"`
}

// MostNexthops bounds the nexthop objects of a host.
const MostNexthops = 4096

// Nexthop is a nexthop object: a single next hop, or a group of them.
type Nexthop struct {
	ID        int    `json:"id"`
	Interface string `json:"interface,omitempty"` // absent: of a group, of VXLAN (fdb), or discarding
	Via       string `json:"via,omitempty"`       // absent: directly attached
	// Flags are "dead" and "linkdown", which the kernel sets, and "blackhole" and "fdb".
	Flags []string        `json:"flags,omitempty"`
	Group []NexthopMember `json:"group,omitempty"`
	// Resilient: the group is hashed over buckets (nexthop-group-resilient.rst).
	Resilient bool `json:"resilient,omitempty"`
}

// NexthopMember is one of a group.
type NexthopMember struct {
	ID     int `json:"id"`
	Weight int `json:"weight"`
}

// ParameterLine is one kernel parameter in a file of sysctl.d(5).
type ParameterLine struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Listener is a TCP socket that accepts connections, or a UDP socket.
type Listener struct {
	Protocol string `json:"protocol"` // tcp, udp
	Local    string `json:"local"`
	// Queued connections wait for accept(2), at most Backlog; of UDP, Queued are bytes.
	Queued  int64  `json:"queued"`
	Backlog int64  `json:"backlog,omitempty"`
	Program string `json:"program,omitempty"` // absent: not known, as without privileges
	// Drops are datagrams for which a UDP socket had no room.
	Drops int64 `json:"drops,omitempty"`
	// ReceiveBuffer is the receive buffer of a UDP socket as the kernel counts it, twice what it
	// granted (socket(7)); absent: not known.
	ReceiveBuffer int64 `json:"receive_buffer_bytes,omitempty"`
}

// Connection is one TCP connection.
type Connection struct {
	Local             string `json:"local"`
	Remote            string `json:"remote"`
	State             string `json:"state"`
	Program           string `json:"program,omitempty"` // absent: not known, as without privileges
	CongestionControl string `json:"congestion_control,omitempty"`
	ReceiveQueue      int64  `json:"receive_queue_bytes"`
	SendQueue         int64  `json:"send_queue_bytes"`
	// ReadBps is how fast its program read what arrived, in bit/s, between two readings;
	// absent: there is one, or it is of a kernel before 4.1.
	ReadBps *float64 `json:"read_bps,omitempty"`
	Info    *TCPInfo `json:"info,omitempty"`
}

// Conntrack is the connection tracking table.
type Conntrack struct {
	Count   int64 `json:"count"`
	Most    int64 `json:"most"`
	Buckets int64 `json:"buckets"`
}

// Resolver is resolv.conf(5).
type Resolver struct {
	Servers []string `json:"servers"`
	Search  []string `json:"search,omitempty"`
	Options []string `json:"options,omitempty"`
}

// ClockSource is the machine's clock source and its synchronisation (adjtimex(2)).
type ClockSource struct {
	Source       string   `json:"source"`
	Available    []string `json:"available"`
	Synchronised bool     `json:"synchronised"`
	// MaxErrorUs is the kernel's bound of its error.
	MaxErrorUs int64 `json:"max_error_us"`
}

// KernelDrops are the packets of a host's network namespace that the kernel freed undelivered
// between the readings, by the tracepoint kfree_skb (Linux 5.17).
type KernelDrops struct {
	Rows []KernelDrop `json:"rows"` // those with the most packets, at most MostKernelDrops
	// Unspecified packets were freed without a reason; most of them are no drops.
	Unspecified int64 `json:"unspecified"`
	// Lost drops are in no row, for want of room; those of other namespaces may be among them.
	Lost int64 `json:"lost"`
}

// MostKernelDrops bounds the rows of KernelDrops.
const MostKernelDrops = 512

// KernelDrop is one kind of them.
type KernelDrop struct {
	Reason    string `json:"reason"`              // of enum skb_drop_reason, as "NETFILTER_DROP"
	Interface string `json:"interface,omitempty"` // absent: not known
	Direction string `json:"direction,omitempty"` // rx, tx; absent: not known
	Protocol  string `json:"protocol,omitempty"`  // "IPv4 UDP", "LLDP", "0x88B5"
	Place     string `json:"place,omitempty"`     // the kernel's function
	Packets   int64  `json:"packets"`
}

// Firmware is the machine as its firmware describes it (Documentation/ABI/testing/sysfs-firmware-dmi-entries,
// or the model of a device tree). Serial numbers are left out.
type Firmware struct {
	Vendor  string `json:"vendor,omitempty"`
	Product string `json:"product,omitempty"`
	BIOS    string `json:"bios,omitempty"` // vendor, version and date
}

// EvaluationSchema is the schema of Evaluation.
const EvaluationSchema = "linerate.doctor/v1"

// Evaluation is what a diagnosis looked at, as `linerate doctor --json` prints it
// (linerate.doctor/v1).
type Evaluation struct {
	Schema string `json:"schema"`
	// Answer is the conclusion in a sentence.
	Answer   string    `json:"answer"`
	Hosts    []string  `json:"hosts"`
	OverS    float64   `json:"over_s"`
	Findings []Finding `json:"findings"`
	// Accepted are findings that the user has accepted, with the reason.
	Accepted []AcceptedFinding `json:"accepted,omitempty"`
	// Evaluated are the rules that had what they need, and Unevaluated those that had not.
	Evaluated   []string      `json:"evaluated"`
	Unevaluated []Unevaluated `json:"unevaluated,omitempty"`
	Drops       []Drop        `json:"drops,omitempty"`
	// DropsBy says for each host where its drops come from.
	DropsBy []DropSource `json:"drops_by"`
	Probes  []Probe      `json:"probes,omitempty"`
	// NotUnderstood are lines of a pasted text that are of no known form; Lost counts all.
	NotUnderstood []string `json:"not_understood,omitempty"`
	Lost          int      `json:"lines_not_understood,omitempty"`
}

// Sources of the drops of a host.
const (
	ByTracepoint = "kfree_skb"
	ByCounters   = "counters"
)

// DropSource is where the drops of a host come from: the tracepoint, beside counters of what
// it does not see, or counters alone.
type DropSource struct {
	Host string `json:"host"`
	By   string `json:"by"`            // kfree_skb, counters
	Why  string `json:"why,omitempty"` // by counters: what is missing for the tracepoint
	// Unspecified and Lost are as in KernelDrops.
	Unspecified int64 `json:"unspecified,omitempty"`
	Lost        int64 `json:"lost,omitempty"`
}

// AcceptedFinding is a finding that the user knows of.
type AcceptedFinding struct {
	Finding
	Until   string `json:"until"` // a date
	Because string `json:"because"`
}

// UnmarshalJSON reads the finding by its own method, which reads nothing of what is beside it.
func (a *AcceptedFinding) UnmarshalJSON(data []byte) error {
	type beside struct {
		Until   string `json:"until"`
		Because string `json:"because"`
	}
	var read beside
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	a.Until, a.Because = read.Until, read.Because
	return json.Unmarshal(data, &a.Finding)
}

// Unevaluated is a rule that could not be evaluated on a host.
type Unevaluated struct {
	Rule string `json:"rule"`
	Host string `json:"host"`
	Part string `json:"part"` // that is missing, of the host's snapshot
	Why  string `json:"why"`
	// NotPasted: the snapshot is of a pasted text, which does not have the part.
	NotPasted bool `json:"not_pasted,omitempty"`
}

// Drop is one counter of packets that were not delivered, or one kind of drops that the kernel
// has a reason for.
type Drop struct {
	Host    string `json:"host"`
	Where   string `json:"where"`   // an interface, a protocol, a qdisc
	Counter string `json:"counter"` // or a reason
	// Packets in the time between the readings; with one reading, since boot.
	Packets int64  `json:"packets"`
	Boot    bool   `json:"since_boot,omitempty"`
	Verdict string `json:"verdict"` // Harmful, Harmless, Unknown
	Why     string `json:"why"`
	// Cause is the cause of the finding about such packets, which has Why in words. Apart is how
	// many of them may have another one.
	Cause cause.Code  `json:"cause,omitempty"`
	Apart *fact.Apart `json:"apart,omitempty"`
	// Kind is what dropped them (DropRing, …); absent: the reason or Cause says it. Named is what
	// it names: the peer whose packets they may be, an interface, or a rule of nftables.
	Kind  string `json:"kind,omitempty"`
	Named string `json:"named,omitempty"`
	// Of a reason:
	By        string `json:"by,omitempty"` // kfree_skb; absent: a counter
	Direction string `json:"direction,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	Place     string `json:"place,omitempty"`
	MoreRules int    `json:"more_rules,omitempty"` // of the firewall, besides that in Place
	// Again: the packets of this counter are in rows of reasons as well.
	Again bool `json:"again,omitempty"`
}

// Kinds of Drop.
const (
	DropRing          = "ring-full"      // the NIC's receive ring
	DropDamaged       = "damaged"        // or too long
	DropRefused       = "tunnel-refused" // at its receiving end
	DropOtherAddress  = "other-address"  // the MAC address is not this host's
	DropStandby       = "standby"        // received by a standby member
	DropUnhandled     = "unhandled"      // too long, of no known protocol or VLAN, or without room
	DropUnsent        = "unsent"
	DropFilter        = "tc-filter"
	DropQueue         = "queue-full"
	DropRule          = "firewall-rule"
	DropBacklog       = "backlog-full"   // a CPU's queue of received packets
	DropSharedBacklog = "backlog-shared" // the same, perhaps of other network namespaces
	DropReversePath   = "reverse-path"   // the strict filter
)

// Verdicts on packets that were not delivered.
const (
	Harmful  = "harmful"
	Harmless = "harmless"
	Unknown  = "unknown"
)

// LargestHostSnapshot bounds a snapshot as a document, in bytes.
const LargestHostSnapshot = 64 << 20

// mostInterfaces bounds those of a host.
const mostInterfaces = 1 << 13

// ParseHostSnapshot reads a document of HostSnapshot, which may be from elsewhere: its lists
// are bounded by its size; times and counters that cannot be are errors, and so are names that
// could not stand in a command (Check).
func ParseHostSnapshot(text []byte) (s HostSnapshot, err error) {
	if len(text) > LargestHostSnapshot {
		return s, fmt.Errorf("expected at most %d bytes", LargestHostSnapshot)
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

// Check is an error if a snapshot that another program has made is none, or has what cannot be.
func (s *HostSnapshot) Check() error {
	switch {
	case s.Schema != HostSnapshotSchema:
		return fmt.Errorf("expected a snapshot of schema %s, not %.60q", HostSnapshotSchema, s.Schema)
	case s.Reading.Host == "":
		return errors.New("the snapshot names no host")
	case !(s.OverS >= 0 && s.OverS <= 86400):
		return fmt.Errorf("over_s is %v: expected seconds of at most a day", s.OverS)
	case len(s.Reading.Snapshot.Interfaces) > mostInterfaces || len(s.State.NICs) > mostInterfaces:
		return fmt.Errorf("it has %d interfaces: expected at most %d", max(len(s.Reading.Snapshot.Interfaces),
			len(s.State.NICs)), mostInterfaces)
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
	return s.checkNames()
}
