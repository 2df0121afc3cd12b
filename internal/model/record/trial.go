package record

import (
	"time"

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
	// ElapsedS is how long the run had taken when the trial was made, without
	// the time in which it was interrupted.
	ElapsedS float64 `json:"elapsed_s,omitempty"`
	// WindowS is the length of the common window.
	WindowS float64 `json:"window_s"`
	// WarmupS is how long the flows of a measurement ran before it.
	WarmupS float64 `json:"warmup_s,omitempty"`
	// PlannedS is how long it was to be, where it ended early; 0: it did not.
	PlannedS float64 `json:"planned_s,omitempty"`
	// Ended is why it ended early, where that was no interruption: that the connection to the
	// server of a measurement was lost. All is then of the other host.
	Ended string `json:"ended,omitempty"`
	// GoodputBps is the sum over all bulk flows (tcp, udp) of what the receivers
	// read in the common window.
	GoodputBps float64 `json:"goodput_bps"`
	LimitBps   float64 `json:"limit_bps"`
	// PlacementLimitBps is the most that the flows can carry on the paths that they
	// took, where there were several: flows that share a link leave another idle.
	PlacementLimitBps float64 `json:"placement_limit_bps,omitempty"`
	// Limit is what LimitBps is made of. LimitWhy says it in a line, in documents and in records of
	// older versions.
	Limit    Limit  `json:"limit,omitzero"`
	LimitWhy string `json:"limit_why,omitempty"`
	// Chance is what chance can make of GoodputBps; nil: nothing that theory knows.
	Chance *Chance `json:"chance,omitempty"`
	// TransactionsPerS is that of all flows of requests together, Latency that of
	// all their transactions; Datagrams is what became of all udp flows' (counts
	// alone). GoodputBps has no part of them.
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	Latency          *Distribution `json:"latency_us,omitempty"`
	Datagrams        *Datagrams    `json:"datagrams,omitempty"`
	// Bufferbloat is what a probe of latency saw without the other flows and beside them; its
	// own flow is among the Flows. nil: there was none.
	Bufferbloat *Latency `json:"bufferbloat,omitempty"`
	// LossFree is the highest rate of datagrams without loss, where the trial was a
	// search: all else is then of the last window in which the rate was confirmed.
	LossFree *LossFree `json:"loss_free,omitempty"`
	// FindMax is the highest rate of requests that meets an objective, where a measurement was a
	// search for that.
	FindMax *FindMax `json:"find_max,omitempty"`
	// SenderReportedBps is the sum of the flows' own averages at the sender
	// (bytes written over the flow's own time): what a tool that counts there
	// would print.
	SenderReportedBps float64 `json:"sender_reported_bps"`
	// ToolReported is what another program says of the flows that it made, beside
	// what they carried; Tools are its processes.
	ToolReported *ToolReported `json:"tool_reported,omitempty"`
	Tools        []ToolRun     `json:"tools,omitempty"`

	// Parts are what went between the hosts of a measurement, each way by itself, in the order
	// of its directions. None: the trial is of a study.
	Parts []Part `json:"parts,omitempty"`
	// Mode is how a measurement's bytes were to be moved, one of the Modes; each flow says how it did.
	Mode string `json:"mode,omitempty"`
	// Peer is the program at the other end where that is not linerate; nil: it is.
	Peer *Peer `json:"peer,omitempty"`

	Flows  []Flow        `json:"flows"`
	Hosts  []HostReading `json:"hosts"`
	Clocks []Clock       `json:"clocks"`
	// Switches are those whose ports are read by SNMP.
	Switches []SwitchReading `json:"switches,omitempty"`
	// Settings are the changes that were made for this trial, as applied.
	Settings []Applied `json:"settings,omitempty"`
	// Repeated is how many trials were made in this one's place before and not kept,
	// since a hypervisor took too much of the processors' time in them.
	Repeated int `json:"repeated,omitempty"`
	// ConvergedS is how long it took before the trial until the routes were there
	// again that an earlier one had taken away; 0: they were there.
	ConvergedS float64 `json:"converged_s,omitempty"`
	// Opening is how the connections were opened before the window; nil: not known.
	Opening *Opening `json:"opening,omitempty"`
	// Events are what happened during the window because the study says so.
	Events []Event `json:"events,omitempty"`
	// Attacks are what hosts did to others because the study says so.
	Attacks []Attack `json:"attacks,omitempty"`
	// Faults are what happened meanwhile and the study does not say: interfaces of the
	// topology that lost their carrier, between BeganS and EndedS.
	Faults []Event `json:"faults,omitempty"`
	// Unreachable says that the treatment allows flows that cannot connect.
	Unreachable bool `json:"unreachable,omitempty"`
	// AccountSender marks a trial whose sender-side figure is offered as a
	// result, so that trust holds it against the limit.
	AccountSender bool `json:"account_sender,omitempty"`
	// Topology is the run's with what the treatment changes in it; absent when
	// it changes nothing. See Over.
	Topology *topology.Topology `json:"topology,omitempty"`
}

