package record

import "linerate/internal/model/fact"

// Prediction is the expected goodput of a flow, from LowBps to HighBps, before it is measured.
// LimitedBy is what limits it, one of the names in package bottleneck.
type Prediction struct {
	LowBps    float64 `json:"low_bps"`
	HighBps   float64 `json:"high_bps"`
	LimitedBy string  `json:"limited_by"`
	// Facts has the figures that the prediction is computed from. Why is the same in words, which
	// package wording adds; predictions that an earlier version stored have only Why.
	Facts []fact.Fact `json:"facts,omitempty"`
	Why   string      `json:"why,omitempty"`
	// RTTS is the round-trip time in seconds that the prediction assumes: the delays of the links
	// with empty queues.
	RTTS float64 `json:"rtt_s"`
}

// Tolerated is the relative error up to which a prediction is considered correct.
const Tolerated = 0.05

// Contains reports whether bps is within the predicted range, widened by Tolerated.
func (p Prediction) Contains(bps float64) bool {
	return bps >= (1-Tolerated)*p.LowBps && bps <= (1+Tolerated)*p.HighBps
}
