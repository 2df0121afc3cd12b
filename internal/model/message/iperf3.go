package message

import (
	"encoding/json"
	"net/netip"

	"linerate/internal/model/record"
)

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
	// WarmupNs and DurationNs are the window that the server gets.
	WarmupNs   int64 `json:"warmup_ns"`
	DurationNs int64 `json:"duration_ns"`
	// Login is for a server that requires authentication; nil: none.
	Login     *Iperf3Login `json:"login,omitempty"`
	TimeoutNs int64        `json:"timeout_ns"` // of each step
}

// Iperf3Login identifies the user. Only this host's agent has it in clear; it is
// encrypted with the server's key.
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
	// Peer is the server's program as far as it reports it: "iperf3 3.12".
	Peer string `json:"peer"`
	// CPUPercent is what it used of one processor, in all of its test.
	CPUPercent float64 `json:"cpu_percent"`
	// OmitS is the time at the beginning that it was asked to omit.
	OmitS float64 `json:"omit_s"`
	// CongestionControl is the server's.
	CongestionControl string `json:"congestion_control,omitempty"`
	// Counts are the server's of the flows, in their order, and Totals ours, from the
	// first byte of the flow's own to the last: received, or acknowledged, or, of
	// datagrams, sent.
	Counts []record.PeerCount `json:"counts"`
	Totals []int64            `json:"totals"`
}
