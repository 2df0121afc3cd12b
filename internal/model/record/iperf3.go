package record

import (
	"encoding/json"
	"net/netip"
)

// The messages between a conductor and the agent that drives an iperf3 server for
// it. The server is no node: it has no agent, and answers on its own terms.

// Iperf3Request asks for a test's flows to be opened with an iperf3 server.
type Iperf3Request struct {
	// Server is the address, or name, with the port.
	Server string `json:"server"`
	// Flow is what all flows have in common: the local address, the protocol and
	// the options. ID, Sends and Remote are the agent's to fill in.
	Flow FlowRequest `json:"flow"`
	// Writes is how many flows go to the server, Reads how many come from it.
	Writes int `json:"writes"`
	Reads  int `json:"reads"`
	// WarmupNs and DurationNs are what the server is told of the window.
	WarmupNs   int64 `json:"warmup_ns"`
	DurationNs int64 `json:"duration_ns"`
	// Login is for a server that wants to know who comes; nil: nobody in particular.
	Login     *Iperf3Login `json:"login,omitempty"`
	TimeoutNs int64        `json:"timeout_ns"` // of each step
}

// Iperf3Login is who comes. It goes no further than this host's own agent; the
// server gets it encrypted with its key.
type Iperf3Login struct {
	User      string `json:"user"`
	Password  string `json:"password"`
	PublicKey []byte `json:"public_key"` // the server's, PEM
	// PKCS1 encrypts as iperf3 did before 3.17, which newer ones refuse.
	PKCS1 bool `json:"pkcs1,omitempty"`
}

// Iperf3Opened are the flows of a test that has begun: w1, w2 and so on go to the
// server, r1, r2 and so on come from it. Streams are iperf3's names for them.
type Iperf3Opened struct {
	Server  netip.AddrPort `json:"server"` // as connected to
	Flows   []Opened       `json:"flows"`
	Streams []int          `json:"streams"`
}

// Iperf3Closed is what a server said at a test's end, and what the flows came to.
type Iperf3Closed struct {
	Results json.RawMessage `json:"results"` // verbatim
	// Peer is the server's program as far as it tells: "iperf3 3.12".
	Peer string `json:"peer"`
	// CPUPercent is what it used of one processor, in all of its test.
	CPUPercent float64 `json:"cpu_percent"`
	// OmitS is what it was told to leave out at the beginning.
	OmitS float64 `json:"omit_s"`
	// CongestionControl is the server's.
	CongestionControl string `json:"congestion_control,omitempty"`
	// Counts are the server's of the flows, in their order, and Totals ours, from the
	// first byte of the flow's own to the last: received, or acknowledged, or, of
	// datagrams, sent.
	Counts []PeerCount `json:"counts"`
	Totals []int64     `json:"totals"`
}

// MeasurePeer is what a measurement says beside the rest when the program at the
// other end is not linerate.
type MeasurePeer struct {
	// Peer is that program: "iperf3 3.12"; empty: it is linerate. With a peer each
	// direction says how it was counted, and Unknown what cannot be known.
	Peer    string   `json:"peer,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	// PeerCPUPercent is what the peer says that it used of one processor, over its
	// own time.
	PeerCPUPercent float64 `json:"peer_cpu_percent,omitempty"`
	// PeerResults is what the peer said at the end, as it came.
	PeerResults json.RawMessage `json:"peer_results,omitempty"`
}

// Ways of counting a direction's goodput with a peer that is not linerate.
const (
	CountedReceived     = "received"     // read here, in the window
	CountedAcknowledged = "acknowledged" // by the peer's kernel, in the window: TCP_INFO bytes_acked
	CountedByPeer       = "by the peer"  // received by the peer, over its own time
)

// PeerCount is what a peer that is not linerate has counted of a direction, over
// its own time, which is not the window.
type PeerCount struct {
	// Bytes it received, or, where it sends, wrote.
	Bytes int64 `json:"bytes"`
	// Seconds is its own time; 0: it does not tell.
	Seconds    float64 `json:"seconds,omitempty"`
	GoodputBps float64 `json:"goodput_bps,omitempty"`
	// Retransmits are segments that it sent again; below 0: it does not know.
	Retransmits int64 `json:"retransmits"`
	// Datagrams is for udp: what it received and misses, or sent. WholeTest: with
	// what it was to leave out at the beginning, which it does not tell apart.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	WholeTest bool       `json:"whole_test,omitempty"`
}
