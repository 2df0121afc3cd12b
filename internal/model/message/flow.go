package message

import (
	"net/netip"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// FlowRequest describes one end of a flow. Data flows in one direction: over a TCP connection, as
// datagrams between two UDP sockets, or as transactions, in which the opener sends requests and the
// acceptor responses.
type FlowRequest struct {
	flow.Spec
	ID string `json:"id"`
	// Sends reports whether this end writes data. False: it reads.
	Sends bool `json:"sends"`
	// Local is the address to listen on or to connect from. Zero: any.
	Local netip.Addr `json:"local,omitzero"`
	// LocalPort is the port to connect from. 0: the kernel selects one.
	LocalPort uint16 `json:"local_port,omitempty"`
	// Remote is the address to connect to. Only the opener has it.
	Remote netip.AddrPort `json:"remote,omitzero"`
	// Foreign reports whether the server is another program.
	Foreign bool `json:"foreign,omitempty"`
	// Host is the name of the server with its port. The opener resolves it for each connection of
	// an application protocol. Empty: connections go to Remote.
	Host string `json:"host,omitempty"`
	// Ports are ports of Remote that connections use in turn instead of its own port. A flow with
	// very many connections is accepted on several ports.
	Ports []uint16 `json:"ports,omitempty"`
	// Cookie is set if the connections go to a listener that flows share. The opener sends the
	// cookie, and the acceptor opens no socket of its own.
	Cookie Cookie `json:"cookie,omitzero"`
	// Process identifies the process of Tool that makes this flow and all others with the same
	// value. Empty: linerate makes the flow.
	Process string `json:"process,omitempty"`
}

// Buffers returns the sizes of this end's socket buffers. 0: the kernel's default.
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

// ConnectRequest opens connections. The first one to each address is opened alone, then the others
// concurrently.
type ConnectRequest struct {
	Flows     []FlowRequest `json:"flows"`
	TimeoutNs int64         `json:"timeout_ns"`
}

// ReadyRequest waits until every listener has accepted its connections. Unused names flows whose
// opener has given up.
type ReadyRequest struct {
	TimeoutNs int64    `json:"timeout_ns"`
	Unused    []string `json:"unused,omitempty"`
}

// Listening is the reply to a request to accept. Local is the zero AddrPort if the acceptor
// identifies the flow by its cookie.
type Listening struct {
	ID    string         `json:"id" is:"words"`
	Local netip.AddrPort `json:"local,omitzero"`
	// Ports lists the flow's own ports if it has several, with or without a cookie.
	Ports []uint16 `json:"ports,omitempty"`
	Error *Error   `json:"error,omitempty"`
}

// Opened is the reply to a request to connect.
type Opened struct {
	ID     string         `json:"id" is:"words"`
	Local  netip.AddrPort `json:"local,omitzero"`
	Remote netip.AddrPort `json:"remote,omitzero"`
	Error  *Error         `json:"error,omitempty"`
}

// FlowEnd is what one end knows about a flow at one instant. Byte counts begin when the connection
// is opened.
type FlowEnd struct {
	ID    string `json:"id" is:"words"`
	Sends bool   `json:"sends"`
	AtNs  int64  `json:"at_ns"`
	// ReceivedBytes is the number of bytes that this end has read. WrittenBytes is the number that
	// its writes accepted.
	ReceivedBytes int64 `json:"received_bytes"`
	WrittenBytes  int64 `json:"written_bytes"`
	// UnsentBytes is the number of bytes in the send buffer that are not yet acknowledged
	// (SIOCOUTQ).
	UnsentBytes int64 `json:"unsent_bytes"`
	// UnreadBytes is the number of bytes that have arrived, are acknowledged, and wait to be read
	// (SIOCINQ).
	UnreadBytes int64 `json:"unread_bytes,omitempty"`
	// HeldBytes is the kernel's memory for received data that this end has not read, in order or
	// behind a gap (SO_MEMINFO). 0: unknown, as before Linux 4.12.
	HeldBytes int64 `json:"held_bytes,omitempty"`
	// OutOfOrderBytes is the number of bytes that have arrived behind a gap (SACK), for a sender
	// whose connections are counted together. For a single connection they are in Info.
	OutOfOrderBytes int64 `json:"out_of_order_bytes,omitempty"`
	// FirstNs and LastNs are the times at which the first and the latest write or read returned. 0:
	// none yet.
	FirstNs int64 `json:"first_ns"`
	LastNs  int64 `json:"last_ns"`
	// Alive reports whether the connection is open and was not aborted. The end of the stream at
	// the agreed stop is no abort.
	Alive bool `json:"alive"`
	// Local is the address of this end.
	Local netip.AddrPort `json:"local,omitzero"`
	// Remote is the address of the other end if another program has opened the connection.
	Remote            netip.AddrPort `json:"remote,omitzero"`
	CongestionControl string         `json:"congestion_control,omitempty" is:"word"`
	// SndbufBytes and RcvbufBytes are the sizes of the socket buffers as the kernel counts and has
	// autotuned them. If a size was requested, the kernel reports twice the granted size
	// (socket(7)).
	SndbufBytes int64 `json:"sndbuf_bytes,omitempty"`
	RcvbufBytes int64 `json:"rcvbuf_bytes,omitempty"`
	// Mode is how this end currently transfers bytes, with at most CallBytes in one system call.
	// ModeNote has the measurements that led to this choice, and what was refused.
	Mode      string            `json:"mode,omitempty" is:"word"`
	CallBytes int64             `json:"call_bytes,omitempty"`
	ModeNote  string            `json:"mode_note,omitempty" is:"text"`
	Info      *netstate.TCPInfo `json:"info,omitempty"`
	// Datagrams is set for UDP. Transactions is set at both ends of transactional protocols.
	Datagrams    *record.Datagrams    `json:"datagrams,omitempty"`
	Transactions *record.Transactions `json:"transactions,omitempty"`
	Error        *Error               `json:"error,omitempty"`
}

// FlowProgress is the state of an agent's flows at any time, independently of a window.
type FlowProgress struct {
	AtNs  int64                 `json:"at_ns"`
	Flows []netstate.FlowSample `json:"flows"`
}
