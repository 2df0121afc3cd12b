package record

// Attack is hostile traffic that the study has one host send to another during the window.
type Attack struct {
	Kind string `json:"kind"`
	From string `json:"from"`
	To   string `json:"to"`
	// Target is the attacked address, with its port if the kind of attack has one.
	Target string `json:"target"`
	// AskedPerS is the rate that the study requests, in frames or connections per second.
	AskedPerS float64 `json:"asked_per_s"`
	// Connections is the number of concurrent connections that the study requests. 0: this kind of
	// attack sends frames.
	Connections int `json:"connections,omitempty"`
	AttackCounts
}

// AttackCounts are the counters of an attack during the window.
type AttackCounts struct {
	// Sent counts frames that the interface accepted, or connections that were opened. SentPerS is
	// Sent per second.
	Sent     int64   `json:"sent"`
	SentPerS float64 `json:"sent_per_s"`
	// Skipped counts frames or connections that were never sent because the sender fell too far
	// behind the schedule (flow.MaxLate). Refused counts frames for which the interface's queue had
	// no room, or connections that were not opened: refused, reset, or not answered in time.
	Skipped int64 `json:"skipped,omitempty"`
	Refused int64 `json:"refused,omitempty"`
	// Open counts connections that were open at the end of the window. Closed counts those that the
	// other end closed during the window.
	Open   int64 `json:"open,omitempty"`
	Closed int64 `json:"closed,omitempty"`
	// Mode is how frames were passed to the kernel: bpf or af_packet.
	Mode string `json:"mode,omitempty" is:"words"`
	// Lateness is the delay between the scheduled time and the system call that sent the frames. A
	// call that sends several frames counts once.
	Lateness *Distribution `json:"lateness,omitempty"`
	// Error is why the attack ended before the window did. Empty: it ran until the end.
	Error string `json:"error,omitempty" is:"text"`
}

// FallsShort reports whether the host sent less than 98 % of what the study requests, in frames or
// in concurrent connections.
func (a Attack) FallsShort() bool {
	const enough = 0.98
	if a.Connections > 0 {
		return float64(a.Open) < enough*float64(a.Connections) && a.SentPerS < enough*a.AskedPerS
	}
	return a.SentPerS < enough*a.AskedPerS
}
