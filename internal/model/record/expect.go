package record

// Expectation is a gate that a measurement was held to.
type Expectation struct {
	Gate string `json:"gate"` // ">= 900mbit"
	Met  bool   `json:"met"`  // all Conditions are
	// Conditions are its parts, all of which have to be met.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is one part of a gate, which every direction and mode is held to.
type Condition struct {
	Metric    string `json:"metric"`    // "goodput", "latency_p99"
	Condition string `json:"condition"` // as it was given
	Met       bool   `json:"met"`
	Got       string `json:"got"` // in words
	// Unknown is why it is neither met nor missed: there are too few requests for the
	// percentile that it is about. Met is then false.
	Unknown string `json:"unknown,omitempty"`
}
