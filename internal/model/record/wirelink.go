package record

// WireLink is a link whose frames a program carries: two taps, by their place
// among those of the program, and what happens to frames on the way from the first
// to the second and back. Seed decides which frames are lost, which
// overtake, and how long each takes.
type WireLink struct {
	Ends [2]int     `json:"ends"`
	Ways [2]WireWay `json:"ways"`
	Seed uint64     `json:"seed"`
}

// WireWay is one direction of a WireLink.
type WireWay struct {
	DelayUs  int64   `json:"delay_us,omitempty"`
	JitterUs int64   `json:"jitter_us,omitempty"` // to either side of the delay
	Loss     float64 `json:"loss,omitempty"`      // share of frames, 0…1
	Reorder  float64 `json:"reorder,omitempty"`   // share of frames that are not delayed, 0…1
	// RateBps is how fast frames are sent, QueueBytes how much waits for that at
	// most, and MarkBytes from how much on frames get a congestion mark (RFC 3168).
	// RateBps 0: nothing waits.
	RateBps    float64 `json:"rate_bps,omitempty"`
	QueueBytes int64   `json:"queue_bytes,omitempty"`
	MarkBytes  int64   `json:"mark_bytes,omitempty"`
}
