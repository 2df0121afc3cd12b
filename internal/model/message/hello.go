package message

import (
	"time"

	"linerate/internal/model/netstate"
)

// Hello is the first message of an agent.
type Hello struct {
	Node        string                       `json:"node" is:"name"`
	Version     string                       `json:"version" is:"words"`
	Environment netstate.HostEnvironment     `json:"environment"`
	Interfaces  []netstate.InterfaceSnapshot `json:"interfaces"`
	// Counted is the number of interfaces and queueing disciplines whose counters are in each
	// sample of a window. 0: unknown.
	Counted int `json:"counted,omitempty"`
	// Error is why the agent cannot serve requests. Nil: it can.
	Error *Error `json:"error,omitempty"`
	// Bounds are the limits for a client of the host. Nil: no limits.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// Bounds are the limits that a serving host sets for one client.
type Bounds struct {
	Flows     int     `json:"flows"`
	DurationS float64 `json:"duration_s"` // maximum length of a trial, including the warm-up
	// RateBps limits the sum of all flows of a client in each direction. 0: no limit.
	RateBps float64 `json:"rate_bps,omitempty"`
	// Connections limits the sum of all rr, udp-rr and crr flows of a client. Flows applies instead
	// if it is higher.
	Connections int `json:"connections,omitempty"`
}

// Stay returns how long a client is served in total: its longest trial plus a minute for setup and
// teardown.
func (b Bounds) Stay() time.Duration {
	return time.Duration(b.DurationS*float64(time.Second)) + time.Minute
}

// ClockReply has the time of an agent's clock.
type ClockReply struct {
	NowNs int64 `json:"now_ns"`
}
