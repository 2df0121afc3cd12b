package netstate

// HostReading is what the agent of one host or switch read in one trial.
type HostReading struct {
	Host string `json:"host" is:"host"`
	// Begin and End are the readings at the two edges of the window, with times converted to the
	// conductor's clock.
	Begin Reading `json:"begin"`
	End   Reading `json:"end"`
	// Series are light samples inside the window.
	Series []Sample `json:"series,omitempty"`
	// Snapshot is the host's network state at the end of the window. Before has the part that
	// changes by itself (neighbours, FDB) at its beginning.
	Snapshot Snapshot `json:"snapshot"`
	Before   Tables   `json:"before"`
	// Arrivals has the interfaces on which packets of the observed flows arrived.
	Arrivals []Arrival `json:"arrivals,omitempty"`
	// Gaps has the longest times without an arrival of these flows, if events were planned in the
	// window. ArrivalsMissed counts packets that were not recorded.
	Gaps           []Gap `json:"gaps,omitempty"`
	ArrivalsMissed int64 `json:"arrivals_missed,omitempty"`
	// CarrierLosses are in the order of time.
	CarrierLosses []CarrierLoss `json:"carrier_losses,omitempty"`
	// Log is what the machine's kernel logged about the network in the window. Nil: it is not read
	// on this host.
	Log *KernelLog `json:"kernel_log,omitempty"`
	// CPUBusy is the share of the time of all CPUs that was busy in the window, 0…1. GeneratorCPU
	// is the share of one CPU that the busiest traffic thread used.
	CPUBusy      float64 `json:"cpu_busy"`
	GeneratorCPU float64 `json:"generator_cpu"`
	// AllowedCPUs are the CPUs on which linerate may run (sched_setaffinity(2), cpuset(7)). Nil:
	// all, or unknown. Nice is its nice value (sched(7)).
	AllowedCPUs []int `json:"allowed_cpus,omitempty"`
	Nice        int   `json:"nice,omitempty"`
	// ProcessCPUS is the CPU time that the agent's process used in the window, user and system, in
	// seconds.
	ProcessCPUS float64 `json:"process_cpu_s,omitempty"`
	// ConnectionBytes is the memory of that process for each connection that was open at the end of
	// the window. It is set if there were transactions.
	ConnectionBytes int64 `json:"connection_bytes,omitempty"`
	// Others is the traffic of the same agent process for other clients at the same time. Nil:
	// there was none.
	Others *OtherFlows `json:"others,omitempty"`
}

// OtherFlows are flows of other trials that the same process carried during a window. They use its
// ports and its CPUs.
type OtherFlows struct {
	Clients       int   `json:"clients"`
	Flows         int   `json:"flows"`
	ReceivedBytes int64 `json:"received_bytes"`
	WrittenBytes  int64 `json:"written_bytes"`
}

// Reading has every counter of a host at one instant. Counters are since boot; to use them, take
// differences.
type Reading struct {
	// BeganNs and EndedNs say when reading began and ended, in nanoseconds on the conductor's
	// monotonic clock. ScheduledNs is when it was to begin.
	ScheduledNs int64 `json:"scheduled_ns"`
	BeganNs     int64 `json:"began_ns"`
	EndedNs     int64 `json:"ended_ns"`

	Interfaces []InterfaceCounters `json:"interfaces"`
	Qdiscs     []QdiscCounters     `json:"qdiscs,omitempty"`
	CPU        []CPUTimes          `json:"cpu,omitempty"`
	Softnet    []SoftnetCounters   `json:"softnet,omitempty"`
	// Softirqs counts softirqs by kind (NET_RX, NET_TX, …), summed over CPUs.
	Softirqs map[string]uint64 `json:"softirqs,omitempty" is:"word"`
	// Events are the interrupts and softirqs of each CPU.
	Events []CPUEvents `json:"events,omitempty"`
	// Memory is that of the machine.
	Memory *MemoryLoad `json:"memory,omitempty"`
	// SNMP has /proc/net/snmp, /proc/net/netstat and /proc/net/snmp6 with names such as
	// "Tcp.RetransSegs" and "TcpExt.IPReversePathFilter". Absent: 0.
	SNMP map[string]int64 `json:"snmp,omitempty" is:"word"`
	// Own is the part of some counters of SNMP that linerate itself has caused on this host: an upper
	// bound.
	Own map[string]int64 `json:"own,omitempty" is:"word"`
	// Missing lists the parts that could not be read, each with the reason.
	Missing []string `json:"missing,omitempty" is:"text"`
}

