package message

import (
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// ApplyRequest applies settings in order. If one fails, all settings of the request are reverted.
type ApplyRequest struct {
	Settings []setting.Setting `json:"settings"`
	// AllowMachine permits settings that are machine-wide.
	AllowMachine bool `json:"allow_machine,omitempty"`
	// IfAbsent keeps addresses and routes that already exist.
	IfAbsent bool `json:"if_absent,omitempty"`
}

// ApplyReply describes what was changed.
type ApplyReply struct {
	Applied []record.Applied `json:"applied"`
	// Mark is the length of the journal before the request. Reverting to it undoes the request.
	Mark int `json:"mark"`
}

// HoldRequest names interfaces that are about to lose their carrier. The kernel then removes some
// of their state; reverting the host to the Mark in the reply restores it.
type HoldRequest struct {
	Interfaces []string `json:"interfaces"`
}

// Mark is a length of the journal. As a request it undoes everything after it, newest first.
type Mark struct {
	Mark int `json:"mark"`
}

// FlushRequest removes dynamic neighbour entries: all of the named interfaces, or only those of the
// named addresses.
type FlushRequest struct {
	Interfaces []string     `json:"interfaces,omitempty"`
	Addresses  []netip.Addr `json:"addresses,omitempty"`
}

// DrainRequest waits until the queues of the host are empty.
type DrainRequest struct {
	TimeoutNs int64 `json:"timeout_ns"`
}

// LinksRequest asks for the states of interfaces.
type LinksRequest struct {
	Interfaces []string `json:"interfaces"`
}

// LinkState is the state of an interface. Up reports whether it is set up. Running reports whether
// it has a carrier and can send (IFF_UP and IFF_RUNNING, Documentation/networking/operstates.rst).
type LinkState struct {
	Interface string `json:"interface"`
	Up        bool   `json:"up"`
	Running   bool   `json:"running"`
}

// EventRequest schedules an event on a host at an instant of the window.
type EventRequest struct {
	AtNs int64 `json:"at_ns"`
	// Settings are applied in order. They are reverted together with those of the trial.
	Settings []setting.Setting `json:"settings,omitempty"`
	// Stop kills a daemon of the host instead: StopBGP.
	Stop string `json:"stop,omitempty"`
	// AllowMachine permits settings that are machine-wide.
	AllowMachine bool `json:"allow_machine,omitempty"`
}

// EventResult is the outcome of an event. Instants are on the agent's own clock.
type EventResult struct {
	BeganNs int64            `json:"began_ns"`
	EndedNs int64            `json:"ended_ns"`
	Applied []record.Applied `json:"applied,omitempty"`
	Error   *Error           `json:"error,omitempty"`
}
