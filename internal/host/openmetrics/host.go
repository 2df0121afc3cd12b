// Package openmetrics exports a host to Prometheus (OpenMetrics 1.0, RFC 9110): the kernel's counters by their
// meaning, with the limits to compare them with; the findings of doctor; and what a server does and uses.
// docs/openmetrics-metrics.md lists every metric.
//
// It reads only on a scrape. How often the host is read, the number of series and connections, and the CPU time
// of scrapes are limited for all scrapers together (docs/decisions/0035-openmetrics-by-client-golang.md).
package openmetrics

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/model/netstate"
	"linerate/internal/science/diagnose/counter"
	"linerate/internal/version"
)

// A reading is reused for minInterval, and for readShare times as long as it took: scrapes read the host for at
// most a 20th of the time.
const (
	minInterval = time.Second
	readShare   = 20
)

// Host collects the metrics of this host. Its methods are safe for concurrent use.
type Host struct {
	doctor *doctor

	mu      sync.Mutex // held while the kernel is read
	sources *sources
	last    *reading
}

// OpenHost prepares to read the host.
func OpenHost() (*Host, error) {
	s, err := openSources()
	if err != nil {
		return nil, err
	}
	return &Host{sources: s, doctor: newDoctor()}, nil
}

// Close ends reading.
func (h *Host) Close() error {
	h.doctor.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sources.Close()
}

// reading returns the latest reading if it is recent, or a new one.
func (h *Host) reading() *reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil || time.Since(h.last.at) > max(minInterval, readShare*h.last.took) {
		h.last = h.sources.read()
	}
	return h.last
}

var hostFamilies families

var (
	buildInfo = hostFamilies.gauge("build_info", "1, with the version of linerate.", "version")
	readAt    = hostFamilies.gauge("reading_timestamp_seconds",
		"When the host was read for these metrics, since the epoch.")
	readTook = hostFamilies.gauge("reading_duration_seconds", "How long the reading took.")
	partRead = hostFamilies.gauge("reading_success", "1: a part of the reading was read; 0: not, or not all of it.",
		"part")
	omitted = hostFamilies.gauge("reading_omitted",
		"What was left out of the reading, so that the number of series is bounded.", "part")

	carrier        = hostFamilies.gauge("interface_carrier", "1: the interface is up and has a carrier.", "interface")
	carrierChanges = hostFamilies.counter("interface_carrier_changes",
		"How often the carrier came or went since the interface was made (IFLA_CARRIER_CHANGES).", "interface")
	speed = hostFamilies.gauge("interface_speed_bytes_per_second",
		"The negotiated rate of a NIC with a link; absent where it is not known.", "interface")
	shaper = hostFamilies.gauge("interface_shaper_bytes_per_second",
		"The rate of the queueing discipline that shapes what the interface sends; absent if there is none.",
		"interface", "kind")
	receiveLimit = hostFamilies.gauge("interface_receive_limit_bytes_per_second",
		"The most that the interface receives: its speed; absent where that is not known.", "interface")
	transmitLimit = hostFamilies.gauge("interface_transmit_limit_bytes_per_second",
		"The most that the interface transmits: its speed or its shaper's rate, whichever is lower; absent where "+
			"neither is known.", "interface")

	drops = hostFamilies.counter("interface_drops",
		"Packets that were not delivered or sent. Of received ones ring_full: the NIC had no buffer "+
			"(rx_missed_errors); other_host: for another MAC address (rx_otherhost_dropped); no_handler: on a "+
			"standby member (rx_nohandler); other: of protocols that nothing handles, or for want of room "+
			"(rx_dropped). Transmitted ones: other (tx_dropped).",
		"interface", "direction", "cause")
)

