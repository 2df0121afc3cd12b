package record

import (
	"time"

	"linerate/internal/model/fact"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Trial is one timed execution of a treatment.
type Trial struct {
	Treatment string            `json:"treatment"`
	Levels    map[string]string `json:"levels"`
	Block     int               `json:"block"` // from 1
	Order     int               `json:"order"` // place in the run, from 1
	Started   time.Time         `json:"started"`
	// ElapsedS is how long the run had taken when the trial was made, without the time for which it
	// was interrupted.
	ElapsedS float64 `json:"elapsed_s,omitempty"`
	// WindowS is the length of the common window.
	WindowS float64 `json:"window_s"`
	// WarmupS is the time for which the flows of a measurement ran before the window.
	WarmupS float64 `json:"warmup_s,omitempty"`
	// PlannedS is the planned length of a window that ended early. 0: it did not.
	PlannedS float64 `json:"planned_s,omitempty"`
	// Ended says why the window ended early without an interruption: the connection to the server
	// of a measurement was lost. All figures are then from the host that remained.
	Ended string `json:"ended,omitempty"`
	// GoodputBps is the sum over all bulk flows (tcp, udp) of what the receivers read in the common
	// window.
	GoodputBps float64 `json:"goodput_bps"`
	LimitBps   float64 `json:"limit_bps"`
	// PlacementLimitBps is the most that the flows can carry on the paths that they took, if they
	// had several to choose from: flows that share one link leave another idle.
	PlacementLimitBps float64 `json:"placement_limit_bps,omitempty"`
	// Limit says how LimitBps is computed. LimitWhy is the same in one line; records of older
	// versions have only LimitWhy.
	Limit    Limit  `json:"limit,omitzero"`
	LimitWhy string `json:"limit_why,omitempty"`
	// Chance is the range within which chance alone can vary GoodputBps. Nil: nothing is known to
	// be random.
	Chance *Chance `json:"chance,omitempty"`
	// TransactionsPerS is the rate of all request flows together. Latency has the times of all
	// their transactions. Datagrams is the sum of the counters of all udp flows. None of these is
	// part of GoodputBps.
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	Latency          *Distribution `json:"latency_us,omitempty"`
	Datagrams        *Datagrams    `json:"datagrams,omitempty"`
	// Bufferbloat has the response times of a latency probe, with and without the other flows. The
	// flow of the probe is among Flows. Nil: there was no probe.
	Bufferbloat *Latency `json:"bufferbloat,omitempty"`
	// LossFree is the highest rate of datagrams without loss, if the trial was a search for it. All
	// other fields are then those of the last window that confirmed the rate.
	LossFree *LossFree `json:"loss_free,omitempty"`
	// FindMax is the highest rate of requests that meets an objective, if a measurement was a
	// search for it.
	FindMax *FindMax `json:"find_max,omitempty"`
	// SenderReportedBps is the sum of the flows' own averages at the sender (bytes written divided
	// by the flow's own time): what a tool that counts there would print.
	SenderReportedBps float64 `json:"sender_reported_bps"`
	// ToolReported is what other programs report about the flows that they opened, and what these
	// flows carried. Tools has each run of such a program.
	ToolReported *ToolReported `json:"tool_reported,omitempty"`
	Tools        []ToolRun     `json:"tools,omitempty"`

	// Parts has the results of a measurement for each direction between two hosts. Empty: the
	// trial belongs to a study.
	Parts []Part `json:"parts,omitempty"`
	// Mode is the requested way to move a measurement's bytes, one of the Modes. SendMode and
	// ReceiveMode of each flow have the way that was used.
	Mode string `json:"mode,omitempty"`
	// Peer is the program at the other end, if it is not linerate. Nil: it is.
	Peer *Peer `json:"peer,omitempty"`

	Flows  []Flow        `json:"flows"`
	Hosts  []HostReading `json:"hosts"`
	Clocks []Clock       `json:"clocks"`
	// Switches are the switches whose ports are read by SNMP.
	Switches []SwitchReading `json:"switches,omitempty"`
	// Settings are the changes that were made for this trial, as applied.
	Settings []Applied `json:"settings,omitempty"`
	// Repeated counts earlier attempts at this trial that were discarded because a hypervisor took
	// too much CPU time during them.
	Repeated int `json:"repeated,omitempty"`
	// ConvergedS is the time that the trial waited for the return of routes that an earlier trial
	// had removed. 0: no route was missing.
	ConvergedS float64 `json:"converged_s,omitempty"`
	// Opening says how the connections were opened before the window. Nil: unknown.
	Opening *Opening `json:"opening,omitempty"`
	// Events are the study's events in the window.
	Events []Event `json:"events,omitempty"`
	// Attacks are the attacks of the study, by one host on another.
	Attacks []Attack `json:"attacks,omitempty"`
	// Faults are events that the study did not plan: interfaces of the topology without a carrier
	// between BeganS and EndedS.
	Faults []Event `json:"faults,omitempty"`
	// Unreachable reports whether the treatment allows flows that cannot connect.
	Unreachable bool `json:"unreachable,omitempty"`
	// AccountSender reports whether the figure counted at the sender is a result of the trial.
	// Package trust then compares that figure with the limit.
	AccountSender bool `json:"account_sender,omitempty"`
	// Topology is the run's topology with the changes of the treatment. Absent: the treatment does
	// not change the topology. See Over.
	Topology *topology.Topology `json:"topology,omitempty"`
}

// Flow is one stream of a trial in one direction. A transactional flow has all its connections in
// one Flow. From sends and To receives: for a read, From is the server.
type Flow struct {
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
	// Protocol is one of the Protocols. Empty: tcp.
	Protocol    string `json:"protocol,omitempty"`
	Source      string `json:"source"`      // the sender's address and port
	Destination string `json:"destination"` // the receiver's address and port
	// Probe reports whether the flow is the latency probe of a measurement.
	Probe bool `json:"probe,omitempty"`
	// Process is the ID of the ToolRun that opened the flow. Its bytes are then counted by the
	// kernel at the two sockets. Empty: linerate opened it.
	Process string `json:"process,omitempty"`
	// CountedAt says how ReceivedBytes were counted if only one end is known: interfaces (an equal
	// part of what the receiving host's interfaces received beyond linerate's own flows) or, with a
	// peer that is not an agent, one of received, acknowledged and by the peer. Empty: by the
	// receiver's socket.
	CountedAt string `json:"counted_at,omitempty"`
	// SourcePorts says how the source port of the flow was chosen (source_ports of the workload).
	// Empty: by connect(2).
	SourcePorts string `json:"source_ports,omitempty"`
	// OpenedBy is the host that opened the connection.
	OpenedBy      string `json:"opened_by"`
	ReceivedBytes int64  `json:"received_bytes"` // read by the receiver in the common window
	// ArrivedBytes reached the receiver's kernel in the common window (TCP_INFO bytes_received). A
	// slow reader has read less. 0: unknown.
	ArrivedBytes int64 `json:"arrived_bytes,omitempty"`
	// OutOfOrderBytes had arrived after a gap when the window began, as the sender knows from SACK
	// (RFC 2018). They count for the receiver once the gap is filled.
	OutOfOrderBytes int64 `json:"out_of_order_bytes,omitempty"`
	// HeldBytes is the receiver's memory for data that had arrived and not been read (SO_MEMINFO),
	// the larger value of the two edges of the window. It is an upper bound of the bytes that had
	// arrived after a gap. It is recorded if OutOfOrderBytes is unknown because the sender is not
	// linerate. For connections of a program that are counted together it comes from the sender.
	HeldBytes    int64   `json:"held_bytes,omitempty"`
	WrittenBytes int64   `json:"written_bytes"` // written by the sender in the common window
	AckedBytes   int64   `json:"acked_bytes"`   // TCP_INFO bytes_acked, in the common window
	UnsentBytes  int64   `json:"unsent_bytes"`  // not acknowledged at the end of the window, sent or not (SIOCOUTQ)
	GoodputBps   float64 `json:"goodput_bps"`
	// SenderAverageBps is the written bytes divided by the flow's own time.
	SenderAverageBps float64 `json:"sender_average_bps"`
	// RetransBytes were retransmitted in the common window. TCP counts them before the host's own
	// queue accepts them; at least RefusedBytes of them never left the host.
	RetransBytes int64 `json:"retrans_bytes"`
	RefusedBytes int64 `json:"retrans_refused_bytes,omitempty"`
	// RetransSegments is the same in segments (TCP_INFO total_retrans).
	RetransSegments int64 `json:"retrans_segments,omitempty"`
	// SentBytes is the TCP payload sent in the common window, including retransmissions and what
	// the host's own queue refused, counted each time (TCP_INFO bytes_sent). 0: unknown, as before
	// Linux 4.19.
	SentBytes int64 `json:"sent_bytes,omitempty"`
	// BusyS is the time in the common window during which the sender had data to send or
	// unacknowledged data. Within that time, it waited RwndLimitedS for the receiver's window and
	// SndbufLimitedS for room in its send buffer (TCP_INFO).
	BusyS          float64 `json:"busy_s,omitempty"`
	RwndLimitedS   float64 `json:"rwnd_limited_s,omitempty"`
	SndbufLimitedS float64 `json:"sndbuf_limited_s,omitempty"`
	// UnreadBytes is the amount of data that had arrived and that the receiver had not read: the
	// mean over all readings in the window.
	UnreadBytes int64 `json:"unread_bytes,omitempty"`
	// DryShare is the share of the sender's readings in the window at which everything that it had
	// written was sent, although both windows had room for more. SndbufFullShare is the share at
	// which, in addition, the socket buffer had no room.
	DryShare        float64 `json:"dry_share,omitempty"`
	SndbufFullShare float64 `json:"sndbuf_full_share,omitempty"`
	// RwndFullShare is the share of these readings at which the data in flight left room for at
	// most one segment in the receiver's window, while the congestion window had room for more.
	// RwndLimitedS is shorter than this share of the window, because the kernel stops that clock
	// whenever an acknowledgement lets it send a segment.
	RwndFullShare float64 `json:"rwnd_full_share,omitempty"`
	// ClosingShare is the share of these readings at which the receiver's window was 0, or less
	// than half of what it had been before, because data that no program had read filled its
	// buffer.
	ClosingShare float64 `json:"closing_share,omitempty"`
	// SndbufBytes is the sender's socket buffer at the end of the window, RcvbufBytes the
	// receiver's, as the kernel counts them (FlowEnd).
	SndbufBytes int64 `json:"sndbuf_bytes,omitempty"`
	RcvbufBytes int64 `json:"rcvbuf_bytes,omitempty"`
	// PacePerS is the scheduled number of transactions per second. 0: each request follows the
	// previous answer.
	PacePerS float64 `json:"pace_per_s,omitempty"`
	// RateCapBps is the connection's pacing rate, WriteCapBps the highest rate at which its sender
	// writes, and ReadCapBps that at which its receiver reads. 0: none.
	RateCapBps  float64 `json:"rate_cap_bps,omitempty"`
	WriteCapBps float64 `json:"write_cap_bps,omitempty"`
	ReadCapBps  float64 `json:"read_cap_bps,omitempty"`
	// Path is the intended path of the flow as a list of "host.interface". If there are several
	// (Paths is their number), it is the observed path or, if none was observed, the predicted one.
	Path  []string `json:"path"`
	Paths int      `json:"paths,omitempty"`
	// Predicted is the path that the flow takes according to the kernels' route lookups before the
	// window. If it is incomplete, PredictedNote says why it ends early.
	Predicted     []string `json:"predicted,omitempty"`
	PredictedNote string   `json:"predicted_note,omitempty"`
	// Observed lists the interfaces that received packets of the flow until the end of the window,
	// or until the first event in it, in the order of the path.
	Observed []string `json:"observed,omitempty"`
	// Outages says what the trial's events did to the flow, with one entry for each instant.
	Outages []Outage `json:"outages,omitempty"`
	// LimitBps is the most that the flow can carry alone on its path. 0: unknown.
	LimitBps float64 `json:"limit_bps,omitempty"`
	// LimitedBy names what limited the flow (see package bottleneck). Empty: it was not determined.
	// LimitedFacts has the evidence, or says why it was not determined. LimitedWhy is the same in
	// words, which package wording adds; flows that an earlier version stored have only LimitedWhy.
	LimitedBy    string      `json:"limited_by"`
	LimitedFacts []fact.Fact `json:"limited_facts,omitempty"`
	LimitedWhy   string      `json:"limited_why,omitempty"`
	// Expected is the goodput that the flow should reach with its path and its windows. Nil: the
	// path has no delay.
	Expected *Prediction `json:"expected,omitempty"`
	// Error says why the flow did not connect or ended early. Empty: it did neither.
	Error string `json:"error,omitempty"`
	// Exhausted is set if the host that opens the flow had no free port for it.
	Exhausted *PortsExhausted `json:"exhausted,omitempty"`
	// NoDescriptors is set if the host that opens the flow had no free file descriptor for it.
	NoDescriptors *DescriptorsExhausted `json:"no_descriptors,omitempty"`
	// Connected reports whether the flow was opened before the start, Alive whether it was still
	// open at the end.
	Connected bool `json:"connected"`
	Alive     bool `json:"alive"`
	// CongestionControl is as the kernel reports it.
	CongestionControl string `json:"congestion_control,omitempty"`
	// SendMode and ReceiveMode say how the two ends moved the bytes at the end of the window, as
	// one of the Modes. CallBytes is the most that the sender passed in one system call;
	// WrittenBytes may lag by that much. ModeNote is a remark on the mode by either end.
	SendMode    string `json:"send_mode,omitempty"`
	ReceiveMode string `json:"receive_mode,omitempty"`
	CallBytes   int64  `json:"call_bytes,omitempty"`
	ModeNote    string `json:"mode_note,omitempty"`
	// SenderInfo and ReceiverInfo are TCP_INFO at the end of the window.
	SenderInfo   *TCPInfo `json:"sender_info,omitempty"`
	ReceiverInfo *TCPInfo `json:"receiver_info,omitempty"`
	// Datagrams has the counters of a udp flow in the common window. Those of sent datagrams are
	// the sender's, the others the receiver's.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	// Transactions has the counts of a flow's requests in the common window, and TransactionsPerS
	// the number completed per second.
	Transactions     *Transactions `json:"transactions,omitempty"`
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	// Bins are received bytes per sampling interval inside the window.
	Bins []int64 `json:"bins,omitempty"`
}

// ResentBytes returns RetransBytes without RefusedBytes: an upper bound of the retransmitted bytes
// that left the host.
func (f Flow) ResentBytes() int64 { return f.RetransBytes - f.RefusedBytes }

// CapBps returns the lowest of RateCapBps, WriteCapBps and ReadCapBps that is set. 0: none is.
func (f Flow) CapBps() float64 { return unit.LeastSet(f.RateCapBps, f.WriteCapBps, f.ReadCapBps) }

// HostReading is what the agent of one host or switch read in one trial.
type HostReading struct {
	Host string `json:"host"`
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
	Softirqs map[string]uint64 `json:"softirqs,omitempty"`
	// Events are the interrupts and softirqs of each CPU.
	Events []CPUEvents `json:"events,omitempty"`
	// Memory is that of the machine.
	Memory *MemoryLoad `json:"memory,omitempty"`
	// SNMP has /proc/net/snmp, /proc/net/netstat and /proc/net/snmp6 with names such as
	// "Tcp.RetransSegs" and "TcpExt.IPReversePathFilter". Absent: 0.
	SNMP map[string]int64 `json:"snmp,omitempty"`
	// Missing lists the parts that could not be read, each with the reason.
	Missing []string `json:"missing,omitempty"`
}

// InterfaceCounters are IFLA_STATS64 of one interface.
type InterfaceCounters struct {
	Interface string `json:"interface"`
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
	RxCRC       uint64 `json:"rx_crc_errors,omitempty"`
	RxLength    uint64 `json:"rx_length_errors,omitempty"`
	TxCarrier   uint64 `json:"tx_carrier_errors,omitempty"`
	Collisions  uint64 `json:"collisions,omitempty"`
	RxNoHandler uint64 `json:"rx_nohandler,omitempty"`
	// AtNs is when this interface was read, on the conductor's clock.
	AtNs int64 `json:"at_ns"`
}

// QdiscCounters are TCA_STATS2 of one queueing discipline.
type QdiscCounters struct {
	Interface  string `json:"interface"`
	Kind       string `json:"kind"`
	Handle     string `json:"handle"`
	Parent     string `json:"parent,omitempty"` // root, ingress, or the class of another qdisc, 7:1; empty: not read
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
	IRQs   map[string]uint64 `json:"irqs,omitempty"`
	// Flows has the bytes received so far by this host's flows, by flow ID, and, if this host
	// sends, the sender's smoothed RTT and window.
	Flows []FlowSample `json:"flows,omitempty"`
}

// FlowSample is a light reading of one flow at one end.
type FlowSample struct {
	ID            string `json:"id"`
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

// Clock is the estimated offset of a host's clock from that of the conductor.
type Clock struct {
	Host          string `json:"host"`
	OffsetNs      int64  `json:"offset_ns"` // host's clock − conductor's
	UncertaintyNs int64  `json:"uncertainty_ns"`
}

// Applied is a setting that was made, with its value before and after.
type Applied struct {
	Host string `json:"host"`
	Kind string `json:"kind"`
	// Scope is namespace or machine.
	Scope string `json:"scope"`
	// What names what was set: "net.ipv4.conf.all.arp_ignore".
	What  string `json:"what"`
	Prior string `json:"prior"` // "absent" if there was none
	New   string `json:"new"`
}
