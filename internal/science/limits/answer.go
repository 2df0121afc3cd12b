package limits

// GoodputAnswer is the most that a link carries as payload, linerate.limits.goodput/v1.
type GoodputAnswer struct {
	Schema       string  `json:"schema"`
	RateBps      float64 `json:"rate_bps"`
	MTU          int     `json:"mtu_bytes"`
	Family       string  `json:"family"`
	Protocol     string  `json:"protocol"`
	Timestamps   bool    `json:"timestamps"`
	MSS          int     `json:"mss_bytes,omitempty"`
	Datagram     int     `json:"datagram_bytes,omitempty"`
	VLANTags     int     `json:"vlan_tags"`
	TunnelBytes  int     `json:"tunnel_bytes,omitempty"` // added to each packet
	Shaped       bool    `json:"shaped"`
	PayloadBytes int     `json:"payload_bytes"`
	WireBytes    int     `json:"wire_bytes"`
	Fraction     float64 `json:"fraction"`
	GoodputBps   float64 `json:"goodput_bps"`
	FramesPerS   float64 `json:"frames_per_s"`
}

// Goodput returns the answer for a link of this rate that carries such frames.
func (f Frame) Goodput(rateBps float64) GoodputAnswer {
	a := GoodputAnswer{
		Schema: "linerate.limits.goodput/v1", RateBps: rateBps, MTU: f.MTU, Family: "ipv4", Protocol: "tcp",
		Timestamps: !f.NoTimestamps, MSS: f.MSS, Datagram: f.Datagram, VLANTags: f.VLANs, TunnelBytes: f.Tunnel,
		Shaped:       f.Shaped,
		PayloadBytes: f.Payload(), WireBytes: f.Wire(), Fraction: f.Fraction(),
		GoodputBps: rateBps * f.Fraction(), FramesPerS: float64(f.Packets()) * rateBps / 8 / float64(f.Wire()),
	}
	if f.IPv6 {
		a.Family = "ipv6"
	}
	if f.UDP {
		a.Protocol = "udp"
	}
	return a
}

// BDPAnswer says what it takes to fill a path, linerate.limits.bdp/v1.
type BDPAnswer struct {
	Schema   string  `json:"schema"`
	RateBps  float64 `json:"rate_bps"`
	RTTS     float64 `json:"rtt_s"`
	MSSBytes int     `json:"mss_bytes"`
	BDPBytes float64 `json:"bdp_bytes"`
	Segments int     `json:"segments"`
	Scaling  bool    `json:"needs_window_scaling"`
	Flows    int     `json:"flows_needed"`
	Unscaled float64 `json:"unscaled_window_bps"`
	First    int     `json:"first_window_segments"`
	Rounds   int     `json:"slow_start_round_trips"` // from First to Segments
	SlowS    float64 `json:"slow_start_s"`
	TCPRmem  int64   `json:"tcp_rmem_max_bytes"`
	TCPWmem  int64   `json:"tcp_wmem_max_bytes"`
	// RmemHere and WmemHere are the values of the host that computes the answer; 0: unknown.
	RmemHere  int64   `json:"this_host_tcp_rmem_max_bytes,omitempty"`
	WmemHere  int64   `json:"this_host_tcp_wmem_max_bytes,omitempty"`
	Window    int64   `json:"window_bytes,omitempty"`
	WindowBps float64 `json:"window_bps,omitempty"`
	// The remaining fields are about a response of Answer bytes on a new connection.
	Answer      int64   `json:"answer_bytes,omitempty"`
	AnswerTrips int     `json:"answer_round_trips,omitempty"`
	AnswerS     float64 `json:"answer_s,omitempty"`
}

// Buffers returns the answer for a path. window is a window to compare with what the path needs,
// and answer the size of a response on a new connection; 0: none. first is the number of segments
// with which connections begin.
func (p Path) Buffers(window, answer int64, first int) BDPAnswer {
	a := BDPAnswer{
		Schema: "linerate.limits.bdp/v1", RateBps: p.RateBps, RTTS: p.RTTS, MSSBytes: p.Segment,
		BDPBytes: p.BDP(), Segments: p.Segments(), Scaling: p.Scaling(), Flows: p.Flows(), Unscaled: p.UnscaledBps(),
		First: first, Rounds: p.SlowStart(first), SlowS: float64(p.SlowStart(first)) * p.RTTS,
		TCPRmem: p.ReceiveBuffer(), TCPWmem: p.SendBuffer(),
	}
	if window > 0 {
		a.Window, a.WindowBps = window, p.WindowBps(float64(window))
	}
	if answer > 0 {
		a.Answer = answer
		a.AnswerTrips, a.AnswerS = p.Answer(float64(answer), first)
	}
	return a
}
