package record

// Attack is what a host did to another in the window because the study says so.
type Attack struct {
	Kind string `json:"kind"`
	From string `json:"from"`
	To   string `json:"to"`
	// Target is the address that was attacked, with its port where the kind has one.
	Target string `json:"target"`
	// AskedPerS is the study's rate of frames or connections.
	AskedPerS float64 `json:"asked_per_s"`
	// Connections is how many the study asks for at a time; 0: the kind sends frames.
	Connections int `json:"connections,omitempty"`
	AttackCounts
}

// AttackCounts are what was done in the window.
type AttackCounts struct {
	// Sent are frames that the interface took, or connections that were opened; SentPerS is the
	// same per second.
	Sent     int64   `json:"sent"`
	SentPerS float64 `json:"sent_per_s"`
	// Skipped were due while the sender was held up, and never sent (flow.MaxLate); Refused
	// are frames for which the interface's queue had no room, or connections that were not
	// opened: refused, reset, or not answered in time.
	Skipped int64 `json:"skipped,omitempty"`
	Refused int64 `json:"refused,omitempty"`
	// Open are connections that were open at the window's end, and Closed those that the other
	// end closed in the window.
	Open   int64 `json:"open,omitempty"`
	Closed int64 `json:"closed,omitempty"`
	// Mode is how frames were handed to the kernel, bpf or af_packet.
	Mode string `json:"mode,omitempty"`
	// Lateness is how much later than their schedule frames were handed over, once for those of
	// a call.
	Lateness *Distribution `json:"lateness,omitempty"`
	// Error is why it ended before the window did; empty: it did not.
	Error string `json:"error,omitempty"`
}

// FallsShort reports that less was sent than the study asks for: less than 98 % of the frames,
// or of the connections at a time.
func (a Attack) FallsShort() bool {
	const enough = 0.98
	if a.Connections > 0 {
		return float64(a.Open) < enough*float64(a.Connections) && a.SentPerS < enough*a.AskedPerS
	}
	return a.SentPerS < enough*a.AskedPerS
}
