package record

// Event is a change during the window of a trial that the study requests, or a fault. Times are in
// seconds since the beginning of the window.
type Event struct {
	Host string `json:"host"`
	// Interface and Down are set for faults, as in netstate.CarrierLoss.
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
