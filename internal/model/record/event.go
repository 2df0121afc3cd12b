package record

// CarrierLoss is an interval of the window during which an interface had no carrier or was down.
// Times are in seconds since the beginning of the window.
type CarrierLoss struct {
	Interface string  `json:"interface"`
	FromS     float64 `json:"from_s"`
	ToS       float64 `json:"to_s"` // the end of the window if not Regained
	Regained  bool    `json:"regained"`
	// Down reports whether the interface was set down (ip-link(8)). False: it lost its carrier.
	Down bool `json:"down,omitempty"`
}

// Event is a change during the window of a trial that the study requests, or a fault. Times are in
// seconds since the beginning of the window.
type Event struct {
	Host string `json:"host"`
	// Interface and Down are set for faults, as in CarrierLoss.
	Interface string `json:"interface,omitempty"`
	Down      bool   `json:"down,omitempty"`
	// What describes the event in the words of the study: "link eth0 state down".
	What string `json:"what"`
	// AtS is the scheduled time. The event was executed between BeganS and EndedS.
	AtS    float64 `json:"at_s"`
	BeganS float64 `json:"began_s"`
	EndedS float64 `json:"ended_s"`
	// Applied lists the settings that the event changed.
	Applied []Applied `json:"applied,omitempty"`
}
