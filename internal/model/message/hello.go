package message

import (
	"time"

	"linerate/internal/model/record"
)

// Hello is what an agent says when it comes up.
type Hello struct {
	Node        string                     `json:"node"`
	Version     string                     `json:"version"`
	Environment record.HostEnvironment     `json:"environment"`
	Interfaces  []record.InterfaceSnapshot `json:"interfaces"`
	// Counted is how many interfaces and queueing disciplines each sample of a window has
	// counters of; 0: not known.
	Counted int `json:"counted,omitempty"`
	// Error is why the agent cannot serve; nil: it can.
	Error *Error `json:"error,omitempty"`
	// Bounds are what the host grants a client; nil: no bounds.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// Bounds are the most that a client of a serving host may ask for.
type Bounds struct {
	Flows     int     `json:"flows"`
	DurationS float64 `json:"duration_s"` // of a trial, warm-up included
	// RateBps is for all flows of one client together, each direction; 0: any.
	RateBps float64 `json:"rate_bps,omitempty"`
	// Connections is for all rr, udp-rr and crr flows of one client together; where it is
	// less than Flows, that counts.
	Connections int `json:"connections,omitempty"`
}

// Stay is how long a client is served altogether: setting up and taking down may add
// to its longest trial.
func (b Bounds) Stay() time.Duration {
	return time.Duration(b.DurationS*float64(time.Second)) + time.Minute
}

// ClockReply is what an agent's clock showed.
type ClockReply struct {
	NowNs int64 `json:"now_ns"`
}
