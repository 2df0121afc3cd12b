package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/syntax"
)

// HostSampleSchema is the schema name and version of HostSample.
const HostSampleSchema = "linerate.top/v1"

// HostSample has the rates of a host between two readings of its counters: one line of `linerate
// top --json`. Shares are fractions from 0 to 1. A counter that decreased, as when a driver was
// reloaded, counts as 0.
type HostSample struct {
	Schema  string    `json:"schema" is:"word"`
	Version string    `json:"version" is:"words"` // of linerate
	Host    string    `json:"host" is:"host"`
	Taken   time.Time `json:"taken"` // when the second reading was complete
	WindowS float64   `json:"window_s"`
	UptimeS float64   `json:"uptime_s,omitempty"`
	// Interfaces lists all interfaces except the loopback, sorted by name.
	Interfaces []InterfaceRates `json:"interfaces"`
	// CPUs begins with the mean of all CPUs, whose CPU is -1.
	CPUs      []CPURates    `json:"cpus"`
	Queues    []QueueRates  `json:"queues,omitempty"`
	Protocols ProtocolRates `json:"protocols"`
	// Flows lists the TCP connections with the highest rates over FlowsWindowS seconds, at most
	// MostFlows. A host with many connections reads them less often than other counters.
	Flows        []FlowRates `json:"flows,omitempty"`
	FlowsWindowS float64     `json:"flows_window_s,omitempty"`
	// Drops lists packets that were not delivered in the window, with the cause if known.
	Drops []Drop `json:"drops,omitempty"`
	// Findings are the results of the rules of `linerate doctor`.
	Findings []Finding `json:"findings,omitempty"`
	// Missing lists the parts that could not be read, each with the reason.
	Missing []string `json:"missing,omitempty" is:"text"`
}

// InterfaceRates is the traffic of an interface.
type InterfaceRates struct {
	Interface string `json:"interface" is:"interface"`
	Kind      string `json:"kind,omitempty" is:"word"`        // the kernel's link kind; absent for hardware
	Master    string `json:"master,omitempty" is:"interface"` // the bridge or bond that it belongs to
	Up        bool   `json:"up"`
	// Rates count what the interface counts, headers included. If the qdisc of a virtual interface
	// counts more, that is used for transmission, because it counts each segment of a GSO packet.
	// Received packets of a virtual interface can have many segments.
	RxBps float64 `json:"rx_bps"`
	TxBps float64 `json:"tx_bps"`
	RxPps float64 `json:"rx_pps"`
	TxPps float64 `json:"tx_pps"`
	// Limits are the speed of the link or, for transmission, the lower rate of a shaper. 0:
	// unknown. TxLimiter is the kind of the shaper.
	RxLimitBps float64 `json:"rx_limit_bps,omitempty"`
	TxLimitBps float64 `json:"tx_limit_bps,omitempty"`
	TxLimiter  string  `json:"tx_limiter,omitempty" is:"word"`
	// Shares are fractions of the limits. For a link they include preamble, frame check sequence
	// and gap of each packet.
	RxShare float64 `json:"rx_share,omitempty"`
	TxShare float64 `json:"tx_share,omitempty"`
	// DropsPerS and ErrorsPerS count packets. DropsPerS includes the drops of the qdiscs.
	// HostSample.Drops has the causes.
	DropsPerS  float64 `json:"drops_per_s"`
	ErrorsPerS float64 `json:"errors_per_s"`
}

// CPURates has the time of a CPU by kind, as shares of the window, and its interrupts and packets.
type CPURates struct {
	CPU            int     `json:"cpu"`
	User           float64 `json:"user"`
	System         float64 `json:"system"`
	IRQ            float64 `json:"irq"`
	SoftIRQ        float64 `json:"softirq"`
	Steal          float64 `json:"steal"`
	InterruptsPerS float64 `json:"interrupts_per_s"`
	NetRxPerS      float64 `json:"net_rx_per_s"` // softirqs
	NetTxPerS      float64 `json:"net_tx_per_s"`
	// PacketsPerS and the following are from softnet_stat, for all network namespaces.
	PacketsPerS  float64 `json:"packets_per_s"`
	DroppedPerS  float64 `json:"dropped_per_s"`
	SqueezedPerS float64 `json:"squeezed_per_s"`
	Backlog      uint64  `json:"backlog,omitempty"` // packets, at the time of the second reading
}

// Busy returns the share of the window during which the CPU was not idle.
func (c CPURates) Busy() float64 { return c.User + c.System + c.IRQ + c.SoftIRQ + c.Steal }

