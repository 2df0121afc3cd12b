package openmetrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/host/budget"
)

// Serving is what a server has done and uses.
type Serving struct {
	Budget            *budget.Budget
	Received, Written int64 // bytes of all clients' flows since the server began
	Sessions, Refused int64 // ended sessions, and those of them that were refused
	Pending           int   // connections that have not identified themselves
}

var serveFamilies families

var (
	receivedBytes = serveFamilies.counter("serve_receive_bytes", "Bytes that clients' flows received here.")
	transmitBytes = serveFamilies.counter("serve_transmit_bytes", "Bytes that clients' flows wrote here.")
	sessions      = serveFamilies.counter("serve_sessions",
		"Sessions of clients that have ended, with those that were refused.")
	refusedSessions = serveFamilies.counter("serve_refused_sessions",
		"Clients that were refused: by the token, the address, the version, or as the server was full.")
	refusals = serveFamilies.counter("serve_refusals",
		"Clients and requests that were refused because they exceeded a bound.", "bound")
	pending = serveFamilies.gauge("serve_pending_connections",
		"Connections that have not identified themselves yet.")
)

// resources are the metrics of each resource of the budget: what clients use, and the limits of all of them and
// of each; nil if there is no such limit.
var resources = func() (list [budget.Resources]struct {
	bound           string
	used, all, each *family
}) {
	for r, of := range [budget.Resources]struct {
		name, unit, what string
		all, each        bool
	}{
		budget.Clients:     {"clients", "", "Clients", true, false},
		budget.Flows:       {"flows", "", "Flows of clients' trials", false, true},
		budget.Connections: {"connections", "", "Connections of clients' flows", false, true},
		budget.Threads:     {"threads", "", "Threads of transactional flows", true, true},
		budget.Polling:     {"polling_threads", "", "Threads that poll", true, true},
		budget.Buffers:     {"socket_buffers", "_bytes", "Bytes of socket buffers that clients requested", true, true},
		budget.Samples:     {"samples", "", "Samples of clients' windows", false, true},
		budget.Requests:    {"requests", "", "Requests that are being answered", false, true},
		budget.Memory:      {"memory", "_bytes", "Bytes of memory for flows, requests and replies", true, true},
		budget.Descriptors: {"descriptors", "", "Descriptors of flows", true, false},
	} {
		m := &list[r]
		m.bound = of.name
		m.used = serveFamilies.gauge("serve_"+of.name+"_in_use"+of.unit, of.what+".")
		if of.all {
			m.all = serveFamilies.gauge("serve_"+of.name+"_limit"+of.unit, of.what+
				": the most of all clients together.")
		}
		if of.each {
			m.each = serveFamilies.gauge("serve_client_"+of.name+"_limit"+of.unit, of.what+": the most of one client.")
		}
	}
	return list
}()

// serving collects the metrics of a server.
type serving func() Serving

func (serving) Describe(to chan<- *prometheus.Desc) { serveFamilies.describe(to) }

func (s serving) Collect(to chan<- prometheus.Metric) {
	now := s()
	receivedBytes.send(to, float64(now.Received))
	transmitBytes.send(to, float64(now.Written))
	sessions.send(to, float64(now.Sessions))
	refusedSessions.send(to, float64(now.Refused))
	pending.send(to, float64(now.Pending))
	used, refused := now.Budget.Used(), now.Budget.Refused()
	for r, m := range resources {
		m.used.send(to, float64(used[r]))
		refusals.send(to, float64(refused[r]), m.bound)
		if most := now.Budget.All[r]; most > 0 && m.all != nil {
			m.all.send(to, float64(most))
		}
		if most := now.Budget.Each[r]; most > 0 && m.each != nil {
			m.each.send(to, float64(most))
		}
	}
}
