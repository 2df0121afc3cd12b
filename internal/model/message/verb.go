package message

import (
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Verb is a request that an agent answers, with the types of request and reply.
type Verb[Request, Reply any] struct {
	Name   string
	Access Access
}

// Access says who may send a verb. For a stream it says which verbs it accepts.
type Access uint8

const (
	Client Access = 1 << iota // a client of a serving host: traffic and its counters
	Own                       // the host's own conductor: the state of the host, and traffic to any address
	Change                    // the host's own conductor if it may change settings
	Lab                       // the conductor of a lab whose init process created the host
)

// The verbs with the types of their requests and replies.
var (
	Clock    = verb[struct{}, ClockReply]("clock", Client)
	Progress = verb[struct{}, FlowProgress]("progress", Client)
	Listen   = verb[[]FlowRequest, []Listening]("listen", Client)
	Ready    = verb[ReadyRequest, []FlowEnd]("ready", Client)
	Window   = verb[WindowRequest, WindowReply]("window", Client)
	Cut      = verb[CutRequest, struct{}]("cut", Client)
	Close    = verb[struct{}, struct{}]("close", Client)

	Connect   = verb[ConnectRequest, []Opened]("connect", Own)
	Iperf3    = verb[Iperf3Request, Iperf3Opened]("iperf3", Own)
	Iperf3End = verb[struct{}, Iperf3Closed]("iperf3-end", Own)
	Snapshot  = verb[SnapshotRequest, netstate.HostSnapshot]("snapshot", Own)
	Sample    = verb[SampleRequest, record.HostSample]("sample", Own)
	Lookup    = verb[Lookups, Lookups]("lookup", Own)

	Programs = verb[ProgramsRequest, ProgramsReply]("programs", Change)
	Tools    = verb[ToolsRequest, []Printed]("tools", Change)
	Apply    = verb[ApplyRequest, ApplyReply]("apply", Change)
	Hold     = verb[HoldRequest, Mark]("hold", Change)
	Revert   = verb[Mark, struct{}]("revert", Change)
	Flush    = verb[FlushRequest, struct{}]("flush", Change)
	Drain    = verb[DrainRequest, struct{}]("drain", Change)
	Links    = verb[LinksRequest, []LinkState]("links", Change)
	Ports    = verb[PortsRequest, PortsReply]("ports", Change)
	Memory   = verb[struct{}, record.KernelMemory]("memory", Change)
	// The routing daemon: which one the host has, start it unless it runs, wait for its routes.
	ProbeBGP = verb[struct{}, BGPDaemon]("bgp-daemon", Change)
	StartBGP = verb[BGPRequest, BGPStarted]("bgp", Change)
	Routes   = verb[RoutesWanted, RoutesFound]("routes", Change)
	// The SNMP agent of a lab's switch: start it unless it runs, and query it.
	StartSNMP = verb[struct{}, SNMPDaemon]("snmpd", Change)
	SNMP      = verb[SNMPDatagram, SNMPDatagram]("snmp", Change)
	// Services starts the services of a lab's host that are not running.
	Services = verb[ServicesRequest, []ServiceStarted]("services", Change)

	Attacks = verb[AttacksRequest, struct{}]("attacks", Lab)
)

var verbs []string

// verb defines a verb and adds it to the list.
func verb[Request, Reply any](name string, access Access) Verb[Request, Reply] {
	verbs = append(verbs, name)
	return Verb[Request, Reply]{name, access}
}

// Verbs returns the names of all verbs.
func Verbs() []string { return slices.Clone(verbs) }
