package iperf3

// Parameters are what a client asks for: the first document of a test. The zero
// value of a field leaves it out, except for those that iperf3 always sends.
//
// iperf3's other parameters are neither sent nor read.
//
// There is no answer but the next state, so that a client does not learn whether
// its server knew every field.
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

// Protocol is the word for what the streams are.
func (p *Parameters) Protocol() string {
	switch {
	case p.UDP:
		return "udp"
	case p.SCTP:
		return "sctp"
	}
	return "tcp"
}

// Streams is how many streams a test has, and ServerSends which of them, numbered
// from 0 in the order in which they are opened, carry data from the server to the
// client.
func (p *Parameters) Streams() int {
	if p.Bidirectional {
		return 2 * int(p.Parallel)
	}
	return int(p.Parallel)
}

// ServerSends is the direction of the stream that is opened as number n.
func (p *Parameters) ServerSends(n int) bool {
	if p.Bidirectional {
		return n >= int(p.Parallel)
	}
	return p.Reverse
}

// Wide says that datagrams have sequence numbers of 64 bits.
func (p *Parameters) Wide() bool { return p.UDPCounters64Bit != 0 }
