package message

import (
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

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
	Exhausted *record.PortsExhausted `json:"exhausted,omitempty"`
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
	Mode      string          `json:"mode,omitempty"`
	CallBytes int64           `json:"call_bytes,omitempty"`
	ModeNote  string          `json:"mode_note,omitempty"`
	Info      *record.TCPInfo `json:"info,omitempty"`
	// Datagrams is for udp, Transactions for both ends of transactional protocols.
	Datagrams    *record.Datagrams    `json:"datagrams,omitempty"`
	Transactions *record.Transactions `json:"transactions,omitempty"`
	Error        string               `json:"error,omitempty"`
}

// FlowProgress is how far an agent's flows are, outside any schedule.
type FlowProgress struct {
	AtNs  int64               `json:"at_ns"`
	Flows []record.FlowSample `json:"flows"`
}
