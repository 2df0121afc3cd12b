package message

import (
	"net/netip"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// FlowRequest describes one end of a flow. A flow carries data in one direction: over one TCP
// connection, as datagrams between two UDP sockets, or as transactions, in which the
// opener sends requests and the acceptor responses.
type FlowRequest struct {
	flow.Spec
	ID string `json:"id"`
	// Sends: this end writes data; otherwise it reads.
	Sends bool `json:"sends"`
	// Local is the address to listen on, or to connect from (invalid: any).
	Local netip.Addr `json:"local,omitzero"`
	// LocalPort is the port to connect from; 0: the kernel's choice.
	LocalPort uint16 `json:"local_port,omitempty"`
	// Remote is where to connect to; only for the end that opens.
	Remote netip.AddrPort `json:"remote,omitzero"`
	// Foreign: the server is another program's.
	Foreign bool `json:"foreign,omitempty"`
	// Host is the server's name, with its port, which the opener looks up for each
	// connection of an application; empty: connections go to Remote.
	Host string `json:"host,omitempty"`
	// Ports are ports of Remote that the connections take in turn instead of its own:
	// a flow with very many is accepted at several.
	Ports []uint16 `json:"ports,omitempty"`
	// Cookie, if not zero: the connections go to a listener that flows share. The
	// opener shows the cookie there, and the acceptor opens no socket of its own.
	Cookie Cookie `json:"cookie,omitzero"`
	// Process identifies the process of Tool that makes the flow, and others of the
	// same name; empty: linerate makes it.
	Process string `json:"process,omitempty"`
}

// Buffers are the sizes of this end's socket buffers; 0: the kernel's default.
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

// Listening answers a request to accept. Local is invalid where the acceptor
// identifies the flow by its cookie.
type Listening struct {
	ID    string         `json:"id"`
	Local netip.AddrPort `json:"local,omitzero"`
	// Ports are all ports of the flow's own where it has several, with a
	// cookie or without.
	Ports []uint16 `json:"ports,omitempty"`
	Error *Error   `json:"error,omitempty"`
}

// Opened answers a request to connect.
type Opened struct {
	ID     string         `json:"id"`
	Local  netip.AddrPort `json:"local,omitzero"`
	Remote netip.AddrPort `json:"remote,omitzero"`
	Error  *Error         `json:"error,omitempty"`
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
	// HeldBytes is the kernel's memory for what has arrived and was not read by this end, in
	// order or behind a gap (SO_MEMINFO); 0: not known, as before Linux 4.12.
	HeldBytes int64 `json:"held_bytes,omitempty"`
	// OutOfOrderBytes, of a sender whose connections are counted together, have arrived
	// behind a gap (SACK); of one connection its Info has them.
	OutOfOrderBytes int64 `json:"out_of_order_bytes,omitempty"`
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
	// and has tuned them so far: those that were requested are twice what it granted
	// (socket(7)).
	SndbufBytes int64 `json:"sndbuf_bytes,omitempty"`
	RcvbufBytes int64 `json:"rcvbuf_bytes,omitempty"`
	// Mode is how this end moves bytes now, with CallBytes at most in one system
	// call. ModeNote has what was measured in choosing it, and what was refused.
	Mode      string          `json:"mode,omitempty"`
	CallBytes int64           `json:"call_bytes,omitempty"`
	ModeNote  string          `json:"mode_note,omitempty"`
	Info      *record.TCPInfo `json:"info,omitempty"`
	// Datagrams is for udp, Transactions for both ends of transactional protocols.
	Datagrams    *record.Datagrams    `json:"datagrams,omitempty"`
	Transactions *record.Transactions `json:"transactions,omitempty"`
	Error        *Error               `json:"error,omitempty"`
}

// FlowProgress is how far an agent's flows are, outside any schedule.
type FlowProgress struct {
	AtNs  int64               `json:"at_ns"`
	Flows []record.FlowSample `json:"flows"`
}
