package message

import "net/netip"

// BGPRequest starts the routing daemon of a host if it is not running.
type BGPRequest struct {
	AS       int        `json:"as"`
	RouterID netip.Addr `json:"router_id"`
	// Announce lists the host's own networks. Transit reports whether it also announces learned
	// networks.
	Announce []netip.Prefix `json:"announce,omitempty"`
	Transit  bool           `json:"transit,omitempty"`
	// Metric is the metric of the routes in the kernel's table.
	Metric   int          `json:"metric"`
	Sessions []BGPSession `json:"sessions"`
}

// BGPSession is a session with the neighbour at the other end of an interface's cable.
type BGPSession struct {
	Interface string     `json:"interface"`
	Address   netip.Addr `json:"address"` // link-local
	AS        int        `json:"as"`
}

// BGPDaemon describes the routing daemon of a host.
type BGPDaemon struct {
	Daemon string `json:"daemon,omitempty"` // "BIRD 2.0.12"
	// Lacking is why there is no usable daemon, and how to install one.
	Lacking string `json:"lacking,omitempty"`
}

// BGPStarted is the reply when the daemon runs.
type BGPStarted struct {
	// Began reports whether this request started it.
	Began bool `json:"began,omitempty"`
}

// RoutesWanted waits until a daemon has installed these routes, at most for the timeout.
type RoutesWanted struct {
	Routes    []RouteWanted `json:"routes"`
	TimeoutNs int64         `json:"timeout_ns"`
}

// RouteWanted is a route to a network through all of these interfaces.
type RouteWanted struct {
	To         netip.Prefix `json:"to"`
	Interfaces []string     `json:"interfaces"`
}

// RoutesFound has the kernel's routes, and describes those that differ from what is wanted. Missing
// is empty if all are as wanted.
type RoutesFound struct {
	Routes  []string `json:"routes"`
	Missing []string `json:"missing,omitempty"`
	// Waited reports whether a route was missing at the first look.
	Waited bool `json:"waited,omitempty"`
}

// StopBGP is the value of EventRequest.Stop that kills the routing daemon of the host.
const StopBGP = "bgp"
