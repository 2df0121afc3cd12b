package message

import (
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// ApplyRequest asks for settings to be applied, in order. If one fails, all of
// the request is reverted.
type ApplyRequest struct {
	Settings []setting.Setting `json:"settings"`
	// AllowMachine permits settings that are machine-wide.
	AllowMachine bool `json:"allow_machine,omitempty"`
	// IfAbsent leaves addresses and routes alone that are already there.
	IfAbsent bool `json:"if_absent,omitempty"`
}

// ApplyReply says what was changed.
type ApplyReply struct {
	Applied []record.Applied `json:"applied"`
	// Mark is the journal's length before the request: revert to it.
	Mark int `json:"mark"`
}

// HoldRequest names interfaces that will lose their carrier: what the kernel drops
// with it comes back when the host is reverted to the mark.
type HoldRequest struct {
	Interfaces []string `json:"interfaces"`
}

// Mark is a length of the journal: the reply to HoldRequest, and the request to undo
// everything after it, newest first.
type Mark struct {
	Mark int `json:"mark"`
}

// FlushRequest asks to remove dynamic neighbour entries: all of the named interfaces,
// or only those of the named addresses.
type FlushRequest struct {
	Interfaces []string     `json:"interfaces,omitempty"`
	Addresses  []netip.Addr `json:"addresses,omitempty"`
}

// DrainRequest asks to wait until the host's queues are empty.
type DrainRequest struct {
	TimeoutNs int64 `json:"timeout_ns"`
}

// LinksRequest asks for the states of interfaces.
type LinksRequest struct {
	Interfaces []string `json:"interfaces"`
}

// LinkState is the state of an interface: set up, and with a carrier and activated, so that it
// sends what it is given (IFF_UP and IFF_RUNNING, Documentation/networking/operstates.rst).
type LinkState struct {
	Interface string `json:"interface"`
	Up        bool   `json:"up"`
	Running   bool   `json:"running"`
}

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

// EventResult is the outcome of an event; instants on the agent's own clock.
type EventResult struct {
	BeganNs int64            `json:"began_ns"`
	EndedNs int64            `json:"ended_ns"`
	Applied []record.Applied `json:"applied,omitempty"`
	Error   *Error           `json:"error,omitempty"`
}
