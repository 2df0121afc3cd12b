package record

// Expectation is a condition on the result of a measurement (--expect).
type Expectation struct {
	Gate string `json:"gate"` // ">= 900mbit"
	Met  bool   `json:"met"`  // whether all Conditions are met
	// Conditions are the parts of Gate. All of them must be met.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is one part of an Expectation. It must hold for every direction and mode.
type Condition struct {
	Metric    string `json:"metric"`    // "goodput", "latency_p99"
	Condition string `json:"condition"` // as the user gave it
	Met       bool   `json:"met"`
	Got       string `json:"got"` // the measured value, in words
	// Unknown is why the condition is neither met nor missed: there are too few requests for its
	// percentile. Met is then false.
	Unknown string `json:"unknown,omitempty"`
}
