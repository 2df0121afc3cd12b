package record

import (
	"net/netip"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// The messages between a conductor and its agents. Each verb is one request and
// one reply on the bus; instants are nanoseconds on the agent's own monotonic
// clock unless said otherwise.

// Hello is what an agent says when it comes up.
type Hello struct {
	Node        string          `json:"node"`
	Version     string          `json:"version"`
	Environment HostEnvironment `json:"environment"`
	Ports       []PortSnapshot  `json:"ports"`
	// Bounds are what the host grants to whoever it serves; nil: anything.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// Bounds are the most that a client of a serving host may ask for.
type Bounds struct {
	Flows     int     `json:"flows"`
	DurationS float64 `json:"duration_s"` // of a trial, warm-up included
	// RateBps is for all flows of one client together, each direction; 0: any.
	RateBps float64 `json:"rate_bps,omitempty"`
}

// FlowOrder tells one end of a flow what to do. A flow is one TCP connection
// that carries data one way.
type FlowOrder struct {
	ID string `json:"id"`
	// Sends: this end writes data; otherwise it reads.
	Sends bool `json:"sends"`
	// Local is the address to listen on, or to connect from (invalid: any).
	Local netip.Addr `json:"local,omitzero"`
	// Remote is where to connect to; only for the end that opens.
	Remote netip.AddrPort `json:"remote,omitzero"`
	// Ticket says that the connection goes to a service port that flows share:
	// the opener shows it there, and the acceptor opens no socket of its own.
	Ticket Ticket `json:"ticket,omitzero"`

	MSS               int          `json:"mss,omitempty"`
	NoDelay           *bool        `json:"nodelay,omitempty"`
	CongestionControl string       `json:"congestion_control,omitempty"`
	Window            unit.Bytes   `json:"window,omitempty"`
	RateCap           unit.BitRate `json:"rate_cap,omitempty"`
}

// Listening answers an order to accept. Local is invalid where the acceptor
// knows the flow by its ticket.
type Listening struct {
	ID    string         `json:"id"`
	Local netip.AddrPort `json:"local,omitzero"`
	Error string         `json:"error,omitempty"`
}

// Opened answers an order to connect.
type Opened struct {
	ID     string         `json:"id"`
	Local  netip.AddrPort `json:"local,omitzero"`
	Remote netip.AddrPort `json:"remote,omitzero"`
	Error  string         `json:"error,omitempty"`
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
	// FirstNs and LastNs are when the first and the latest write or read
	// returned; 0: none yet.
	FirstNs int64 `json:"first_ns"`
	LastNs  int64 `json:"last_ns"`
	// Alive: connected, and not broken off. The end of the stream at the agreed
	// stop breaks nothing off.
	Alive bool `json:"alive"`
	// Local is this end's address; CongestionControl as the kernel reports it.
	Local             netip.AddrPort `json:"local,omitzero"`
	CongestionControl string         `json:"congestion_control,omitempty"`
	// SndbufBytes and RcvbufBytes are the socket buffers when a window was
	// ordered, as the kernel counts them: twice what it granted (socket(7)).
	SndbufBytes int64    `json:"sndbuf_bytes,omitempty"`
	RcvbufBytes int64    `json:"rcvbuf_bytes,omitempty"`
	Info        *TCPInfo `json:"info,omitempty"`
	Error       string   `json:"error,omitempty"`
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

// RevertRequest asks to undo everything after Mark, newest first.
type RevertRequest struct {
	Mark int `json:"mark"`
}

// FlushRequest asks to forget dynamic neighbour entries: all of the named
// ports', or only those of the named addresses.
type FlushRequest struct {
	Ports     []string     `json:"ports,omitempty"`
	Addresses []netip.Addr `json:"addresses,omitempty"`
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
	// Sysctls to include in the snapshot.
	Sysctls []string `json:"sysctls,omitempty"`
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
}

// Glance is how far an agent's flows are, outside any schedule.
type Glance struct {
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
	Orders    []FlowOrder `json:"orders"`
	TimeoutNs int64       `json:"timeout_ns"`
}

// ReadyRequest asks to wait until every listener has its connection. Unused
// names flows whose opener has given up.
type ReadyRequest struct {
	TimeoutNs int64    `json:"timeout_ns"`
	Unused    []string `json:"unused,omitempty"`
}
