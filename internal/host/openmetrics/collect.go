package openmetrics

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/model/netstate"
)

// send sends what was read; a part that could not be read has no series.
func (r *reading) send(to chan<- prometheus.Metric) {
	readAt.send(to, float64(r.at.UnixNano())/1e9)
	readTook.send(to, r.took.Seconds())
	for _, part := range parts {
		partRead.send(to, truth(!r.failed[part]), part)
	}
	for _, part := range []string{"cpus", "interfaces", "listeners", "qdiscs"} {
		omitted.send(to, float64(r.omitted[part]), part)
	}
	for _, n := range r.netifs {
		n.send(to)
	}
	for _, q := range r.qdiscs {
		for _, m := range perQdisc {
			m.send(to, float64(m.value(q)), label(q.Interface), label(q.Kind))
		}
	}
	for _, c := range r.counters.Softnet {
		for _, m := range perCPU {
			m.send(to, float64(m.value(c)), strconv.Itoa(c.CPU))
		}
	}
	if r.counters.SNMP != nil {
		for _, m := range protocolCounters() {
			m.send(to, float64(uint64(r.counters.SNMP[m.name]))) // unsigned long
		}
	}
	r.sendSockets(to)
}

func (n netif) send(to chan<- prometheus.Metric) {
	name := label(n.Name)
	carrier.send(to, truth(n.Up && n.Carrier), name)
	carrierChanges.send(to, float64(n.CarrierChanges), name)
	for _, m := range perInterface {
		m.send(to, float64(m.value(n.InterfaceCounters)), name)
	}
	for _, d := range perDrop {
		drops.send(to, float64(d.value(n.InterfaceCounters)), name, d.direction, d.cause)
	}
	const bits = 8
	for m, bps := range map[*family]float64{speed: n.speedBps, receiveLimit: n.limitBps(false),
		transmitLimit: n.limitBps(true)} {
		if bps > 0 {
			m.send(to, bps/bits, name)
		}
	}
	if n.shaperBps > 0 {
		shaper.send(to, n.shaperBps/bits, name, label(n.shaper))
	}
}

func (r *reading) sendSockets(to chan<- prometheus.Metric) {
	if r.tcp != nil {
		for number, state := range netstate.TCPStates {
			if state != "" && state != "LISTEN" && state != "UNCONN" {
				connections.send(to, float64(r.tcp[uint8(number)]), state)
			}
		}
	}
	for _, l := range r.listeners {
		queued.send(to, float64(l.Queued), l.Local)
		backlog.send(to, float64(l.Backlog), l.Local)
	}
	if r.sockstat != nil {
		orphans.send(to, float64(r.sockstat["TCP.orphan"]))
		udpSockets.send(to, float64(r.sockstat["UDP.inuse"]+r.sockstat["UDP6.inuse"]))
		memory.send(to, r.memoryBytes("TCP"), "tcp")
		memory.send(to, r.memoryBytes("UDP"), "udp")
	}
	if c := r.conntrack; c != nil {
		tracked.send(to, float64(c.Count))
		mostTracked.send(to, float64(c.Most))
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// joined joins sorted rules.
func joined(rules []string) string { return strings.Join(slices.Sorted(slices.Values(rules)), ", ") }
