package record

// Event is what happened during a trial's window because the study says so. All
// times count from the window's beginning.
type Event struct {
	Host string `json:"host"`
	// What happened, as the study has it: "link eth0 state down".
	What string `json:"what"`
	// AtS is when it was to happen; it was done between BeganS and EndedS.
	AtS    float64 `json:"at_s"`
	BeganS float64 `json:"began_s"`
	EndedS float64 `json:"ended_s"`
	// Applied are the settings that it consists of.
	Applied []Applied `json:"applied,omitempty"`
}