// InterfaceCounters are IFLA_STATS64 of one interface.
type InterfaceCounters struct {
	Interface string `json:"interface" is:"interface"`
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	RxPackets uint64 `json:"rx_packets"`
	TxPackets uint64 `json:"tx_packets"`
	RxDropped uint64 `json:"rx_dropped"`
	TxDropped uint64 `json:"tx_dropped"`
	RxErrors  uint64 `json:"rx_errors"`
	TxErrors  uint64 `json:"tx_errors"`
	// RxMissed counts packets that the NIC dropped because the host had no buffer for them, for
	// example because its receive ring was full. They are not part of RxDropped. Software devices
	// have none.
	RxMissed uint64 `json:"rx_missed_errors"`
	// RxOtherhost counts frames for another MAC address (Linux 5.19 and later).
	RxOtherhost uint64 `json:"rx_otherhost_dropped"`
	// RxCRC, RxLength and TxCarrier are parts of RxErrors and TxErrors (linux/if_link.h): damaged
	// frames, frames too long for the interface, and lost carriers. RxNoHandler counts packets on
	// an inactive device, such as a bond's standby member.
	RxCRC      uint64 `json:"rx_crc_errors,omitempty"`
	RxLength   uint64 `json:"rx_length_errors,omitempty"`
	TxCarrier  uint64 `json:"tx_carrier_errors,omitempty"`
	Collisions uint64 `json:"collisions,omitempty"`
	// LateCollisions are those of Collisions after the first 512 bits of a frame, which only a full-duplex
	// port at the other end or too long a cable causes (IEEE 802.3, clause 4). Only text of FreeBSD has them.
	LateCollisions uint64 `json:"late_collisions,omitempty"`
	RxNoHandler    uint64 `json:"rx_nohandler,omitempty"`
	// AtNs is when this interface was read, on the conductor's clock.
	AtNs int64 `json:"at_ns"`
}

// QdiscCounters are TCA_STATS2 of one queueing discipline.
type QdiscCounters struct {
	Interface string `json:"interface" is:"interface"`
	Kind      string `json:"kind" is:"word"`
	Handle    string `json:"handle" is:"word"`
	// Parent is root, ingress, or the class of another qdisc, 7:1. Empty: it was not read.
	Parent     string `json:"parent,omitempty" is:"word"`
	Bytes      uint64 `json:"bytes"`
	Packets    uint64 `json:"packets"`
	Drops      uint64 `json:"drops"`
	Overlimits uint64 `json:"overlimits"`
	Backlog    uint64 `json:"backlog_bytes"`
	Qlen       uint64 `json:"qlen_packets"`
	Requeues   uint64 `json:"requeues"`
}

// Queues reports whether the qdisc queues packets. ingress and clsact do not: they have filters,
// and count what these drop as drops (net/sched/sch_ingress.c).
func (q QdiscCounters) Queues() bool { return q.Kind != "ingress" && q.Kind != "clsact" }

// CPUTimes is one line of /proc/stat in seconds. CPU -1 is the sum.
type CPUTimes struct {
	CPU     int     `json:"cpu"`
	User    float64 `json:"user_s"`           // includes Nice
	Nice    float64 `json:"nice_s,omitempty"` // of programs with a nice value above 0
	System  float64 `json:"system_s"`
	Idle    float64 `json:"idle_s"` // includes iowait
	IRQ     float64 `json:"irq_s"`
	SoftIRQ float64 `json:"softirq_s"`
	Steal   float64 `json:"steal_s"`
}

// SoftnetCounters is one line of /proc/net/softnet_stat (machine-wide).
type SoftnetCounters struct {
	CPU       int    `json:"cpu"`
	Processed uint64 `json:"processed"`
	Dropped   uint64 `json:"dropped"`
	Squeezed  uint64 `json:"squeezed"`
	Backlog   uint64 `json:"backlog"`
}

