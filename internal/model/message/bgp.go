package message

import "net/netip"

// BGPRequest has a host's routing daemon started, if it does not run.
type BGPRequest struct {
	AS       int        `json:"as"`
	RouterID netip.Addr `json:"router_id"`
	// Announce are the host's own networks; Transit: also what it has learned.
	Announce []netip.Prefix `json:"announce,omitempty"`
	Transit  bool           `json:"transit,omitempty"`
	// Metric is that of the routes in the kernel's table.
	Metric   int          `json:"metric"`
	Sessions []BGPSession `json:"sessions"`
}

// BGPSession is with the neighbour at the other end of an interface's cable.
type BGPSession struct {
	Interface string     `json:"interface"`
	Address   netip.Addr `json:"address"` // link-local
	AS        int        `json:"as"`
}

// BGPDaemon is what a host has to speak BGP with.
type BGPDaemon struct {
	Daemon string `json:"daemon,omitempty"` // "BIRD 2.0.12"
	// Lacking is why it has nothing, and what helps.
	Lacking string `json:"lacking,omitempty"`
}

// BGPStarted says that the daemon runs.
type BGPStarted struct {
	// Began: it did not before.
	Began bool `json:"began,omitempty"`
}

// RoutesWanted are the routes that a daemon is to bring, and how long they are
// waited for.
type RoutesWanted struct {
	Routes    []RouteWanted `json:"routes"`
	TimeoutNs int64         `json:"timeout_ns"`
}

// RouteWanted is one: to a network by all of these interfaces.
type RouteWanted struct {
	To         netip.Prefix `json:"to"`
	Interfaces []string     `json:"interfaces"`
}

// RoutesFound are the kernel's, and what is not as wanted, in words; none: all is.
type RoutesFound struct {
	Routes  []string `json:"routes"`
	Missing []string `json:"missing,omitempty"`
	// Waited: not all were there at the first look.
	Waited bool `json:"waited,omitempty"`
}

// StopBGP is the event that kills a host's routing daemon.
const StopBGP = "bgp"
