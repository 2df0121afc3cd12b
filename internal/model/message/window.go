package message

import (
	"linerate/internal/model/record"
)

// WindowRequest schedules a trial's traffic and readings.
type WindowRequest struct {
	StartNs  int64 `json:"start_ns"` // senders start
	BeginNs  int64 `json:"begin_ns"` // the window's begin
	EndNs    int64 `json:"end_ns"`   // the window's end
	StopNs   int64 `json:"stop_ns"`  // senders stop
	SampleNs int64 `json:"sample_ns"`
	// Lookups are route questions to ask at the end of the window.
	Lookups []record.RouteLookup `json:"lookups,omitempty"`
	// Watch are flows whose ingress interfaces are to be observed.
	Watch []WatchedFlow `json:"watch,omitempty"`
	// Marks are instants of events on any host: the arrival times of the watched flows'
	// packets before and after each are to be observed.
	Marks []int64 `json:"marks,omitempty"`
	// Machine: the host is to sample what its machine does, and to read its kernel's log. Of
	// hosts that share a machine one does.
	Machine bool `json:"machine,omitempty"`
	// Sysctls to include in the snapshot.
	Sysctls []string `json:"sysctls,omitempty"`
	// Events are applied on the host during the window, in order.
	Events []EventRequest `json:"events,omitempty"`
	// KeepLatest has the reply say where the window can be ended if another host was lost.
	KeepLatest bool `json:"keep_latest,omitempty"`
}

// CutRequest ends the window that has begun before its time, with what was read. EndNs lies
// between now and the end that was scheduled.
type CutRequest struct {
	EndNs  int64 `json:"end_ns"`
	StopNs int64 `json:"stop_ns"` // senders stop
}

// WindowReply is what an agent measured; instants on its own clock.
type WindowReply struct {
	// LateNs is how long after StartNs the request came; not 0: nothing was
	// begun, and the rest is empty.
	LateNs     int64              `json:"late_ns,omitempty"`
	Reading    record.HostReading `json:"reading"`
	BeginFlows []FlowEnd          `json:"begin_flows"`
	EndFlows   []FlowEnd          `json:"end_flows"`
	// FinalFlows are the flows' ends after the senders stopped.
	FinalFlows []FlowEnd `json:"final_flows"`
	// Events are the outcomes of the request's, in its order.
	Events []EventResult `json:"events,omitempty"`
	// Attacks are what was done of those that were prepared (AttacksRequest), in their order.
	Attacks []record.AttackCounts `json:"attacks,omitempty"`
	// Latest is the latest sample after which more came from the other hosts, read as an
	// edge of the window is; nil: none, or not asked for.
	Latest *Edge `json:"latest,omitempty"`
}

// Edge is what is read at an edge of the window. ProcessCPUS and CPUBusy are as in
// record.HostReading, from the window's beginning to there.
type Edge struct {
	Reading     record.Reading `json:"reading"`
	Flows       []FlowEnd      `json:"flows"`
	ProcessCPUS float64        `json:"process_cpu_s"`
	CPUBusy     float64        `json:"cpu_busy"`
}