// Sample is a light reading inside the window.
type Sample struct {
	AtNs int64 `json:"at_ns"` // when it began, on the conductor's clock
	// BeganNs and EndedNs say when reading began and ended.
	BeganNs    int64               `json:"began_ns"`
	EndedNs    int64               `json:"ended_ns"`
	Interfaces []InterfaceCounters `json:"interfaces"`
	Qdiscs     []QdiscCounters     `json:"qdiscs,omitempty"`
	// CPU, Events and IRQs describe the machine, in some of the samples: each CPU's times, its
	// interrupts and its softirqs NET_RX and NET_TX, and the interrupts of NICs by number and name
	// ("41 eth0-rx-0"), as in Reading. With more than 64 CPUs there is only the sum.
	CPU    []CPUTimes        `json:"cpu,omitempty"`
	Events []CPUEvents       `json:"events,omitempty"`
	IRQs   map[string]uint64 `json:"irqs,omitempty" is:"words"`
	// Flows has the bytes received so far by this host's flows, by flow ID, and, if this host
	// sends, the sender's smoothed RTT and window.
	Flows []FlowSample `json:"flows,omitempty"`
}

// FlowSample is a light reading of one flow at one end.
type FlowSample struct {
	ID            string `json:"id" is:"word"`
	ReceivedBytes int64  `json:"received_bytes,omitempty"`
	// AckedBytes is the number of bytes acknowledged so far, if this host sends. UnreadBytes is the
	// number of bytes that wait to be read, if it receives.
	AckedBytes  int64  `json:"acked_bytes,omitempty"`
	UnreadBytes int64  `json:"unread_bytes,omitempty"`
	RTTUs       uint32 `json:"rtt_us,omitempty"`
	SndCwnd     uint32 `json:"snd_cwnd,omitempty"`
	// Unacked is the number of segments in flight, NotsentBytes the amount of data that waits to be
	// sent. SndWnd is the window in bytes that the peer advertises; 0: it is closed or unknown
	// (before Linux 5.4).
	Unacked      uint32 `json:"unacked,omitempty"`
	NotsentBytes uint32 `json:"notsent_bytes,omitempty"`
	SndWnd       uint32 `json:"snd_wnd_bytes,omitempty"`
	// Datagrams and Lost count the datagrams received and lost so far, at the receiver of a udp
	// flow. Done counts completed transactions so far, at the end that sends requests.
	Datagrams int64 `json:"datagrams,omitempty"`
	Lost      int64 `json:"lost,omitempty"`
	Done      int64 `json:"done,omitempty"`
}

// CarrierLoss is an interval of the window during which an interface had no carrier or was down.
// Times are in seconds since the beginning of the window.
type CarrierLoss struct {
	Interface string  `json:"interface" is:"interface"`
	FromS     float64 `json:"from_s"`
	ToS       float64 `json:"to_s"` // the end of the window if not Regained
	Regained  bool    `json:"regained"`
	// Down reports whether the interface was set down (ip-link(8)). False: it lost its carrier.
	Down bool `json:"down,omitempty"`
}

// Arrival records that packets of a flow arrived on an interface between the start of the senders
// and the end of the window, or the next event. A packet socket can miss packets (packet(7)), so
// Packets shows the path, not the amount.
type Arrival struct {
	Flow      string `json:"flow" is:"word"`
	Interface string `json:"interface" is:"interface"`
	Packets   int64  `json:"packets"`
	// Events is the number of event times of the study that had passed. If there are events, LastNs
	// is the arrival time of the last of these packets.
	Events int   `json:"events,omitempty"`
	LastNs int64 `json:"last_ns,omitempty"`
}

// Gap is the longest time without an arrival of a flow on any interface, among those that ended in
// the window after the given number of events and before the next one.
type Gap struct {
	Flow   string `json:"flow" is:"word"`
	Events int    `json:"events,omitempty"`
	FromNs int64  `json:"from_ns"`
	ToNs   int64  `json:"to_ns"`
}
