package message

import (
	"encoding/json"
	"net/netip"

	"linerate/internal/model/record"
)

// Iperf3Request opens the flows of a test with an iperf3 server.
type Iperf3Request struct {
	// Server is the address or name with the port.
	Server string `json:"server"`
	// Flow has what all flows have in common: the local address, the protocol and the options. The
	// agent sets ID, Sends and Remote.
	Flow FlowRequest `json:"flow"`
	// Writes is the number of flows to the server, Reads that of flows from it.
	Writes int `json:"writes"`
	Reads  int `json:"reads"`
	// WarmupNs and DurationNs define the window of the test.
	WarmupNs   int64 `json:"warmup_ns"`
	DurationNs int64 `json:"duration_ns"`
	// Login is for a server that requires authentication. Nil: none.
	Login     *Iperf3Login `json:"login,omitempty"`
	TimeoutNs int64        `json:"timeout_ns"` // of each step
}

// Iperf3Login identifies the user. Only the agent on this host gets it in clear text; it is sent
// encrypted with the server's key.
type Iperf3Login struct {
	User      string `json:"user"`
	Password  string `json:"password"`
	PublicKey []byte `json:"public_key"` // the server's, PEM
	// PKCS1 selects the padding of iperf3 before 3.17, which newer servers reject.
	PKCS1 bool `json:"pkcs1,omitempty"`
}

// Iperf3Opened describes a test that has begun. Its flows have the IDs w1, w2, … towards the server
// and r1, r2, … from it. Streams has the stream number that iperf3 gives each flow, in the order of
// Flows.
type Iperf3Opened struct {
	Server  netip.AddrPort `json:"server"` // as connected to
	Flows   []Opened       `json:"flows"`
	Streams []int          `json:"streams"`
}

// Iperf3Closed has the server's report at the end of a test and the totals of the flows.
type Iperf3Closed struct {
	Results json.RawMessage `json:"results"` // verbatim
	// Peer is the server's program and version if it reports them: "iperf3 3.12".
	Peer string `json:"peer" is:"words"`
	// CPUPercent is the CPU time of the server during the test, in percent of one CPU.
	CPUPercent float64 `json:"cpu_percent"`
	// OmitS is the time that the server was asked to omit at the beginning.
	OmitS float64 `json:"omit_s"`
	// CongestionControl is that of the server.
	CongestionControl string `json:"congestion_control,omitempty" is:"word"`
	// Counts are the server's counts of the flows, in their order. Totals are this host's, from the
	// first byte of each flow to the last: received or acknowledged bytes or, for datagrams, sent
	// bytes.
	Counts []record.PeerCount `json:"counts"`
	Totals []int64            `json:"totals"`
}