// Flow is one stream of a trial in one direction; a transactional flow has all its
// connections in one. From sends, To receives: a read has the server as From.
type Flow struct {
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
	// Protocol is one of the Protocols; empty: tcp.
	Protocol    string `json:"protocol,omitempty"`
	Source      string `json:"source"`      // the sender's address and port
	Destination string `json:"destination"` // the receiver's address and port
	// Probe: the flow is a measurement's probe of latency, beside those that are measured.
	Probe bool `json:"probe,omitempty"`
	// Process is the ToolRun that made the flow; empty: linerate did. Its bytes are
	// then as the kernel counts them at the two sockets.
	Process string `json:"process,omitempty"`
	// CountedAt is how ReceivedBytes were counted where only one end is known: interfaces
	// (the flow's equal part of what the receiving host's interfaces received beyond
	// linerate's own flows), or with a peer that is no agent one of received, acknowledged
	// and by the peer; empty: by the receiver's socket.
	CountedAt string `json:"counted_at,omitempty"`
	// SourcePorts is how the port was chosen that the flow was opened from
	// (the workload's source_ports); empty: by connect(2).
	SourcePorts string `json:"source_ports,omitempty"`
	// OpenedBy is the host that opened the connection.
	OpenedBy      string `json:"opened_by"`
	ReceivedBytes int64  `json:"received_bytes"` // read by the receiver in the common window
	// ArrivedBytes reached the receiver's kernel in the common window (TCP_INFO
	// bytes_received); a slow reader has read less. 0: not known.
	ArrivedBytes int64 `json:"arrived_bytes,omitempty"`
	// OutOfOrderBytes had arrived behind a gap when the window began, as the sender
	// knows from SACK (RFC 2018): they count for the receiver when the gap is filled.
	OutOfOrderBytes int64 `json:"out_of_order_bytes,omitempty"`
	// HeldBytes is the larger of the receiver's memory for what had arrived and was not read at
	// the window's edges (SO_MEMINFO): no more can have been behind a gap. Recorded where the
	// sender is not linerate's, so that OutOfOrderBytes is not known, and, as the sender knows it,
	// of a program's connections that are counted together.
	HeldBytes    int64   `json:"held_bytes,omitempty"`
	WrittenBytes int64   `json:"written_bytes"` // written by the sender in the common window
	AckedBytes   int64   `json:"acked_bytes"`   // TCP_INFO bytes_acked, in the common window
	UnsentBytes  int64   `json:"unsent_bytes"`  // not acknowledged at the window's end, sent or not (SIOCOUTQ)
	GoodputBps   float64 `json:"goodput_bps"`
	// SenderAverageBps is written bytes over the flow's own time.
	SenderAverageBps float64 `json:"sender_average_bps"`
	// RetransBytes were sent again, in the common window. TCP counts them before the
	// host's own queue takes them: RefusedBytes of them at least never left the host.
	RetransBytes int64 `json:"retrans_bytes"`
	RefusedBytes int64 `json:"retrans_refused_bytes,omitempty"`
	// RetransSegments is the same in segments (TCP_INFO total_retrans).
	RetransSegments int64 `json:"retrans_segments,omitempty"`
	// SentBytes is TCP payload sent in the common window, retransmissions included
	// (TCP_INFO bytes_sent), and with what the host's own queue refused, once for each time
	// it did; 0: not known, as before Linux 4.19.
	SentBytes int64 `json:"sent_bytes,omitempty"`
	// BusyS is how much of the common window the sender had something to send or
	// unacknowledged; of that, RwndLimitedS it waited for the receiver's window
	// and SndbufLimitedS for room in its send buffer (TCP_INFO).
	BusyS          float64 `json:"busy_s,omitempty"`
	RwndLimitedS   float64 `json:"rwnd_limited_s,omitempty"`
	SndbufLimitedS float64 `json:"sndbuf_limited_s,omitempty"`
	// UnreadBytes had arrived and waited for the receiver to read them: the mean
	// over all readings of the window.
	UnreadBytes int64 `json:"unread_bytes,omitempty"`
	// DryShare is the share of the sender's readings in the window at which all
	// that it had written was sent, although both windows had room for more;
	// SndbufFullShare the share at which, besides, the socket buffer had no room.
	DryShare        float64 `json:"dry_share,omitempty"`
	SndbufFullShare float64 `json:"sndbuf_full_share,omitempty"`
	// RwndFullShare is the share of those readings at which what was in flight left room for one
	// segment at most in the receiver's window, and the congestion window had room for more: the
	// time that RwndLimitedS counts ends with each acknowledgement that lets a segment go.
	RwndFullShare float64 `json:"rwnd_full_share,omitempty"`
	// ClosingShare is the share of those readings at which the receiver's window was zero, or less
	// than half of what it had been before: data that no program had read took its buffer.
	ClosingShare float64 `json:"closing_share,omitempty"`
	// SndbufBytes is the sender's socket buffer at the window's end, RcvbufBytes
	// the receiver's, as the kernel counts them (FlowEnd).
	SndbufBytes int64 `json:"sndbuf_bytes,omitempty"`
	RcvbufBytes int64 `json:"rcvbuf_bytes,omitempty"`
	// PacePerS is how many transactions were due per second; 0: as many as were answered.
	PacePerS float64 `json:"pace_per_s,omitempty"`
	// RateCapBps is the connection's pacing, WriteCapBps the most that its sender
	// was to write, ReadCapBps that its receiver was to read; 0: none.
	RateCapBps  float64 `json:"rate_cap_bps,omitempty"`
	WriteCapBps float64 `json:"write_cap_bps,omitempty"`
	ReadCapBps  float64 `json:"read_cap_bps,omitempty"`
	// Path is the path the flow is meant to take, "host.interface" each. Where there are
	// several, which Paths counts, it is the one that was seen, or else predicted.
	Path  []string `json:"path"`
	Paths int      `json:"paths,omitempty"`
	// Predicted is the path that the flow takes according to the kernels' route lookups
	// before the window. It ends where PredictedNote says why.
	Predicted     []string `json:"predicted,omitempty"`
	PredictedNote string   `json:"predicted_note,omitempty"`
	// Observed are the interfaces by which its packets came in until the window's end, or
	// until something happened in it, in the order of the path.
	Observed []string `json:"observed,omitempty"`
	// Outages are what the trial's events did to the flow, an entry for each instant.
	Outages []Outage `json:"outages,omitempty"`
	// LimitBps is the most that the flow alone can carry on its path; 0: unknown.
	LimitBps float64 `json:"limit_bps,omitempty"`
	// LimitedBy names what held the flow back (package bottleneck has the names);
	// empty when not attributed. LimitedWhy says what shows it, with figures.
	LimitedBy  string `json:"limited_by"`
	LimitedWhy string `json:"limited_why,omitempty"`
	// Expected is what the flow should get by its path and its windows; nil where
	// the path has no delay.
	Expected *Prediction `json:"expected,omitempty"`
	// Error says why the flow did not connect or did not last; empty otherwise.
	Error string `json:"error,omitempty"`
	// Exhausted is why, where its opener had no port left for it.
	Exhausted *PortsExhausted `json:"exhausted,omitempty"`
	// NoDescriptors is why, where its opener had no descriptor left for it.
	NoDescriptors *DescriptorsExhausted `json:"no_descriptors,omitempty"`
	// Connected and Alive: opened before the start; still open at the end.
	Connected bool `json:"connected"`
	Alive     bool `json:"alive"`
	// CongestionControl as the kernel reports it.
	CongestionControl string `json:"congestion_control,omitempty"`
	// SendMode and ReceiveMode are how the two ends moved the bytes at the window's
	// end (Modes); CallBytes is the most that the sender handed over in one system
	// call, by which WrittenBytes may lag; ModeNote is what either has to say.
	SendMode    string `json:"send_mode,omitempty"`
	ReceiveMode string `json:"receive_mode,omitempty"`
	CallBytes   int64  `json:"call_bytes,omitempty"`
	ModeNote    string `json:"mode_note,omitempty"`
	// SenderInfo and ReceiverInfo are TCP_INFO at the window's end.
	SenderInfo   *TCPInfo `json:"sender_info,omitempty"`
	ReceiverInfo *TCPInfo `json:"receiver_info,omitempty"`
	// Datagrams is what became of a udp flow's, in the common window: sent as the
	// sender counts, the rest as the receiver does.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	// Transactions is what became of a flow's requests, in the common window,
	// and TransactionsPerS how many were done in a second.
	Transactions     *Transactions `json:"transactions,omitempty"`
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	// Bins are received bytes per sampling interval inside the window.
	Bins []int64 `json:"bins,omitempty"`
}

