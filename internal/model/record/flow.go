package record

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

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
	// Doubt names the check (package trust) that failed, such as foreign-traffic, so that the pair of a
	// mesh is not judged by this round. Empty: none failed, or the run is no mesh.
	Doubt string `json:"doubt,omitempty"`
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
	SenderInfo   *netstate.TCPInfo `json:"sender_info,omitempty"`
	ReceiverInfo *netstate.TCPInfo `json:"receiver_info,omitempty"`
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

// SourceAddr and DestinationAddr return the addresses of the flow without the ports. They are
// invalid if the record has none, as for a flow that never connected.
func (f Flow) SourceAddr() netip.Addr      { return addrOf(f.Source) }
func (f Flow) DestinationAddr() netip.Addr { return addrOf(f.Destination) }

func addrOf(text string) netip.Addr {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap()
	}
	alone, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return alone.Unmap()
}

// Ends returns the interfaces of Path.
func (f Flow) Ends() (ends []topology.End) {
	for _, text := range f.Path {
		node, name, _ := strings.Cut(text, ".")
		ends = append(ends, topology.End{Node: node, Interface: name})
	}
	return ends
}

// Placed reports whether the flow had several paths and Path is the one that it used.
func (f Flow) Placed() bool {
	return f.Paths > 1 && (len(f.Observed) > 0 || len(f.Predicted) > 0 && f.PredictedNote == "")
}

// AsPredicted reports whether the flow arrived on the interfaces that the kernels' route lookups
// predicted. Known is false if there is no prediction or no host saw the flow.
func (f Flow) AsPredicted() (same, known bool) {
	if len(f.Predicted) == 0 || f.PredictedNote != "" || len(f.Observed) == 0 {
		return false, false
	}
	for _, end := range f.Observed {
		if !slices.Contains(f.Predicted, end) {
			return false, true
		}
	}
	return true, true
}
