package record

import (
	"encoding/json"
)

// MeasurePeer is what a measurement says beside the rest when the program at the
// other end is not linerate, or was lost (Measure.Ended).
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

// How a direction's goodput is counted where nothing was read of the peer.
const (
	CountedReceived     = "received"     // read here, in the window
	CountedAcknowledged = "acknowledged" // by the peer's kernel, in the window: TCP_INFO bytes_acked
	CountedByPeer       = "by the peer"  // received by the peer, over its own time
	// CountedLessLoss is what was sent in the window, less the share that the peer counts as
	// lost over its own time.
	CountedLessLoss = "sent less lost"
)

// CountedHere reports whether a flow's or direction's bytes were counted in the window, by what
// was read of this host.
func CountedHere(counted string) bool {
	return counted != CountedByPeer && counted != CountedLessLoss
}

// PeerCount is what a peer that is not linerate has counted of a direction, over
// its own time, which is not the window.
type PeerCount struct {
	// Bytes it received, or, where it sends, wrote.
	Bytes int64 `json:"bytes"`
	// Seconds is its own time; 0: not known.
	Seconds    float64 `json:"seconds,omitempty"`
	GoodputBps float64 `json:"goodput_bps,omitempty"`
	// Retransmits are segments that it sent again; below 0: it does not know.
	Retransmits int64 `json:"retransmits"`
	// Datagrams is for udp: what it received and misses, or sent. WholeTest: with
	// what it was to leave out at the beginning, which it does not report separately.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	WholeTest bool       `json:"whole_test,omitempty"`
}