// ResentBytes were sent again, at most: without those that its host refused to send.
func (f Flow) ResentBytes() int64 { return f.RetransBytes - f.RefusedBytes }

// CapBps is the least of the flow's own caps; 0: it has none.
func (f Flow) CapBps() float64 { return unit.LeastSet(f.RateCapBps, f.WriteCapBps, f.ReadCapBps) }

// HostReading is what one host's (or switch's) agent read in one trial.
type HostReading struct {
	Host string `json:"host"`
	// Begin and End are the readings at the two edges of the window, on the
	// host's own clock moved to the conductor's.
	Begin Reading `json:"begin"`
	End   Reading `json:"end"`
	// Series are light samples inside the window.
	Series []Sample `json:"series,omitempty"`
	// Snapshot is the host's network state at the window's end; Before is the
	// part that changes by itself (neighbours, FDB) at its beginning.
	Snapshot Snapshot `json:"snapshot"`
	Before   Tables   `json:"before"`
	// Arrivals are the interfaces by which flows came in that were to be watched.
	Arrivals []Arrival `json:"arrivals,omitempty"`
	// Gaps are of the same flows, where something was to happen in the window, and
	// ArrivalsMissed packets that were not noted.
	Gaps           []Gap `json:"gaps,omitempty"`
	ArrivalsMissed int64 `json:"arrivals_missed,omitempty"`
	// CarrierLosses are in the order of time.
	CarrierLosses []CarrierLoss `json:"carrier_losses,omitempty"`
	// Log is what the machine's kernel wrote about the network in the window; nil: it was not
	// to be read here.
	Log *KernelLog `json:"kernel_log,omitempty"`
	// CPUBusy is the share of all CPUs that was busy in the window, 0…1, and
	// GeneratorCPU the share of one CPU that the busiest traffic thread took.
	CPUBusy      float64 `json:"cpu_busy"`
	GeneratorCPU float64 `json:"generator_cpu"`
	// AllowedCPUs are those on which linerate may run (sched_setaffinity(2), cpuset(7)); nil:
	// all, or not known. Nice is its nice value (sched(7)).
	AllowedCPUs []int `json:"allowed_cpus,omitempty"`
	Nice        int   `json:"nice,omitempty"`
	// ProcessCPUS is the processor time that the agent's process used in the
	// window, user and system, in seconds.
	ProcessCPUS float64 `json:"process_cpu_s,omitempty"`
	// ConnectionBytes is that process's memory for each connection that was open at the window's
	// end, where there were transactions.
	ConnectionBytes int64 `json:"connection_bytes,omitempty"`
	// Others is what the same agent's process did for other clients meanwhile.
	Others *OtherFlows `json:"others,omitempty"`
}

