package record

import "linerate/internal/model/setting"

// EventRequest has something happen on a host at an instant of the window.
type EventRequest struct {
	AtNs int64 `json:"at_ns"`
	// Settings are made in order, and are reverted with those of the trial.
	Settings []setting.Setting `json:"settings,omitempty"`
	// Stop ends a daemon of the host at once instead: StopBGP.
	Stop string `json:"stop,omitempty"`
	// AllowMachine permits settings that are machine-wide.
	AllowMachine bool `json:"allow_machine,omitempty"`
}

// EventResult is what became of an order; instants on the agent's own clock.
type EventResult struct {
	BeganNs int64     `json:"began_ns"`
	EndedNs int64     `json:"ended_ns"`
	Applied []Applied `json:"applied,omitempty"`
	Error   string    `json:"error,omitempty"`
}

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
