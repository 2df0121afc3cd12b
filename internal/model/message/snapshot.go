package message

// SnapshotRequest asks for the host's network state.
type SnapshotRequest struct {
	// Name is the host's in the document; empty: as of uname(2).
	Name string `json:"name,omitempty"`
	// OverNs is the time between two readings of the counters; 0: one reading, since boot.
	OverNs int64 `json:"over_ns,omitempty"`
	// Peers are addresses and names that some packets are sent to first, and Port a TCP port of
	// theirs that connections are opened to; 0: none.
	Peers []string `json:"peers,omitempty"`
	Port  int      `json:"port,omitempty"`
}

// SampleRequest asks for what a host does within an interval that ends now or soon: the agent
// samples each IntervalNs, and answers with the next sample. Name is as of SnapshotRequest.
type SampleRequest struct {
	Name       string `json:"name,omitempty"`
	IntervalNs int64  `json:"interval_ns"`
}
