package record

// CarrierLoss is a time in the window during which an interface had no carrier, or was down.
// Times count from the window's beginning.
type CarrierLoss struct {
	Interface string  `json:"interface"`
	FromS     float64 `json:"from_s"`
	ToS       float64 `json:"to_s"` // the window's end, unless it was regained
	Regained  bool    `json:"regained"`
	// Down: it was taken down (ip-link(8)), rather than losing its link.
	Down bool `json:"down,omitempty"`
}

// Event is what happened during a trial's window because the study says so, or else a
// fault. All times count from the window's beginning.
type Event struct {
	Host string `json:"host"`
	// Interface is that of a fault, and Down as in CarrierLoss.
	Interface string `json:"interface,omitempty"`
	Down      bool   `json:"down,omitempty"`
	// What happened, as the study has it: "link eth0 state down".
	What string `json:"what"`
	// AtS is when it was to happen; it was done between BeganS and EndedS.
	AtS    float64 `json:"at_s"`
	BeganS float64 `json:"began_s"`
	EndedS float64 `json:"ended_s"`
	// Applied are the settings that it consists of.
	Applied []Applied `json:"applied,omitempty"`
}