// OtherFlows are flows of other trials that the same process carried during a
// window: they share its ports and its processors, and are known.
type OtherFlows struct {
	Clients       int   `json:"clients"`
	Flows         int   `json:"flows"`
	ReceivedBytes int64 `json:"received_bytes"`
	WrittenBytes  int64 `json:"written_bytes"`
}

// Reading is every counter of a host at one instant. Counters are since boot;
// consumers take differences.
type Reading struct {
	// BeganNs and EndedNs bound when it was read, nanoseconds on the
	// conductor's monotonic clock; ScheduledNs is when it was to be read.
	ScheduledNs int64 `json:"scheduled_ns"`
	BeganNs     int64 `json:"began_ns"`
	EndedNs     int64 `json:"ended_ns"`

	Interfaces []InterfaceCounters `json:"interfaces"`
	Qdiscs     []QdiscCounters     `json:"qdiscs,omitempty"`
	CPU        []CPUTimes          `json:"cpu,omitempty"`
	Softnet    []SoftnetCounters   `json:"softnet,omitempty"`
	// Softirqs are counts by kind, summed over CPUs: NET_RX, NET_TX, …
	Softirqs map[string]uint64 `json:"softirqs,omitempty"`
	// Events are what each CPU was interrupted for.
	Events []CPUEvents `json:"events,omitempty"`
	// Memory is the machine's.
	Memory *MemoryLoad `json:"memory,omitempty"`
	// SNMP holds /proc/net/snmp, /proc/net/netstat and /proc/net/snmp6 as "Tcp.RetransSegs",
	// "TcpExt.IPReversePathFilter"; what is not there is 0.
	SNMP map[string]int64 `json:"snmp,omitempty"`
	// Missing are the parts that could not be read, each with the reason.
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
	// RxMissed are packets that the NIC dropped because the host had no buffer for
	// them, as when its receive ring was full; not among RxDropped. Software devices
	// have none.
	RxMissed uint64 `json:"rx_missed_errors"`
	// RxOtherhost are frames for another MAC address (kernel 5.19 and later).
	RxOtherhost uint64 `json:"rx_otherhost_dropped"`
	// RxCRC, RxLength and TxCarrier are parts of RxErrors and TxErrors (linux/if_link.h):
	// damaged frames, frames too long for the interface, and lost carriers. RxNoHandler are
	// packets on an inactive device, such as a bond's standby member.
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
	Parent     string `json:"parent,omitempty"` // root, ingress, or the class of another one, 7:1; "": not read
	Bytes      uint64 `json:"bytes"`
	Packets    uint64 `json:"packets"`
	Drops      uint64 `json:"drops"`
	Overlimits uint64 `json:"overlimits"`
	Backlog    uint64 `json:"backlog_bytes"`
	Qlen       uint64 `json:"qlen_packets"`
	Requeues   uint64 `json:"requeues"`
}

