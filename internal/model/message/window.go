package message

import (
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// WindowRequest schedules the traffic and the readings of a trial.
type WindowRequest struct {
	StartNs  int64 `json:"start_ns"` // senders start
	BeginNs  int64 `json:"begin_ns"` // beginning of the window
	EndNs    int64 `json:"end_ns"`   // end of the window
	StopNs   int64 `json:"stop_ns"`  // senders stop
	SampleNs int64 `json:"sample_ns"`
	// Lookups are route lookups to make at the end of the window.
	Lookups []netstate.RouteLookup `json:"lookups,omitempty"`
	// Watch are flows whose ingress interfaces are to be recorded.
	Watch []WatchedFlow `json:"watch,omitempty"`
	// Marks are the instants of events on any host. The arrival times of the watched flows' packets
	// before and after each are recorded.
	Marks []int64 `json:"marks,omitempty"`
	// Machine requests samples of the machine's load and the kernel's log. If several hosts share a
	// machine, only one of them gets this request.
	Machine bool `json:"machine,omitempty"`
	// Sysctls are the parameters to include in the snapshot.
	Sysctls []string `json:"sysctls,omitempty"`
	// Events are applied on the host during the window, in order.
	Events []EventRequest `json:"events,omitempty"`
	// KeepLatest requests WindowReply.Latest.
	KeepLatest bool `json:"keep_latest,omitempty"`
	// Brief requests only what flows are counted and judged by: of CPUs the sum of their times, and of
	// the host's state the interfaces.
	Brief bool `json:"brief,omitempty"`
}

// CutRequest ends the current window early, with what was read until then. EndNs must be between
// now and the scheduled end.
type CutRequest struct {
	EndNs  int64 `json:"end_ns"`
	StopNs int64 `json:"stop_ns"` // senders stop
}

// WindowReply has what an agent measured. Instants are on its own clock.
type WindowReply struct {
	// LateNs is how long after StartNs the request arrived, or how long after BeginNs the begin was
	// read if that was after the window's middle. Not 0: nothing was measured, and all other fields
	// are zero.
	LateNs     int64                `json:"late_ns,omitempty"`
	Reading    netstate.HostReading `json:"reading"`
	BeginFlows []FlowEnd            `json:"begin_flows"`
	EndFlows   []FlowEnd            `json:"end_flows"`
	// FinalFlows are the states of the flow ends after the senders have stopped.
	FinalFlows []FlowEnd `json:"final_flows"`
	// Events has the outcomes of the request's events, in the same order.
	Events []EventResult `json:"events,omitempty"`
	// Attacks has the counters of the prepared attacks (AttacksRequest), in the same order.
	Attacks []record.AttackCounts `json:"attacks,omitempty"`
	// Latest is the state at the latest sample after which more data arrived from the other hosts.
	// The window can end there if another host is lost. Nil: there is no such sample, or KeepLatest
	// was not set.
	Latest *Edge `json:"latest,omitempty"`
}

// Edge is what is read at an edge of the window. ProcessCPUS and CPUBusy are as in
// netstate.HostReading, from the beginning of the window to this edge.
type Edge struct {
	Reading     netstate.Reading `json:"reading"`
	Flows       []FlowEnd        `json:"flows"`
	ProcessCPUS float64          `json:"process_cpu_s"`
	CPUBusy     float64          `json:"cpu_busy"`
}
