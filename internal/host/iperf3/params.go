package iperf3

// Parameters is the first document of a test: what a client requests. A zero field is omitted, except for those
// that iperf3 always sends.
//
// iperf3's other parameters are neither sent nor read.
//
// The server answers only with the next state, so a client does not learn whether it knew every field.
type Parameters struct {
	TCP  bool `json:"tcp,omitempty"`
	UDP  bool `json:"udp,omitempty"`
	SCTP bool `json:"sctp,omitempty"`

	Omit       Int `json:"omit"`       // s
	Time       Int `json:"time"`       // s; 0: not bounded by time
	Num        Int `json:"num"`        // bytes; 0: not bounded by them
	BlockCount Int `json:"blockcount"` // blocks; 0: not bounded by them
	Parallel   Int `json:"parallel"`   // streams of each direction

	Reverse       bool `json:"reverse,omitempty"` // the server sends
	Bidirectional bool `json:"bidirectional,omitempty"`
	NoDelay       bool `json:"nodelay,omitempty"`

	MSS         Int `json:"MSS,omitempty"`          // bytes
	Window      Int `json:"window,omitempty"`       // bytes: socket buffers
	Length      Int `json:"len,omitempty"`          // bytes of a block or datagram
	Bandwidth   Int `json:"bandwidth,omitempty"`    // bit/s of each stream; 0: no limit
	FQRate      Int `json:"fqrate,omitempty"`       // bit/s of each stream, paced by the kernel
	PacingTimer Int `json:"pacing_timer,omitempty"` // µs
	Burst       Int `json:"burst,omitempty"`        // blocks sent at once
	TOS         Int `json:"TOS,omitempty"`

	GetServerOutput  Int `json:"get_server_output,omitempty"`
	UDPCounters64Bit Int `json:"udp_counters_64bit,omitempty"`

	Congestion    string `json:"congestion,omitempty"`
	AuthToken     string `json:"authtoken,omitempty"`
	ClientVersion string `json:"client_version"`
}

// Protocol returns the name of the streams' protocol.
func (p *Parameters) Protocol() string {
	switch {
	case p.UDP:
		return "udp"
	case p.SCTP:
		return "sctp"
	}
	return "tcp"
}

// Streams returns the number of streams of a test.
func (p *Parameters) Streams() int {
	if p.Bidirectional {
		return 2 * int(p.Parallel)
	}
	return int(p.Parallel)
}

// ServerSends reports whether the server sends on the n-th stream, counted from 0 in the order of opening.
func (p *Parameters) ServerSends(n int) bool {
	if p.Bidirectional {
		return n >= int(p.Parallel)
	}
	return p.Reverse
}

// Wide reports whether datagrams have 64-bit sequence numbers.
func (p *Parameters) Wide() bool { return p.UDPCounters64Bit != 0 }