// Queues reports whether the qdisc holds packets back. ingress and clsact do not: they have
// filters, and count as drops what these drop (net/sched/sch_ingress.c).
func (q QdiscCounters) Queues() bool { return q.Kind != "ingress" && q.Kind != "clsact" }

// CPUTimes is one line of /proc/stat in seconds; CPU -1 is the sum.
type CPUTimes struct {
	CPU     int     `json:"cpu"`
	User    float64 `json:"user_s"`           // with Nice
	Nice    float64 `json:"nice_s,omitempty"` // of programs with a nice value above 0
	System  float64 `json:"system_s"`
	Idle    float64 `json:"idle_s"` // with iowait
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
	AtNs int64 `json:"at_ns"` // on the conductor's clock, as it began
	// BeganNs and EndedNs bound when it was read.
	BeganNs    int64               `json:"began_ns"`
	EndedNs    int64               `json:"ended_ns"`
	Interfaces []InterfaceCounters `json:"interfaces"`
	Qdiscs     []QdiscCounters     `json:"qdiscs,omitempty"`
	// CPU, Events and IRQs are what the machine does, of some of the samples: each CPU's times,
	// its interrupts and its softirqs NET_RX and NET_TX, and interrupts of NICs by number and
	// name ("41 eth0-rx-0"), as in Reading. Of more than 64 CPUs there is only the sum.
	CPU    []CPUTimes        `json:"cpu,omitempty"`
	Events []CPUEvents       `json:"events,omitempty"`
	IRQs   map[string]uint64 `json:"irqs,omitempty"`
	// Flows are bytes received so far by this host's flows, by flow ID, and
	// the sender's smoothed RTT and window where this host sends.
	Flows []FlowSample `json:"flows,omitempty"`
}

// FlowSample is a light reading of one flow at one end.
type FlowSample struct {
	ID            string `json:"id"`
	ReceivedBytes int64  `json:"received_bytes,omitempty"`
	// AckedBytes were acknowledged so far, where this host sends; UnreadBytes wait
	// to be read, where it receives.
	AckedBytes  int64  `json:"acked_bytes,omitempty"`
	UnreadBytes int64  `json:"unread_bytes,omitempty"`
	RTTUs       uint32 `json:"rtt_us,omitempty"`
	SndCwnd     uint32 `json:"snd_cwnd,omitempty"`
	// Unacked segments are in flight, and NotsentBytes wait to be sent. SndWnd is the window
	// that the peer advertises; 0: it is closed, or not known (before Linux 5.4).
	Unacked      uint32 `json:"unacked,omitempty"`
	NotsentBytes uint32 `json:"notsent_bytes,omitempty"`
	SndWnd       uint32 `json:"snd_wnd_bytes,omitempty"`
	// Datagrams have been received so far and Lost are missing, at the receiver of
	// a udp flow; Done is transactions, at the end of a flow that asks.
	Datagrams int64 `json:"datagrams,omitempty"`
	Lost      int64 `json:"lost,omitempty"`
	Done      int64 `json:"done,omitempty"`
}

// Clock is the estimated offset of a host's clock from the conductor's.
type Clock struct {
	Host          string `json:"host"`
	OffsetNs      int64  `json:"offset_ns"` // host's clock − conductor's
	UncertaintyNs int64  `json:"uncertainty_ns"`
}

// Applied is a setting that was made: what it was before and what it became.
type Applied struct {
	Host string `json:"host"`
	Kind string `json:"kind"`
	// Scope is namespace or machine.
	Scope string `json:"scope"`
	// What names the object: "net.ipv4.conf.all.arp_ignore".
	What  string `json:"what"`
	Prior string `json:"prior"` // "absent" when there was none
	New   string `json:"new"`
}
