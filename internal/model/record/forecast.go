package record

// Prediction is what a flow should get, before it is measured: its goodput from
// LowBps to HighBps, held back by LimitedBy (one of the names in package bottleneck).
type Prediction struct {
	LowBps    float64 `json:"low_bps"`
	HighBps   float64 `json:"high_bps"`
	LimitedBy string  `json:"limited_by"`
	Why       string  `json:"why"`
	// RTTS is the round trip that it was predicted with: the links' delays, with
	// empty queues.
	RTTS float64 `json:"rtt_s"`
}

// Tolerated is how far beside a prediction a flow may be and have it hold.
const Tolerated = 0.05

// Contains says whether what a flow got is what was predicted, to a twentieth.
func (p Prediction) Contains(bps float64) bool {
	return bps >= (1-Tolerated)*p.LowBps && bps <= (1+Tolerated)*p.HighBps
}
