package record

import (
	"net/netip"
	"slices"
	"time"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// The messages between a conductor and its agents. Each verb is one request and
// one reply on the bus; instants are nanoseconds on the agent's own monotonic
// clock unless said otherwise.

// Hello is what an agent says when it comes up.
type Hello struct {
	Node        string              `json:"node"`
	Version     string              `json:"version"`
	Environment HostEnvironment     `json:"environment"`
	Interfaces  []InterfaceSnapshot `json:"interfaces"`
	// Bounds are what the host grants to whoever it serves; nil: anything.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// Bounds are the most that a client of a serving host may ask for.
type Bounds struct {
	Flows     int     `json:"flows"`
	DurationS float64 `json:"duration_s"` // of a trial, warm-up included
	// RateBps is for all flows of one client together, each direction; 0: any.
	RateBps float64 `json:"rate_bps,omitempty"`
	// Connections is for all rr, udp-rr and crr flows of one client together; where it is
	// less than Flows, that counts.
	Connections int `json:"connections,omitempty"`
}

// Stay is how long a client is served altogether: setting up and taking down may add
// to its longest trial.
func (b Bounds) Stay() time.Duration {
	return time.Duration(b.DurationS*float64(time.Second)) + time.Minute
}

// Protocols of a flow.
const (
	ProtocolTCP   = "tcp"    // bulk data one way over one connection
	ProtocolUDP   = "udp"    // a stream of datagrams one way
	ProtocolRR    = "rr"     // transactions: a request and its response, over TCP connections that stay
	ProtocolUDPRR = "udp-rr" // transactions of one datagram each way
	ProtocolCRR   = "crr"    // transactions with a connection each: connect, request, response
)

// Protocols is every protocol that may be ordered.
var Protocols = []string{ProtocolTCP, ProtocolUDP, ProtocolRR, ProtocolUDPRR, ProtocolCRR}

// Transactional are those of requests and responses.
var Transactional = []string{ProtocolRR, ProtocolUDPRR, ProtocolCRR}

// MaxDatagramBytes is the most that one datagram can carry over IPv4, as UDP payload.
const MaxDatagramBytes = 65535 - 20 - 8

// Bulk says of a flow's protocol that it is judged by the data it carries;
// transactions are judged by how many there are and how long they take.
func Bulk(protocol string) bool { return !slices.Contains(Transactional, protocol) }

// FlowRequest tells one end of a flow what to do. A flow carries data one way: over
// one TCP connection, as datagrams between two UDP sockets, or as transactions,
// whose opener asks and whose acceptor responds.
type FlowRequest struct {
	ID string `json:"id"`
	// Protocol is one of the Protocols; empty: tcp.
	Protocol string `json:"protocol,omitempty"`
	// Sends: this end writes data; otherwise it reads.
	Sends bool `json:"sends"`
	// Local is the address to listen on, or to connect from (invalid: any).
	Local netip.Addr `json:"local,omitzero"`
	// BindNoPort false: bind(2) takes a port of Local for itself at once,
	// as programs have it that do not ask for better; nil, true: connect(2) chooses
	// one that is free between the two ends (IP_BIND_ADDRESS_NO_PORT, ip(7)).
	BindNoPort *bool `json:"bind_no_port,omitempty"`
	// LocalPort is the port to connect from; 0: the kernel's choice.
	LocalPort uint16 `json:"local_port,omitempty"`
	// Remote is where to connect to; only for the end that opens.
	Remote netip.AddrPort `json:"remote,omitzero"`
	// Ports are ports of Remote that the connections take in turn instead
	// of its own: a flow with very many is accepted at several.
	Ports []uint16 `json:"ports,omitempty"`
	// Cookie says that the connection goes to a port that flows share:
	// the opener shows it there, and the acceptor opens no socket of its own.
	Cookie Cookie `json:"cookie,omitzero"`

	MSS               int        `json:"mss,omitempty"`
	NoDelay           *bool      `json:"nodelay,omitempty"`
	CongestionControl string     `json:"congestion_control,omitempty"`
	Window            unit.Bytes `json:"window,omitempty"`
	// SendBuffer is the sender's SO_SNDBUF, ReceiveBuffer the receiver's
	// SO_RCVBUF, each instead of Window, which is all four.
	SendBuffer    unit.Bytes   `json:"send_buffer,omitempty"`
	ReceiveBuffer unit.Bytes   `json:"receive_buffer,omitempty"`
	RateCap       unit.BitRate `json:"rate_cap,omitempty"`
	// Mode is how bytes are moved, one of the Modes; empty: plain writes, and
	// nothing copied on receiving.
	Mode string `json:"mode,omitempty"`

	// DatagramBytes is the UDP payload of each datagram.
	DatagramBytes int `json:"datagram_bytes,omitempty"`
	// WriteCap is the most that a TCP sender's program writes in a second, and
	// ReadCap the most that a receiver's reads; 0: as much as it can.
	WriteCap unit.BitRate `json:"write_cap,omitempty"`
	ReadCap  unit.BitRate `json:"read_cap,omitempty"`

	// RequestBytes and ResponseBytes are a transaction's payload each way.
	RequestBytes  int `json:"request_bytes,omitempty"`
	ResponseBytes int `json:"response_bytes,omitempty"`
	// Connections is how many the flow has open (rr, and of udp-rr pairs of connected
	// sockets) or in the making (crr), each with one transaction at a time. All may show
	// the flow's ticket.
	Connections int `json:"connections,omitempty"`
	// Pace is how many transactions the whole flow begins in a second; 0: the next
	// begins when one is over.
	Pace float64 `json:"pace_per_s,omitempty"`
	// Poll has both ends ask the sockets over and over instead of sleeping.
	Poll bool `json:"poll,omitempty"`
	// Follow has a thread of either end run on the CPU at which its packets come in. It
	// has one connection (crr: one at a time), and sleeps.
	Follow bool `json:"follow,omitempty"`
	// Threads is how many threads each end uses; 0: one.
	Threads int `json:"threads,omitempty"`

	// Tool has another program make the flow; nil: linerate does.
	Tool *ToolRequest `json:"tool,omitempty"`
}

// Buffers are the socket buffers that this end is to have; 0: the kernel's own.
func (o FlowRequest) Buffers() (send, receive unit.Bytes) {
	send, receive = o.Window, o.Window
	if o.Sends && o.SendBuffer != 0 {
		send = o.SendBuffer
	}
	if !o.Sends && o.ReceiveBuffer != 0 {
		receive = o.ReceiveBuffer
	}
	return send, receive
}

// Modes of moving a flow's bytes. They are ways of sending, except that
// ModeCopy is also one of receiving: in all others the receiver's kernel throws
// the data away (ModeTruncate, where the system can).
const (
	ModeAuto     = "auto"     // the cheapest way of sending, found out by trying
	ModeCopy     = "copy"     // what an ordinary program does: writes and reads of 128 KiB
	ModeWrite    = "write"    // writes of the cheapest size, found out by trying
	ModeSplice   = "splice"   // pages by way of a pipe, not copied
	ModeZeroCopy = "zerocopy" // MSG_ZEROCOPY
	ModeSendfile = "sendfile" // from a file in memory, not copied
	ModeTruncate = "truncate" // only reported: received with MSG_TRUNC
)

// Modes of moving a udp flow's datagrams. The first three are ways of sending, the
// others of receiving.
const (
	ModeGSO      = "gso"      // many datagrams as one, which the kernel cuts (UDP_SEGMENT)
	ModeSendmmsg = "sendmmsg" // several in one system call
	ModeSendto   = "sendto"   // one in each
	ModeGRO      = "gro"      // many as one, which the kernel has put together (UDP_GRO)
	ModeRecvmmsg = "recvmmsg" // several in one system call
	ModeRecv     = "recv"     // one in each
)

// DatagramModes is every mode that may be ordered of a udp flow. The receiver's is
// the one that goes with the sender's; ModeCopy is one datagram at a time.
var DatagramModes = []string{ModeAuto, ModeGSO, ModeSendmmsg, ModeCopy}

// Modes is every mode that may be ordered of a tcp flow.
var Modes = []string{ModeAuto, ModeCopy, ModeWrite, ModeSplice, ModeZeroCopy, ModeSendfile}

// Listening answers an order to accept. Local is invalid where the acceptor
// knows the flow by its ticket.
type Listening struct {
	ID    string         `json:"id"`
	Local netip.AddrPort `json:"local,omitzero"`
	// Ports are all ports of the flow's own where it has several, with a
	// ticket or without.
	Ports []uint16 `json:"ports,omitempty"`
	Error string   `json:"error,omitempty"`
}

// Opened answers an order to connect.
type Opened struct {
	ID     string         `json:"id"`
	Local  netip.AddrPort `json:"local,omitzero"`
	Remote netip.AddrPort `json:"remote,omitzero"`
	Error  string         `json:"error,omitempty"`
	// Exhausted is why, where no port was left.
	Exhausted *PortsExhausted `json:"exhausted,omitempty"`
}

// FlowEnd is everything one end knows of a flow at one instant. Byte counts are
// since the connection opened.
type FlowEnd struct {
	ID    string `json:"id"`
	Sends bool   `json:"sends"`
	AtNs  int64  `json:"at_ns"`
	// ReceivedBytes were read by this end; WrittenBytes accepted by its writes.
	ReceivedBytes int64 `json:"received_bytes"`
	WrittenBytes  int64 `json:"written_bytes"`
	// UnsentBytes are in the send buffer and not yet acknowledged (SIOCOUTQ).
	UnsentBytes int64 `json:"unsent_bytes"`
	// UnreadBytes have arrived, are acknowledged and wait for this end to read
	// them (SIOCINQ).
	UnreadBytes int64 `json:"unread_bytes,omitempty"`
	// FirstNs and LastNs are when the first and the latest write or read
	// returned; 0: none yet.
	FirstNs int64 `json:"first_ns"`
	LastNs  int64 `json:"last_ns"`
	// Alive: connected, and not broken off. The end of the stream at the agreed
	// stop breaks nothing off.
	Alive bool `json:"alive"`
	// Local is this end's address; CongestionControl as the kernel reports it.
	Local netip.AddrPort `json:"local,omitzero"`
	// Remote is the other end's, where another program has opened the connection.
	Remote            netip.AddrPort `json:"remote,omitzero"`
	CongestionControl string         `json:"congestion_control,omitempty"`
	// SndbufBytes and RcvbufBytes are the socket buffers as the kernel counts them
	// and has tuned them so far: those that were ordered are twice what it granted
	// (socket(7)).
	SndbufBytes int64 `json:"sndbuf_bytes,omitempty"`
	RcvbufBytes int64 `json:"rcvbuf_bytes,omitempty"`
	// Mode is how this end moves bytes now, with CallBytes at most in one system
	// call. ModeNote says what was found out in choosing it, and what was refused.
	Mode      string   `json:"mode,omitempty"`
	CallBytes int64    `json:"call_bytes,omitempty"`
	ModeNote  string   `json:"mode_note,omitempty"`
	Info      *TCPInfo `json:"info,omitempty"`
	// Datagrams is for udp, Transactions for both ends of transactional protocols.
	Datagrams    *Datagrams    `json:"datagrams,omitempty"`
	Transactions *Transactions `json:"transactions,omitempty"`
	Error        string        `json:"error,omitempty"`
}

// ApplyRequest asks for settings to be applied, in order. If one fails, all of
// the request is reverted.
type ApplyRequest struct {
	Settings []setting.Setting `json:"settings"`
	// AllowMachine permits settings that are machine-wide.
	AllowMachine bool `json:"allow_machine,omitempty"`
	// IfAbsent leaves addresses and routes alone that are already there.
	IfAbsent bool `json:"if_absent,omitempty"`
}

// ApplyReply says what was changed.
type ApplyReply struct {
	Applied []Applied `json:"applied"`
	// Mark is the journal's length before the request: revert to it.
	Mark int `json:"mark"`
}

// HoldRequest names ports that are going to lose their carrier: what the kernel drops
// with it comes back when the host is reverted to the mark.
type HoldRequest struct {
	Interfaces []string `json:"interfaces"`
}

// HoldReply says what to revert to.
type HoldReply struct {
	Mark int `json:"mark"`
}

// RevertRequest asks to undo everything after Mark, newest first.
type RevertRequest struct {
	Mark int `json:"mark"`
}

// FlushRequest asks to forget dynamic neighbour entries: all of the named
// ports', or only those of the named addresses.
type FlushRequest struct {
	Interfaces []string     `json:"interfaces,omitempty"`
	Addresses  []netip.Addr `json:"addresses,omitempty"`
}

// DrainRequest asks to wait until the host's queues are empty.
type DrainRequest struct {
	TimeoutNs int64 `json:"timeout_ns"`
}

// WindowRequest schedules a trial's traffic and readings.
type WindowRequest struct {
	StartNs  int64 `json:"start_ns"` // senders start
	BeginNs  int64 `json:"begin_ns"` // the window's begin
	EndNs    int64 `json:"end_ns"`   // the window's end
	StopNs   int64 `json:"stop_ns"`  // senders stop
	SampleNs int64 `json:"sample_ns"`
	// Lookups are route questions to ask at the end of the window.
	Lookups []RouteLookup `json:"lookups,omitempty"`
	// Watch are flows of which is to be seen by which ports their packets come in.
	Watch []WatchedFlow `json:"watch,omitempty"`
	// Marks are instants at which something happens on some host: of the watched flows
	// is to be seen when their packets come in, before and after each.
	Marks []int64 `json:"marks,omitempty"`
	// Sysctls to include in the snapshot.
	Sysctls []string `json:"sysctls,omitempty"`
	// Events are what is to happen on the host during the window, in order.
	Events []EventRequest `json:"events,omitempty"`
}

// WindowReply is what an agent measured; instants on its own clock.
type WindowReply struct {
	// LateNs is how long after StartNs the request came; not 0: nothing was
	// begun, and the rest is empty.
	LateNs     int64       `json:"late_ns,omitempty"`
	Reading    HostReading `json:"reading"`
	BeginFlows []FlowEnd   `json:"begin_flows"`
	EndFlows   []FlowEnd   `json:"end_flows"`
	// FinalFlows are the flows' ends after the senders stopped.
	FinalFlows []FlowEnd `json:"final_flows"`
	// Events are what became of those that were ordered, in their order.
	Events []EventResult `json:"events,omitempty"`
}

// FlowProgress is how far an agent's flows are, outside any schedule.
type FlowProgress struct {
	AtNs  int64        `json:"at_ns"`
	Flows []FlowSample `json:"flows"`
}

// ClockReply is what an agent's clock showed.
type ClockReply struct {
	NowNs int64 `json:"now_ns"`
}

// ConnectRequest asks for connections to be opened: the first one to each address
// one after another, a moment apart at most, the others at once.
type ConnectRequest struct {
	Flows     []FlowRequest `json:"flows"`
	TimeoutNs int64         `json:"timeout_ns"`
}

// ReadyRequest asks to wait until every listener has its connection. Unused
// names flows whose opener has given up.
type ReadyRequest struct {
	TimeoutNs int64    `json:"timeout_ns"`
	Unused    []string `json:"unused,omitempty"`
}
