package message

// SnapshotRequest asks for the network state of the host.
type SnapshotRequest struct {
	// Name is the host's name in the document. Empty: that of uname(2).
	Name string `json:"name,omitempty"`
	// OverNs is the time between two readings of the counters. 0: one reading, with counters since
	// boot.
	OverNs int64 `json:"over_ns,omitempty"`
	// Peers are addresses and names of peers to probe first. Port is a TCP port of the peers to
	// connect to. 0: none.
	Peers []string `json:"peers,omitempty"`
	Port  int      `json:"port,omitempty"`
	// LLDPNs is for how long frames of LLDP neighbours are received if no daemon knows any. 0: not at
	// all.
	LLDPNs int64 `json:"lldp_ns,omitempty"`
}

// SampleRequest asks for the rates of a host. The agent samples its counters every IntervalNs and
// replies with the next sample. Name is as in SnapshotRequest.
type SampleRequest struct {
	Name       string `json:"name,omitempty"`
	IntervalNs int64  `json:"interval_ns"`
}