// perInterface are the metrics whose only label is the interface.
var perInterface = []struct {
	*family
	value func(netstate.InterfaceCounters) uint64
}{
	{hostFamilies.counter("interface_receive_bytes", "Bytes received, with Ethernet headers (rx_bytes).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.RxBytes }},
	{hostFamilies.counter("interface_transmit_bytes", "Bytes transmitted, with Ethernet headers (tx_bytes).",
		"interface"), func(c netstate.InterfaceCounters) uint64 { return c.TxBytes }},
	{hostFamilies.counter("interface_receive_packets", "Packets received (rx_packets).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.RxPackets }},
	{hostFamilies.counter("interface_transmit_packets", "Packets transmitted (tx_packets).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.TxPackets }},
	{hostFamilies.counter("interface_receive_errors", "Damaged or unusable frames received, of all causes (rx_errors).",
		"interface"), func(c netstate.InterfaceCounters) uint64 { return c.RxErrors }},
	{hostFamilies.counter("interface_receive_crc_errors",
		"Frames with a wrong checksum, among the receive errors (rx_crc_errors).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.RxCRC }},
	{hostFamilies.counter("interface_receive_length_errors",
		"Frames longer than the interface takes, among the receive errors (rx_length_errors).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.RxLength }},
	{hostFamilies.counter("interface_transmit_errors",
		"Frames that the interface could not send, of all causes (tx_errors).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.TxErrors }},
	{hostFamilies.counter("interface_transmit_carrier_errors",
		"Frames without a carrier, among the transmit errors (tx_carrier_errors).", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.TxCarrier }},
	{hostFamilies.counter("interface_collisions", "Collisions, which a full-duplex link has none of.", "interface"),
		func(c netstate.InterfaceCounters) uint64 { return c.Collisions }},
}

var perDrop = []struct {
	direction, cause string
	value            func(netstate.InterfaceCounters) uint64
}{
	{"receive", "ring_full", func(c netstate.InterfaceCounters) uint64 { return c.RxMissed }},
	{"receive", "other_host", func(c netstate.InterfaceCounters) uint64 { return c.RxOtherhost }},
	{"receive", "no_handler", func(c netstate.InterfaceCounters) uint64 { return c.RxNoHandler }},
	{"receive", "other", func(c netstate.InterfaceCounters) uint64 { return c.RxDropped }},
	{"transmit", "other", func(c netstate.InterfaceCounters) uint64 { return c.TxDropped }},
}

var perQdisc = []struct {
	*family
	value func(netstate.QdiscCounters) uint64
}{
	{hostFamilies.counter("qdisc_bytes", "Bytes sent by the queueing disciplines of one kind.", "interface", "kind"),
		func(q netstate.QdiscCounters) uint64 { return q.Bytes }},
	{hostFamilies.counter("qdisc_packets", "Packets sent by the queueing disciplines of one kind.", "interface",
		"kind"), func(q netstate.QdiscCounters) uint64 { return q.Packets }},
	{hostFamilies.counter("qdisc_drops",
		"Packets dropped by the queueing disciplines of one kind. One with others inside counts theirs as well.",
		"interface", "kind"), func(q netstate.QdiscCounters) uint64 { return q.Drops }},
	{hostFamilies.counter("qdisc_overlimits", "How often a queueing discipline had to delay a packet.", "interface",
		"kind"), func(q netstate.QdiscCounters) uint64 { return q.Overlimits }},
	{hostFamilies.counter("qdisc_requeues", "How often the NIC had no room for a packet.", "interface", "kind"),
		func(q netstate.QdiscCounters) uint64 { return q.Requeues }},
	{hostFamilies.gauge("qdisc_backlog_bytes", "Bytes that wait.", "interface", "kind"),
		func(q netstate.QdiscCounters) uint64 { return q.Backlog }},
	{hostFamilies.gauge("qdisc_backlog_packets", "Packets that wait.", "interface", "kind"),
		func(q netstate.QdiscCounters) uint64 { return q.Qlen }},
}

var perCPU = []struct {
	*family
	value func(netstate.SoftnetCounters) uint64
}{
	{hostFamilies.counter("softnet_processed_packets",
		"Packets that a CPU took from its backlog and NICs (softnet_stat).", "cpu"),
		func(c netstate.SoftnetCounters) uint64 { return c.Processed }},
	{hostFamilies.counter("softnet_dropped_packets", "Packets dropped because a CPU's backlog was full.", "cpu"),
		func(c netstate.SoftnetCounters) uint64 { return c.Dropped }},
	{hostFamilies.counter("softnet_squeezed",
		"How often a CPU ran out of its budget or time before the queues were empty.", "cpu"),
		func(c netstate.SoftnetCounters) uint64 { return c.Squeezed }},
	{hostFamilies.gauge("softnet_backlog_packets", "Packets in a CPU's backlog.", "cpu"),
		func(c netstate.SoftnetCounters) uint64 { return c.Backlog }},
}

var (
	connections = hostFamilies.gauge("tcp_connections", "TCP connections, by state as in ss(8).", "state")
	orphans     = hostFamilies.gauge("tcp_orphans", "TCP connections without a process, of all network namespaces.")
	udpSockets  = hostFamilies.gauge("udp_sockets", "UDP sockets that are bound to a port.")
	memory      = hostFamilies.gauge("socket_memory_bytes",
		"Memory of a protocol's sockets, of all network namespaces.", "protocol")
	queued = hostFamilies.gauge("listener_queue_connections",
		"Connections that wait for accept(2), of the fullest listening socket of an address.", "local")
	backlog = hostFamilies.gauge("listener_backlog_connections", "How many connections may wait there (listen(2)).",
		"local")
	tracked = hostFamilies.gauge("conntrack_entries",
		"Entries of the connection tracking table; absent: the kernel has none loaded.")
	mostTracked = hostFamilies.gauge("conntrack_limit_entries",
		"Entries that the connection tracking table may have (nf_conntrack_max).")
)

// protocolCounter is a counter of /proc/net/snmp or /proc/net/netstat.
type protocolCounter struct {
	*family
	name string
}

var protocolCounters = sync.OnceValue(func() (list []protocolCounter) {
	for _, c := range counter.Counters() {
		help := fmt.Sprintf("%s of /proc/net, by which rules of doctor go: %s.", c.Name, joined(c.Rules))
		list = append(list, protocolCounter{new(families).counter("netstat_"+snake(c.Name), help), c.Name})
	}
	return list
})

// Describe implements prometheus.Collector.
func (h *Host) Describe(to chan<- *prometheus.Desc) {
	hostFamilies.describe(to)
	for _, c := range protocolCounters() {
		to <- c.desc()
	}
}

// Collect sends the latest reading and the findings.
func (h *Host) Collect(to chan<- prometheus.Metric) {
	buildInfo.send(to, 1, version.String())
	r := h.reading()
	r.send(to)
	h.doctor.send(to)
}
