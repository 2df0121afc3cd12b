package hint

// Advice about what limits a flow. Interfaces are written as "client.eth0"; a rate of 0 is not known.
type (
	// LossCarries says what a congestion control carries over a path whose losses are single and
	// random, by its response function, beside what was measured. From LowBps, if every second
	// segment is acknowledged, to HighBps, if each is.
	LossCarries struct {
		CongestionControl string  `json:"congestion_control"`
		Loss              float64 `json:"loss"` // share of the bytes
		RTTS              float64 `json:"rtt_s"`
		LowBps            float64 `json:"low_bps"`
		HighBps           float64 `json:"high_bps"`
		MeasuredBps       float64 `json:"measured_bps"`
	}
	// TryControl advises another congestion control, which carries up to CarriesBps by its model.
	TryControl struct {
		CongestionControl string  `json:"congestion_control"`
		CarriesBps        float64 `json:"carries_bps,omitempty"`
		Host              string  `json:"host"`              // the sender
		Absent            bool    `json:"absent,omitempty"`  // the sender's kernel does not have it loaded
		Address           string  `json:"address,omitempty"` // server of the measurement; empty: of a study
		Read              bool    `json:"read,omitempty"`    // the server sends
	}
	// Reproduce advises a lab with the values of a path.
	Reproduce struct {
		RateBps float64 `json:"rate_bps"`
		RTTS    float64 `json:"rtt_s"`
		Loss    float64 `json:"loss,omitempty"`
	}
	// OwnWindow advises another size of a buffer that a program sets itself (SO_RCVBUF or SO_SNDBUF).
	OwnWindow struct {
		Bytes   int64 `json:"bytes,omitempty"` // that fills the path; 0: not known
		Receive bool  `json:"receive,omitempty"`
	}
	// FindWait advises looking for what a program waits for that reads or writes too slowly.
	FindWait struct {
		Reads  bool    `json:"reads,omitempty"`
		CapBps float64 `json:"cap_bps,omitempty"` // the flow's own cap, which it reaches; 0: none
	}
	// LiftCap advises a higher pacing rate.
	LiftCap struct {
		Bps float64 `json:"bps"`
	}
	// WiderLink advises raising the rate of a link or of its shaper.
	WiderLink struct {
		Interface string  `json:"interface,omitempty"`
		RateBps   float64 `json:"rate_bps,omitempty"`
		Shaper    string  `json:"shaper,omitempty"`
	}
	// AcknowledgementsFirst advises a queue in which acknowledgements do not wait behind data.
	AcknowledgementsFirst struct {
		Interface string `json:"interface,omitempty"` // with the queue; empty: not known
	}
	// LongerQueue advises a longer queue of an interface, or a fair one.
	LongerQueue struct {
		Interface string `json:"interface,omitempty"`
	}
	// MoreCPU advises distributing the traffic over more CPUs.
	MoreCPU struct{}
	// ReachPeer advises looking for what discards the packets to an address.
	ReachPeer struct {
		Address string `json:"address,omitempty"`
	}
	// SendLess advises a rate at which datagrams are not lost: what arrived.
	SendLess struct {
		Bps float64 `json:"bps,omitempty"`
	}
	// SeeCarrier advises looking for why an interface has no carrier.
	SeeCarrier struct {
		Interface string `json:"interface,omitempty"`
	}
	// MeasureLonger advises a longer window.
	MeasureLonger struct {
		Seconds float64 `json:"seconds"`
	}
	// LookDuring advises reading the hosts while the flow runs.
	LookDuring struct{}
)

var _ = are(LossCarries{}, TryControl{}, Reproduce{}, OwnWindow{}, FindWait{}, LiftCap{}, WiderLink{},
	AcknowledgementsFirst{}, LongerQueue{}, MoreCPU{}, ReachPeer{}, SendLess{}, SeeCarrier{}, MeasureLonger{},
	LookDuring{})