// QueueRates is the traffic of one queue of an interface: a queueing discipline, or a queue of the
// NIC if its driver counts each.
type QueueRates struct {
	Interface string `json:"interface" is:"interface"`
	Queue     string `json:"queue" is:"words"` // "fq_codel 8001:", "rx-0"
	// WindowS is the time between the readings of the queues of a NIC, which are less frequent. 0:
	// HostSample.WindowS.
	WindowS   float64 `json:"window_s,omitempty"`
	Bps       float64 `json:"bps"`
	Pps       float64 `json:"pps"`
	DropsPerS float64 `json:"drops_per_s"`
	// Backlog is what was queued at the second reading.
	BacklogBytes   uint64 `json:"backlog_bytes,omitempty"`
	BacklogPackets uint64 `json:"backlog_packets,omitempty"`
}

// ProtocolRates has counters of TCP and UDP in the network namespace.
type ProtocolRates struct {
	// Connections counts TCP connections, without those in TIME-WAIT.
	Connections      int     `json:"tcp_connections"`
	OpenedPerS       float64 `json:"tcp_opened_per_s"`
	SegmentsOutPerS  float64 `json:"tcp_segments_out_per_s"`
	RetransmitPerS   float64 `json:"tcp_retransmitted_per_s"`
	DatagramsInPerS  float64 `json:"udp_in_per_s"`
	DatagramsOutPerS float64 `json:"udp_out_per_s"`
	DatagramErrPerS  float64 `json:"udp_errors_per_s"` // datagrams that arrived and were not delivered
}

// MostFlows limits the connections of a HostSample.
const MostFlows = 100

// FlowRates has the rates and state of a TCP connection.
type FlowRates struct {
	Local   string `json:"local" is:"socket"`
	Remote  string `json:"remote" is:"socket"`
	State   string `json:"state" is:"word"`
	Program string `json:"program,omitempty" is:"words"` // absent: unknown
	// TxBps is the rate of acknowledged data, RxBps that of received data, both without headers.
	TxBps float64 `json:"tx_bps"`
	RxBps float64 `json:"rx_bps"`
	// SegmentsPerS counts segments in both directions.
	SegmentsPerS   float64 `json:"segments_per_s"`
	RetransmitPerS float64 `json:"retransmitted_per_s"` // segments
	RTTUs          uint32  `json:"rtt_us,omitempty"`
	MinRTTUs       uint32  `json:"min_rtt_us,omitempty"`
	CwndBytes      uint64  `json:"cwnd_bytes,omitempty"`
	ReceiveQueue   int64   `json:"receive_queue_bytes"`
	SendQueue      int64   `json:"send_queue_bytes"`
	// LimitedBy is what limits the sender (docs/limits.md). Empty: it sends nothing, or the limit
	// is unknown. LimitedFacts has the evidence. LimitedWhy is the same in words, which package
	// wording adds; samples that an earlier version stored have only LimitedWhy.
	LimitedBy         string      `json:"limited_by,omitempty" is:"words"`
	LimitedFacts      []fact.Fact `json:"limited_facts,omitempty"`
	LimitedWhy        string      `json:"limited_why,omitempty" is:"text"`
	CongestionControl string      `json:"congestion_control,omitempty" is:"word"`
}

// LargestHostSample limits the size of a HostSample as a line of JSON, in bytes.
const LargestHostSample = 8 << 20

// ParseHostSample decodes a HostSample from a line of JSON from an untrusted source. The size of
// the line bounds its lists.
func ParseHostSample(line []byte) (s HostSample, err error) {
	if len(line) > LargestHostSample {
		return s, fmt.Errorf("expected a line of at most %d bytes", LargestHostSample)
	}
	if err := syntax.Sparse(line); err != nil {
		return s, err
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return s, fmt.Errorf("expected a sample, as linerate top --json prints it: %w", err)
	}
	return s, s.Check()
}

// Check returns an error if a sample made by another program has the wrong schema, no host, an
// impossible window, too long lists, or a string that is not what its field declares.
func (s *HostSample) Check() error {
	switch {
	case s.Schema != HostSampleSchema:
		return fmt.Errorf("expected a sample, as linerate top --json prints it (schema %s): its schema is %.60q",
			HostSampleSchema, s.Schema)
	case s.Host == "":
		return errors.New("the sample names no host")
	case !(s.WindowS > 0 && s.WindowS <= 86400):
		return fmt.Errorf("window_s is %v: expected seconds of at most a day", s.WindowS)
	case max(len(s.Interfaces), len(s.CPUs), len(s.Queues)) > netstate.MostInterfaces || len(s.Flows) > MostFlows:
		return fmt.Errorf(
			"it has %d interfaces, %d CPUs, %d queues and %d flows: expected at most %d of each, and %d flows",
			len(s.Interfaces), len(s.CPUs), len(s.Queues), len(s.Flows), netstate.MostInterfaces, MostFlows)
	}
	return syntax.Check(s)
}
